//! Many writers of one name, and writers beside sweepers.

use crate::child::{FILE, Part, Verdict, new_content, strace, verdict};
use handoff_files::atomic::{Mode, WriteError, create_new, replace, sweep, sweep_for};
use handoff_files::{Access, Dir};
use std::sync::Barrier;
use std::thread::ScopedJoinHandle;
use tempfile::TempDir;

const NAME: &str = "subject";
const LENGTH: usize = 64 * 1024;
const LIMIT: u64 = 1024 * 1024;

fn place() -> (TempDir, Dir) {
    let place = TempDir::new().unwrap();
    let dir = Dir::open(place.path()).unwrap();
    (place, dir)
}

fn assert_whole(content: &[u8]) {
    assert_eq!(content.len(), LENGTH);
    assert!(content.iter().all(|byte| *byte == content[0]), "mixed");
}

#[test]
fn of_eight_writers_of_a_new_name_exactly_one_wins() {
    let (_place, dir) = place();
    for round in 0..20 {
        let name = format!("{NAME}-{round}");
        let start = Barrier::new(8);
        let write = |writer: u8| {
            start.wait();
            create_new(&dir, &name, &vec![writer; LENGTH], Mode::Private)
        };
        let written: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8).map(|id| scope.spawn(move || write(id))).collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .collect()
        });
        let winners: Vec<_> = (0..8).filter(|id| written[*id].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{written:?}");
        let beaten = |result: &Result<(), WriteError>| {
            matches!(result, Ok(()) | Err(WriteError::AlreadyExists(_)))
        };
        assert!(written.iter().all(beaten), "{written:?}");
        let content = dir.read(&name, LIMIT).unwrap();
        assert_whole(&content);
        assert_eq!(usize::from(content[0]), winners[0]);
    }
    assert_eq!(sweep(&dir).unwrap(), 0, "losers clean up after themselves");
}

#[test]
fn a_reader_beside_four_replacing_writers_always_finds_a_whole_file() {
    let (_place, dir) = place();
    replace(&dir, NAME, &[0; LENGTH], Mode::Private).unwrap();
    std::thread::scope(|scope| {
        let write = |writer| replace(&dir, NAME, &[writer; LENGTH], Mode::Private);
        let writers: Vec<_> = (1..=4)
            .map(|writer| scope.spawn(move || (0..10).try_for_each(|_| write(writer))))
            .collect();
        while !writers.iter().all(ScopedJoinHandle::is_finished) {
            assert_whole(&dir.read(NAME, LIMIT).unwrap());
        }
        for writer in writers {
            writer.join().unwrap().unwrap();
        }
    });
}

#[test]
fn sweeping_all_the_time_disturbs_no_writer() {
    let (_place, dir) = place();
    let name = |round: usize| format!("{NAME}-{round}");
    std::thread::scope(|scope| {
        let write = |round| create_new(&dir, &name(round), b"content", Mode::Private);
        let writer = scope.spawn(move || (0..100).try_for_each(write));
        while !writer.is_finished() {
            sweep(&dir).unwrap();
        }
        writer.join().unwrap().unwrap();
    });
    assert_eq!(dir.names().unwrap().len(), 100);
}

#[test]
fn a_file_swept_before_its_writer_could_lock_it_is_written_again() {
    let (place, dir) = place();
    let delay = strace(["--inject=flock:delay_enter=400ms:when=1".to_owned()]);
    let mut command = Part::CreateNew.command_under(&delay, place.path());
    let mut writer = command.spawn().unwrap();
    let mut swept = 0;
    let status = loop {
        if swept == 0 {
            swept = sweep(&dir).unwrap();
        }
        if let Some(status) = writer.try_wait().unwrap() {
            break status;
        }
        std::thread::yield_now();
    };
    assert_eq!(swept, 1);
    assert_eq!(verdict(status), Ok(Verdict::Done));
    assert_eq!(dir.read(FILE, LIMIT).unwrap(), new_content());
}

#[test]
fn sweep_takes_leftovers_and_nothing_else() {
    let (place, dir) = place();
    let leftover = ".subject.0123456789abcdef.tmp";
    let living = ".subject.fedcba9876543210.tmp";
    for name in ["subject", ".hidden.tmp", leftover, living] {
        std::fs::write(place.path().join(name), "content").unwrap();
    }
    let writer = dir.open_beneath(living, Access::Append).unwrap();
    writer.lock().unwrap();
    assert_eq!(dir.names().unwrap(), [".hidden.tmp", "subject"]);
    assert_eq!(sweep(&dir).unwrap(), 1);
    assert!(place.path().join(living).exists());
    drop(writer);
    assert_eq!(sweep(&dir).unwrap(), 1);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
fn sweep_for_a_name_leaves_what_was_to_become_another() {
    let (place, dir) = place();
    let names = [
        ".subject.0123456789abcdef.tmp",
        ".other.0123456789abcdef.tmp",
        ".subject.x.0123456789abcdef.tmp",
    ];
    for name in names {
        std::fs::write(place.path().join(name), "content").unwrap();
    }
    assert_eq!(sweep_for(&dir, "subject").unwrap(), 1);
    assert_eq!(
        names.map(|name| place.path().join(name).exists()),
        [false, true, true]
    );
}

#[test]
fn replace_puts_a_file_in_the_place_of_a_link_and_leaves_its_target() {
    let (place, dir) = place();
    let target = place.path().join("target");
    std::fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, place.path().join(NAME)).unwrap();
    let taken = create_new(&dir, NAME, b"new", Mode::Private);
    assert!(
        matches!(taken, Err(WriteError::AlreadyExists(_))),
        "{taken:?}"
    );
    replace(&dir, NAME, b"new", Mode::Private).unwrap();
    assert_eq!(dir.read_to_string(NAME, LIMIT).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
}
