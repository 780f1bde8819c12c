//! `handoff worker install`: a worker that the machine keeps alive, as a user unit of systemd or an agent of launchd.
//!
//! The file is written and nothing is started: how is said, and is a person's decision. Sessions outlive their worker there too.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use handoff_agents::AgentName;
use handoff_api::{ExitCode, UnitDocument};
use handoff_core::{Action, Digest, ProjectId};
use handoff_files::{Dir, Mode, atomic};
use handoff_operations::project::{caller, discover, project_here};
use handoff_operations::{Failure, Project};

use super::super::session::require_agent;
use super::named;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(super) struct InstallArgs {
    /// The agent for tasks that ask for none of their own; without it the usual one of your configuration.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
    /// How many tasks are worked on at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    slots: Option<u16>,
    #[command(flatten)]
    of: ManagerArg,
    /// Print the file instead of writing it.
    #[arg(long)]
    print: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct UninstallArgs {
    #[command(flatten)]
    of: ManagerArg,
}

#[derive(Debug, clap::Args)]
struct ManagerArg {
    /// Who keeps it alive.
    #[arg(long, value_enum, default_value_t = Manager::NATIVE)]
    manager: Manager,
}

/// Who keeps a worker alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Manager {
    Systemd,
    Launchd,
}

impl Manager {
    const NATIVE: Self = if cfg!(target_os = "macos") {
        Self::Launchd
    } else {
        Self::Systemd
    };
}

pub(super) fn install(args: &InstallArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    caller(&ctx.ambient)?.may(Action::ManageWorkers)?;
    let agent = named(args.agent.clone().or(ctx.config()?.worker.agent))?;
    require_agent(&agent, ctx)?;
    // What is only shown makes no project of a repository.
    let label = if args.print {
        label_here(ctx)?
    } else {
        label(Project::open(ctx)?.id)
    };
    let unit = Unit::of(label, &agent, args.slots, ctx)?;
    let manager = args.of.manager;
    let text = match manager {
        Manager::Systemd => unit.systemd(),
        Manager::Launchd => unit.launchd(),
    };
    let path = place(manager, &unit.label, ctx)?;
    if args.print && !ctx.out.is_json() {
        ctx.out.raw(text.as_bytes())?;
        return Ok(ExitCode::Done);
    }
    if !args.print {
        write(&path, &text)?;
    }
    let document = UnitDocument {
        path: path.display().to_string(),
        outcome: if args.print { "printed" } else { "written" },
        start_by: &manager.start_by(&unit.label, &path),
        stop_by: &manager.stop_by(&unit.label),
        text: args.print.then_some(text.as_str()),
    };
    show(&document, ctx)
}

pub(super) fn uninstall(args: &UninstallArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    caller(&ctx.ambient)?.may(Action::ManageWorkers)?;
    let (manager, label) = (args.of.manager, label_here(ctx)?);
    let path = place(manager, &label, ctx)?;
    match std::fs::remove_file(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let text = format!("there is no `{}`", path.display());
            return Err(Failure::new(ExitCode::NotFound, text));
        }
        Err(error) => {
            let text = format!("cannot remove `{}`", path.display());
            return Err(Failure::failed(text).because(&error));
        }
    }
    if let (Manager::Systemd, Some(name)) = (manager, path.file_name()) {
        // What `enable` made of it leads nowhere now. There is none if nobody enabled it.
        std::fs::remove_file(path.with_file_name("default.target.wants").join(name)).ok();
    }
    let document = UnitDocument {
        path: path.display().to_string(),
        outcome: "removed",
        start_by: "",
        stop_by: &manager.stop_by(&label),
        text: None,
    };
    show(&document, ctx)
}

/// What a manager is told.
struct Unit {
    label: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    directory: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

/// What a worker needs of the environment that it was installed from.
const KEPT: [&str; 6] = [
    "PATH",
    "HANDOFF_HOME",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "HANDOFF_STORE",
    "HANDOFF_STORE_PASSWORD_FILE",
];

impl Unit {
    fn of(
        label: String,
        agent: &AgentName,
        slots: Option<u16>,
        ctx: &Context,
    ) -> Result<Self, Failure> {
        let program = ctx.ambient.program.clone();
        let program = program.ok_or_else(|| Failure::failed("cannot find this program"))?;
        let repository = discover(ctx)?;
        let directory = repository.main_worktree();
        let directory =
            directory.ok_or_else(|| Failure::failed("this repository has no main working tree"))?;
        let mut arguments: Vec<OsString> = ["worker", "--agent", agent.as_str()]
            .map(OsString::from)
            .into();
        if let Some(slots) = slots {
            arguments.extend(["--slots".into(), slots.to_string().into()]);
        }
        let kept = KEPT.into_iter();
        let environment =
            kept.filter_map(|name| Some((name, ctx.ambient.variable(name)?.to_owned())));
        let unit = Self {
            label,
            program,
            arguments,
            directory: directory.to_owned(),
            environment: environment.collect(),
        };
        unit.refuse_odd_text()?;
        Ok(unit)
    }

    /// What cannot be written into such a file is not written half.
    fn refuse_odd_text(&self) -> Result<(), Failure> {
        let values = self.environment.iter().map(|(_, value)| value);
        let texts = [self.program.as_os_str(), self.directory.as_os_str()]
            .into_iter()
            .chain(values.map(OsString::as_os_str));
        for text in texts {
            let is_plain = text
                .to_str()
                .is_some_and(|it| !it.contains(char::is_control));
            if !is_plain {
                let text = format!("`{}` cannot stand in such a file", text.display());
                return Err(Failure::usage(text));
            }
        }
        Ok(())
    }

