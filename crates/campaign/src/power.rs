//! D04: the power fails under several writers, on ext4 and on XFS.
//!
//! All writers are stopped first, as an acknowledgement after the cut would look like lost data. They are not waited
//! for: a sync in flight is to be cut in the middle.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use handoff_testkit::{Filesystem, LoopImage, Need};
use rustix::time::Timespec;

use super::checks::Expected;
use super::crew::{Crew, Site};
use super::dice::Dice;
use super::door::{Door, Ledger};
use super::history;
use super::kills::judge;
use super::part::file_content;
use super::stage::{Findings, Stage, progress};

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("ext4", |stage| lose_power_often(stage, Filesystem::Ext4));
    anyhow::ensure!(Need::Xfs.is_met(), "install the Debian package xfsprogs");
    stage.trial("xfs", |stage| lose_power_often(stage, Filesystem::Xfs));
    Ok(())
}

fn lose_power_often(stage: &Stage, filesystem: Filesystem) -> Result<Findings> {
    let rounds = stage.count(2, 100);
    let mut dice = stage.dice(&format!("{filesystem:?}"));
    let mut image = LoopImage::create(filesystem);
    let mut findings = Findings::default();
    let mut acknowledged = 0;
    for round in 0..rounds {
        progress("power losses", round, rounds);
        let (acks, complaints) = lose_power(&mut image, &mut dice, round)?;
        acknowledged += acks;
        let in_round = complaints
            .into_iter()
            .map(|it| format!("round {round}: {it}"));
        findings.complaints.extend(in_round);
        findings.count += 1;
    }
    findings.note = format!("{acknowledged} acknowledgements");
    Ok(findings)
}

/// The number of acknowledgements, and what is wrong after the power is back.
fn lose_power(
    image: &mut LoopImage,
    dice: &mut Dice,
    round: usize,
) -> Result<(usize, Vec<String>)> {
    let outside = image.outside().join(format!("round-{round}"));
    let inside = image.path().join(format!("round-{round}"));
    std::fs::create_dir_all(&inside)?;
    let site = Site::new(Door::Sqlite(inside.join("home")), &outside)?;
    let (files, acks) = (inside.join("files"), outside.join("acks"));

    let mut crew = Crew::new();
    for number in 0..4 {
        crew.join(site.part("work", &format!("w{number}")))?;
    }
    for number in 0..2 {
        crew.join(site.part("add", &format!("a{number}")))?;
    }
    let words = ["part".into(), "write".into(), text(&files), text(&acks)];
    crew.join(words.to_vec())?;

    crew.hear_of(30 + dice.below(200))?;
    crew.freeze()?;
    pause(Duration::from_micros(dice.below(20_000)))?;
    image.go_down();
    crew.kill_all()?;
    image.remount();

    let calls = history::read_all(&site.histories())?;
    let answered = calls.iter().filter(|call| call.done().is_some()).count();
    let mut complaints = match Ledger::read(&site.door) {
        Ok(ledger) => judge(&ledger, &calls, Expected::WhateverIsLeft),
        Err(error) => vec![format!("{error:#}")],
    };
    let written = acknowledged_files(&acks)?;
    complaints.extend(lost_files(&files, &written)?);
    std::fs::remove_dir_all(&inside)?;
    Ok((answered + written.len(), complaints))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// How far a sync in flight gets before the cut is left to chance, and a seed cannot say it by any
/// condition that could be waited for.
fn pause(span: Duration) -> Result<()> {
    rustix::event::poll(&mut [], Some(&Timespec::try_from(span)?))?;
    Ok(())
}

fn acknowledged_files(acks: &Path) -> Result<BTreeSet<u32>> {
    let text = match std::fs::read_to_string(acks) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    Ok(text.lines().map(str::parse).collect::<Result<_, _>>()?)
}

/// Every acknowledged file is there and whole; every other one is whole or not there. The replaced
/// file has the newest acknowledged content, or one written after it.
fn lost_files(directory: &Path, acknowledged: &BTreeSet<u32>) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    let newest = acknowledged.last().copied().unwrap_or(0);
    for number in 1..=newest + 1 {
        match std::fs::read(directory.join(format!("new-{number}"))) {
            Ok(content) if content == file_content(number) => {}
            Ok(content) => complaints.push(format!("new-{number} has {} bytes", content.len())),
            Err(_) if !acknowledged.contains(&number) => {}
            Err(error) => complaints.push(format!("lost: new-{number}: {error}")),
        }
    }
    if newest > 0 {
        let content = std::fs::read(directory.join("old"))?;
        if content != file_content(newest) && content != file_content(newest + 1) {
            complaints.push(format!("`old` has neither content {newest} nor the next"));
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_a_torn_and_an_old_file_are_complained_about() {
        let scratch = tempfile::tempdir().unwrap();
        let acknowledged = BTreeSet::from([1, 2]);
        let put = |name: &str, content: &[u8]| std::fs::write(scratch.path().join(name), content);
        put("new-1", &file_content(1)).unwrap();
        put("new-2", &file_content(2)).unwrap();
        put("old", &file_content(2)).unwrap();
        let complaints = || lost_files(scratch.path(), &acknowledged).unwrap();
        assert_eq!(complaints(), [""; 0]);

        put("new-2", b"2\n").unwrap();
        put("old", &file_content(1)).unwrap();
        std::fs::remove_file(scratch.path().join("new-1")).unwrap();
        assert_eq!(complaints().len(), 3);
    }
}
