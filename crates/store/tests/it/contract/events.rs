//! The ledger as followers see it.

use std::time::Duration;

use handoff_core::task::{Dependency, Until};
use handoff_core::{Cursor, Envelope, ProjectId, StreamId, Task};
use handoff_store::events::{self, Following};
use handoff_store::queue::submit;
use handoff_store::{Ring, Store, read};

use super::on_both_stores;
use crate::fixture::{Fixture, after, complete, request, spec, tell, uuid};

on_both_stores! {
    a_follower_sees_each_event_once_in_order_across_reopening,
    a_follower_of_one_project_sees_no_other,
    the_newest_cursor_is_where_following_begins,
    a_follower_misses_nothing_while_eight_write,
    a_stream_is_followed_in_its_own_order_whoever_waited_for_it,
    the_bell_rings_for_another_writer,
}

fn following(store: &mut dyn Store, since: Cursor, project: Option<ProjectId>) -> Vec<Envelope> {
    read(store, |tx| {
        events::since(
            tx,
            Following {
                since,
                project,
                limit: 3,
            },
        )
    })
    .unwrap()
}

/// Reads on from a cursor until there is nothing more.
fn drain(store: &mut dyn Store, since: &mut Cursor) -> Vec<Envelope> {
    let mut seen = vec![];
    loop {
        let page = following(store, *since, None);
        let Some(last) = page.last() else { return seen };
        *since = last.cursor;
        seen.extend(page);
    }
}

fn a_follower_sees_each_event_once_in_order_across_reopening(fixture: &mut Fixture) {
    let mut since = Cursor::START;
    let mut seen = vec![];
    for round in 0..4 {
        fixture.add(spec(&format!("t{round}")));
        let claimed = fixture.claim().unwrap();
        fixture.complete(&claimed).unwrap();
        seen.extend(drain(&mut *fixture.again(), &mut since));
    }
    let seqs: Vec<_> = seen.iter().map(|envelope| envelope.seq).collect();
    assert_eq!(seqs, [1, 2, 3].repeat(4));
    assert!(seen.is_sorted_by(|a, b| a.cursor < b.cursor));
}

fn a_follower_of_one_project_sees_no_other(fixture: &mut Fixture) {
    let first = fixture.project;
    fixture.add(spec("one"));
    fixture.project = ProjectId::from_uuid(uuid());
    let second = fixture.add(spec("two"));
    let seen = following(&mut *fixture.store, Cursor::START, Some(fixture.project));
    assert_eq!(
        seen.iter().map(|it| it.stream).collect::<Vec<_>>(),
        [StreamId::Task(second.id)]
    );
    assert_eq!(
        following(&mut *fixture.store, Cursor::START, Some(first)).len(),
        1
    );
}

fn the_newest_cursor_is_where_following_begins(fixture: &mut Fixture) {
    assert_eq!(
        read(&mut *fixture.store, events::newest).unwrap(),
        Cursor::START
    );
    fixture.add(spec("one"));
    let newest = read(&mut *fixture.store, events::newest).unwrap();
    assert_eq!(following(&mut *fixture.store, newest, None), []);
    fixture.add(spec("two"));
    assert_eq!(following(&mut *fixture.store, newest, None).len(), 1);
}

/// Who completes a task has a number on a server when it comes to the one that waits for it, and may wait there for somebody
/// whose number is higher.
fn a_stream_is_followed_in_its_own_order_whoever_waited_for_it(fixture: &mut Fixture) {
    const TASKS: usize = 48;
    let tasks: Vec<_> = (0..TASKS)
        .map(|it| fixture.add(spec(&format!("t{it}"))))
        .collect();
    let on = |task: &Task| Dependency {
        task: task.id,
        until: Until::Done,
    };
    let last = fixture.add(after("last", tasks.iter().map(on).collect()));
    let claimed: Vec<_> = tasks.iter().map(|_| fixture.claim().unwrap()).collect();
    let door = fixture.door();
    std::thread::scope(|scope| {
        for share in claimed.chunks(TASKS / 8) {
            let door = door.clone();
            scope.spawn(move || {
                let mut store = door.open();
                for task in share {
                    let change = tell(task, complete(task.fence));
                    submit(&mut *store, &request(change)).unwrap();
                }
            });
        }
    });
    let mut since = Cursor::START;
    let seen = drain(&mut *fixture.store, &mut since);
    let of_last = seen
        .iter()
        .filter(|it| it.stream == StreamId::Task(last.id));
    let seqs: Vec<_> = of_last.map(|it| it.seq).collect();
    let count = u64::try_from(TASKS).unwrap() + 1;
    assert_eq!(seqs, (1..=count).collect::<Vec<_>>());
}

/// On a server, transactions commit in another order than they took their places in; a follower that went by place
/// alone would step over some.
fn a_follower_misses_nothing_while_eight_write(fixture: &mut Fixture) {
    const EACH: usize = 15;
    let (door, project) = (fixture.door(), fixture.project);
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let door = door.clone();
            std::thread::spawn(move || {
                let mut store = door.open();
                for number in 0..EACH {
                    let id = handoff_core::TaskId::from_uuid(uuid());
                    let spec = spec(&format!("w{writer}-{number}"));
                    let change = handoff_store::queue::Change::Add { id, project, spec };
                    submit(&mut *store, &request(change)).unwrap();
                }
            })
        })
        .collect();
    let mut since = Cursor::START;
    let mut seen = vec![];
    while writers.iter().any(|writer| !writer.is_finished()) {
        seen.extend(drain(&mut *fixture.store, &mut since));
    }
    for writer in writers {
        writer.join().unwrap();
    }
    seen.extend(drain(&mut *fixture.store, &mut since));
    let mut streams: Vec<_> = seen.into_iter().map(|envelope| envelope.stream).collect();
    assert_eq!(streams.len(), 8 * EACH);
    streams.sort_unstable_by_key(ToString::to_string);
    streams.dedup();
    assert_eq!(streams.len(), 8 * EACH);
}

fn the_bell_rings_for_another_writer(fixture: &mut Fixture) {
    fixture.add(spec("before"));
    let mut bell = fixture.store.bell().unwrap();
    let (door, change) = (fixture.door(), fixture.adding(spec("one")));
    let writer = std::thread::spawn(move || {
        submit(&mut *door.open(), &request(change)).unwrap();
    });
    assert_eq!(bell.wait(Duration::from_secs(20)).unwrap(), Ring::Rung);
    writer.join().unwrap();
}
