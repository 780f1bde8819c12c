use proptest::prelude::*;

use super::*;
use crate::batch::manifest::{FanInSpec, OverlapRule};
use crate::ownership::{CaseRule, overlap};

/// A part: minutes, the directory it wants, and how many places before it is what it waits for.
type Sketch = (Option<u16>, u8, Option<u8>);

fn manifest(sketches: &[Sketch], fan_in: u16) -> Manifest {
    let name = |place: usize| -> PartName { format!("p{place}").parse().unwrap() };
    let part = |(place, (minutes, directory, before)): (usize, &Sketch)| {
        let earlier = before.and_then(|it| place.checked_sub(usize::from(it) + 1));
        let pattern = format!("d{directory}/").parse().unwrap();
        PartSpec {
            name: name(place),
            task: format!("b.p{place}").parse().unwrap(),
            brief: "x".parse().unwrap(),
            owns: crate::Ownership::new(vec![pattern]).unwrap(),
            estimate: minutes.and_then(|it| Estimate::minutes(f64::from(it))),
            after: earlier.map(name).into_iter().collect(),
            verify: None,
            agent: None,
            limit: None,
        }
    };
    Manifest {
        name: "b".parse().unwrap(),
        parts: sketches.iter().enumerate().map(part).collect(),
        fan_in: FanInSpec {
            task: "merge".parse().unwrap(),
            brief: "x".parse().unwrap(),
            estimate: Estimate::minutes(f64::from(fan_in)),
            verify: None,
            agent: None,
        },
        next: None,
        rationale: None,
        overlap: OverlapRule::Serialise,
        workspace: None,
    }
}

fn plan(sketches: &[Sketch], fan_in: u16, slots: usize) -> Plan {
    let slots = NonZeroUsize::new(slots).unwrap();
    Plan::of(&manifest(sketches, fan_in), slots, &Calibration::default())
}

fn minutes(span: Duration) -> u64 {
    span.as_secs() / 60
}

#[test]
fn an_agent_gets_no_more_at_once_than_its_limit() {
    let mut manifest = manifest(
        &[
            (Some(10), 0, None),
            (Some(10), 1, None),
            (Some(10), 2, None),
        ],
        0,
    );
    let codex: AgentName = "codex".parse().unwrap();
    manifest.parts[2].agent = Some(codex.clone());
    let claude: AgentName = "claude".parse().unwrap();
    let room = |limits: &[(&AgentName, usize)]| Room {
        slots: NonZeroUsize::new(3).unwrap(),
        usual: Some(claude.clone()),
        limits: limits
            .iter()
            .map(|(agent, most)| ((*agent).clone(), NonZeroUsize::new(*most).unwrap()))
            .collect(),
    };
    let planned = |room| Plan::of(&manifest, room, &Calibration::default());
    assert_eq!(minutes(planned(room(&[])).wall()), 10);
    let limited = planned(room(&[(&claude, 1), (&codex, 1)]));
    assert_eq!(minutes(limited.wall()), 20);
    assert_eq!(limited.waves, [vec![0, 2], vec![1]]);
}

#[test]
fn four_parts_on_two_slots_run_longest_first() {
    let sketches = [
        (Some(10), 0, None),
        (Some(30), 1, None),
        (Some(20), 2, None),
        (Some(10), 3, None),
    ];
    let plan = plan(&sketches, 10, 2);
    assert_eq!(plan.waves, [vec![1, 2], vec![0, 3]]);
    let starts: Vec<_> = plan
        .parts
        .iter()
        .map(|it| (it.place, minutes(it.starts)))
        .collect();
    assert_eq!(starts, [(1, 0), (2, 0), (0, 20), (3, 30)]);
    assert_eq!((minutes(plan.serial()), minutes(plan.wall())), (80, 50));
    assert!((plan.speed_up() - 1.6).abs() < 1e-9 && (plan.bound() - 80.0 / 45.0).abs() < 1e-9);
}

#[test]
fn parts_that_want_the_same_paths_are_in_different_waves() {
    let plan = plan(
        &[
            (Some(10), 0, None),
            (Some(10), 0, None),
            (Some(10), 1, None),
        ],
        0,
        3,
    );
    assert_eq!(plan.waves, [vec![0, 2], vec![1]]);
    assert_eq!(minutes(plan.wall()), 20);
}

#[test]
fn what_nobody_guessed_takes_what_the_others_take() {
    let guessed = plan(&[(Some(8), 0, None), (None, 1, None)], 0, 1);
    assert_eq!(minutes(guessed.wall()), 16);
    assert_eq!(guessed.parts[1].basis, Basis::Assumed);
    assert_eq!(minutes(plan(&[(None, 0, None)], 0, 1).wall()), 10);
}

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let sketch = (
        prop::option::weighted(0.9, 1..60_u16),
        0..8_u8,
        prop::option::weighted(0.3, 0..3_u8),
    );
    prop::collection::vec(sketch, 1..12)
}

fn owners_meet(manifest: &Manifest, left: usize, right: usize) -> bool {
    let owns = |place: usize| &manifest.parts[place].owns;
    overlap(owns(left), owns(right), CaseRule::NATIVE).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_wave_has_room_for_its_parts_and_none_is_in_anothers_way(sketches in sketches(), slots in 1..5_usize) {
        let (manifest, plan) = (manifest(&sketches, 5), plan(&sketches, 5, slots));
        let mut all: Vec<_> = plan.waves.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..sketches.len()).collect::<Vec<_>>());
        let wave_of = |place: usize| plan.waves.iter().position(|it| it.contains(&place)).unwrap();
        for wave in &plan.waves {
            prop_assert!(wave.len() <= slots);
            for (at, left) in wave.iter().enumerate() {
                for right in &wave[at + 1..] {
                    prop_assert!(!owners_meet(&manifest, *left, *right));
                }
            }
        }
        for (place, part) in manifest.parts.iter().enumerate() {
            for earlier in &part.after {
                let earlier = manifest.parts.iter().position(|it| it.name == *earlier).unwrap();
                prop_assert!(wave_of(earlier) < wave_of(place));
            }
        }
    }

    #[test]
    fn the_schedule_keeps_every_rule_and_both_bounds(sketches in sketches(), slots in 1..5_usize) {
        let (manifest, plan) = (manifest(&sketches, 5), plan(&sketches, 5, slots));
        prop_assert_eq!(plan.parts.len(), sketches.len());
        for (at, one) in plan.parts.iter().enumerate() {
            let at_once = plan.parts.iter().filter(|it| it.starts <= one.starts && one.starts < it.ends());
            prop_assert!(at_once.count() <= slots);
            for other in &plan.parts[at + 1..] {
                let are_apart = one.ends() <= other.starts || other.ends() <= one.starts;
                prop_assert!(are_apart || !owners_meet(&manifest, one.place, other.place));
            }
            for earlier in &manifest.parts[one.place].after {
                let earlier = plan.parts.iter().find(|it| it.name == *earlier).unwrap();
                prop_assert!(earlier.ends() <= one.starts);
            }
        }
        prop_assert!(plan.speed_up() <= plan.bound() + 1e-9);
        prop_assert!(plan.speed_up() >= 1.0 - 1e-9);
        prop_assert!(plan.wall() <= plan.serial());
    }
}
