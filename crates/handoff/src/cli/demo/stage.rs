//! The stage: a scratch directory with a repository, a state directory and scripts, and what plays on it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::{Cursor, Envelope};
use handoff_engine::Places;
use handoff_operations::{Ambient, Failure, Project};
use handoff_process::tree::{self, Force};
use handoff_process::{Child, Exit, Program};
use handoff_session::{Client, Known, Standing, catalogue};
use handoff_store::events::{self, Following};
use handoff_store::{Store, read};

use crate::ambient::Invocation;
use crate::context::Context;

/// Nothing on this stage takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A scratch directory, and a context that knows nothing else.
pub(super) struct Stage {
    root: PathBuf,
    is_kept: bool,
    scratch: Context,
    since: Cursor,
}

impl Stage {
    /// Makes the scratch directory with a repository of one commit.
    pub(super) fn set(ctx: &Context) -> Result<Self, Failure> {
        let temporary = ctx.ambient.directory("TMPDIR").unwrap_or(Path::new("/tmp"));
        let root = temporary.join(format!("handoff-demo-{}", handoff_process::mint().simple()));
        let repo = root.join("repo");
        std::fs::create_dir_all(&repo).map_err(|error| unset(&root, &error))?;
        let scratch = scratch(ctx, &root, &repo);
        let stage = Self {
            root,
            is_kept: false,
            scratch,
            since: Cursor::START,
        };
        for (name, text) in FILES {
            std::fs::write(stage.root.join(name), text)
                .map_err(|error| unset(&stage.root, &error))?;
        }
        stage.git(&["init", "--quiet", "--initial-branch=main"])?;
        stage.git(&["add", "--all"])?;
        stage.git(&["commit", "--quiet", "--message=Begin"])?;
        Ok(stage)
    }

    pub(super) fn keep(&mut self) -> &Path {
        self.is_kept = true;
        &self.root
    }

    pub(super) fn desk(&self) -> Result<Project, Failure> {
        Project::open(&self.scratch)
    }

    pub(super) fn context(&self) -> &Context {
        &self.scratch
    }

    pub(super) fn places(&self) -> Places {
        Places::new(self.root.join("state"))
    }

    /// What git answers in the scratch repository.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String, Failure> {
        self.answer("git".into(), arguments)
    }

    /// What this very program answers there.
    pub(super) fn handoff(&self, arguments: &[&str]) -> Result<String, Failure> {
        self.answer(self.own_program().into(), arguments)
    }

    /// Writes a file of the scratch repository.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let path = self.root.join("repo").join(path);
        let place = path.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(place)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| unset(&self.root, &error))
    }

    fn answer(&self, program: OsString, arguments: &[&str]) -> Result<String, Failure> {
        let shown = Path::new(&program).file_name().unwrap_or(&program);
        let shown = shown.to_string_lossy().into_owned();
        let output = handoff_process::output(&self.program(program, arguments), Some(PATIENCE))
            .map_err(|error| Failure::failed(format!("cannot run {shown}")).because(&error))?;
        if !output.exit.is_success() {
            let said = String::from_utf8_lossy(&output.stderr.to_bytes()).into_owned();
            let words = arguments.join(" ");
            return Err(Failure::failed(format!("{shown} {words} failed: {said}")));
        }
        Ok(String::from_utf8_lossy(&output.stdout.to_bytes()).into_owned())
    }

    fn own_program(&self) -> &Path {
        let program = self.scratch.ambient.program.as_deref();
        program.unwrap_or(Path::new("handoff"))
    }

    /// A worker as a process of its own, which can be killed.
    pub(super) fn start_worker(&self, script: &str) -> Result<Child, Failure> {
        self.start(&["worker", "--once"], script)
    }

    /// A worker that takes four tasks at a time until nothing is left.
    pub(super) fn start_crew(&self, script: &str) -> Result<Child, Failure> {
        self.start(&["worker", "--until-empty", "--slots", "4"], script)
    }

    /// A run of a workflow in the foreground of a process of its own.
    pub(super) fn start_run(&self, words: &[&str]) -> Result<Child, Failure> {
        self.start(&[&["workflow"], words].concat(), "words.toml")
    }

    fn start(&self, words: &[&str], script: &str) -> Result<Child, Failure> {
        let script = self.root.join(script);
        let mut arguments: Vec<_> = words.iter().map(OsStr::new).collect();
        arguments.extend([OsStr::new("--script"), script.as_os_str()]);
        let program = self.program(self.own_program(), &arguments);
        handoff_process::start(&program)
            .map_err(|error| Failure::failed("cannot start a worker").because(&error))
    }

    fn program(&self, name: impl Into<OsString>, arguments: &[impl AsRef<OsStr>]) -> Program {
        Program {
            environment: self.scratch.ambient.environment.clone(),
            ..Program::new(name, self.root.join("repo")).with_arguments(arguments)
        }
    }

    /// The events since the last look.
    pub(super) fn news(&mut self, store: &mut dyn Store) -> Result<Vec<Envelope>, Failure> {
        let wanted = Following {
            since: self.since,
            project: None,
            limit: 1000,
        };
        let news = read(store, |tx| events::since(tx, wanted))?;
        self.since = news.last().map_or(self.since, |envelope| envelope.cursor);
        Ok(news)
    }
}

