//! What root gives up in a sandbox.
//!
//! Landlock holds files. As root a process could still reach them by other ways: a device that it makes or a file system that it
//! mounts has the same bytes under another name, and a traced process outside has other rights. A user without capabilities has
//! nothing to give up.
//!
//! Kept is what builds and tests of root use on their own files and processes: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID,
//! SETUID (a test drops to another user and ends what runs there), NET_BIND_SERVICE. Everything else goes, also what later kernels
//! add: MKNOD, SYS_ADMIN, SYS_RAWIO, SYS_MODULE, BPF, PERFMON (ways to the bytes of a disk or into the kernel), SYS_CHROOT (another root
//! for programs that look for their files by name), LINUX_IMMUTABLE (`chattr +i` on files of others), SETFCAP (rights that
//! stay on a file), SETPCAP, SYS_PTRACE, DAC_READ_SEARCH (files by handle, past their path), SYS_RESOURCE (the limits of a check,
//! and its place before the out-of-memory killer), NET_ADMIN, NET_RAW (reading what others send over loopback), SYS_BOOT, SYS_TIME,
//! MAC_*, AUDIT_*, and what only daemons need.

use std::io;

const KEPT: [u32; 8] = [0, 1, 3, 4, 5, 6, 7, 10];

/// A bit for each capability that is kept.
const MASK: u64 = mask();

const fn mask() -> u64 {
    let (mut mask, mut at) = (0, 0);
    while at < KEPT.len() {
        mask |= 1 << KEPT[at];
        at += 1;
    }
    mask
}

/// More than any kernel has; it says which one is the first that it does not know.
const MOST: libc::c_ulong = 64;

const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const NONE: Half = Half {
    effective: 0,
    permitted: 0,
    inheritable: 0,
};

/// Gives them up for this process and all that it starts: plain system calls, for a process that is about to become another program.
/// With no-new-privs set, `exec` as root does not bring back what is not permitted.
pub(super) fn give_up() -> io::Result<()> {
    let mut header = Header {
        version: VERSION,
        pid: 0,
    };
    let mut sets = [NONE; 2];
    #[expect(unsafe_code, reason = "nobody has wrapped these without allocation")]
    // SAFETY: the kernel reads one header and reads or writes two halves, of the layout of this version, all alive during the calls;
    // the others take numbers only.
    unsafe {
        for capability in 0..MOST {
            if MASK & (1 << capability) != 0 {
                continue;
            }
            // Refused without SETPCAP, and for numbers that the kernel does not know. Then the sets below decide.
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        if libc::syscall(
            libc::SYS_capget,
            &raw mut header,
            sets.as_mut_ptr().cast::<Half>(),
        ) != 0
        {
            return Err(io::Error::last_os_error());
        }
        let kept = [(MASK & 0xffff_ffff) as u32, (MASK >> 32) as u32];
        for (half, kept) in sets.iter_mut().zip(kept) {
            half.effective &= kept;
            half.permitted &= kept;
            half.inheritable = 0;
        }
        // What is not permitted or inheritable leaves the ambient set by itself.
        if libc::syscall(
            libc::SYS_capset,
            &raw mut header,
            sets.as_ptr().cast::<Half>(),
        ) != 0
        {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_builds_need_on_their_own_files_is_kept() {
        assert_eq!(MASK, 0b100_1111_1011);
    }
}