    fn systemd(&self) -> String {
        let words = [self.program.as_os_str()]
            .into_iter()
            .chain(self.arguments.iter().map(OsString::as_os_str));
        // A dollar sign is a variable here, and nowhere else.
        let words = words.map(|it| quoted(&it.to_string_lossy().replace('$', "$$")));
        let words: Vec<_> = words.collect();
        let environment: Vec<_> = self
            .environment
            .iter()
            .map(|(name, value)| {
                let pair = format!("{name}={}", value.to_string_lossy());
                format!("Environment={}\n", quoted(&pair))
            })
            .collect();
        // Only the worker is ended with its unit: its sessions go on, and the next one takes them over. One that a person stopped
        // ended well, and stays so.
        format!(
            "[Unit]\nDescription=handoff worker for {directory}\n\n[Service]\nExecStart={words}\nWorkingDirectory={directory}\n\
             {environment}Restart=on-failure\nRestartSec=1\nKillMode=process\n\n[Install]\nWantedBy=default.target\n",
            directory = percent(&self.directory.to_string_lossy()),
            words = words.join(" "),
            environment = environment.concat(),
        )
    }

    fn launchd(&self) -> String {
        let words = [self.program.as_os_str()]
            .into_iter()
            .chain(self.arguments.iter().map(OsString::as_os_str));
        let words: Vec<_> = words
            .map(|it| format!("    <string>{}</string>\n", Xml(&it.to_string_lossy())))
            .collect();
        let environment: Vec<_> = self
            .environment
            .iter()
            .map(|(name, value)| {
                let value = value.to_string_lossy();
                format!(
                    "    <key>{name}</key>\n    <string>{}</string>\n",
                    Xml(&value)
                )
            })
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{label}</string>\n  <key>ProgramArguments</key>\n  \
             <array>\n{words}  </array>\n  <key>WorkingDirectory</key>\n  <string>{directory}</string>\n  \
             <key>EnvironmentVariables</key>\n  <dict>\n{environment}  </dict>\n  <key>RunAtLoad</key>\n  <true/>\n  \
             <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  <key>AbandonProcessGroup</key>\n  <true/>\n</dict>\n</plist>\n",
            label = Xml(&self.label),
            words = words.concat(),
            directory = Xml(&self.directory.to_string_lossy()),
            environment = environment.concat(),
        )
    }
}

impl Manager {
    fn start_by(self, label: &str, path: &Path) -> String {
        match self {
            Self::Systemd => {
                format!("systemctl --user daemon-reload && systemctl --user enable --now {label}")
            }
            Self::Launchd => format!("launchctl load -w {}", path.display()),
        }
    }

    /// Also after its file is gone.
    fn stop_by(self, label: &str) -> String {
        match self {
            Self::Systemd => {
                format!("systemctl --user stop {label}; systemctl --user daemon-reload")
            }
            Self::Launchd => format!("launchctl remove {label}"),
        }
    }
}

/// One name for each project, so that two repositories never share a unit.
fn label(project: ProjectId) -> String {
    let id = project.to_string();
    format!("handoff-worker-{}", &id[id.len() - 12..])
}

/// The same without making a project: of a repository that is none, by its place.
fn label_here(ctx: &Context) -> Result<String, Failure> {
    if let Some(project) = project_here(ctx)? {
        return Ok(label(project));
    }
    let repository = discover(ctx)?;
    let place = repository.common_dir().as_os_str().as_encoded_bytes();
    let digest = Digest::of(place).to_string();
    Ok(format!("handoff-worker-{}", &digest[digest.len() - 12..]))
}

fn place(manager: Manager, label: &str, ctx: &Context) -> Result<PathBuf, Failure> {
    let nowhere = || Failure::failed("there is no place for it: HOME is not set");
    let home = ctx.ambient.directory("HOME");
    match manager {
        Manager::Systemd => {
            let configured = ctx.ambient.directory("XDG_CONFIG_HOME").map(Path::to_owned);
            let config = configured.or_else(|| Some(home?.join(".config")));
            let config = config.ok_or_else(nowhere)?;
            Ok(config.join("systemd/user").join(format!("{label}.service")))
        }
        Manager::Launchd => {
            let agents = home.ok_or_else(nowhere)?.join("Library/LaunchAgents");
            Ok(agents.join(format!("{label}.plist")))
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = || Failure::failed(format!("cannot write `{}`", path.display()));
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(|error| cannot().because(&error))?;
    let dir = Dir::open(directory).map_err(|error| cannot().because(&error))?;
    let name = path
        .file_name()
        .and_then(|it| it.to_str())
        .ok_or_else(cannot)?;
    // It may have the address of a team's store in it.
    atomic::replace(&dir, name, text.as_bytes(), Mode::Private)
        .map_err(|error| cannot().because(&error))
}

fn show(document: &UnitDocument<'_>, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(UnitDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let UnitDocument {
        path,
        outcome,
        start_by,
        stop_by,
        ..
    } = document;
    ctx.out.line(format!("{path}: {outcome}"))?;
    if !start_by.is_empty() {
        ctx.out.note(format!("Start it: `{start_by}`."))?;
    }
    let when = if start_by.is_empty() {
        "If it still works, stop it"
    } else {
        "Stop it later"
    };
    ctx.out.note(format!("{when}: `{stop_by}`."))?;
    Ok(ExitCode::Done)
}

/// A word as systemd reads it back.
fn quoted(text: &str) -> String {
    let text = percent(text).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

fn percent(text: &str) -> String {
    text.replace('%', "%%")
}

/// Text as XML has it.
struct Xml<'a>(&'a str);

impl fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.replace('&', "&amp;");
        f.write_str(&text.replace('<', "&lt;").replace('>', "&gt;"))
    }
}
