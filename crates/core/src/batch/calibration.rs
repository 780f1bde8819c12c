//! How well people guess: what work took, against what they thought it would take.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::manifest::Estimate;
use crate::AgentName;

/// Fewer than this say nothing about the next one.
const ENOUGH: usize = 3;

/// What kind of work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A part of a batch.
    SubTask,
    /// What brings parts together.
    FanIn,
}

impl Kind {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SubTask => "sub-task",
            Self::FanIn => "fan-in",
        }
    }
}

/// One piece of work that was guessed and measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Who did it, if that was asked for.
    pub agent: Option<AgentName>,
    /// What it was.
    pub kind: Kind,
    /// The guess.
    pub estimate: Estimate,
    /// What it took.
    pub took: Duration,
}

/// What work took, as a multiple of the guess.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Factor {
    /// Half of it took less. Unlike a mean it does not follow the one that took a night.
    pub median: f64,
    /// A quarter took less.
    pub low: f64,
    /// A quarter took more.
    pub high: f64,
    /// From how many.
    pub samples: usize,
}

impl Factor {
    /// Of these multiples; none if there is none.
    pub fn of(mut ratios: Vec<f64>) -> Option<Self> {
        ratios.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&ratios, 0.5)?,
            low: quantile(&ratios, 0.25)?,
            high: quantile(&ratios, 0.75)?,
            samples: ratios.len(),
        })
    }

    const fn is_telling(&self) -> bool {
        self.samples >= ENOUGH
    }
}

/// Between the two nearest values of a sorted list.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let mut rest = share * last as f64;
    let mut place = 0;
    while rest >= 1.0 {
        (rest, place) = (rest - 1.0, place + 1);
    }
    let (here, next) = (sorted[place], sorted[(place + 1).min(last)]);
    Some(here + (next - here) * rest)
}

/// The factors of a project's history, by agent and kind of work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    factors: BTreeMap<(Kind, Option<AgentName>), Factor>,
    overall: BTreeMap<Kind, Factor>,
}

impl Calibration {
    /// Of a history.
    pub fn of(samples: &[Sample]) -> Self {
        let mut by_agent: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        let mut by_kind: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for sample in samples {
            let ratio = sample.took.as_secs_f64() / sample.estimate.span().as_secs_f64();
            let key = (sample.kind, sample.agent.clone());
            by_agent.entry(key).or_default().push(ratio);
            by_kind.entry(sample.kind).or_default().push(ratio);
        }
        let factor = |ratios| Factor::of(ratios);
        Self {
            factors: by_agent
                .into_iter()
                .filter_map(|(key, ratios)| Some((key, factor(ratios)?)))
                .collect(),
            overall: by_kind
                .into_iter()
                .filter_map(|(key, ratios)| Some((key, factor(ratios)?)))
                .collect(),
        }
    }

    /// Each factor that is known, with whose it is.
    pub fn rows(&self) -> impl Iterator<Item = (Kind, Option<&AgentName>, Factor)> {
        self.factors
            .iter()
            .map(|((kind, agent), factor)| (*kind, agent.as_ref(), *factor))
    }

    /// What to multiply a guess with: what this agent took, else what everybody took, else the guess as it is.
    pub fn multiple(&self, kind: Kind, agent: Option<&AgentName>) -> f64 {
        let own = self.factors.get(&(kind, agent.cloned()));
        let known = own.filter(|it| it.is_telling());
        let known = known.or_else(|| self.overall.get(&kind).filter(|it| it.is_telling()));
        known.map_or(1.0, |factor| factor.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(agent: Option<&str>, estimate: f64, took: f64) -> Sample {
        Sample {
            agent: agent.map(|it| it.parse().unwrap()),
            kind: Kind::SubTask,
            estimate: Estimate::minutes(estimate).unwrap(),
            took: Duration::from_secs_f64(took * 60.0),
        }
    }

    #[test]
    fn the_median_does_not_follow_the_one_that_took_a_night() {
        let factor = Factor::of(vec![1.0, 600.0, 2.0, 1.5, 1.2]).unwrap();
        assert_eq!(
            factor,
            Factor {
                median: 1.5,
                low: 1.2,
                high: 2.0,
                samples: 5
            }
        );
        assert_eq!(Factor::of(vec![]), None);
        assert_eq!(Factor::of(vec![1.0, 2.0]).unwrap().median, 1.5);
    }

    #[test]
    fn an_agent_is_judged_by_its_own_work_once_there_is_enough() {
        let codex: AgentName = "codex".parse().unwrap();
        let mut samples = vec![
            sample(None, 10.0, 20.0),
            sample(Some("codex"), 10.0, 20.0),
            sample(Some("codex"), 10.0, 30.0),
        ];
        let known =
            |samples: &[Sample]| Calibration::of(samples).multiple(Kind::SubTask, Some(&codex));
        assert_eq!(known(&samples[..2]), 1.0);
        assert_eq!(known(&samples), 2.0);
        samples.push(sample(Some("codex"), 10.0, 40.0));
        assert_eq!(known(&samples), 3.0);
        let fan_in = Calibration::of(&samples).multiple(Kind::FanIn, None);
        assert_eq!(fan_in, 1.0);
    }
}
