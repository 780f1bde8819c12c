//! What is sealed here is received there as it was: by way of a bundle, from one store to the other, whatever is in it.

use std::cell::RefCell;
use std::io::Read as _;

use handoff_core::context::{Entry, Policy};
use handoff_core::lease::Ttl;
use handoff_core::package::{Label, Origin, PackageCommand, PackageKind};
use handoff_core::{
    Caller, ContextScope, Digest, Fence, IdempotencyKey, JsonText, PackageId, ProjectId, StoreId,
    Timestamp,
};
use handoff_engine::{Depot, Places};
use handoff_package::bundle::{self, Bundle};
use handoff_package::payload::{Attachment, Metadata, PayloadVersion, SerializedContext};
use handoff_package::{Clean, Package, Payload};
use handoff_process::mint;
use handoff_store::postgres::PostgresStore;
use handoff_store::queue::{Change, Receiving, Request, submit};
use handoff_store::sqlite::{Ambient, SqliteStore};
use handoff_store::{Store, contexts, read};
use handoff_testkit::{ManualClock, TestEnv, postgres};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A store with the places around it; each use of it is another project.
struct Side {
    env: TestEnv,
    store: Box<dyn Store>,
}

impl Side {
    fn embedded() -> Self {
        let env = TestEnv::without_binary();
        let ambient = Ambient {
            clock: std::rc::Rc::new(ManualClock::default()),
            fresh_id: StoreId::from_uuid(mint()),
        };
        let store = SqliteStore::open(&env.handoff_home(), ambient).unwrap();
        let store = Box::new(store);
        Self { env, store }
    }

    fn shared(url: &str) -> Self {
        let env = TestEnv::without_binary();
        let store = PostgresStore::connect(url.parse().unwrap(), StoreId::from_uuid(mint()));
        let store = Box::new(store.unwrap());
        Self { env, store }
    }

    fn depot(&mut self, project: ProjectId) -> Depot<'_> {
        let places = Places::new(self.env.handoff_home());
        Depot::new(&mut *self.store, project, &places)
    }

    fn submit(&mut self, change: Change) {
        let request = Request {
            by: Caller::Person,
            key: key(),
            change,
        };
        submit(&mut *self.store, &request).unwrap();
    }

    /// Seals a context with an attachment; what goes on its way.
    fn export(&mut self, context: Vec<Entry>, attached: &[u8]) -> (PackageId, Vec<u8>) {
        let project = ProjectId::from_uuid(mint());
        let package = package(project, context, attached);
        let mut depot = self.depot(project);
        let attachment = &package.payload.attachments[0];
        depot.blobs().take_in(attachment, &mut &*attached).unwrap();
        let clean = Clean::check(package).unwrap();
        let kept = depot.keep(&clean, Origin::Made, &Caller::Person, &key());
        let stored = depot.find(kept.unwrap().label.id).unwrap();
        let mut blobs = depot.blobs();
        let bundle = Bundle::new(stored.bytes, &stored.opened, &mut *blobs);
        let mut carried = vec![];
        bundle.unwrap().read_to_end(&mut carried).unwrap();
        (stored.record.label.id, carried)
    }

    /// Takes it in and receives it; what is in the context then, and what was attached.
    fn receive(&mut self, id: PackageId, mut carried: &[u8]) -> (Vec<Entry>, Vec<u8>) {
        let project = ProjectId::from_uuid(mint());
        let mut depot = self.depot(project);
        let unpacked = bundle::read_package(&mut carried).unwrap();
        bundle::read_attachments(&mut carried, &unpacked.opened, &mut *depot.blobs()).unwrap();
        let adopted = depot.adopt(&unpacked.opened, &unpacked.bytes, &Caller::Person, &key());
        adopted.unwrap();
        let payload = depot.find(id).unwrap().opened.package.payload;
        let sha256 = &payload.attachments[0].sha256;
        let attached = depot.blobs().piece(sha256, 0).unwrap();
        let (ttl, machine) = (Ttl::default(), None);
        let command = PackageCommand::Claim { ttl, machine };
        self.submit(Change::Package { id, command });
        let into = ContextScope::Project(project);
        self.submit(Change::Receive(Receiving {
            id,
            fence: Fence::new(1),
            project,
            into,
            policy: Policy::Refuse,
            entries: payload.context.to_entries(),
        }));
        let found = read(&mut *self.store, |tx| contexts::matching(tx, into, None));
        let found = found.unwrap().into_values().map(|(_, it)| it).collect();
        (found, attached)
    }
}

