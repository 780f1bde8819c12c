//! What goes into each phase and what comes out of it, as JSON Schema: what a session can rely on, and what it is held to.

use serde_json::{Map, Value, json};

use super::definition::{Input, Phase, Proof, Workflow};

/// What a phase gets and what it gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// What its session is told, under these names, in its prompt.
    pub takes: Value,
    /// What it hands over with `handoff done --result`; none if nothing is asked for.
    pub gives: Option<Value>,
}

impl Workflow {
    /// The contract of one of its phases.
    pub fn contract(&self, phase: &Phase) -> Contract {
        Contract {
            takes: self.takes(phase),
            gives: gives(phase),
        }
    }

    fn takes(&self, phase: &Phase) -> Value {
        let mut properties = Map::new();
        let mut put = |name: String, schema: Value| {
            properties.insert(name, schema);
        };
        put(
            "goal".to_owned(),
            told("What is wanted, in the words of the person."),
        );
        match phase.proof {
            Proof::Red => put("item".to_owned(), told("The line of the list of tests.")),
            Proof::Green | Proof::Same => {
                put("item".to_owned(), told("The line of the list of tests."));
                put("test".to_owned(), told("The test that it is about."));
            }
            Proof::Plan | Proof::Checks | Proof::Until => {}
        }
        for input in &phase.takes {
            match input {
                Input::Result { phase } => {
                    let given = self.phase(phase).and_then(gives);
                    put(phase.to_string(), given.unwrap_or_else(|| json!({})));
                }
                Input::File { path } => put(format!("file:{path}"), told("What is in this file.")),
                Input::Context { key } => put(
                    format!("context:{key}"),
                    json!({ "description": "A value of the project's context." }),
                ),
            }
        }
        put(
            "package".to_owned(),
            told(
                "The package of the phase before: what its session said, and what the tool proved.",
            ),
        );
        put(
            "refused".to_owned(),
            told("Why the attempt before was not accepted."),
        );
        json!({
            "$schema": DRAFT,
            "title": format!("{}: what phase {} takes", self.name, phase.name),
            "type": "object",
            "required": ["goal"],
            "properties": properties,
        })
    }
}

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

fn gives(phase: &Phase) -> Option<Value> {
    let text = phase.gives.as_ref()?;
    serde_json::from_str(text.as_str()).ok()
}

fn told(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

#[cfg(test)]
mod tests {
    use super::super::BUILT_IN;
    use super::*;

    #[test]
    fn every_phase_of_a_built_in_workflow_says_what_it_takes_and_gives() {
        for (name, text) in BUILT_IN {
            let workflow = Workflow::read(name.parse().unwrap(), text).unwrap();
            for phase in &workflow.phases {
                let contract = workflow.contract(phase);
                let given = contract
                    .gives
                    .unwrap_or_else(|| panic!("{name} {}", phase.name));
                assert_eq!(given["type"], "object", "{name} {}", phase.name);
                let taken = &contract.takes["properties"];
                for input in &phase.takes {
                    if let Input::Result { phase } = input {
                        assert_eq!(taken[phase.as_str()]["type"], "object", "{name} {phase}");
                    }
                }
            }
        }
    }
}
