//! A transaction that waits for a lock decides by the clock as it is when it has the lock, not as it was when it began.
//!
//! Each case lets somebody else hold the lock until our transaction has begun and waits, and reads the server's clock only then.
//! PostgreSQL only: on SQLite a transaction reads its clock after its only lock.

use std::thread;

use handoff_core::lease::{Tenure, Ttl};
use handoff_core::rest::{Setback, Trouble};
use handoff_core::task::{Command, Refusal};
use handoff_core::{Fence, Task};
use handoff_store::StoreError;
use handoff_store::queue::{Answer, Change, Receipt, TaskRef, TenureWish, submit};
use postgres::{Client, NoTls};

use crate::fixture::{
    Door, Fixture, Place, TTL, claim_next, complete, owning, request, spec, tell,
};

/// Whoever else holds a lock of this store.
struct Other {
    client: Client,
}

impl Other {
    /// Takes the locks that `sql` takes.
    fn holding(fixture: &Fixture, sql: &str) -> Self {
        let Place::Postgres { database } = &fixture.place else {
            panic!("only a server has locks to wait for");
        };
        let mut client = Client::connect(database.url(), NoTls).unwrap();
        let begin = format!("SET search_path = handoff; BEGIN; {sql}");
        client.batch_execute(&begin).unwrap();
        Self { client }
    }

    fn holding_task(fixture: &Fixture, task: &Task) -> Self {
        let sql = format!("SELECT 1 FROM tasks WHERE id = '{}' FOR UPDATE", task.id);
        Self::holding(fixture, &sql)
    }

    /// Returns when somebody waits for one of our locks: their transaction has begun.
    fn wait_for_company(&mut self) {
        let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))";
        while self.number(waiting) == 0 {
            thread::yield_now();
        }
    }

    /// The server's clock in nanoseconds.
    fn clock(&mut self) -> i64 {
        self.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000")
    }

    /// Lets all leases end so many nanoseconds from now.
    fn end_leases_after(&mut self, span: i64) {
        let end = self.clock() + span;
        let sql = format!(
            "UPDATE tasks SET body = jsonb_set(jsonb_set(body::jsonb, \
             '{{state,lease,tenure,expires}}', '{end}'), '{{state,lease,tenure,awake_until}}', '{end}')::text"
        );
        self.client.batch_execute(&sql).unwrap();
    }

    fn number(&mut self, sql: &str) -> i64 {
        self.client.query_one(sql, &[]).unwrap().get(0)
    }

    fn let_go(mut self) {
        self.client.batch_execute("COMMIT").unwrap();
    }
}

/// What comes of a change that waits for `other`, and the time at which it did.
fn kept_waiting(
    fixture: &Fixture,
    mut other: Other,
    change: Change,
    meanwhile: impl FnOnce(&mut Other),
) -> (Result<Receipt, StoreError>, i64) {
    let door = fixture.door();
    let asking = thread::spawn(move || submit(&mut *Door::open(&door), &request(change)));
    other.wait_for_company();
    meanwhile(&mut other);
    let then = other.clock();
    other.let_go();
    (asking.join().unwrap(), then)
}

fn granted_at(task: &Task) -> i64 {
    let lease = task.state.lease().expect("it is leased");
    let Tenure::Timed(term) = &lease.tenure else {
        panic!("{lease:?}");
    };
    term.expires.0 - i64::try_from(term.ttl.as_nanos()).unwrap()
}

fn claiming(task: &Task) -> Change {
    Change::Claim {
        task: TaskRef::Id(task.id),
        tenure: TenureWish::Timed {
            ttl: Ttl::new(TTL).unwrap(),
        },
    }
}

