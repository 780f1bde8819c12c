//! What whoever takes over from a dead worker must know of an attempt. It is written before the agent is started, into the
//! directory of its session; a session without one was started by a person, and nobody judges its work.

use handoff_core::{CommitId, Fence, SessionId, TaskId, Timestamp};
use handoff_files::{Dir, Mode, atomic};
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::places::{Places, TICKET};

/// Two ids and two numbers.
const LONGEST: u64 = 4096;

/// What an attempt began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    schema_version: u32,
    pub(crate) task: TaskId,
    pub(crate) fence: Fence,
    /// The commit that its branch began at.
    pub(crate) base: CommitId,
    /// How many have begun to judge it in the place of a dead worker.
    #[serde(default)]
    pub(crate) judges: u64,
    /// Before this nobody else does, after several who died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) not_before: Option<Timestamp>,
}

impl Ticket {
    const VERSION: u32 = 1;

    pub(crate) fn new(task: TaskId, fence: Fence, base: CommitId) -> Self {
        Self {
            schema_version: Self::VERSION,
            task,
            fence,
            base,
            judges: 0,
            not_before: None,
        }
    }

    /// Writes it for the first time. Nobody waits for the disk: whoever takes over from a dead worker finds it all the same, and a
    /// session that ended with the power within seconds of its beginning is given back as if it had none.
    pub(crate) fn issue(&self, places: &Places, session: SessionId) -> Result<(), EngineError> {
        let dir = Dir::open(&places.session(session))?;
        Ok(atomic::replace_view(
            &dir,
            TICKET,
            &self.bytes(),
            Mode::Private,
        )?)
    }

    /// Writes it again, so that it outlives even a machine that goes down over it.
    pub(crate) fn write(&self, places: &Places, session: SessionId) -> Result<(), EngineError> {
        let dir = Dir::open(&places.session(session))?;
        Ok(atomic::replace(&dir, TICKET, &self.bytes(), Mode::Private)?)
    }

    fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("ids and numbers are JSON")
    }

    /// The ticket of a session; none for one without, and for one that cannot be read: nobody judges that either.
    pub(crate) fn read(places: &Places, session: SessionId) -> Option<Self> {
        let dir = Dir::open(&places.session(session)).ok()?;
        let bytes = dir.read(TICKET, LONGEST).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}
