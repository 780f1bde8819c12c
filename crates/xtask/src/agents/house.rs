//! A home for one agent: its configuration, its project, and its environment. Nothing of this machine's user is in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{Name, Theme, install, script_case};
use handoff_chores::program;

/// A key that opens nothing.
const KEY: &str = "sk-ant-scripted-00000000000000000000";

/// Where an agent lives while it is tried.
pub(super) struct House {
    root: PathBuf,
    pub(super) environment: BTreeMap<String, String>,
}

impl House {
    /// Furnishes one in an empty directory, for a model at this address.
    pub(super) fn furnish(root: &Path, name: Name, model: &str, theme: Theme) -> Result<Self> {
        let mut house = Self {
            root: root.to_owned(),
            environment: BTreeMap::new(),
        };
        std::fs::create_dir_all(house.home())?;
        std::fs::create_dir_all(house.project())?;
        let mut git = program::program("git");
        program::run(git.args(["init", "--quiet"]).arg(house.project()))?;
        house.set("HOME", &house.home().display().to_string());
        house.set("HANDOFF_HOME", &root.join("state").display().to_string());
        house.set("XDG_RUNTIME_DIR", &root.join("run").display().to_string());
        house.set("LANG", "C.UTF-8");
        house.set("SHELL", "/bin/bash");
        house.set("PATH", &path(name)?);
        match name {
            Name::Claude => house.claude(model, theme)?,
            Name::ClaudeQuiet => {
                house.claude(model, theme)?;
                house.set("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1");
            }
            Name::Codex => house.codex(model)?,
            Name::Opencode => house.opencode(model)?,
            Name::Gemini => house.gemini(model)?,
            Name::Copilot => house.copilot(model),
            Name::Aider => house.aider(model),
            Name::Scripted => {
                std::fs::write(house.project().join("agent.toml"), script_case::SCRIPT)?;
            }
            Name::Bash => {}
        }
        Ok(house)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// A worktree of the project.
    pub(super) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    /// Makes it, on a branch such as an attempt has.
    pub(super) fn make_tree(&self) -> Result<PathBuf> {
        let tree = self.tree();
        let git = |words: &[&str]| {
            let mut git = program::program("git");
            git.arg("-C").arg(self.project());
            git.args(["-c", "user.name=house", "-c", "user.email=house@localhost"]);
            program::run(git.args(words))
        };
        git(&["commit", "--quiet", "--allow-empty", "-m", "base"])?;
        let shown = tree.to_str().context("a path that is not text")?;
        git(&["worktree", "add", "--quiet", "-b", "handoff/tree-1", shown])?;
        Ok(tree)
    }

    /// The refs of the project.
    pub(super) fn refs(&self) -> Result<String> {
        let mut git = program::program("git");
        let output = git
            .arg("-C")
            .arg(self.project())
            .arg("for-each-ref")
            .output()?;
        Ok(String::from_utf8(output.stdout)?)
    }

    pub(super) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.home().join(file);
        let directory = path.parent().context("a file lies in a directory")?;
        std::fs::create_dir_all(directory)?;
        Ok(std::fs::write(path, text)?)
    }

    /// Past its welcome, which would ask the maker of the model even when told of another one; the question about trust stays.
    fn claude(&mut self, model: &str, theme: Theme) -> Result<()> {
        self.set("ANTHROPIC_API_KEY", KEY);
        self.set("ANTHROPIC_BASE_URL", model);
        self.set("DISABLE_AUTOUPDATER", "1");
        self.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        let keys = json!({ "approved": [&KEY[KEY.len() - 20..]], "rejected": [] });
        let settings = json!({
            "hasCompletedOnboarding": true, "theme": theme.word(), "hasSeenAutoDefaultNotice": true,
            // It offers another mode than the one of its settings, unless somebody types before it comes to that.
            "hasSeenAutoDefaultNudge": true, "customApiKeyResponses": keys,
        });
        self.write(".claude.json", &settings.to_string())
    }

    /// Trusts the project, and with it its worktrees, and runs commands without asking, for work that nobody attends.
    pub(super) fn permit(&self, name: Name) -> Result<()> {
        match name {
            Name::Claude | Name::ClaudeQuiet => {
                let path = self.home().join(".claude.json");
                let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
                let trusted = json!({ "hasTrustDialogAccepted": true });
                settings["projects"] = json!({ self.project().display().to_string(): trusted });
                self.write(".claude.json", &settings.to_string())?;
                // Its usual mode asks its maker's server about each command, and sets aside what is allowed here.
                let allowed =
                    json!({ "defaultMode": "manual", "allow": ["Bash", "Edit", "Write"] });
                let allowed = json!({ "permissions": allowed });
                self.write(".claude/settings.json", &allowed.to_string())
            }
            Name::Codex => {
                let config = std::fs::read_to_string(self.home().join(".codex/config.toml"))?;
                let project = self.project();
                let config = format!(
                    "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n{config}\
                     [projects.\"{}\"]\ntrust_level = \"trusted\"\n",
                    project.display()
                );
                self.write(".codex/config.toml", &config)
            }
            Name::Scripted
            | Name::Bash
            | Name::Opencode
            | Name::Gemini
            | Name::Copilot
            | Name::Aider => Ok(()),
        }
    }

    fn codex(&mut self, model: &str) -> Result<()> {
        self.set("SCRIPTED_KEY", "x");
        let config = format!(
            "model = \"gpt-5-codex\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\n\
             env_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"
        );
        self.write(".codex/config.toml", &config)
    }

    fn opencode(&self, model: &str) -> Result<()> {
        let models = json!({ "fake-model": {
            "name": "Scripted", "limit": { "context": 100_000, "output": 8000 }, "cost": { "input": 1, "output": 2 },
        } });
        let provider = json!({ "scripted": {
            "npm": "@ai-sdk/openai-compatible", "name": "Scripted",
            "options": { "baseURL": format!("{model}/v1"), "apiKey": "x" }, "models": models,
        } });
        let config = json!({
            "autoupdate": false, "share": "disabled", "model": "scripted/fake-model",
            "small_model": "scripted/fake-model", "permission": { "bash": "ask", "edit": "ask" }, "provider": provider,
        });
        self.write(".config/opencode/opencode.json", &config.to_string())
    }

    fn gemini(&mut self, model: &str) -> Result<()> {
        self.set("GEMINI_API_KEY", "x");
        self.set("GOOGLE_GEMINI_BASE_URL", model);
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
            "privacy": { "usageStatisticsEnabled": false }, "telemetry": { "enabled": false },
            "ui": { "theme": "Default" }, "model": { "name": "gemini-2.5-pro" },
        });
        self.write(".gemini/settings.json", &settings.to_string())
    }

    /// It masks its key in everything it prints, so the key must be nothing that is printed otherwise.
    fn copilot(&mut self, model: &str) {
        self.set("COPILOT_OFFLINE", "true");
        self.set("COPILOT_PROVIDER_BASE_URL", &format!("{model}/v1"));
        self.set("COPILOT_MODEL", "fake-model");
        self.set("COPILOT_PROVIDER_API_KEY", KEY);
    }

    fn aider(&mut self, model: &str) {
        self.set("OPENAI_API_KEY", "x");
        self.set("OPENAI_API_BASE", &format!("{model}/v1"));
    }
}

/// The agent's own directory first.
fn path(name: Name) -> Result<String> {
    let own = install::program_of(name);
    let own = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let usual = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let path = std::env::join_paths(own.into_iter().chain(usual))?;
    path.into_string().ok().context("a path that is not text")
}
