//! The skills there are, by their names of today and of yesterday.

use handoff_api::ExitCode;
use handoff_operations::Failure;

/// A skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::teaching) struct Skill {
    pub(in crate::cli::teaching) name: &'static str,
    pub(super) summary: &'static str,
    pub(in crate::cli::teaching) text: &'static str,
}

/// All of them.
pub(in crate::cli::teaching) const SKILLS: [Skill; 3] = [
    Skill {
        name: "handoff-dispatch",
        summary: "give work to other sessions and follow it",
        text: include_str!("../../../../texts/skills/handoff-dispatch.md"),
    },
    Skill {
        name: "handoff-chain",
        summary: "plan, implement, review and fix with fresh sessions",
        text: include_str!("../../../../texts/skills/handoff-chain.md"),
    },
    Skill {
        name: "handoff-buddy",
        summary: "look on while another session works",
        text: include_str!("../../../../texts/skills/handoff-buddy.md"),
    },
];

/// Names under which a skill was known elsewhere, or is asked for in short.
const ALIASES: [(&str, &str); 10] = [
    ("handoff", "handoff-dispatch"),
    ("dispatch", "handoff-dispatch"),
    ("harnex", "handoff-dispatch"),
    ("harnex-dispatch", "handoff-dispatch"),
    ("chain", "handoff-chain"),
    ("chain-implement", "handoff-chain"),
    ("harnex-chain", "handoff-chain"),
    ("buddy", "handoff-buddy"),
    ("harnex-buddy", "handoff-buddy"),
    ("handoff-chain-implement", "handoff-chain"),
];

/// Names that are no longer installed under; what is left of ours there is removed with every change.
pub(super) const DEPRECATED: [&str; 4] = ["handoff", "harnex", "dispatch", "chain-implement"];

/// The skills of these names; all if there are none.
pub(super) fn named(names: &[String]) -> Result<Vec<Skill>, Failure> {
    if names.is_empty() {
        return Ok(SKILLS.to_vec());
    }
    let mut found = vec![];
    for name in names {
        let skill = by_name(name)?;
        if !found.contains(&skill) {
            found.push(skill);
        }
    }
    Ok(found)
}

fn by_name(name: &str) -> Result<Skill, Failure> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, canonical)| canonical);
    let found = SKILLS.into_iter().find(|skill| skill.name == name);
    found.ok_or_else(|| {
        Failure::new(ExitCode::NotFound, format!("there is no skill {name:?}"))
            .hint("see what there is: `handoff skills list`")
    })
}

/// The text of the skill with this name; nothing for one that is not installed any more.
pub(super) fn text_of(name: &str) -> &'static str {
    let found = SKILLS.iter().find(|skill| skill.name == name);
    found.map_or("", |skill| skill.text)
}

#[cfg(test)]
mod tests {
    use handoff_core::{Action, Caller, Relation, Role};

    use super::*;

    /// What the table of callers calls each command that a skill may grant.
    const GRANTABLE: [(&str, Action); 14] = [
        ("run", Action::Start),
        ("send", Action::Supervise(Relation::Started)),
        ("stop", Action::Supervise(Relation::Started)),
        ("messages", Action::Read),
        ("wait", Action::Read),
        ("ps", Action::Read),
        ("pane", Action::Read),
        ("logs", Action::Read),
        ("events", Action::Read),
        ("guide", Action::Read),
        ("recipes", Action::Read),
        ("queue add", Action::Add),
        ("queue list", Action::Read),
        ("queue show", Action::Read),
    ];

    #[test]
    fn a_skill_grants_only_what_a_session_may_do() {
        let session = Caller::Session {
            session: "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap(),
            role: Role::Main,
            task: None,
        };
        for skill in SKILLS {
            let line = skill
                .text
                .lines()
                .find_map(|line| line.strip_prefix("allowed-tools: "));
            for grant in line.unwrap().split(", ") {
                let command = grant
                    .strip_prefix("Bash(handoff ")
                    .and_then(|it| it.strip_suffix(')'));
                let command = command.unwrap().trim_end_matches(" *");
                let known = GRANTABLE.iter().find(|(name, _)| *name == command);
                let (_, action) = known.unwrap_or_else(|| panic!("{}: {grant}", skill.name));
                assert!(session.may(*action).is_ok(), "{}: {grant}", skill.name);
            }
        }
    }

    #[test]
    fn a_skill_says_its_own_name_and_old_names_lead_to_it() {
        for skill in SKILLS {
            assert!(skill.text.contains(&format!("\nname: {}\n", skill.name)));
        }
        for (alias, name) in ALIASES {
            assert_eq!(by_name(alias).unwrap().name, name);
        }
        assert!(by_name("nonsense").is_err());
        let twice = named(&["dispatch".to_owned(), "handoff".to_owned()]).unwrap();
        assert_eq!(twice, [SKILLS[0]]);
    }
}
