//! The walls around a session or a program in a sandbox: what it may change, and what must stay out of its reach.

use std::path::{Path, PathBuf};

use handoff_agents::Agent;
use handoff_agents::adapter::State;
use handoff_api::ExitCode;
use handoff_core::task::TaskSpec;
use handoff_engine::{CheckPolicy, Enclosure};
use handoff_files::Dir;
use handoff_git::Repository;
use handoff_process::Kernel;
use handoff_session::{Bounds, Confinement, SandboxOff};

use crate::failure::Failure;
use crate::program::own_program;
use crate::project::discover_from;
use crate::workplace::Workplace;

/// What is asked for; else what the user has set; else none.
pub fn confinement(wanted: Option<Confinement>, here: &Workplace) -> Result<Confinement, Failure> {
    match wanted {
        Some(wanted) => Ok(wanted),
        None => Ok(here.config()?.sandbox.default.unwrap_or_default()),
    }
}

/// Why nothing holds sessions of tasks here; none if they are held.
pub fn off_for_tasks(here: &Workplace) -> Result<Option<SandboxOff>, Failure> {
    let settings = for_tasks(here)?;
    Ok(SandboxOff::of_task(None, settings, Kernel::read()))
}

/// Why nothing holds the session of this task with this agent; none if it is held.
pub fn off_for(
    task: &TaskSpec,
    agent: &Agent,
    here: &Workplace,
) -> Result<Option<SandboxOff>, Failure> {
    let settings = for_tasks(here)?;
    let off = SandboxOff::of_task(task.sandbox, settings, Kernel::read());
    let is_wanted = task.sandbox.or(settings).is_some();
    let elsewhere = agent.adapter.sandbox.is_elsewhere && !is_wanted;
    Ok(off.or(elsewhere.then_some(SandboxOff::Agent)))
}

/// What the user has set for sessions of tasks.
fn for_tasks(here: &Workplace) -> Result<Option<Confinement>, Failure> {
    let config = here.config()?;
    Ok(config.worker.sandbox.or(config.sandbox.default))
}

/// How commands that run code of sessions are held.
pub fn check_policy(repository: &Repository, here: &Workplace) -> Result<CheckPolicy, Failure> {
    Ok(CheckPolicy {
        enclosure: of_checks(repository, here)?,
        limits: here.config()?.checks.limits(machine_memory()),
        supervisor: Some(own_program(here)?.to_owned()),
    })
}

/// In bytes.
fn machine_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|it| it.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Where a check can write: as a sub-task could, since one wrote it.
fn of_checks(repository: &Repository, here: &Workplace) -> Result<Enclosure, Failure> {
    let config = here.config()?;
    // Where sessions are held although nothing else is, what they wrote is held as well.
    let is_off = config.sandbox.default == Some(Confinement::None)
        && config.worker.sandbox != Some(Confinement::Worktree);
    if is_off || Kernel::read().version().is_none() {
        return Ok(Enclosure::Open);
    }
    let home = real_home(here)?;
    let guarded = [
        Some(repository.common_dir()),
        repository.main_worktree(),
        Some(home.as_path()),
    ];
    let is_safe = |place: &PathBuf| {
        let mut guarded = guarded.iter().flatten();
        !guarded.any(|it| it.starts_with(place) || place.starts_with(it))
    };
    // A session is told what is wrong with a place; here it is as if it had not been declared.
    let places = declared(here)?.into_iter();
    let places = places.filter_map(|it| it.canonicalize().ok());
    let scratch = places.filter(is_safe).collect();
    Ok(Enclosure::Closed { scratch })
}

/// The walls for an agent that works in this directory. Refused where they would not hold.
pub fn of_agent(agent: &Agent, cwd: &Path, here: &Workplace) -> Result<Bounds, Failure> {
    let mut scratch = declared(here)?;
    let held = &agent.adapter.sandbox;
    let environment = &here.ambient.environment;
    let named = held.write.iter().filter_map(|it| it.locate(environment));
    let real_cwd = real(cwd)?;
    let shared = held.private.iter();
    let shared = shared.flat_map(|it| it.shared(environment, &real_cwd));
    for place in named.chain(shared.map(|(_, place)| place)) {
        match place {
            State::Directory(path) => {
                Dir::create_private(&path).map_err(|error| {
                    let text = format!("cannot make `{}` for the agent", path.display());
                    Failure::failed(text).because(&error)
                })?;
                scratch.push(path);
            }
            // One that is not there yet could not be made in a directory that is not the session's.
            State::File(path) => scratch.extend(path.exists().then_some(path)),
        }
    }
    around(cwd, &scratch, here)
}

