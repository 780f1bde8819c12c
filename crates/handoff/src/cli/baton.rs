//! The baton for people: `$HANDOFF_HOME/queue/<project>/<task>.md`, Markdown with front matter.
//!
//! It is a view of the ledger at the time of a dump, never read back. If it cannot be written, the task is recorded all the same.

use handoff_core::task::{Dependency, Evidence};
use handoff_core::{Batch, Ownership, Task, visible};
use handoff_engine::Ground as Standing;
use handoff_files::{Dir, Mode, atomic};
use handoff_git::Git;
use handoff_git::status::Subjects;
use handoff_store::queue::TaskRef;
use handoff_store::{read, tasks};

use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;

/// So many commits are told.
const COMMITS: u32 = 3;

/// Where the code stands when a baton is written.
pub(super) struct Ground {
    standing: Option<Standing>,
    commits: Vec<String>,
}

/// A look at where the code stands that git is still busy with.
pub(super) struct Survey {
    git: Git,
    commits: Option<Subjects>,
}

impl Survey {
    /// Lets git begin, so that a task can be recorded meanwhile.
    pub(super) fn begin(desk: &Desk, ctx: &Context) -> Self {
        let git = Git::new(ctx.ambient.environment.clone());
        let commits = git.newest_subjects(&desk.repository, COMMITS).ok();
        Self { git, commits }
    }

    /// What cannot be found out is left out: the baton is for reading.
    pub(super) fn finish(self, desk: &mut Desk) -> Ground {
        let at = &desk.repository;
        let standing = Standing::survey(&mut *desk.store, desk.project, &self.git, at).ok();
        let commits = self.commits.and_then(|it| it.answer().ok());
        Ground {
            standing,
            commits: commits.unwrap_or_default(),
        }
    }
}

impl Ground {
    pub(super) fn of(desk: &mut Desk, ctx: &Context) -> Self {
        Survey::begin(desk, ctx).finish(desk)
    }

    fn verified(&self) -> String {
        let Some(standing) = &self.standing else {
            return "There is no commit yet.".to_owned();
        };
        standing.told().unwrap_or_else(|| {
            let head = short(standing.head.as_str());
            format!("`{head}` is not verified: this branch has no baseline.")
        })
    }

    fn branch(&self) -> Option<&str> {
        let branch = self.standing.as_ref()?.branch.as_ref()?;
        Some(branch.as_str())
    }

    fn head(&self) -> Option<&str> {
        Some(self.standing.as_ref()?.head.as_str())
    }
}

fn quoted_word(text: &str) -> String {
    format!("`{}`", visible::without_hidden(text).replace('`', "'"))
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// Writes the baton of a task.
pub(super) fn write(desk: &mut Desk, task: &Task, survey: Survey, ctx: &Context) {
    let ground = survey.finish(desk);
    write_on(desk, task, &ground, ctx);
}

/// Writes the batons of everything in a batch.
pub(super) fn write_batch(desk: &mut Desk, batch: &Batch, ctx: &Context) {
    let ground = Ground::of(desk, ctx);
    let members = read(&mut *desk.store, |tx| tasks::of_batch(tx, batch.id));
    for task in members.unwrap_or_default() {
        write_on(desk, &task, &ground, ctx);
    }
}

fn write_on(desk: &mut Desk, task: &Task, ground: &Ground, ctx: &Context) {
    let past = Past::of(desk, task, ctx);
    let text = text(task, ground, &past);
    let place = desk.places().batons(task.project);
    // The ledger has the task; a view that cannot be written is written at the next dump.
    Dir::create_private(&place)
        .ok()
        .and_then(|dir| {
            atomic::replace_view(&dir, &name(task), text.as_bytes(), Mode::Private).ok()
        })
        .unwrap_or_default();
}

fn name(task: &Task) -> String {
    format!("{}.md", task.spec.name)
}

/// What was done before a task. What cannot be found out is left out: the baton is for reading.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The tasks that it goes on from.
    tasks: Vec<String>,
    /// What they left, and what became of earlier attempts.
    told: String,
}

