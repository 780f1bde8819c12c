//! A rest in words.

use handoff_core::Rest;
use handoff_core::rest::Reach;

use super::one_line;

/// Until when, and why: after the name of a task that rests.
pub(crate) fn why_it_rests(rest: &Rest) -> String {
    let until = rest.until.strftime("%Y-%m-%d %H:%M:%S UTC");
    let agent = rest.agent.as_ref().map_or("its agent", |it| it.as_str());
    let (what, said) = (rest.trouble.in_words(), one_line(rest.reason.as_str()));
    format!("until {until}: {agent} {what} ({said})")
}

/// What keeps ready tasks waiting, a line for each agent and for each task that waits by itself. The rests are in the order of
/// their ends; an agent waits for its last.
pub(crate) fn rest_lines(rests: &[Rest]) -> Vec<String> {
    let is_last = |place: usize, rest: &Rest| {
        let later = rests[place + 1..].iter();
        rest.of_agent().is_some() && !later.clone().any(|it| it.of_agent() == rest.of_agent())
    };
    let agents = rests
        .iter()
        .enumerate()
        .filter(|(place, rest)| is_last(*place, rest));
    let mut lines: Vec<_> = agents
        .map(|(_, rest)| {
            let agent = rest.of_agent().map_or("", |it| it.as_str());
            format!("Tasks for {agent} rest {}", why_it_rests(rest))
        })
        .collect();
    let alone = rests
        .iter()
        .filter(|rest| rest.trouble.reach() == Reach::Task);
    lines.extend(alone.map(|rest| format!("A task rests {}", why_it_rests(rest))));
    lines
}
