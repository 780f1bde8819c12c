//! Agents as files describe them: those of the user, and none of a repository.

use insta::assert_snapshot;

use super::hall::Hall;

impl Hall {
    /// Describes an agent in the user's configuration.
    pub(super) fn describe(&self, name: &str, text: &str) {
        let folder = self.stage.env.config_home().join("handoff/agents");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
}

const MINE: &str = r#"
about = "An agent of mine"

[launch]
command = ["sh", "-c", "printf 'my turn: '; read line; printf 'thinking\n(3s) '; read line"]

[[screen]]
means = "prompt"
cursor = ["my turn:"]

[[screen]]
means = "busy"
cursor = ["([0-9]*s)"]
"#;

#[test]
fn an_agent_of_the_users_is_started_and_read_as_its_file_says() {
    let hall = Hall::new();
    hall.describe("mine", MINE);
    let agent = hall.run("one", &["mine"]);
    assert_eq!(agent.text("agent"), "mine");
    hall.until("one", "\"state\":\"prompt\",\"source\":\"screen\"");
    agent.types("go");
    hall.until("one", "\"state\":\"busy\",\"source\":\"screen\"");
    let listed = hall.stage.json("agents");
    let listed = listed["agents"].as_array().unwrap();
    assert_eq!(listed.last().unwrap()["about"], "An agent of mine");
    let shown = hall.stage.say("agents show mine").success().stdout;
    assert_eq!(shown, MINE);
}

#[test]
fn a_mistake_in_a_description_is_told_with_its_line_and_nothing_starts() {
    let hall = Hall::new();
    hall.describe(
        "mine",
        "about = \"x\"\n[launch]\ncommand = [\"sh\"]\ncolour = \"red\"\n",
    );
    for words in ["run mine --detach", "agents show mine", "agents"] {
        let said = hall.stage.say(words);
        assert_eq!(said.code(), Some(1), "{words}");
        assert!(
            said.stderr.contains("line 4: unknown field `colour`"),
            "{}",
            said.stderr
        );
    }
    assert_eq!(
        hall.stage.json("ps --all")["sessions"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn what_stands_in_a_repository_describes_no_agent() {
    let hall = Hall::new();
    let folder = hall.stage.repo.path().join(".handoff/agents");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mine.toml"), MINE).unwrap();
    assert_snapshot!(hall.stage.say("agents show mine").snapshot(), @r"
    exit status: 3
    --- stderr ---
    error: no agent is called `mine`
    hint: see those that there are: `handoff agents`
    ");
    assert_eq!(hall.stage.say("agents show ../mine").code(), Some(2));
    assert_eq!(hall.stage.say("run mine --detach").code(), Some(3));
}

/// The agent runs the first hook of its settings, as Claude Code would.
const HOOKED: &str = r#"
about = "An agent with hooks"

[launch]
command = ["sh", "agent.sh"]
hooks_option = "--settings"
"#;

const AGENT: &str = r#"
[ "$1" = --settings ] || exit 7
hook=$(sed 's/.*"command":"\([^"]*\)".*/\1/' "$2")
echo '{"hook_event_name":"PermissionRequest","tool_name":"Bash"}' | sh -c "$hook"
echo told $?
read line
"#;

#[test]
fn what_an_agent_tells_by_a_hook_is_its_state() {
    let hall = Hall::new();
    hall.describe("hooked", HOOKED);
    std::fs::write(hall.stage.repo.path().join("agent.sh"), AGENT).unwrap();
    let agent = hall.run("one", &["hooked"]);
    hall.until(
        "one",
        "\"state\":\"blocked\",\"kind\":\"permission\",\"source\":\"native\"",
    );
    agent.shows("told 0");
    hall.stage.say("hook").success();
    // Settings of the user's own on the command line are left alone.
    hall.run("two", &["hooked", "--", "--settings=mine"]);
    hall.until("two", "\"code\":7");
}

#[test]
fn a_picture_of_a_terminal_is_read_without_an_agent() {
    let hall = Hall::new();
    let picture = hall.stage.script(
        "screen.ansi",
        " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n",
    );
    let words = [
        "--json",
        "agents",
        "try",
        "claude",
        picture.to_str().unwrap(),
    ];
    let read = hall.stage.run(words).success().json();
    assert_eq!(
        (&read["state"], &read["kind"]),
        (&"blocked".into(), &"permission".into())
    );
    let nothing = hall.stage.say("agents try claude nowhere.cast");
    assert_eq!(nothing.code(), Some(1));
    let cast = hall.stage.script("wrong.cast", "{}\n");
    let words = ["agents", "try", "claude", cast.to_str().unwrap()];
    let wrong = hall.stage.run(words);
    assert!(wrong.stderr.contains("asciicast"), "{}", wrong.stderr);
}
