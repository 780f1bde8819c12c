//! What goes with what. An option that says nothing where it stands is a mistake of whoever typed it, and not passed over.

use handoff_core::Caller;
use handoff_operations::Failure;
use handoff_operations::project::caller;

use super::{Args, Status};
use crate::context::Context;

impl Args {
    /// Refuses what says nothing where it stands.
    pub(super) fn refuse_misplaced(&self, ctx: &Context) -> Result<(), Failure> {
        let is_in_session = matches!(caller(&ctx.ambient)?, Caller::Session { .. });
        let misplaced = self.misplaced(is_in_session).into_iter();
        match { misplaced }.find(|(_, is_misplaced, _)| *is_misplaced) {
            Some((name, _, with)) => Err(Failure::usage(format!("`{name}` goes with {with} only"))),
            None => Ok(()),
        }
    }

    fn misplaced(&self, is_in_session: bool) -> [(&'static str, bool, &'static str); 10] {
        let is_batch = self.open_batch.is_some();
        let status = self.status();
        let (is_new, is_report) = (!self.is_report(), self.is_report());
        let active = "`--status active`";
        let report = "`--status done` or `--status blocked`";
        [
            ("--verify", is_report && self.verify.is_some(), active),
            ("--sandbox", is_report && self.sandbox.is_some(), active),
            ("--after", is_report && !self.after.is_empty(), active),
            ("--tests", is_report && self.tests.is_some(), active),
            ("--at-once", is_report && self.at_once, active),
            (
                "--at-once",
                self.at_once && !is_in_session,
                "what is dumped inside a session",
            ),
            (
                "--blocked-reason",
                self.blocked_reason.is_some() && status != Status::Blocked,
                "`--status blocked` or `--batch-blocked`",
            ),
            (
                "--batch-id",
                is_new && self.part.batch_id.is_some(),
                "`--batch-done` or `--batch-blocked`",
            ),
            ("--fence", is_new && self.fence.is_some(), report),
            (
                "--slots",
                self.slots.is_given() && !(is_batch && self.dry_run),
                "`--open-batch FILE --dry-run`",
            ),
        ]
    }
}
