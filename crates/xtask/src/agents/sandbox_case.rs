//! An agent in the sandbox: it can do its work, and nothing outside of its worktree.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::model_case;
use super::trial::Trial;

/// A question is on the screen before it is listened to: a key that comes too early is lost, and pressed again.
const HEARD: Duration = Duration::from_secs(3);
const TRIES: u32 = 5;

/// One turn with a command that works in the tree and tries what is forbidden.
pub(super) fn act(trial: &mut Trial<'_, '_>) -> Result<()> {
    let began = trial.scene.now();
    model_case::until_ready(trial)?;
    trial.back_at_prompt(began)?;
    let house = trial.scene.house;
    let (project, tree) = (house.project(), house.tree());
    let (inside, ended) = (tree.join("inside"), tree.join("ended"));
    let outside = [project.join("outside"), house.home().join("outside")];
    let refs = house.refs()?;
    let [first, second] = &outside;
    let command = format!(
        "touch {}; touch {}; touch {}; /usr/bin/git -C {} tag stolen; touch {}",
        inside.display(),
        first.display(),
        second.display(),
        project.display(),
        ended.display()
    );
    let sent = trial.scene.send(&trial.asking(&command))?;
    permit(trial, sent, &ended)?;
    trial.scene.until_answered("inside", 1)?;
    trial.back_at_prompt(sent)?;
    let worked = match inside.exists() {
        true => Ok(()),
        false => Err("nothing is written".to_owned()),
    };
    trial.expect_that("it writes in its worktree, and completes its turn", worked);
    for file in &outside {
        let held = match file.exists() {
            true => Err(format!("`{}` is there", file.display())),
            false => Ok(()),
        };
        trial.expect_that("it writes nothing outside", held);
    }
    let found = trial.scene.house.refs()?;
    let held = match found == refs {
        true => Ok(()),
        false => Err(found),
    };
    trial.expect_that("it moves no ref", held);
    Ok(())
}

/// Lets it, if it asks: some do not, where they find themselves held already.
fn permit(trial: &mut Trial<'_, '_>, sent: handoff_core::Timestamp, ended: &Path) -> Result<()> {
    let question = trial.manners.question;
    let is_asked = trial
        .scene
        .until("the question, or the end of the command", |scene| {
            match (scene.saw(question, sent), ended.exists()) {
                (_, true) => Some(false),
                (true, false) => Some(true),
                (false, false) => None,
            }
        })?;
    let what = "the end of the command";
    if is_asked {
        for _ in 0..TRIES {
            let accept = trial.manners.accept;
            let pressed = trial.scene.press(&[accept])?;
            let is_over = trial.scene.until(what, |scene| {
                let is_over = ended.exists();
                (is_over || scene.now() > pressed + HEARD).then_some(is_over)
            })?;
            if is_over {
                return Ok(());
            }
        }
    }
    trial.scene.until(what, |_| ended.exists().then_some(()))
}
