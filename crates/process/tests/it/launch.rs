//! How a program is started, and what it finds.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use handoff_process::{Exit, Program, Sandbox, StartError, Stdin, output, start};
use handoff_testkit::TestEnv;

use crate::part::{BOUND, shell};

fn printed(program: &Program) -> String {
    let output = output(program, Some(BOUND)).unwrap();
    assert_eq!(output.exit, Exit::Code(0));
    String::from_utf8(output.stdout.into()).unwrap()
}

fn file(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_cannot_be_started_is_told_as_the_system_tells_it() {
    let env = TestEnv::without_binary();
    let tool = env.work().join("tool");
    file(&tool, "", 0o644);
    let in_path = |name: &str| {
        let mut program = Program::new(name, env.work());
        program.environment.insert("PATH".into(), env.work().into());
        program
    };
    let odd = OsStr::from_bytes(b"a\0b");
    let table = [
        (Program::new("/no/such", "/"), ErrorKind::NotFound),
        (Program::new("no-such", "/"), ErrorKind::NotFound),
        (in_path("no-such"), ErrorKind::NotFound),
        // Not even from the directory where it starts.
        (Program::new("tool", env.work()), ErrorKind::NotFound),
        (Program::new("/bin/true", "/no/such"), ErrorKind::NotFound),
        (Program::new(&tool, "/"), ErrorKind::PermissionDenied),
        (in_path("tool"), ErrorKind::PermissionDenied),
        (Program::new(env.work(), "/"), ErrorKind::PermissionDenied),
        (Program::new("/bin/true", &tool), ErrorKind::NotADirectory),
        (
            Program::new("/bin/true", "/").with_arguments([odd]),
            ErrorKind::InvalidInput,
        ),
    ];
    for (program, kind) in table {
        let StartError::Start { name, cwd, source } = start(&program).unwrap_err() else {
            panic!("{program:?}")
        };
        assert_eq!((&name, &cwd), (&program.name, &program.cwd));
        assert_eq!(source.kind(), kind, "{program:?}");
    }
}

#[test]
fn of_a_program_that_could_not_be_started_nothing_is_left() {
    start(&Program::new("/no/such", "/")).unwrap_err();
    assert_eq!(
        fs::read_to_string("/proc/thread-self/children").unwrap(),
        ""
    );
}

#[test]
fn it_finds_its_name_arguments_variables_input_and_directory() {
    let env = TestEnv::without_binary();
    std::os::unix::fs::symlink("/bin/sh", env.work().join("tool")).unwrap();
    let script = "echo $1 $VARIABLE; pwd; cat";
    let mut program = Program::new("tool", "/usr").with_arguments(["-c", script, "tool", "one"]);
    let path = format!("{}:/usr/bin:/bin", env.work().display());
    program.environment.insert("PATH".into(), path.into());
    program
        .environment
        .insert("VARIABLE".into(), "of its own".into());
    program.stdin = Stdin::Bytes(b"input\n".to_vec());
    assert_eq!(printed(&program), "one of its own\n/usr\ninput\n");
    program.arguments = vec!["-c".into(), "echo $0".into()];
    assert_eq!(printed(&program), "tool\n");
}

#[test]
fn a_script_that_does_not_say_what_runs_it_is_run_by_the_shell() {
    let env = TestEnv::without_binary();
    let script = env.work().join("script");
    file(&script, "echo $1 of $0\n", 0o755);
    let program = Program::new(&script, "/").with_arguments(["word"]);
    assert_eq!(printed(&program), format!("word of {}\n", script.display()));
}

#[test]
fn it_leads_a_group_of_its_own() {
    let said = printed(&shell(
        "read -r stat </proc/$$/stat; set -- $stat; echo $1 $5",
    ));
    let (pid, group) = said.trim_end().split_once(' ').unwrap();
    assert_eq!(pid, group);
}

#[test]
fn it_has_no_file_of_ours_open() {
    let list = |dir: &str| printed(&Program::new("/bin/ls", "/").with_arguments([dir]));
    let before = list("/proc/self/fd");
    let open: Vec<_> = (0..20).map(|_| fs::File::open("/").unwrap()).collect();
    assert_eq!(list("/proc/self/fd"), before);
    assert_eq!(open.len(), 20);
}

#[test]
fn it_ends_with_the_thread_that_started_it() {
    let sleeper = Program::new("/bin/sleep", "/").with_arguments(["1000"]);
    let starter = thread::spawn(move || start(&sleeper).unwrap());
    let mut child = starter.join().unwrap();
    assert_eq!(child.wait(Some(BOUND)).unwrap(), Exit::Signal(9));
}

/// What a process does with signals, as the kernel tells it.
fn signals(status: &str, field: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
}

#[test]
fn signals_are_as_they_would_be_without_us_and_ours_stay_as_they_were() {
    const PIPE: u64 = 1 << 12;
    let own = || fs::read_to_string("/proc/thread-self/status").unwrap();
    let before = own();
    assert_ne!(signals(&before, "SigIgn:") & PIPE, 0, "std ignores it");
    assert_ne!(signals(&before, "SigCgt:"), 0, "std handles some");
    let program = Program::new("/bin/cat", "/").with_arguments(["/proc/self/status"]);
    let status = printed(&program);
    assert_eq!(signals(&status, "SigBlk:"), 0);
    assert_eq!(signals(&status, "SigCgt:"), 0);
    assert_eq!(
        signals(&status, "SigIgn:"),
        signals(&before, "SigIgn:") & !PIPE
    );
    let after = own();
    for field in ["SigBlk:", "SigIgn:", "SigCgt:"] {
        assert_eq!(signals(&before, field), signals(&after, field), "{field}");
    }
}

#[test]
fn many_threads_start_programs_at_once() {
    let starter = |thread: usize| {
        move || {
            for round in 0..25 {
                let word = format!("{thread} {round}");
                let program = Program::new("/bin/echo", "/").with_arguments([&word]);
                assert_eq!(printed(&program), format!("{word}\n"));
                assert!(start(&Program::new("/no/such", "/")).is_err());
            }
        }
    };
    let threads: Vec<_> = (0..8).map(|it| thread::spawn(starter(it))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_sandbox_holds_the_program_and_not_us() {
    let env = TestEnv::without_binary();
    let (inside, outside) = (env.work().join("inside"), env.work().join("outside"));
    fs::create_dir(&inside).unwrap();
    let script = format!(
        "echo yes >{0}/a && ! echo no >{1}",
        inside.display(),
        outside.display()
    );
    let mut program = shell(&script);
    program.sandbox = Some(Sandbox::new([inside.clone()]));
    assert_eq!(printed(&program), "");
    assert_eq!(fs::read_to_string(inside.join("a")).unwrap(), "yes\n");
    assert!(!outside.exists());
    fs::write(&outside, "ours").unwrap();
    program.sandbox = Some(Sandbox::new(["/no/such".into()]));
    assert!(matches!(start(&program), Err(StartError::Sandbox(..))));
}
