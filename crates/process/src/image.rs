//! A program in the form in which the kernel takes it: all that is to be told to a new process, made before there is one.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use rustix::io::Errno;

use crate::program::Program;

/// Runs what the kernel does not know how to run, as shells and the C library have it: a script without a first line that says
/// by what.
const SHELL: &CStr = c"/bin/sh";

/// Everything that exec needs.
#[derive(Debug)]
pub(crate) struct Image {
    file: CString,
    cwd: CString,
    arguments: Words,
    /// For the shell, if it has to run the file.
    shell_arguments: Words,
    environment: Words,
}

impl Image {
    pub(crate) fn of(program: &Program) -> io::Result<Self> {
        let file = program.file()?;
        let file = CString::new(file.as_os_str().as_bytes())?;
        let arguments = program.arguments.iter().map(|it| word(&[it]));
        let arguments = arguments.collect::<io::Result<Vec<_>>>()?;
        let variables = program.environment.iter();
        let environment = variables.map(|(name, value)| word(&[name, OsStr::new("="), value]));
        Ok(Self {
            cwd: CString::new(program.cwd.as_os_str().as_bytes())?,
            shell_arguments: Words::new([SHELL.to_owned(), file.clone()], arguments.clone()),
            arguments: Words::new([word(&[&program.name])?], arguments),
            environment: Words::new([], environment.collect::<io::Result<_>>()?),
            file,
        })
    }

    /// Where the program is to start.
    pub(crate) fn cwd(&self) -> &CStr {
        &self.cwd
    }

    /// Becomes the program; says what kept us from it. Two system calls at most, and nothing else.
    pub(crate) fn exec(&self) -> Errno {
        match self.become_file(&self.file, &self.arguments) {
            Errno::NOEXEC => self.become_file(SHELL, &self.shell_arguments),
            errno => errno,
        }
    }

    fn become_file(&self, file: &CStr, arguments: &Words) -> Errno {
        #[expect(unsafe_code, reason = "no safe way to become another program")]
        // SAFETY: three pointers to what we hold until after the call: a text that ends with zero, and two lists of such
        // texts that end with a null pointer.
        unsafe {
            libc::execve(file.as_ptr(), arguments.as_ptr(), self.environment.as_ptr())
        };
        // A call that failed has always said why.
        Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
    }
}

fn word(parts: &[&OsStr]) -> io::Result<CString> {
    let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
    Ok(CString::new(parts.concat())?)
}

/// A list as C has it.
#[derive(Debug)]
struct Words {
    /// Ends with a null pointer; the others point into `_texts`, whose bytes do not move with it.
    pointers: Vec<*const libc::c_char>,
    _texts: Vec<CString>,
}

impl Words {
    fn new<const N: usize>(first: [CString; N], rest: Vec<CString>) -> Self {
        let texts: Vec<_> = first.into_iter().chain(rest).collect();
        let pointers = texts.iter().map(|it| it.as_ptr());
        Self {
            pointers: pointers.chain([ptr::null()]).collect(),
            _texts: texts,
        }
    }

    const fn as_ptr(&self) -> *const *const libc::c_char {
        self.pointers.as_ptr()
    }
}
