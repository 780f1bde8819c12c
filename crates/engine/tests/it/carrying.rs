//! What is sealed here is received there as it was: by way of a bundle, from one store to the other, whatever is in it.

use std::cell::RefCell;
use std::io::Read as _;
use std::num::NonZeroUsize;

use handoff_core::batch::{AdoptedBatch, Batch, Calibration, Manifest, Opening, Plan, Rules};
use handoff_core::context::{Entry, Policy};
use handoff_core::lease::Ttl;
use handoff_core::package::{Label, Origin, PackageCommand, PackageKind};
use handoff_core::task::Evidence;
use handoff_core::{
    BatchId, Caller, ContextScope, Digest, Fence, IdempotencyKey, JsonText, PackageId, ProjectId,
    StoreId, Task, TaskId, TaskState, Timestamp,
};
use handoff_engine::{Depot, Places};
use handoff_package::bundle::{self, Bundle};
use handoff_package::payload::{
    Attachment, BatchState, Metadata, PausedPart, PayloadVersion, SerializedContext,
};
use handoff_package::{Clean, KeyPair, Package, Payload, open, schema, seal};
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
        provenance: None,
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
        task: None,
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
    let known = (
        value,
        proptest::option::of("[a-zé]{1,5}"),
        proptest::collection::vec("[a-z]{1,8}", 0..3),
        "[a-z]{1,9}",
        0..4_000_000_000_i64,
    );
    let entries = proptest::collection::btree_map("[a-zäß][a-z.:/-]{0,20}[a-z]", known, 0..8);
    entries.prop_map(|map| map.into_iter().map(entry).collect())
}

/// The value of a key, its source, its tags, who wrote it and when.
type Known = (String, Option<String>, Vec<String>, String, i64);

fn entry((key, (value, source, tags, author, at)): (String, Known)) -> Entry {
    Entry {
        key: key.parse().unwrap(),
        value: JsonText::parse(&value).unwrap(),
        source: source.map(|it| it.parse().unwrap()),
        tags: tags.iter().map(|tag| tag.parse().unwrap()).collect(),
        author: author.parse().unwrap(),
        at: Timestamp::from_second(at).unwrap(),
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

/// Everything that a pause carries to another store.
const MANIFEST: &str = r#"
schema_version = 2
batch_id = "b"
fan_in_task = "merge"
next_after_fanin = { task = "announce", brief = "x", agent = "claude" }
timeout_hours = 2
[[sub_tasks]]
id = "one"
brief = "x"
file_ownership = ["a/", "docs/*.md", { type = "exact", path = "b" }]
estimated_minutes = 9
verify = "make one"
[[sub_tasks]]
id = "two"
brief = "x"
file_ownership = ["c/"]
depends_on = ["one"]
"#;

fn batch() -> AdoptedBatch {
    let manifest = Manifest::read(MANIFEST, Rules::default()).unwrap();
    let id = || TaskId::from_uuid(mint());
    let opening = Opening {
        batch: BatchId::from_uuid(mint()),
        parts: vec![id(), id()],
        fan_in: id(),
        next: id(),
        base: "a".repeat(40).parse().unwrap(),
        after: None,
        run: None,
    };
    let plan = Plan::of(&manifest, NonZeroUsize::MIN, &Calibration::default());
    let published = manifest.publication(&opening, &plan);
    let (project, at) = (ProjectId::from_uuid(mint()), Timestamp::UNIX_EPOCH);
    let mut tasks: Vec<_> = { published.tasks.into_iter() }
        .map(|(id, spec)| Task::begin(id, project, spec, at))
        .collect();
    tasks[0].evidence = vec![Evidence::Committed {
        branch: "handoff/b.one-1".parse().unwrap(),
        commit: "c".repeat(40).parse().unwrap(),
    }];
    tasks[0].state = TaskState::Done { at, summary: None };
    AdoptedBatch::of(
        &Batch::begin(opening.batch, project, published.spec, at),
        &tasks,
    )
}

#[test]
fn what_goes_to_another_store_comes_back_as_it_was_and_fits_the_published_schema() {
    let project = ProjectId::from_uuid(mint());
    let (mut package, whole) = (package(project, vec![], b"x"), batch());
    assert!(whole.is_whole());
    package.payload.task = Some(whole.tasks[1].task.clone());
    package.payload.batch = Some(BatchState {
        id: BatchId::from_uuid(mint()),
        name: whole.spec.name.clone(),
        parts: vec![PausedPart {
            task: whole.tasks[1].id,
            name: whole.tasks[1].task.spec.name.clone(),
            package: PackageId::from_uuid(mint()),
        }],
        whole: Some(whole),
    });
    let sealed = seal(&package, &KeyPair::from_secret(&[7; 32])).unwrap();
    assert_eq!(open(sealed.bytes()).unwrap().package, package);
    let payload = serde_json::to_value(&package.payload).unwrap();
    let schema = serde_json::to_value(schema::schema().payload).unwrap();
    let checker = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<_> = checker
        .iter_errors(&payload)
        .map(|it| it.to_string())
        .collect();
    assert_eq!(wrong, [""; 0]);
    let mut other = payload;
    other["batch"]["whole"]["tasks"][0]["task"]["spec"]["brief"] = 1.into();
    assert!(!checker.is_valid(&other));
}
