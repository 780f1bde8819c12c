//! Whether the place where a package goes on exists where it is received: looked at before anything is restored.

use std::collections::BTreeMap;

use handoff_core::package::PhaseName;

use crate::payload::Checkpoint;

/// The phase of a package that goes on with the plan of a feature.
pub const PLAN: &str = "plan";
/// The phase of a package that goes on with a task.
pub const TASK: &str = "task";
/// The phase of a package that goes on with a session.
pub const SESSION: &str = "session";

/// What there is to go on with here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The phases of the pipeline, each with its number of steps; none if nobody declared any.
    pub phases: BTreeMap<PhaseName, u32>,
    /// The task of the package.
    pub task: Presence,
    /// The feature of the package, with the number of steps of its plan.
    pub plan: Presence<u32>,
}

/// Whether something that a package names is here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Presence<T = ()> {
    /// It names nothing of the kind.
    #[default]
    Unnamed,
    /// It is not here.
    Absent,
    /// It is here.
    Here(T),
}

/// What became of the place to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It exists here.
    Resolved,
    /// Nothing here says whether it exists: it is words for whoever goes on.
    Words(Unresolved),
    /// It cannot be: what is received could not be gone on with.
    Impossible(Unresolved),
}

/// Why a place to go on was not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// Nobody said where to go on.
    #[error("the package does not say where to go on")]
    NoCheckpoint,
    /// There is nothing to compare with.
    #[error("no phases are declared here: `[package.phases]` in the configuration")]
    NoPhases,
    /// The pipeline has no such phase.
    #[error("there is no phase `{0}` here")]
    Phase(PhaseName),
    /// The phase has no such step.
    #[error("`{phase}` has {has} steps here, and the package is at step {step} of {total}")]
    Step {
        /// Which phase, or the plan.
        phase: PhaseName,
        /// How many it has here.
        has: u32,
        /// Where the package is.
        step: u32,
        /// Of how many.
        total: u32,
    },
    /// The task is one of another store.
    #[error("its task is not in this store")]
    Task,
    /// The feature is not in this repository.
    #[error("its feature is not in this repository")]
    Feature,
}

/// Looks for the place where a package goes on.
#[must_use]
pub fn resolve(checkpoint: Option<&Checkpoint>, here: &Surroundings) -> Resolution {
    let Some(checkpoint) = checkpoint else {
        return Resolution::Words(Unresolved::NoCheckpoint);
    };
    match checkpoint.phase.as_str() {
        TASK if here.task == Presence::Here(()) => Resolution::Resolved,
        TASK if here.task == Presence::Absent => Resolution::Words(Unresolved::Task),
        SESSION => Resolution::Resolved,
        PLAN => match here.plan {
            Presence::Here(has) => steps(checkpoint, has, Resolution::Words),
            Presence::Absent => Resolution::Words(Unresolved::Feature),
            Presence::Unnamed => phase(checkpoint, here),
        },
        _ => phase(checkpoint, here),
    }
}

/// A phase of the pipeline, which the receiver declared and so must know.
fn phase(checkpoint: &Checkpoint, here: &Surroundings) -> Resolution {
    if here.phases.is_empty() {
        return Resolution::Words(Unresolved::NoPhases);
    }
    match here.phases.get(&checkpoint.phase) {
        Some(has) => steps(checkpoint, *has, Resolution::Impossible),
        None => Resolution::Impossible(Unresolved::Phase(checkpoint.phase.clone())),
    }
}

fn steps(checkpoint: &Checkpoint, has: u32, otherwise: fn(Unresolved) -> Resolution) -> Resolution {
    let (step, total) = (checkpoint.step, checkpoint.total_steps);
    if step <= has && (total == has || total == 0) {
        return Resolution::Resolved;
    }
    let phase = checkpoint.phase.clone();
    otherwise(Unresolved::Step {
        phase,
        has,
        step,
        total,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::CheckpointStatus;

    fn at(phase: &str, step: u32, total_steps: u32) -> Checkpoint {
        Checkpoint {
            phase: phase.parse().unwrap(),
            step,
            total_steps,
            status: CheckpointStatus::Paused,
            resume_point: "there".parse().unwrap(),
        }
    }

    fn here() -> Surroundings {
        Surroundings {
            phases: BTreeMap::from([("analysis".parse().unwrap(), 5)]),
            task: Presence::Absent,
            plan: Presence::Here(3),
        }
    }

    #[test]
    fn each_place_is_found_or_it_is_said_why_not() {
        let step = |phase: &str, has, step, total| Unresolved::Step {
            phase: phase.parse().unwrap(),
            has,
            step,
            total,
        };
        let no_phase = Unresolved::Phase("synthesis".parse().unwrap());
        for (checkpoint, expected) in [
            (at("analysis", 2, 5), Resolution::Resolved),
            (at("analysis", 0, 0), Resolution::Resolved),
            (
                at("analysis", 6, 9),
                Resolution::Impossible(step("analysis", 5, 6, 9)),
            ),
            (at("synthesis", 1, 1), Resolution::Impossible(no_phase)),
            (at("plan", 1, 3), Resolution::Resolved),
            (at("plan", 1, 4), Resolution::Words(step("plan", 3, 1, 4))),
            (at("task", 1, 1), Resolution::Words(Unresolved::Task)),
            (at("session", 0, 0), Resolution::Resolved),
        ] {
            assert_eq!(resolve(Some(&checkpoint), &here()), expected);
        }
        let empty = Surroundings::default();
        let words = resolve(Some(&at("analysis", 1, 5)), &empty);
        assert_eq!(words, Resolution::Words(Unresolved::NoPhases));
        let nowhere = Resolution::Words(Unresolved::NoCheckpoint);
        assert_eq!(resolve(None, &here()), nowhere);
    }
}
