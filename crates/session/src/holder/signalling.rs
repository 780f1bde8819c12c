//! How a holder passes a signal on. Only what it started gets one, each process confirmed first.

use handoff_process::{SignalName, tree};

use super::Holder;
use crate::catalogue;
use crate::control::message::{Refusal, refusal};
use crate::control::{Reach, Signalled};
use crate::journal::Event;

impl Holder<'_> {
    /// Sends a signal, and puts it on record: what an agent does next may be because of it.
    pub(super) fn pass_on(&mut self, signal: SignalName, to: Reach) -> Result<Signalled, Refusal> {
        let agent = self.terminal.identity();
        let meant = match to {
            Reach::Agent => vec![agent],
            Reach::All => {
                let mut spared = catalogue::holders(&self.places);
                // What is done for the session is not of it, and a commit among it is not to be ended halfway.
                spared.extend(self.errands.processes());
                tree::descendants(&spared).map_err(|error| refusal(503, &error.to_string()))?
            }
        };
        let got_it = tree::send(&meant, signal);
        if got_it.is_empty() {
            return Err(refusal(409, "the agent is ending"));
        }
        let processes: Vec<u32> = got_it.into_iter().map(|process| process.pid).collect();
        self.tell(Event::Signalled {
            signal: signal.word().to_owned(),
            processes: processes.clone(),
        });
        Ok(Signalled { processes })
    }
}