impl Stage {
    /// The sessions that live here.
    fn sessions(&self) -> Vec<Known> {
        let places = handoff_session::Places::new(self.root.join("state"));
        let mut known = catalogue::all(&places).unwrap_or_default();
        known.retain(|it| it.standing == Standing::Live);
        known
    }

    /// Kills the holders of sessions, as an accident would, and returns when nothing of them is left.
    pub(super) fn kill_holders(&self) -> Result<(), Failure> {
        for known in self.sessions() {
            tree::signal(&[known.record.holder.into()], Force::Kill);
            let lock = handoff_session::place::holder_lock(&known.directory);
            handoff_files::Lock::acquire(&lock, "demo")
                .map(handoff_files::Lock::release)
                .map_err(|error| Failure::failed("a session does not end").because(&error))?;
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for known in self.sessions() {
            // Only where the story broke off; what cannot be ended here is ended by nobody.
            Client::new(&known.record.socket).stop(Duration::ZERO).ok();
        }
        if !self.is_kept {
            // A scratch directory that stays behind harms nobody.
            std::fs::remove_dir_all(&self.root).ok();
        }
    }
}

/// Waits for a worker, and is not content with any other end.
pub(super) fn finish(mut worker: Child, expected: ExitCode) -> Result<Child, Failure> {
    let exit = worker
        .wait(Some(PATIENCE))
        .map_err(|error| Failure::failed("cannot wait for the worker").because(&error))?;
    match exit {
        Exit::Code(code) if code == i32::from(expected.number()) => Ok(worker),
        Exit::Code(_) | Exit::Signal(_) | Exit::TimedOut => {
            let said = String::from_utf8_lossy(&worker.stderr().to_bytes()).into_owned();
            Err(Failure::new(
                ExitCode::Internal,
                format!("the worker ended with {exit:?}: {said}"),
            ))
        }
    }
}

const FILES: [(&str, &str); 10] = [
    (
        "repo/README.md",
        "# Greetings\n\nTwo small programs that say hello and goodbye.\n",
    ),
    ("repo/greet.sh", "#!/bin/sh\nexit 1\n"),
    ("repo/farewell.sh", "#!/bin/sh\nexit 1\n"),
    ("repo/count.sh", "exit 1\n"),
    ("repo/run-tests.sh", include_str!("run-tests.sh")),
    ("greet.toml", include_str!("greet.toml")),
    ("farewell.toml", include_str!("farewell.toml")),
    ("greetings.batch.toml", include_str!("greetings.batch.toml")),
    ("greetings.toml", include_str!("greetings.toml")),
    ("words.toml", include_str!("words.toml")),
];

/// The same process with another home, another directory and no configuration but our own.
fn scratch(ctx: &Context, root: &Path, repo: &Path) -> Context {
    let mut environment: BTreeMap<OsString, OsString> = BTreeMap::new();
    let path = ctx
        .ambient
        .variable("PATH")
        .unwrap_or(OsStr::new("/usr/bin:/bin"));
    environment.insert("PATH".into(), path.to_owned());
    let own: [(&str, OsString); 8] = [
        ("HOME", root.into()),
        ("HANDOFF_HOME", root.join("state").into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_AUTHOR_NAME", "handoff demo".into()),
        ("GIT_AUTHOR_EMAIL", "demo@localhost".into()),
        ("GIT_COMMITTER_NAME", "handoff demo".into()),
        ("GIT_COMMITTER_EMAIL", "demo@localhost".into()),
        ("LC_ALL", "C.UTF-8".into()),
    ];
    environment.extend(own.map(|(name, value)| (name.into(), value)));
    let ambient = Ambient {
        environment,
        cwd: Some(repo.to_owned()),
        ..ctx.ambient.clone()
    };
    Context::quiet(Invocation {
        ambient,
        ..ctx.invocation()
    })
}

fn unset(root: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!(
        "cannot make a scratch repository in `{}`",
        root.display()
    ))
    .because(error)
}
