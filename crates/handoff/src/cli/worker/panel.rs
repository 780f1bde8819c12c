//! What the hands of a worker are at: at the bottom of a screen, drawn anew every second. Where there is no screen there is none.

use std::time::Duration;

use handoff_core::batch::{Calibration, Estimate, Kind};
use handoff_core::task::{Part, Phase};
use handoff_core::time::Nanos;
use handoff_core::{SessionId, Task, TaskName};
use handoff_operations::attempt::step_in;
use handoff_operations::batch::view::calibration;
use handoff_operations::{Failure, Project};
use handoff_store::{batches, read};

use super::super::batch::bar::{bar, time_text};
use crate::context::Context;
use crate::output::{Table, Tone, cut};

/// How often it is drawn.
pub(super) const TICK: Duration = Duration::from_secs(1);
/// So many tasks are shown; a screen is only so high.
const ROWS: usize = 12;
/// The longest name that is shown whole.
const WIDEST: usize = 32;

/// The tasks at work.
pub(super) struct Panel {
    desk: Project,
    /// What earlier guesses were worth when the worker came.
    known: Calibration,
    rows: Vec<Row>,
}

struct Row {
    name: TaskName,
    session: SessionId,
    began: Nanos,
    /// What it takes as a whole, where somebody guessed.
    expected: Option<Duration>,
}

impl Panel {
    /// For whoever looks on; none where nobody could see it move.
    pub(super) fn of(ctx: &Context) -> Result<Option<Self>, Failure> {
        if !ctx.out.is_screen() {
            return Ok(None);
        }
        let mut desk = Project::open(ctx)?;
        let known = calibration(&mut desk)?;
        Ok(Some(Self {
            desk,
            known,
            rows: vec![],
        }))
    }

    pub(super) fn begin(
        &mut self,
        task: &Task,
        session: SessionId,
        ctx: &Context,
    ) -> Result<(), Failure> {
        let row = Row {
            name: task.spec.name.clone(),
            session,
            began: ctx.clock()?.now().moment.awake,
            // A guess that cannot be found out is none.
            expected: self.expected(task).unwrap_or_default(),
        };
        self.rows.push(row);
        Ok(())
    }

    pub(super) fn end(&mut self, name: &TaskName) {
        self.rows.retain(|row| row.name != *name);
    }

    fn expected(&mut self, task: &Task) -> Result<Option<Duration>, Failure> {
        let Some(batch) = task.spec.part.and_then(Part::batch) else {
            return Ok(None);
        };
        let spec = read(&mut *self.desk.store, |tx| batches::get(tx, batch))?.spec;
        let part = spec.parts.iter().find(|it| it.task == task.id);
        let (kind, guess) = match part {
            Some(part) => (Kind::SubTask, part.estimate),
            None => (Kind::FanIn, spec.fan_in_estimate),
        };
        let multiple = self.known.multiple(kind, task.spec.agent.as_ref());
        Ok(guess.map(Estimate::span).map(|it| it.mul_f64(multiple)))
    }

    pub(super) fn draw(&self, ctx: &mut Context) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(ctx.out.draw_over()?);
        }
        let now = ctx.clock()?.now().moment.awake;
        let places = self.desk.places().of_sessions();
        let mut table = Table::new(&["AT WORK", "", "STEP", "TIME"]);
        for row in self.rows.iter().take(ROWS) {
            let took = now.since(row.began);
            let left = row.expected.and_then(|it| it.checked_sub(took));
            let seconds = |it: Duration| it.as_secs_f64();
            let (took, expected) = (Some(seconds(took)), row.expected.map(seconds));
            table.row([
                (Tone::Strong, cut(row.name.as_str(), WIDEST)),
                (Tone::Active, bar(Phase::Running, took, expected)),
                (Tone::Plain, step_in(row.session, &places).to_owned()),
                (Tone::Plain, time_text(took, expected, left.map(seconds))),
            ]);
        }
        if let Some(more @ 1..) = self.rows.len().checked_sub(ROWS) {
            let blank = || (Tone::Plain, String::new());
            let more = (Tone::Faint, format!("and {more} more"));
            table.row([more, blank(), blank(), blank()]);
        }
        Ok(ctx.out.passing_table(&table)?)
    }
}
