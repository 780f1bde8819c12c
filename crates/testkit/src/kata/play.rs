//! What sessions do, laid out as files for the built-in agent to play.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Cheat, ITEMS, Kata, Phase, Tree};
use crate::{TestEnv, ambient};

/// The directory of a play has the files that are written in `tree`, those that are removed in `gone`, what is run in `then`, and
/// what is handed over in `result.json`. Plays of a phase are played in their order, each once, and the last one for ever.
///
/// An agent has no memory, and its sandbox keeps it from writing down anything outside of its tree. How far the work is, shows in the
/// list of tests; how many before it tried the same phase, in the number of its task and that of the last one with a commit.
const AGENT: &str = r#"phase=${HANDOFF_TASK##*-}
cycle=$(grep -c '^- \[x\]' test-list.md 2>/dev/null || true)
number=${HANDOFF_TASK##*.}
before=$(git log -1 --format='%(trailers:key=Handoff-Task,valueonly)')
before=${before##*.}
before=${before%%-*}
earlier=$((${number%%-*} - ${before:-0} - 1))
for play in "${0%/*}/${cycle:-0}-$phase"/*; do
  if [ "$earlier" -eq 0 ]; then break; fi
  earlier=$((earlier - 1))
done
xargs rm -f -- < "$play/gone"
cp -R "$play/tree/." .
. "$play/then"
exec "$HANDOFF" done --result "$play/result.json"
"#;

/// What one session does.
#[derive(Clone, Debug)]
pub struct Play {
    /// What it leaves.
    pub(super) tree: Tree,
    /// The list of tests that it writes, if it writes one.
    pub(super) list: Option<String>,
    /// What it runs at the end.
    pub(super) then: &'static str,
    /// The files that it says are stubs.
    pub(super) stubs: Vec<&'static str>,
}

impl Play {
    pub(super) fn first_list() -> String {
        ITEMS.map(|it| format!("- [ ] {it}\n")).concat()
    }

    pub(super) fn honest(kata: &Kata, cycle: usize, phase: Phase) -> Self {
        let has_stub = phase == Phase::Red && cycle < 2;
        Self {
            tree: kata.after(cycle, phase).clone(),
            list: (cycle == 0 && phase == Phase::Plan).then(Self::first_list),
            then: "",
            stubs: has_stub
                .then_some(kata.language.code.0)
                .into_iter()
                .collect(),
        }
    }

    fn result(&self, kata: &Kata, cycle: usize, phase: Phase) -> serde_json::Value {
        match phase {
            Phase::Red => json!({ "test": kata.language.test(cycle), "stubs": self.stubs }),
            Phase::Plan | Phase::Green | Phase::Refactor => json!({ "summary": "It is done." }),
        }
    }
}

/// The agents of a run: what each does in its phase.
#[derive(Debug)]
pub struct Troupe {
    acts: PathBuf,
}

impl Troupe {
    /// Lays out in this directory what honest sessions do, and before that in the first cycle these cheats.
    ///
    /// # Panics
    /// When the directory cannot be written.
    #[must_use]
    pub fn at(acts: PathBuf, kata: &Kata, cheats: &[Cheat]) -> Self {
        let troupe = Self { acts };
        for cycle in 0..=ITEMS.len() {
            for phase in Phase::ALL {
                let is_over = cycle == ITEMS.len();
                if !is_over || phase == Phase::Plan {
                    troupe.lay(kata, cycle, phase, cheats);
                }
            }
        }
        fs::write(troupe.agent(), AGENT).expect("the directory is ours");
        let agent = troupe.agent();
        let agent = agent.to_str().expect("a plain path");
        let script = format!("[[step]]\nrun = ['sh', '-eu', '{agent}']\n");
        fs::write(troupe.script(), script).expect("the directory is ours");
        troupe
    }

    /// The same beside the work of an environment, which gets to know the programs that the tests of the project need.
    pub fn engage(env: &mut TestEnv, kata: &Kata, cheats: &[Cheat]) -> Self {
        let binary = env.binary().to_owned();
        env.set("HANDOFF", binary);
        env.set("PATH", path_of(kata, &env.work().join("bin")));
        Self::at(env.work().join("acts"), kata, cheats)
    }

    /// The program for a shell that plays a phase.
    #[must_use]
    pub fn agent(&self) -> PathBuf {
        self.acts.join("agent.sh")
    }

    /// The script for the built-in agent.
    #[must_use]
    pub fn script(&self) -> PathBuf {
        self.acts.join("agent.toml")
    }

    fn lay(&self, kata: &Kata, cycle: usize, phase: Phase, cheats: &[Cheat]) {
        let cheats = cheats.iter().filter(|it| cycle == 0 && it.phase == phase);
        let honest = match cycle {
            3.. => Play {
                tree: kata.after(2, Phase::Refactor).clone(),
                list: None,
                then: "",
                stubs: vec![],
            },
            _ => Play::honest(kata, cycle, phase),
        };
        let before = match cycle {
            3.. => honest.tree.clone(),
            _ => kata.before(cycle, phase).clone(),
        };
        let plays = cheats.map(|it| &it.play).chain([&honest]);
        for (number, play) in plays.enumerate() {
            let place = format!("{cycle}-{}/{number:02}", phase.word());
            let place = self.acts.join(place);
            let result = play.result(kata, cycle, phase);
            lay_out(&place, &before, play, &result).expect("the directory is ours");
        }
    }
}

fn lay_out(
    place: &Path,
    before: &Tree,
    play: &Play,
    result: &serde_json::Value,
) -> std::io::Result<()> {
    fs::create_dir_all(place.join("tree"))?;
    let (written, gone) = play.tree.since(before);
    let list = play.list.iter().map(|it| ("test-list.md", it.as_str()));
    for (path, text) in written.into_iter().chain(list) {
        let path = place.join("tree").join(path);
        fs::create_dir_all(path.parent().expect("it is below the tree"))?;
        fs::write(path, text)?;
    }
    fs::write(place.join("gone"), gone.join("\n"))?;
    fs::write(place.join("then"), play.then)?;
    fs::write(place.join("result.json"), result.to_string())
}

/// The programs of the project first: cargo without the wrapper that looks into a home, and the Python of the system.
fn path_of(kata: &Kata, bin: &Path) -> OsString {
    let first = match kata.language.name {
        "rust" => Path::new(env!("CARGO"))
            .parent()
            .expect("a file")
            .to_owned(),
        _ => {
            fs::create_dir_all(bin).expect("the directory is ours");
            // It is there already when two runs share an environment.
            std::os::unix::fs::symlink("/usr/bin/python3", bin.join("python3")).ok();
            bin.to_owned()
        }
    };
    let path = ambient::variable("PATH").unwrap_or_default();
    let mut all = first.into_os_string();
    all.push(":");
    all.push(path);
    all
}
