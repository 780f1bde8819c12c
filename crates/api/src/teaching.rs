//! The guide, the recipes and the skills as JSON.

use serde::Serialize;

/// A text for people.
#[derive(Debug, Serialize)]
pub struct TextDocument {
    /// What it is called.
    pub name: &'static str,
    /// It, as Markdown.
    pub text: &'static str,
}

impl TextDocument {
    /// The schema of a text.
    pub const SCHEMA: &str = "handoff.text/1";
}

/// All recipes.
#[derive(Debug, Serialize)]
pub struct RecipesDocument {
    /// By number.
    pub recipes: Vec<RecipeDocument>,
}

impl RecipesDocument {
    /// The schema of a list of recipes.
    pub const SCHEMA: &str = "handoff.recipes/1";
}

/// A recipe.
#[derive(Debug, Serialize)]
pub struct RecipeDocument {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub summary: &'static str,
}

/// All skills.
#[derive(Debug, Serialize)]
pub struct SkillsDocument {
    /// In the order of the list.
    pub skills: Vec<SkillDocument>,
}

impl SkillsDocument {
    /// The schema of a list of skills.
    pub const SCHEMA: &str = "handoff.skills/1";
}

/// A skill.
#[derive(Debug, Serialize)]
pub struct SkillDocument {
    /// Its name.
    pub name: &'static str,
    /// What it teaches.
    pub summary: &'static str,
    /// Where it may lie.
    pub copies: Vec<SkillCopyDocument>,
}

/// A place for a skill.
#[derive(Debug, Serialize)]
pub struct SkillCopyDocument {
    /// The skill.
    pub skill: String,
    /// The file.
    pub path: String,
    /// `-`, `installed`, `outdated`, `changed` or `foreign`.
    pub state: &'static str,
    /// What was or would be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<&'static str>,
}

/// What was done to skills.
#[derive(Debug, Serialize)]
pub struct SkillChangesDocument {
    /// Whether it was only said.
    pub is_dry_run: bool,
    /// Each file that changed, or would.
    pub copies: Vec<SkillCopyDocument>,
}

impl SkillChangesDocument {
    /// The schema of changes.
    pub const SCHEMA: &str = "handoff.skill-changes/1";
}