#[test]
fn a_lease_begins_when_the_lock_was_had() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let one = fixture.add(spec("one"));
    let other = Other::holding_task(&fixture, &one);
    let (claimed, then) = kept_waiting(&fixture, other, claiming(&one), |_| {});
    let claimed = claimed.unwrap().answer.into_task().unwrap();
    assert!(granted_at(&claimed) >= then, "claimed by its name");

    let other = Other::holding_task(&fixture, &one);
    let renewal = tell(
        &claimed,
        Command::Renew {
            fence: claimed.fence,
        },
    );
    let (renewed, then) = kept_waiting(&fixture, other, renewal, |_| {});
    let renewed = renewed.unwrap().answer.into_task().unwrap();
    assert!(granted_at(&renewed) >= then, "renewed");
    fixture.complete(&renewed).unwrap();

    let two = fixture.add(spec("two"));
    let other = Other::holding_task(&fixture, &two);
    let (claimed, then) = kept_waiting(&fixture, other, claim_next(fixture.project), |_| {});
    let claimed = claimed.unwrap().answer.into_task().unwrap();
    assert!(granted_at(&claimed) >= then, "claimed as the next one");

    let other = Other::holding_task(&fixture, &two);
    let setback = Setback {
        trouble: Trouble::Start,
        agent: None,
        reason: "seen".parse().unwrap(),
        resets_at: None,
    };
    let fence = claimed.fence;
    let (put_off, then) = kept_waiting(
        &fixture,
        other,
        tell(&claimed, Command::PutOff { fence, setback }),
        |_| {},
    );
    let put_off = put_off.unwrap().answer.into_task().unwrap();
    // The first rest after a failed start lasts five seconds.
    assert!(
        put_off.rest.unwrap().ends.0 >= then + 5_000_000_000,
        "put off"
    );
    assert_eq!(fixture.audit().faults, []);
}

#[test]
fn a_lease_begins_when_its_turn_among_owners_came() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let one = fixture.add(owning("one", "src/"));
    let line = format!(
        "SELECT pg_advisory_xact_lock(hashtext('{}')::bigint)",
        fixture.project
    );
    let other = Other::holding(&fixture, &line);
    let (claimed, then) = kept_waiting(&fixture, other, claiming(&one), |_| {});
    let claimed = claimed.unwrap().answer.into_task().unwrap();
    assert!(granted_at(&claimed) >= then);
}

#[test]
fn a_lease_that_ran_out_before_the_lock_was_had_is_lost() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let one = fixture.add(spec("one"));
    let claimed = fixture.claim().unwrap();
    let fence = claimed.fence;
    let reason = || "why".parse().unwrap();
    for command in [
        Command::Renew { fence },
        complete(fence),
        Command::Fail {
            fence: Some(fence),
            reason: reason(),
        },
        Command::Block {
            fence: Some(fence),
            reason: reason(),
        },
        Command::Release {
            fence,
            reason: None,
        },
    ] {
        let mut other = Other::holding_task(&fixture, &one);
        let later = i64::try_from(TTL.as_nanos()).unwrap();
        other.end_leases_after(later);
        other.let_go();
        let other = Other::holding_task(&fixture, &one);
        let change = tell(&claimed, command.clone());
        let (answer, _) = kept_waiting(&fixture, other, change, |other| other.end_leases_after(0));
        let is_lost = matches!(
            answer,
            Err(StoreError::Refused {
                refusal: Refusal::LeaseLost { .. },
                ..
            })
        );
        assert!(is_lost, "{command:?}: {answer:?}");
    }
}

/// The owner's renewal has read its clock in time and is not committed: nobody else may say that its time is over.
#[test]
fn paths_are_not_handed_on_while_their_owner_may_be_renewing() {
    let Some(mut fixture) = Fixture::postgres() else {
        return;
    };
    let one = fixture.add(owning("one", "src/"));
    let two = fixture.add(owning("two", "src/lib.rs"));
    assert_eq!(fixture.claim().unwrap().id, one.id);
    let renewing = Other::holding_task(&fixture, &one);
    fixture.pass(TTL);
    let next = fixture.submit(claim_next(fixture.project)).unwrap();
    assert!(matches!(next.answer, Answer::NothingReady), "{next:?}");
    let named = fixture.submit(claiming(&two));
    assert!(
        matches!(named, Err(StoreError::OwnershipTaken { .. })),
        "{named:?}"
    );

    renewing.let_go();
    let claimed = fixture.claim().unwrap();
    assert_eq!((claimed.id, claimed.fence), (one.id, Fence::new(2)));
    assert_eq!(fixture.audit().faults, []);
}
