//! What texts and conditions of a script can refer to.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use handoff_agents::scripted::{Subject, Text, VariableName, When};

use crate::world::Environment;

pub(crate) struct Variables {
    environment: Environment,
    values: BTreeMap<String, String>,
}

impl Variables {
    pub(crate) fn new(environment: Environment, pid: u32) -> Self {
        let mut variables = Self {
            environment,
            values: BTreeMap::new(),
        };
        let attempt = variables.environment_value("HANDOFF_ATTEMPT");
        variables.set("attempt", attempt.unwrap_or_else(|| "1".to_owned()));
        variables.set("pid", pid.to_string());
        variables
    }

    pub(crate) const fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn environment_value(&self, name: &str) -> Option<String> {
        let value = self.environment.get(OsStr::new(name))?;
        Some(value.to_string_lossy().into_owned())
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.values.insert(name.to_owned(), value.into());
    }

    /// Keeps what was read as `{line}`, and under the name the script gave it.
    pub(crate) fn set_read(&mut self, value: &str, save_as: Option<&VariableName>) {
        self.set("line", value);
        if let Some(name) = save_as {
            self.set(name.as_str(), value);
        }
    }

    pub(crate) fn render(&self, text: &Text) -> String {
        text.render(|name| match name.strip_prefix("env.") {
            Some(name) => Some(self.environment_value(name).unwrap_or_default()),
            None => self.values.get(name).cloned(),
        })
    }

    pub(crate) fn holds(&self, when: &When) -> bool {
        let value = match &when.subject {
            Subject::Environment(name) => self.environment_value(name),
            Subject::Variable(name) => self.values.get(name).cloned(),
        };
        when.holds(value.as_deref())
    }
}
