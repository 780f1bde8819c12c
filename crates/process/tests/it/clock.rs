use handoff_core::time::Clock;
use handoff_process::{SystemClock, mint};

#[test]
fn time_goes_on_within_one_boot() {
    let clock = SystemClock::read().unwrap();
    let (first, second) = (
        clock.now().moment,
        SystemClock::read().unwrap().now().moment,
    );
    assert_eq!(first.timeline, second.timeline);
    assert!(first.elapsed < second.elapsed && first.awake < second.awake);
}

#[test]
fn minted_ids_follow_the_wall_clock() {
    let clock = SystemClock::read().unwrap();
    let before = clock.now().wall.as_millisecond();
    let (seconds, nanos) = mint().get_timestamp().unwrap().to_unix();
    let minted = i64::try_from(seconds).unwrap() * 1000 + i64::from(nanos / 1_000_000);
    assert!((before..=clock.now().wall.as_millisecond()).contains(&minted));
}
