//! Where a command can be struck: every call it makes that changes files.

use std::collections::BTreeMap;
use std::path::Path;

/// The calls that change files, by any spelling, or wait for others.
pub(crate) const CALLS: [&str; 22] = [
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "open",
    "openat",
    "openat2",
    "ftruncate",
    "fallocate",
    "unlink",
    "unlinkat",
    "fcntl",
    "flock",
    "fchmod",
    "mkdir",
    "mkdirat",
];

/// One call: which kind, which of its kind, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) call: &'static str,
    pub(crate) number: u16,
    pub(crate) subject: Subject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Directory,
    Other,
}

/// The calls of these kinds in a log of `strace -f -y`: of each kind those of the thread that makes most of them.
pub(crate) fn points_in(
    log: &str,
    calls: &[&'static str],
    is_directory: impl Fn(&Path) -> bool,
) -> Vec<Point> {
    let mut made: BTreeMap<(&'static str, &str), Vec<Subject>> = BTreeMap::new();
    for line in log.lines() {
        let Some((head, rest)) = line.split_once('(') else {
            continue;
        };
        let Some((thread, call)) = head.split_once(' ') else {
            continue;
        };
        if let Some(known) = calls.iter().find(|known| **known == call.trim()) {
            let subject = match descriptor_path(rest) {
                Some(path) if is_directory(path) => Subject::Directory,
                Some(_) | None => Subject::Other,
            };
            made.entry((known, thread)).or_default().push(subject);
        }
    }
    let of_kind = |call: &'static str| {
        let threads = made.iter().filter(move |((kind, _), _)| *kind == call);
        let most = threads
            .map(|(_, subjects)| subjects.as_slice())
            .max_by_key(|it| it.len());
        let numbered = (1..).zip(most.unwrap_or_default().to_vec());
        numbered.map(move |(number, subject)| Point {
            call,
            number,
            subject,
        })
    };
    calls.iter().copied().flat_map(of_kind).collect()
}

/// The path of the first argument, where that is an open file: `4</tmp/x>, …`.
fn descriptor_path(arguments: &str) -> Option<&Path> {
    let (number, rest) = arguments.split_once('<')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let (path, _) = rest.split_once('>').filter(|_| is_number)?;
    Some(Path::new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_kind_and_thread() {
        let log = "7 openat(AT_FDCWD</>, \"a(\") = 3\n7 fsync(3</d/f>) = 0\n7 fsync(4</d>) = 0\n\
                   8 openat(1) = 2\n8 openat(1) = 2\n";
        let points = points_in(log, &CALLS, |path| path == Path::new("/d"));
        let named: Vec<_> = points
            .iter()
            .map(|point| (point.call, point.number, point.subject))
            .collect();
        let expected = [
            ("fsync", 1, Subject::Other),
            ("fsync", 2, Subject::Directory),
            ("openat", 1, Subject::Other),
            ("openat", 2, Subject::Other),
        ];
        assert_eq!(named, expected);
    }
}
