//! A victim and an attacker.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use handoff_testkit::{Output, TestEnv};

use super::table::{Column, End};
use crate::stage::{Stage, tree};

/// A victim and an attacker.
pub(super) struct Scene {
    stage: Stage,
    mine: PathBuf,
    column: Column,
    /// Everything as it was before the first attack: putting it back takes a tenth of the time that making it anew does.
    untouched: TestEnv,
    /// What belonged to others then.
    belongings: BTreeMap<String, String>,
}

impl Scene {
    pub(super) fn new(column: Column) -> Self {
        let mut stage = Stage::new();
        let repo = stage.repo.clone();
        repo.write("edited", "committed")
            .write("theirs", "committed")
            .commit("base");
        repo.git(["checkout", "--quiet", "-b", "side"]);
        repo.write("side", "side").commit("side");
        repo.git(["checkout", "--quiet", "main"]);
        repo.git(["branch", "handoff/other-1"]);
        repo.git(["init", "--quiet", "--bare", "../elsewhere"]);
        stage.say("git-guard install").success();
        stage.say("hooks install").success();
        let mine = match column {
            Column::Shared => repo.path().to_owned(),
            Column::Worktree | Column::Landlock => {
                let path = stage.env.root().join("mine");
                let shown = path.to_str().unwrap();
                repo.git(["worktree", "add", "--quiet", "-b", "handoff/mine-1", shown]);
                path
            }
        };
        // What others have here: something staged, something edited, something new.
        repo.write("theirs", "staged").git(["add", "theirs"]);
        repo.write("edited", "unsaved").write("fresh", "untracked");
        stage.say("hooks watch attacker").success();
        for (name, value) in variables(&stage, &mine) {
            stage.env.set(name, value);
        }
        let mut scene = Self {
            stage,
            mine,
            column,
            untouched: TestEnv::without_binary(),
            belongings: BTreeMap::new(),
        };
        copy(&scene.untouched, scene.stage.env.root(), &scene.copy());
        scene.belongings = scene.victim();
        scene
    }

    fn copy(&self) -> PathBuf {
        self.untouched.root().join("copy")
    }

    /// Puts everything back, where it was.
    fn put_back(&self) {
        let root = self.stage.env.root();
        for entry in fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            let is_directory = path.symlink_metadata().unwrap().is_dir();
            let removed = if is_directory {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            removed.unwrap();
        }
        copy(&self.untouched, &self.copy(), root);
    }

    /// Somebody serves here who does what they are asked.
    pub(super) fn serve(&self) {
        let socket = server(&self.stage);
        super::sockets::serve(&socket, &self.stage.repo.path().join("fresh"));
    }

    pub(super) fn run(&self, script: &str) -> Output {
        let script = format!("cd \"$REPO\" || exit 1\n{script}");
        let mut command = match self.column {
            Column::Shared | Column::Worktree => self.stage.env.command("sh"),
            Column::Landlock => {
                let mut command = self.stage.env.command(self.stage.env.binary());
                command.args(["sandbox", "--", "sh"]);
                command
            }
        };
        command.current_dir(&self.mine).args(["-c", &script]);
        self.stage.env.run(command)
    }

    /// Everything that belongs to others.
    fn victim(&self) -> BTreeMap<String, String> {
        let repo = &self.stage.repo;
        let mut found: BTreeMap<String, String> = repo.refs();
        found.retain(|name, _| name != "refs/heads/handoff/mine-1");
        let elsewhere = self.stage.env.root().join("elsewhere");
        let pushed = ["--git-dir", elsewhere.to_str().unwrap(), "for-each-ref"];
        found.insert("elsewhere".into(), repo.git(pushed));
        found.insert("HEAD".into(), read(&repo.path().join(".git/HEAD")));
        found.insert("config".into(), read(&repo.path().join(".git/config")));
        found.insert(
            "staged".into(),
            repo.git(["diff", "--cached", "--no-ext-diff"]),
        );
        for (path, (_, _, content)) in tree(repo.path()) {
            let inside = path.strip_prefix(repo.path()).unwrap();
            if !inside.starts_with(".git") {
                let content = String::from_utf8_lossy(&content).into_owned();
                found.insert(inside.display().to_string(), content);
            }
        }
        found
    }

    /// How an attack ends. What it has done is undone.
    pub(super) fn end(&self, script: &str) -> End {
        self.run(script);
        if self.victim() == self.belongings {
            return End::Refused;
        }
        let end = self.noticed();
        self.put_back();
        end
    }

    /// What a person sees of an attack that has done something.
    fn noticed(&self) -> End {
        let mut command = self.stage.command(["hooks", "status", "--json"]);
        for name in ["HANDOFF_ROLE", "HANDOFF_SESSION"] {
            command.env_remove(name);
        }
        let told = self.stage.env.run(command).json();
        match told["foreign"].as_array() {
            Some(foreign) if !foreign.is_empty() => End::Detected,
            _ if told["state"] == "displaced" => End::Detected,
            _ => End::NotCovered,
        }
    }
}

fn variables(stage: &Stage, mine: &Path) -> Vec<(&'static str, std::ffi::OsString)> {
    let git = stage.repo.git(["--exec-path"]);
    let real = Path::new(&git).join("git");
    let bin = stage.env.handoff_home().join("guard/bin");
    let path = path_of(stage);
    let path = std::iter::once(bin).chain(std::env::split_paths(&path));
    vec![
        ("PATH", std::env::join_paths(path).unwrap()),
        ("HANDOFF_ROLE", "sub-task".into()),
        (
            "HANDOFF_SESSION",
            "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".into(),
        ),
        ("REPO", stage.repo.path().into()),
        ("MINE", mine.into()),
        ("GIT", real.into()),
        ("HANDOFF", stage.env.binary().into()),
        ("ELSEWHERE", stage.env.root().join("elsewhere").into()),
        ("SERVER", server(stage).into()),
        ("SSH_AUTH_SOCK", server(stage).into()),
    ]
}

fn server(stage: &Stage) -> PathBuf {
    stage.env.root().join("server")
}

fn path_of(stage: &Stage) -> std::ffi::OsString {
    let command = stage.env.command("true");
    let mut variables = command.get_envs();
    let path = variables.find_map(|(name, value)| (name == "PATH").then_some(value?));
    path.unwrap().to_owned()
}

/// Copies what is in a directory, with its times: what git knows of files by them stays true.
fn copy(env: &TestEnv, from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut command = env.command("cp");
    command
        .current_dir("/")
        .arg("-a")
        .arg(from.join("."))
        .arg(to);
    env.run(command).success();
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
