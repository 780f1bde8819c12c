//! What kind of machine a program is for, as its first bytes say.
//!
//! A program that the kernel cannot run is not simply refused: the C library hands it to a shell. So it is looked at before
//! it is started.

/// Enough of a file to tell: up to the machine in the header of an ELF file.
pub(crate) const HEAD_LEN: usize = 20;

const SCRIPT: &[u8] = b"#!";
const ELF: &[u8] = b"\x7fELF";

/// What kind of machine a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Image {
    /// Whatever the interpreter on its first line runs on.
    Script,
    /// Width, byte order and processor.
    Elf {
        class: u8,
        order: u8,
        machine: [u8; 2],
    },
    Unknown,
}

impl Image {
    /// Looks at the beginning of a file.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match bytes.get(..HEAD_LEN) {
            _ if bytes.starts_with(SCRIPT) => Self::Script,
            Some(head) if head.starts_with(ELF) => Self::Elf {
                class: head[4],
                order: head[5],
                machine: [head[18], head[19]],
            },
            Some(_) | None => Self::Unknown,
        }
    }

    /// Whether it can be expected to run where a program of the other kind runs.
    pub(crate) fn runs_where(self, other: Self) -> bool {
        match self {
            Self::Script => true,
            Self::Elf { .. } => self == other,
            Self::Unknown => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(class: u8, machine: u8) -> Image {
        let mut head = [0; HEAD_LEN];
        head[..4].copy_from_slice(ELF);
        head[4] = class;
        head[18] = machine;
        Image::of(&head)
    }

    #[test]
    fn a_program_runs_where_its_kind_runs() {
        let (amd64, arm64, i386) = (elf(2, 62), elf(2, 183), elf(1, 3));
        assert!(amd64.runs_where(amd64));
        assert!(!arm64.runs_where(amd64));
        assert!(!i386.runs_where(amd64));
        assert!(Image::of(b"#!/bin/sh\n").runs_where(amd64));
        for text in [
            &b""[..],
            b"\x7fELF",
            b"<html>an error page that is long enough</html>",
        ] {
            assert!(!Image::of(text).runs_where(amd64));
        }
    }
}
