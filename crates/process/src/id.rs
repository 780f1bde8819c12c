//! Fresh ids. What kind of id it becomes is the caller's business.

use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, SystemTime};

use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};
use uuid::{Builder, Uuid};

use crate::clock;

const NANOS_PER_MILLI: u32 = 1_000_000;

/// A new UUID of version 7: it sorts by the wall clock, to a quarter of a microsecond, and is
/// random in 62 bits. Turning the clock back disturbs the order and never the uniqueness.
#[must_use]
pub fn mint() -> Uuid {
    let since_epoch = clock::wall()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    compose(since_epoch, random())
}

/// RFC 9562, method 3: the 12 bits after the version are a fraction of the millisecond.
fn compose(since_epoch: Duration, mut rest: [u8; 10]) -> Uuid {
    let millis = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
    let within_milli = u64::from(since_epoch.subsec_nanos() % NANOS_PER_MILLI);
    let fraction = within_milli * 4096 / u64::from(NANOS_PER_MILLI);
    let [.., high, low] = fraction.to_be_bytes();
    rest[0] = high;
    rest[1] = low;
    Builder::from_unix_timestamp_millis(millis, &rest).into_uuid()
}

/// Random bytes, at most 256, that nobody can guess.
#[must_use]
pub fn random<const LENGTH: usize>() -> [u8; LENGTH] {
    const { assert!(LENGTH <= 256) };
    let mut bytes = [0; LENGTH];
    let length = retry_on_intr(|| getrandom(&mut bytes, GetRandomFlags::empty()));
    if length != Ok(bytes.len()) {
        // A kernel that refuses the call, or a filter that does, may still have the device.
        let device = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bytes));
        device.expect("a machine has random bytes");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_below_a_millisecond() {
        let at = |nanos| compose(Duration::new(1_800_000_000, nanos), [0xff; 10]);
        assert!(at(1_000) < at(1_500) && at(999_000) < at(1_000_000));
        assert_eq!(at(0).get_version_num(), 7);
    }

    #[test]
    fn two_ids_of_one_instant_differ() {
        let now = Duration::from_secs(1);
        assert_ne!(compose(now, random()), compose(now, random()));
    }
}