fn key() -> IdempotencyKey {
    mint().to_string().parse().unwrap()
}

fn package(project: ProjectId, context: Vec<Entry>, attached: &[u8]) -> Package {
    let label = Label {
        id: PackageId::from_uuid(mint()),
        kind: PackageKind::Manual,
        // Long ago on every clock.
        created_at: Timestamp::UNIX_EPOCH,
        expires_at: None,
        project,
        session_id: None,
        subject_id: None,
        task: None,
        feature: None,
        source_phase: None,
        target_phase: None,
        commit: None,
        audience: vec![],
        single_use: true,
    };
    let payload = Payload {
        context: SerializedContext::of(context),
        checkpoint: None,
        metadata: Metadata {
            version: PayloadVersion::One,
            pipeline_version: None,
            created_by: "somebody".parse().unwrap(),
            reason: "a test".parse().unwrap(),
            foreign_id: None,
        },
        tree: None,
        task_name: None,
        fence: None,
        brief: None,
        summary: None,
        session: None,
        batch: None,
        run: None,
        decisions: vec![],
        dead_ends: vec![],
        proofs: vec![],
        claims: vec![],
        required: vec![],
        attachments: vec![Attachment {
            name: "a".parse().unwrap(),
            sha256: Digest::of(attached),
            size: attached.len() as u64,
        }],
    };
    Package { label, payload }
}

fn context() -> impl Strategy<Value = Vec<Entry>> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
        any::<String>().prop_map(|it| serde_json::Value::from(it).to_string()),
    ];
    let value = proptest::collection::vec(scalar, 0..4).prop_map(|it| match it.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(" , ")),
    });
    let entries = proptest::collection::btree_map("[a-zäß][a-z.:/-]{0,20}[a-z]", value, 0..8);
    entries.prop_map(|map| map.into_iter().map(entry).collect())
}

fn entry((key, value): (String, String)) -> Entry {
    Entry {
        key: key.parse().unwrap(),
        value: JsonText::parse(&value).unwrap(),
        source: None,
        tags: vec![],
        author: "person".parse().unwrap(),
        at: Timestamp::UNIX_EPOCH,
    }
}

fn comes_out_as_it_went_in(from: &mut Side, to: &mut Side) {
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(8)
    };
    let given = (context(), proptest::collection::vec(any::<u8>(), 0..2_000));
    // The runner's closure may be called again while it runs, as far as its type says.
    let sides = RefCell::new((from, to));
    let ran = TestRunner::new(config).run(&given, |(entries, attached)| {
        let (from, to) = &mut *sides.borrow_mut();
        let (id, carried) = from.export(entries.clone(), &attached);
        prop_assert_eq!(to.receive(id, &carried), (entries, attached));
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn a_context_is_received_as_it_was_in_another_embedded_store() {
    comes_out_as_it_went_in(&mut Side::embedded(), &mut Side::embedded());
}

#[test]
fn a_context_is_received_as_it_was_by_a_team_and_from_it() {
    let Some(database) = postgres::fresh_database() else {
        return;
    };
    let (mut team, mut alone) = (Side::shared(database.url()), Side::embedded());
    comes_out_as_it_went_in(&mut alone, &mut team);
    comes_out_as_it_went_in(&mut team, &mut alone);
}
