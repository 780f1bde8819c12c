//! What nobody in a sandbox may ask of a terminal: to take characters for typed ones. The shell outside
//! would run them, and Landlock has no say over a terminal that was open before.
//!
//! A filter of the kernel (seccomp) refuses the two requests, whatever terminal they are for.

use std::io;

/// Puts a character where typed ones wait.
const TIOCSTI: u32 = 0x5412;
/// Can paste what is selected on a console.
const TIOCLINUX: u32 = 0x541c;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;
/// The other way into a kernel of x86-64, with 32-bit pointers.
const IOCTL_X32: u32 = 0x4000_0000 + 514;
/// Programs of 32 bits, on Intel as on ARM.
const IOCTL_32: u32 = 54;

/// Where the kernel puts what it asks about.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const SECOND_ARGUMENT: u32 = 24;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();

/// Jumps count from the next line.
const FILTER: [libc::sock_filter; 12] = [
    load(ARCHITECTURE),
    jump(NATIVE, 0, 3),
    load(NUMBER),
    jump(ioctl(), 3, 0),
    jump(IOCTL_X32, 2, 5),
    load(NUMBER),
    jump(IOCTL_32, 0, 3),
    load(SECOND_ARGUMENT),
    jump(TIOCSTI, 2, 0),
    jump(TIOCLINUX, 1, 0),
    answer(ALLOW),
    answer(REFUSE),
];

#[expect(
    clippy::cast_possible_truncation,
    reason = "numbers of system calls are small, and `try_from` is not for constants"
)]
const fn ioctl() -> u32 {
    libc::SYS_ioctl as u32
}

const fn load(place: u32) -> libc::sock_filter {
    line(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, place)
}

const fn jump(value: u32, if_so: u8, if_not: u8) -> libc::sock_filter {
    let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    line(code, if_so, if_not, value)
}

const fn answer(value: u32) -> libc::sock_filter {
    line(libc::BPF_RET | libc::BPF_K, 0, 0, value)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "codes have 16 bits in the kernel's own form"
)]
const fn line(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}

/// Forbids it to this process and all that it starts. It must have given up new privileges before.
pub(super) fn forbid() -> io::Result<()> {
    let mut filter = FILTER;
    let program = libc::sock_fprog {
        len: 12,
        filter: filter.as_mut_ptr(),
    };
    #[expect(unsafe_code, reason = "no safe way to hand a filter to the kernel")]
    // SAFETY: the kernel copies the filter during the call; pointer and length are of an array that lives until after it.
    let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