impl Past {
    pub(super) fn of(desk: &mut Desk, task: &Task, ctx: &Context) -> Self {
        let named = |it: &Dependency| desk.find(&TaskRef::Id(it.task)).ok();
        let named = { task.spec.after.iter() }.filter_map(named);
        let tasks = named.map(|it| format!("- `{}`", it.spec.name)).collect();
        let told = Self::told(desk, task, ctx).unwrap_or_default();
        Self { tasks, told }
    }

    /// Only our own headings begin a line; what sessions said is quoted.
    fn told(desk: &mut Desk, task: &Task, ctx: &Context) -> Result<String, Failure> {
        if task.spec.after.is_empty() && task.fence.number() == 0 {
            return Ok(String::new());
        }
        let clock = ctx.clock()?;
        let mut workshop = desk.workshop(ctx, &*clock)?;
        let told = handoff_engine::hindsight(&mut workshop, task)?;
        Ok(told.replace("\n# ", "\n## "))
    }
}

/// The baton as text.
pub(super) fn text(task: &Task, ground: &Ground, past: &Past) -> String {
    let state = task
        .state
        .ending()
        .map_or("active", handoff_core::task::Ending::word);
    let line = |name: &str, value: Option<&str>| {
        value.map_or_else(String::new, |value| format!("{name}: {value}\n"))
    };
    let mut text = format!(
        "---\ntask: {}\nid: {}\nproject: {}\nstatus: {state}\n{}{}---\n\n# {}\n\n{}\n",
        task.spec.name,
        task.id,
        task.project,
        line("branch", ground.branch()),
        line("head", ground.head()),
        task.spec.name,
        task.spec.brief
    );
    text += &section(
        "Where the code stands",
        [visible::without_hidden(&ground.verified())],
    );
    text += &section(
        "Recent commits",
        ground.commits.iter().map(|it| format!("- {it}")),
    );
    text += &section(
        "Tests",
        task.spec
            .verify
            .iter()
            .map(|it| format!("- {}", quoted_word(it.as_str()))),
    );
    text += &section("Read first", reading(task));
    text += &section("Goes on from", past.tasks.iter().cloned());
    text += &past.told;
    text += &section("Proved so far", task.evidence.iter().filter_map(proof));
    text + &finish(task)
}

fn section(heading: &str, lines: impl IntoIterator<Item = String>) -> String {
    let lines: Vec<_> = lines.into_iter().collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\n## {heading}\n\n{}\n", lines.join("\n"))
}

/// What the task may change is what it has to know.
fn reading(task: &Task) -> Vec<String> {
    let patterns = task.spec.owns.iter().flat_map(Ownership::patterns);
    patterns.map(|it| format!("- `{it}`")).collect()
}

fn proof(evidence: &Evidence) -> Option<String> {
    match evidence {
        Evidence::Verified { command, exit_code } => {
            let code = exit_code.map_or_else(|| "a signal".to_owned(), |it| it.to_string());
            Some(format!(
                "- {} ended with {code}",
                quoted_word(command.as_str())
            ))
        }
        Evidence::Committed { branch, commit } => {
            Some(format!("- `{}` on `{branch}`", short(commit.as_str())))
        }
        Evidence::Measured(it) => Some(format!(
            "- {} ran {} tests, of which {} failed",
            quoted_word(it.command.as_str()),
            it.passed + it.failed,
            it.failed
        )),
        Evidence::Judged { verdict } => Some(format!("- judged `{}`", verdict.outcome)),
        Evidence::Gathered(it) => it.omissions().map(|told| format!("- left out: {told}")),
        Evidence::Sealed { .. }
        | Evidence::Left { .. }
        | Evidence::Refused { .. }
        | Evidence::Used { .. } => None,
    }
}

fn finish(task: &Task) -> String {
    let name = &task.spec.name;
    format!(
        "\n## How to finish\n\nInside a session: `handoff done`, or `handoff block --reason TEXT` if a person is needed. By hand: \
         `handoff queue claim {name}`, then `handoff queue complete {name} --fence N`.\n"
    )
}