/// The walls around the worktree of this directory, with these other places that may be changed.
pub fn around(cwd: &Path, scratch: &[PathBuf], here: &Workplace) -> Result<Bounds, Failure> {
    let kernel = Kernel::read();
    if kernel.version().is_none() {
        return Err(Failure::new(
            ExitCode::Unavailable,
            format!("this kernel cannot hold a sandbox: {kernel}"),
        )
        .hint("`handoff doctor` says what it has; `--sandbox none` starts a session without one"));
    }
    let repository = discover_from(cwd)?;
    let root = linked(&repository)?;
    let scratch: Vec<PathBuf> = scratch
        .iter()
        .map(|it| real(it))
        .collect::<Result<_, _>>()?;
    let bounds = Bounds {
        root: root.to_owned(),
        scratch,
        common_dir: repository.common_dir().to_owned(),
    };
    let home = real_home(here)?;
    let guarded = [Some(repository.common_dir()), repository.main_worktree()];
    let guarded: Vec<&Path> = guarded
        .into_iter()
        .flatten()
        .chain([home.as_path()])
        .collect();
    match bounds.check(&guarded) {
        Ok(()) => Ok(bounds),
        Err(breach) => Err(Failure::new(ExitCode::Conflict, breach.to_string())
            .hint("name a smaller place in `[sandbox] write`, or with `--write`")),
    }
}

fn linked(repository: &Repository) -> Result<&Path, Failure> {
    let root = repository
        .worktree_root()
        .filter(|_| repository.is_linked());
    root.ok_or_else(|| {
        Failure::new(
            ExitCode::Conflict,
            "this is not a linked worktree: in the main tree git's own directory lies within, and could not be protected",
        )
        .hint("work in a worktree of its own: `git worktree add ../work`")
    })
}

/// What the user has declared as scratch.
pub fn declared(here: &Workplace) -> Result<Vec<PathBuf>, Failure> {
    let places = here.config()?.sandbox.write;
    let located = places
        .iter()
        .filter_map(|it| it.locate(&here.ambient.environment));
    Ok(located
        .map(|it| match it {
            State::Directory(path) | State::File(path) => path,
        })
        .collect())
}

/// The state directory, made if it is not there.
fn real_home(here: &Workplace) -> Result<PathBuf, Failure> {
    let home = here.home()?;
    let made = Dir::create_private(&home);
    made.map_err(|error| Failure::failed("cannot make the state directory").because(&error))?;
    real(&home)
}

/// Links are followed: the kernel looks at what is behind them.
fn real(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        let text = format!(
            "`{}` is to be changed in a sandbox, but is not there",
            path.display()
        );
        Failure::new(ExitCode::NotFound, text)
            .because(&error)
            .hint("make it, or take it out of `[sandbox] write`")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use handoff_testkit::{Need, TestEnv, skip_without};

    use super::*;
    use crate::ambient::Ambient;

    #[test]
    fn a_check_does_not_reach_the_state_through_a_link() {
        if skip_without(&[Need::Landlock]) {
            return;
        }
        let env = TestEnv::without_binary();
        let root = env.work().canonicalize().unwrap();
        let (kept, cache) = (root.join("real/home/kept"), root.join("cache"));
        for directory in [&kept, &cache, &root.join("config/handoff")] {
            Dir::create_private(directory).unwrap();
        }
        symlink(root.join("real"), root.join("link")).unwrap();
        let write = [&kept, &cache].map(|it| format!("\"{}/\"", it.display()));
        let write = write.join(", ");
        let text = format!("[sandbox]\ndefault = \"worktree\"\nwrite = [{write}]\n");
        fs::write(root.join("config/handoff/config.toml"), text).unwrap();
        let variables = [
            ("HANDOFF_HOME", root.join("link/home")),
            ("XDG_CONFIG_HOME", root.join("config")),
        ];
        let here = Workplace::new(Ambient::new(
            variables.map(|(name, it)| (name.into(), it.into())).into(),
            None,
            None,
        ));
        let repository = discover_from(env.repo("repo").path()).unwrap();
        let scratch = vec![cache];
        assert_eq!(
            of_checks(&repository, &here).unwrap(),
            Enclosure::Closed { scratch }
        );
    }
}
