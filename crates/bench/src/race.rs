//! Timing several things side by side, so that whatever disturbs the machine disturbs all of them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::order::Order;
use super::samples::Samples;
use handoff_chores::program::timed;

/// Something to be timed again and again.
pub(crate) struct Lane<'a> {
    name: &'static str,
    run: Box<dyn FnMut() -> Result<Duration> + 'a>,
}

impl<'a> Lane<'a> {
    pub(crate) fn new(name: &'static str, run: impl FnMut() -> Result<Duration> + 'a) -> Self {
        Self {
            name,
            run: Box::new(run),
        }
    }
}

/// What a race measured, by lane.
pub(crate) type Times = BTreeMap<&'static str, Samples>;

/// Rounds that are run and not counted: they fill caches.
const WARM_UP: usize = 3;

/// Runs every lane once a round, each round in another order.
pub(crate) fn race(mut lanes: Vec<Lane<'_>>, rounds: usize, order: &mut Order) -> Result<Times> {
    let mut times = vec![Vec::with_capacity(rounds); lanes.len()];
    for round in 0..WARM_UP + rounds {
        for place in order.shuffle(lanes.len()) {
            let lane = &mut lanes[place];
            let time = (lane.run)().with_context(|| format!("`{}` fails", lane.name))?;
            if round >= WARM_UP {
                times[place].push(time);
            }
        }
    }
    let names = lanes.iter().map(|lane| lane.name);
    Ok(names.zip(times.into_iter().map(Samples::of)).collect())
}

/// From the start of a program to its end, seen from here.
pub(crate) fn to_the_end(mut command: Command) -> Result<Duration> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (status, time) = timed(|| command.status());
    let status = status.with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(time)
}

/// From the start of a program to its first line; what it would still say is not heard.
pub(crate) fn to_the_first_line(mut command: Command) -> Result<Duration> {
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let (child, time) = timed(|| -> Result<_> {
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        Ok((child, line))
    });
    let (mut child, line) = child.with_context(|| format!("cannot read from {command:?}"))?;
    child.wait()?;
    if line.is_empty() {
        bail!("{command:?} says nothing");
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warming_up_is_not_counted() {
        let mut runs = 0_u64;
        let counting = Lane::new("counting", || {
            runs += 1;
            Ok(Duration::from_secs(runs))
        });
        let times = race(vec![counting], 4, &mut Order::seeded(1)).unwrap();
        let first = WARM_UP as u64 + 1;
        assert_eq!(
            times["counting"],
            Samples::of((first..first + 4).map(Duration::from_secs))
        );
    }
}
