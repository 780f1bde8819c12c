//! What a system has only so much of, and what its answers say about that. The one table from numbers to names.

/// Something that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Space, or room for one more file, on a disk.
    Space,
    /// What this user may use of a disk.
    Quota,
    /// Files that a process, or the machine, may have open.
    Descriptors,
    /// Processes that may run.
    Processes,
    /// How long a file may become.
    FileSize,
    /// Memory.
    Memory,
    /// Connections to the server of the ledger.
    Connections,
}

impl Resource {
    /// What an error number of the system says. `EAGAIN` is not among them: it says so only of new processes.
    #[must_use]
    pub const fn of_errno(number: i32) -> Option<Self> {
        // Those of Linux and macOS; they differ in the last.
        match number {
            12 => Some(Self::Memory),
            23 | 24 => Some(Self::Descriptors),
            27 => Some(Self::FileSize),
            28 => Some(Self::Space),
            69 if cfg!(target_os = "macos") => Some(Self::Quota),
            122 if cfg!(target_os = "linux") => Some(Self::Quota),
            _ => None,
        }
    }

    /// The same of an answer to starting a process.
    #[must_use]
    pub const fn of_start(number: i32) -> Option<Self> {
        match number {
            11 if cfg!(target_os = "linux") => Some(Self::Processes),
            35 if cfg!(target_os = "macos") => Some(Self::Processes),
            _ => Self::of_errno(number),
        }
    }

    /// What a result code of SQLite says, extended or not.
    #[must_use]
    pub const fn of_sqlite(code: i32) -> Option<Self> {
        const IOERR_NOMEM: i32 = 10 | (12 << 8);
        match (code, code & 0xff) {
            (IOERR_NOMEM, _) | (_, 7) => Some(Self::Memory),
            (_, 13) => Some(Self::Space),
            _ => None,
        }
    }

    /// What a code of a PostgreSQL server says: class 53.
    #[must_use]
    pub fn of_sql_state(code: &str) -> Option<Self> {
        match code {
            "53100" => Some(Self::Space),
            "53200" => Some(Self::Memory),
            "53300" => Some(Self::Connections),
            _ => None,
        }
    }

    /// That it is used up, in a sentence, and what to do.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Space => {
                "no space, or no room for another file, is left on the disk: free some, then repeat the command"
            }
            Self::Quota => {
                "your quota of the disk is used up: free some space, then repeat the command"
            }
            Self::Descriptors => {
                "no more files can be opened: end programs that hold many, or raise `ulimit -n`, then repeat the command"
            }
            Self::Processes => {
                "no more processes can be started: end some, or raise `ulimit -u`, then repeat the command"
            }
            Self::FileSize => {
                "a file would become longer than the limit allows: raise `ulimit -f`, then repeat the command"
            }
            Self::Memory => {
                "no memory is left: end programs that use much, then repeat the command"
            }
            Self::Connections => {
                "the server has no connection left: end some, or raise `max_connections`, then repeat the command"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_name_what_is_used_up_and_nothing_else() {
        use Resource::{Connections, Descriptors, FileSize, Memory, Space};
        for (errno, resource) in [
            (28, Some(Space)),
            (24, Some(Descriptors)),
            (23, Some(Descriptors)),
            (12, Some(Memory)),
            (27, Some(FileSize)),
            (11, None),
            (5, None),
            (2, None),
            (0, None),
            (-28, None),
        ] {
            assert_eq!(Resource::of_errno(errno), resource, "{errno}");
        }
        for (code, resource) in [
            (13, Some(Space)),
            (7, Some(Memory)),
            (3082, Some(Memory)),
            (10, None),
            (778, None),
            (14, None),
            (0, None),
        ] {
            assert_eq!(Resource::of_sqlite(code), resource, "{code}");
        }
        for (code, resource) in [
            ("53100", Some(Space)),
            ("53200", Some(Memory)),
            ("53300", Some(Connections)),
            ("53000", None),
            ("57P03", None),
            ("", None),
        ] {
            assert_eq!(Resource::of_sql_state(code), resource, "{code}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_cannot_be_started_is_one_too_many() {
        assert_eq!(Resource::of_start(11), Some(Resource::Processes));
        assert_eq!(Resource::of_start(12), Some(Resource::Memory));
        assert_eq!(Resource::of_start(2), None);
        assert_eq!(Resource::of_errno(122), Some(Resource::Quota));
    }
}
