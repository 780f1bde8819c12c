//! The condition of a step.

use serde::Deserialize;

/// `when = { env = "NAME", is = "1" }`: the step is taken only if this holds.
///
/// The subject is `env` (an environment variable) or `var` (a variable, such as `attempt` or
/// `line`); the test is `is`, `is_not` or `contains`. What is unset is nothing and contains nothing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Keys")]
pub struct When {
    pub subject: Subject,
    pub test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Environment(String),
    Variable(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    Is(String),
    IsNot(String),
    Contains(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    env: Option<String>,
    var: Option<String>,
    is: Option<String>,
    is_not: Option<String>,
    contains: Option<String>,
}

impl When {
    /// Whether the step is taken, given the value of the subject.
    pub fn holds(&self, value: Option<&str>) -> bool {
        match &self.test {
            Test::Is(wanted) => value == Some(wanted),
            Test::IsNot(unwanted) => value != Some(unwanted),
            Test::Contains(part) => value.is_some_and(|value| value.contains(part)),
        }
    }
}

impl TryFrom<Keys> for When {
    type Error = &'static str;

    fn try_from(keys: Keys) -> Result<Self, Self::Error> {
        let subject = match (keys.env, keys.var) {
            (Some(name), None) => Subject::Environment(name),
            (None, Some(name)) => Subject::Variable(name),
            _ => return Err("`when` needs either `env` or `var`"),
        };
        let test = match (keys.is, keys.is_not, keys.contains) {
            (Some(wanted), None, None) => Test::Is(wanted),
            (None, Some(unwanted), None) => Test::IsNot(unwanted),
            (None, None, Some(part)) => Test::Contains(part),
            _ => return Err("`when` needs exactly one of `is`, `is_not` and `contains`"),
        };
        Ok(Self { subject, test })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_values_are_nothing_and_contain_nothing() {
        let holds = |test: Test, value| {
            let subject = Subject::Variable("line".to_owned());
            When { subject, test }.holds(value)
        };
        let one = || "1".to_owned();
        for (test, on_unset, on_equal, on_longer) in [
            (Test::Is(one()), false, true, false),
            (Test::IsNot(one()), true, false, true),
            (Test::Contains(one()), false, true, true),
        ] {
            assert_eq!(holds(test.clone(), None), on_unset, "{test:?}");
            assert_eq!(holds(test.clone(), Some("1")), on_equal, "{test:?}");
            assert_eq!(holds(test.clone(), Some("21")), on_longer, "{test:?}");
        }
    }
}
