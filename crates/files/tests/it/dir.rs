//! What a directory refuses to open, and what it makes.

use crate::child::{Part, Verdict, verdict};
use handoff_files::{Access, Dir, DirError};
use rustix::fs::{CWD, RenameFlags};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const LIMIT: u64 = 100;

/// `outside/secret` and `inside/real/secret`, the second being what may be read.
fn place() -> (TempDir, Dir) {
    let place = TempDir::new().unwrap();
    for directory in ["outside", "inside/real"] {
        let directory = place.path().join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(
            directory.join("secret"),
            directory.file_name().unwrap().as_encoded_bytes(),
        )
        .unwrap();
    }
    let dir = Dir::open(&place.path().join("inside")).unwrap();
    (place, dir)
}

fn is_refused<T>(result: &Result<T, DirError>) -> bool {
    matches!(result, Err(DirError::NotBeneath(_)))
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_lies_beneath_is_opened() {
    let (_place, dir) = place();
    assert_eq!(dir.read_to_string("real/secret", LIMIT).unwrap(), "real");
    let real = dir.dir("real").unwrap();
    assert_eq!(real.read_to_string("secret", LIMIT).unwrap(), "real");
    let missing = dir.read("missing", LIMIT).unwrap_err();
    assert!(missing.is_not_found(), "{missing:?}");
}

#[test]
fn what_leads_out_or_through_a_link_is_refused() {
    let (place, dir) = place();
    let inside = place.path().join("inside");
    symlink("../outside", inside.join("link_out")).unwrap();
    symlink("real", inside.join("link_in")).unwrap();
    symlink("../../outside/secret", inside.join("real/link")).unwrap();
    symlink("secret", inside.join("real/link_beside")).unwrap();
    let paths = [
        PathBuf::new(),
        "..".into(),
        "../outside/secret".into(),
        "real/../real/secret".into(),
        "real/../../outside/secret".into(),
        place.path().join("inside/real/secret"),
        "link_out/secret".into(),
        "link_in/secret".into(),
        "link_out".into(),
        "real/link".into(),
        "real/link_beside".into(),
        "/proc/self/root/etc/passwd".into(),
    ];
    for path in paths {
        assert!(
            is_refused(&dir.open_beneath(&path, Access::Read)),
            "{path:?}"
        );
        assert!(
            is_refused(&dir.open_beneath(&path, Access::Append)),
            "{path:?}"
        );
        assert!(is_refused(&dir.dir(&path)), "{path:?}");
        assert!(is_refused(&dir.create_dir(&path)), "{path:?}");
    }
    for name in ["..", ".", "", "real/secret", "../outside/secret"] {
        assert!(is_refused(&dir.remove(name)), "{name}");
    }
    assert_eq!(
        std::fs::read_dir(place.path().join("outside"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn a_directory_swapped_for_a_link_all_the_time_never_leads_out() {
    let (place, dir) = place();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    symlink(place.path().join("outside"), &link).unwrap();
    let swap = || rustix::fs::renameat_with(CWD, &real, CWD, &link, RenameFlags::EXCHANGE);
    let has_ended = AtomicBool::new(false);
    let (mut opened, mut refused, mut others) = (0, 0, Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                swap().unwrap();
            }
        });
        for _ in 0..1_000_000 {
            match dir.read_to_string("real/secret", LIMIT) {
                Ok(content) if content == "real" => opened += 1,
                Err(DirError::NotBeneath(_)) => refused += 1,
                other => others.push(other),
            }
            if opened.min(refused) == 500 {
                break;
            }
        }
        has_ended.store(true, Ordering::Relaxed);
    });
    assert!(others.is_empty(), "{others:?}");
    assert!(opened.min(refused) == 500, "{opened} {refused}");
}

#[test]
fn a_renamed_directory_stays_the_same_directory() {
    let (place, dir) = place();
    std::fs::rename(place.path().join("inside"), place.path().join("moved")).unwrap();
    symlink("outside", place.path().join("inside")).unwrap();
    assert_eq!(dir.read_to_string("real/secret", LIMIT).unwrap(), "real");
    assert!(dir.read("secret", LIMIT).unwrap_err().is_not_found());
}

#[test]
fn only_regular_files_are_opened_and_a_pipe_does_not_block() {
    let (place, dir) = place();
    let pipe = place.path().join("inside/pipe");
    rustix::fs::mknodat(
        CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    for name in ["pipe", "real"] {
        let opened = dir.open_beneath(name, Access::Read);
        assert!(matches!(opened, Err(DirError::NotAFile(_))), "{opened:?}");
    }
}

#[test]
fn a_read_is_bounded_and_text_is_text() {
    let (place, dir) = place();
    std::fs::write(place.path().join("inside/file"), b"12345\xff").unwrap();
    assert_eq!(dir.read("file", 6).unwrap(), b"12345\xff");
    let too_large = dir.read("file", 5);
    assert!(
        matches!(too_large, Err(DirError::TooLarge { limit: 5, .. })),
        "{too_large:?}"
    );
    let not_text = dir.read_to_string("file", 6);
    assert!(
        matches!(not_text, Err(DirError::NotText(..))),
        "{not_text:?}"
    );
}

#[test]
fn appending_adds_at_the_end_and_removing_takes_the_name() {
    let (_place, dir) = place();
    for line in ["one\n", "two\n"] {
        let mut file = dir.open_beneath("log", Access::Append).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
    assert_eq!(dir.read_to_string("log", LIMIT).unwrap(), "one\ntwo\n");
    assert_eq!(dir.names().unwrap(), ["log", "real"]);
    dir.remove("log").unwrap();
    assert_eq!(dir.names().unwrap(), ["real"]);
    assert!(dir.remove("log").unwrap_err().is_not_found());
}

#[test]
fn nothing_is_open_to_others_under_an_open_umask() {
    let place = TempDir::new().unwrap();
    let output = Part::MakeUnderOpenUmask
        .command(place.path())
        .output()
        .unwrap();
    assert_eq!(verdict(output.status), Ok(Verdict::Done));
    let modes = [
        ("a", 0o700),
        ("a/b", 0o700),
        ("a/b/c", 0o700),
        ("a/b/c/created", 0o600),
        ("a/b/c/replaced", 0o600),
        ("a/b/c/program", 0o700),
        ("a/b/c/shared", 0o644),
        ("a/b/c/appended", 0o600),
        ("a/b/c/lock", 0o600),
    ];
    for (name, expected) in modes {
        let found = mode(&place.path().join(name));
        assert_eq!(found, expected, "{name} is {found:o}");
    }
}

#[test]
fn a_private_directory_is_opened_again_and_others_are_left_as_they_are() {
    let place = TempDir::new().unwrap();
    let ancestor = place.path().join("ancestor");
    std::fs::create_dir(&ancestor).unwrap();
    std::fs::set_permissions(&ancestor, PermissionsExt::from_mode(0o755)).unwrap();
    let path = ancestor.join("private");
    for _ in 0..2 {
        assert_eq!(Dir::create_private(&path).unwrap().path(), path);
    }
    assert_eq!(mode(&ancestor), 0o755);
    Dir::create_private(&ancestor).unwrap();
}

#[test]
fn a_private_directory_that_others_may_write_is_refused() {
    let place = TempDir::new().unwrap();
    for open_mode in [0o770, 0o707, 0o1777] {
        let permissions = PermissionsExt::from_mode(open_mode);
        std::fs::set_permissions(place.path(), permissions).unwrap();
        match Dir::create_private(place.path()) {
            Err(DirError::WritableByOthers { mode, .. }) => assert_eq!(mode, open_mode),
            opened => panic!("{opened:?}"),
        }
    }
}

#[test]
fn a_private_directory_of_another_user_is_refused() {
    let place = TempDir::new().unwrap();
    let foreign = if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(place.path(), Some(65534), None).unwrap();
        place.path()
    } else {
        Path::new("/")
    };
    let expected = foreign.metadata().unwrap().uid();
    let opened = Dir::create_private(foreign);
    assert!(
        matches!(opened, Err(DirError::ForeignOwner { owner, .. }) if owner == expected),
        "{opened:?}"
    );
}

#[test]
fn a_private_directory_that_is_a_link_is_refused() {
    let (place, _dir) = place();
    let link = place.path().join("link");
    symlink(place.path().join("outside"), &link).unwrap();
    assert!(is_refused(&Dir::create_private(&link)));
    assert!(is_refused(&Dir::create_private(&link.join("."))));
    symlink("nowhere", place.path().join("dangling")).unwrap();
    assert!(is_refused(&Dir::create_private(
        &place.path().join("dangling/below")
    )));
}
