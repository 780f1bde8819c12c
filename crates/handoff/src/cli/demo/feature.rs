//! The scene of the feature: what one session did, and what the next one is told.

use handoff_operations::Failure;

use super::scene::recount;
use super::stage::Stage;
use super::{heading, tell};
use crate::context::Context;
use crate::output::plain;

const GOAL: &str = "# Polite programs\n\nWhoever is greeted is also asked how they are.\n";
const PLAN: &str = "\
# Execution Plan

- [>] Ask after the greeting
- [ ] Understand the answer
- [ ] Say so in the README
";
const CHECKS: &str = "[checks]\nasks = \"grep -q 'How are you' greet.sh\"\n";
const EDIT: &str = "#!/bin/sh\necho \"Hello, $1. How are you?\"\n";

/// A session proves a step and stops in the next; a fresh one gets nothing but the prompt.
pub(super) fn carried_on(stage: &mut Stage, ctx: &mut Context) -> Result<(), Failure> {
    heading(
        ctx,
        "5. A feature goes on in a fresh session, from the prompt alone",
    )?;
    stage.handoff(&["init", "polite"])?;
    stage.write(".handoff/features/polite/FEATURE.md", GOAL)?;
    stage.write(".handoff/features/polite/STATE.md", PLAN)?;
    stage.write(".handoff/config.toml", CHECKS)?;
    trust(stage)?;
    stage.write("greet.sh", EDIT)?;
    stage.handoff(&["verify", "--run"])?;
    stage.handoff(&["step", "done", "1"])?;
    let reason = ["--because", "it works without a keyboard"];
    stage.handoff(&["decide", "Answers come as arguments", reason[0], reason[1]])?;
    stage.write("answer.sh", "#!/bin/sh\n# half of it\n")?;
    recount(stage, &mut stage.desk()?, ctx)?;
    tell(
        ctx,
        "          ",
        "The session ends here, whatever the reason. `handoff continue` says:\n",
    )?;
    let prompt = stage.handoff(&["continue", "--raw"])?;
    let told = prompt.lines().skip_while(|line| !line.starts_with("## "));
    for line in told.take_while(|line| !line.starts_with("## Commands")) {
        tell(ctx, "    | ", &plain(line))?;
    }
    Ok(())
}

/// Nobody is asked on a stage: what is there is what was just written.
fn trust(stage: &Stage) -> Result<(), Failure> {
    let shown = stage.handoff(&["trust", "--show", "--json"])?;
    let shown: serde_json::Value = serde_json::from_str(&shown).map_err(|error| {
        Failure::failed("`handoff trust --show` says nothing that can be read").because(&error)
    })?;
    let digest = shown["digest"].as_str().unwrap_or_default();
    stage.handoff(&["trust", "--digest", digest])?;
    Ok(())
}
