//! `handoff worker install`: a worker that the machine keeps alive, as a user unit of systemd or an agent of launchd.
//!
//! The file is written and nothing is started: how is said, and is a person's decision. Sessions outlive their worker there too.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use handoff_agents::AgentName;
use handoff_api::{ExitCode, UnitDocument};
use handoff_core::Action;
use handoff_files::{Dir, Mode, atomic};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(super) struct InstallArgs {
    /// The agent for tasks that ask for none of their own.
    #[arg(long, value_name = "NAME")]
    agent: AgentName,
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
    let desk = Desk::open(ctx)?;
    desk.caller.may(Action::Supervise)?;
    let unit = Unit::of(args, &desk, ctx)?;
    let text = match args.of.manager {
        Manager::Systemd => unit.systemd(),
        Manager::Launchd => unit.launchd(),
    };
    if args.print {
        ctx.out.raw(text.as_bytes())?;
        return Ok(ExitCode::Done);
    }
    let path = place(args.of.manager, &desk, ctx)?;
    write(&path, &text)?;
    show(
        &path,
        "written",
        &unit.start_by(args.of.manager, &path),
        ctx,
    )
}

pub(super) fn uninstall(args: &UninstallArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let desk = Desk::open(ctx)?;
    desk.caller.may(Action::Supervise)?;
    let path = place(args.of.manager, &desk, ctx)?;
    match std::fs::remove_file(&path) {
        Ok(()) => show(&path, "removed", "", ctx),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let text = format!("there is no `{}`", path.display());
            Err(Failure::new(ExitCode::NotFound, text))
        }
        Err(error) => {
            Err(Failure::failed(format!("cannot remove `{}`", path.display())).because(&error))
        }
    }
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
const KEPT: [&str; 5] = [
    "PATH",
    "HANDOFF_HOME",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "HANDOFF_STORE",
];

impl Unit {
    fn of(args: &InstallArgs, desk: &Desk, ctx: &Context) -> Result<Self, Failure> {
        let program = ctx.ambient.program.clone();
        let program = program.ok_or_else(|| Failure::failed("cannot find this program"))?;
        let directory = desk.repository.main_worktree();
        let directory =
            directory.ok_or_else(|| Failure::failed("this repository has no main working tree"))?;
        let mut arguments: Vec<OsString> = ["worker", "--agent", args.agent.as_str()]
            .map(OsString::from)
            .into();
        if let Some(slots) = args.slots {
            arguments.extend(["--slots".into(), slots.to_string().into()]);
        }
        let kept = KEPT.into_iter();
        let environment =
            kept.filter_map(|name| Some((name, ctx.ambient.variable(name)?.to_owned())));
        let unit = Self {
            label: label(desk),
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
        // Only the worker is ended with its unit: its sessions go on, and the next one takes them over.
        format!(
            "[Unit]\nDescription=handoff worker for {directory}\n\n[Service]\nExecStart={words}\nWorkingDirectory={directory}\n\
             {environment}Restart=always\nRestartSec=1\nKillMode=process\n\n[Install]\nWantedBy=default.target\n",
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
             <key>KeepAlive</key>\n  <true/>\n  <key>AbandonProcessGroup</key>\n  <true/>\n</dict>\n</plist>\n",
            label = Xml(&self.label),
            words = words.concat(),
            directory = Xml(&self.directory.to_string_lossy()),
            environment = environment.concat(),
        )
    }

    fn start_by(&self, manager: Manager, path: &Path) -> String {
        match manager {
            Manager::Systemd => {
                let label = &self.label;
                format!("systemctl --user daemon-reload && systemctl --user enable --now {label}")
            }
            Manager::Launchd => format!("launchctl load -w {}", path.display()),
        }
    }
}

/// One name for each project, so that two repositories never share a unit.
fn label(desk: &Desk) -> String {
    let id = desk.project.to_string();
    format!("handoff-worker-{}", &id[id.len() - 12..])
}

fn place(manager: Manager, desk: &Desk, ctx: &Context) -> Result<PathBuf, Failure> {
    let nowhere = || Failure::failed("there is no place for it: HOME is not set");
    let home = ctx.ambient.directory("HOME");
    let label = label(desk);
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

fn show(
    path: &Path,
    outcome: &str,
    start_by: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let document = UnitDocument {
            path: path.display().to_string(),
            outcome,
            start_by,
        };
        ctx.out.document(UnitDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    ctx.out.line(format!("{}: {outcome}", path.display()))?;
    if !start_by.is_empty() {
        ctx.out.note(format!("Start it: `{start_by}`."))?;
    }
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
