//! What a session tries with sessions that are not its own to supervise, and with what is for a person: itself, the one that
//! started it, one beside it, one that it started, and from within a check.
//!
//! `docs/attacks.md` is made from [`ROWS`] and [`WAYS`].

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::hall::{Guest, Hall};

/// How an attack on one of them ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Refused,
    /// It is the session's own right.
    Allowed,
    /// There is no such case.
    None,
}

use End::{Allowed, None as Nothing, Refused};

pub(crate) struct Row {
    pub(crate) attack: &'static str,
    /// The words of the command, with `TARGET` for the session that is meant.
    words: &'static str,
    /// Against itself, the one above, one beside, one that it started; and from within a check.
    pub(crate) ends: [End; 5],
}

const fn row(attack: &'static str, words: &'static str, ends: [End; 5]) -> Row {
    Row {
        attack,
        words,
        ends,
    }
}

const OF_SESSIONS: [End; 5] = [Refused, Refused, Refused, Allowed, Refused];
const OF_PEOPLE: [End; 5] = [Refused, Nothing, Nothing, Nothing, Refused];

pub(crate) const ROWS: [Row; 17] = [
    row("`answer`", "answer --id TARGET --choose 1", [Refused; 5]),
    row(
        "`interrupt`",
        "interrupt --id TARGET --timeout 0",
        OF_SESSIONS,
    ),
    row("`signal`", "signal --id TARGET WINCH", OF_SESSIONS),
    row(
        "`send --force`",
        "send --id TARGET --force --no-wait --message x",
        OF_SESSIONS,
    ),
    row("`stop`", "stop --id TARGET --timeout 0", OF_SESSIONS),
    row("`approve`", "approve run", OF_PEOPLE),
    row("`reject`", "reject run --reason x", OF_PEOPLE),
    row("`land`", "land task", OF_PEOPLE),
    row("`trust`", "trust --revoke", OF_PEOPLE),
    row("`queue cancel`", "queue cancel task --yes", OF_PEOPLE),
    row("`gc --apply`", "gc --apply --yes", OF_PEOPLE),
    row(
        "`package delete`",
        "package delete pkg_0192f0c47d0a7c3e9f5b2a1c3d4e5f60 --yes",
        OF_PEOPLE,
    ),
    row("`keys revoke`", "keys revoke x --yes", OF_PEOPLE),
    row("`worker stop`", "worker stop --all", OF_PEOPLE),
    row("`hold`", "hold", OF_PEOPLE),
    row("`hooks uninstall`", "hooks uninstall", OF_PEOPLE),
    row("`git-guard uninstall`", "git-guard uninstall", OF_PEOPLE),
];

/// How it is tried: what stands before the command.
pub(crate) const WAYS: [(&str, &str); 4] = [
    ("plain", ""),
    ("`env -i`", "env -i $KEPT "),
    (
        "`setsid` and orphaned, without its variables",
        "orphan env -i $KEPT ",
    ),
    (
        "with the variables of the one above",
        "env HANDOFF_SESSION=$PARENT HANDOFF_ROLE=main HANDOFF_SESSION_TOKEN= ",
    ),
];

/// A session, the one that started it, one beside both, and one that it started.
struct Family {
    hall: Hall,
    attacker: Guest,
    parent: Guest,
}

impl Family {
    fn new() -> Self {
        let hall = Hall::new();
        hall.stage.checks("test = \"true\"\n");
        hall.stage.add("task");
        hall.run(
            "sibling",
            &["--port", "0", "bash", "--", "--norc", "--noprofile"],
        );
        let parent = hall.bash("parent");
        start_within(&hall, &parent, "attacker");
        let attacker = hall.known("attacker");
        start_within(&hall, &attacker, "child");
        Self {
            hall,
            attacker,
            parent,
        }
    }

    /// What a script prints that runs within a session.
    fn told(&self, within: &Guest, script: &str) -> String {
        told(&self.hall, within, script)
    }

    fn target(&self, index: usize) -> &'static str {
        ["attacker", "parent", "sibling", "child"][index]
    }

    /// Everything that a script needs: the program as `$H`, what of the environment leads to the store as `$KEPT`.
    fn head(&self) -> String {
        format!(
            "H={}\nPARENT={}\nKEPT=\"PATH=$PATH HOME=$HOME HANDOFF_HOME=$HANDOFF_HOME XDG_CONFIG_HOME=$XDG_CONFIG_HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR\"\n\
             orphan() {{ rm -f .o .code; (setsid sh -c '\"$@\"; echo $? > .o; mv .o .code' sh \"$@\" >/dev/null 2>&1 &); \
             while ! [ -f .code ]; do :; done; return $(cat .code); }}\n",
            self.hall.stage.env.binary().display(),
            self.parent.text("id"),
        )
    }
}

fn start_within(hall: &Hall, within: &Guest, name: &str) {
    let program = hall.stage.env.binary().display();
    let words = format!("{program} run --detach --id {name} bash -- --norc --noprofile");
    let said = told(hall, within, &format!("{words}; echo code=$?"));
    assert!(said.contains("code=0"), "{said}");
    hall.until(name, "\"state\":\"prompt\"");
}

fn told(hall: &Hall, within: &Guest, script: &str) -> String {
    let root = hall.stage.repo.path();
    fs::write(root.join("script"), script).unwrap();
    fs::remove_file(root.join("told")).ok();
    within.types("sh ./script > .told 2>&1 < /dev/null; mv .told told");
    hall.file_with("told", |_| true)
}

/// One line for each attempt: which, and how it ended.
fn attempts(family: &Family, is_meant: impl Fn(usize, End) -> bool) -> (String, Vec<String>) {
    let mut script = family.head();
    let mut names = vec![];
    for row in &ROWS {
        for (index, end) in row.ends.iter().take(4).enumerate() {
            if !is_meant(index, *end) {
                continue;
            }
            let words = row.words.replace("TARGET", family.target(index));
            // The one above and the one beside are the same to the table: one way less takes less time.
            let ways = WAYS.iter().skip(usize::from(index == 1) * 2);
            for (way, before) in ways {
                let name = format!("{} {index} {way}", row.attack).replace('`', "");
                writeln!(
                    script,
                    "{before}$H {words} >/dev/null 2>.err; echo \"{name}=$?\""
                )
                .unwrap();
                names.push(name);
            }
        }
    }
    (script, names)
}

#[test]
fn a_session_decides_nothing_for_itself_nor_for_those_above_and_beside_it() {
    let family = Family::new();
    let (script, names) = attempts(&family, |index, end| index < 3 && end == Refused);
    let said = family.told(&family.attacker, &script);
    let expected: Vec<String> = names.iter().map(|name| format!("{name}=9")).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    for name in ["attacker", "parent", "sibling", "child"] {
        assert!(
            !["ended", "lost"].contains(&family.hall.listed(name)["state"].as_str().unwrap()),
            "{name}"
        );
    }
    assert_eq!(family.hall.stage.state("task"), "queued");
    // It is told, and a loop does not fill the journal.
    let refused = |name: &str| refusals(&family.hall, name);
    let by: Vec<_> = refused("sibling")
        .iter()
        .map(|it| it["by"].clone())
        .collect();
    assert!(
        by.iter().all(|it| it == family.attacker.text("id")),
        "{by:?}"
    );
    assert!((1..=12).contains(&by.len()), "{by:?}");
    let own = refused("attacker");
    assert!(own.iter().any(|it| it["act"] == "queue cancel"), "{own:?}");
    let status = family.hall.stage.json("status");
    let needs = status["project"]["needs"].as_array().unwrap();
    let told = { needs.iter() }.any(|it| it["name"] == "sibling");
    assert!(told, "{needs:?}");
}

/// What was refused at a session.
fn refusals(hall: &Hall, name: &str) -> Vec<Value> {
    let events = hall.stage.run(["events", "--id", name, "--snapshot"]);
    let mut events = events.success().json_lines();
    events.retain(|it| it["type"] == "refused");
    events
}

#[test]
fn a_session_supervises_one_that_it_started_and_its_dialogs_are_for_a_person() {
    let family = Family::new();
    let record = fs::read_to_string(
        family
            .hall
            .stage
            .env
            .handoff_home()
            .join("sessions")
            .join(family.hall.listed("child")["id"].as_str().unwrap())
            .join("session.json"),
    );
    let record: Value = serde_json::from_str(&record.unwrap()).unwrap();
    assert_eq!(record["started_by"], family.attacker.text("id"));
    let script = family.head()
        + "$H answer --id child --choose 1 2>&1; echo code=$?\n\
           env -i $KEPT $H interrupt --id child --timeout 0; [ $? != 9 ]; echo code=$?\n\
           for w in \"signal --id child WINCH\" \"send --id child --force --no-wait --message :\" \"stop --id child\"; do\n\
           env -i $KEPT $H $w; echo code=$?; done\n";
    let said = family.told(&family.attacker, &script);
    let codes: Vec<_> = said.lines().filter(|it| it.starts_with("code=")).collect();
    assert_eq!(
        codes,
        ["code=9", "code=0", "code=0", "code=0", "code=0"],
        "{said}"
    );
    // One that its child started is its own as well.
    start_within(&family.hall, &family.attacker, "second");
    let script = family.head() + "$H stop --id second; echo code=$?\n";
    let said = family.told(&family.parent, &script);
    assert!(said.contains("code=0"), "{said}");
}

#[test]
fn a_person_can_let_sessions_answer_for_those_that_they_started() {
    let hall = Hall::new();
    hall.stage
        .configure("[sessions]\nmay_answer_children = true\n");
    let parent = hall.bash("parent");
    start_within(&hall, &parent, "attacker");
    let program = hall.stage.env.binary().display().to_string();
    let script = format!("{program} answer --id attacker --choose 1; echo code=$?\n");
    let said = told(&hall, &parent, &script);
    // Nothing is asked: that is found out after it was let in.
    assert!(said.contains("code=4"), "{said}");
    // What settings a session names for itself counts for nothing.
    hall.stage.configure("");
    let other = hall.bash("other");
    let script = format!(
        "mkdir -p evil/handoff; printf '[sessions]\\nmay_answer_children = true\\n' > evil/handoff/config.toml\n\
         XDG_CONFIG_HOME=$PWD/evil {program} run --detach --id inner bash -- --norc --noprofile; echo code=$?\n\
         XDG_CONFIG_HOME=$PWD/evil {program} answer --id inner --choose 1; echo code=$?\n"
    );
    let said = told(&hall, &other, &script);
    let codes: Vec<_> = said.lines().filter(|it| it.starts_with("code=")).collect();
    assert_eq!(codes, ["code=0", "code=9"], "{said}");
}

#[test]
fn what_is_run_as_a_check_decides_nothing() {
    let family = Family::new();
    let mut script = family.head();
    for row in ROWS.iter().filter(|it| it.ends[4] == Refused) {
        let words = row.words.replace("TARGET", "sibling");
        writeln!(script, "env -i $KEPT $H {words} >/dev/null 2>&1; echo $?").unwrap();
    }
    // A program whose first argument is the command of the supervisor.
    let root = family.hall.stage.repo.path();
    fs::write(root.join("check-supervisor"), script).unwrap();
    let mut command = family.hall.stage.env.command("sh");
    command.current_dir(root).arg("check-supervisor");
    let said = family.hall.stage.env.run(command).success().stdout;
    assert_eq!(said, "9\n".repeat(ROWS.len()));
}

/// Asks holders without our program: by their sockets and by a port, with each token that can be read.
#[test]
fn a_holder_knows_whose_process_asks_whatever_it_says() {
    let family = Family::new();
    let listed = |name: &str| family.hall.listed(name);
    let token = fs::read_to_string(listed("sibling")["port_token_path"].as_str().unwrap());
    let sockets = ["attacker", "parent", "sibling", "child"].map(|it| listed(it)["socket"].clone());
    let script = format!(
        "python3 - <<'END'\n{CLIENT}\nsockets = {sockets:?}\nport, token = {}, '{}'\n{ASKING}\nEND\n",
        listed("sibling")["port"],
        token.unwrap().trim(),
        sockets = sockets.map(|it| it.as_str().unwrap().to_owned()),
    );
    let said = family.told(&family.attacker, &script);
    let expected = "attacker 403 403 403 403 403\nparent 403 403 403 403 403\nsibling 403 403 403 403 403\n\
                    child 403 200 200\nport 403 403 403 403 403\norphan 403\nsend 200\nspeak 403 403 403\n";
    assert_eq!(said, expected);
    let messages = family.hall.stage.json("messages --id sibling");
    let from = &messages["messages"][0]["from"];
    assert_eq!(from["name"], "attacker", "{messages}");
}

const CLIENT: &str = r#"
import json, os, socket, time
def talk(stream, method, path, body, token):
    body = json.dumps(body) if body is not None else ''
    extra = 'Authorization: Bearer %s\r\n' % token if token else ''
    stream.sendall(('%s %s HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s'
        % (method, path, port, extra, len(body), body)).encode())
    return stream.recv(12).decode().split(' ')[1]
def ask(path, name, body, token=None):
    stream = socket.socket(socket.AF_UNIX); stream.connect(name)
    return talk(stream, 'POST', path, body, token)
def knock(path, body):
    stream = socket.create_connection(('127.0.0.1', port))
    return talk(stream, 'POST', path, body, token)
dialog = {'question': [], 'choices': [], 'pointed': None}
acts = [('/v1/answer', {'dialog': dialog, 'choice': 0}), ('/v1/input', {'text': 'x'}), ('/v1/interrupt', {}),
    ('/v1/signal', {'signal': 'TERM'}), ('/v1/stop', {'grace_ms': 0})]
"#;

const ASKING: &str = r#"
for name, place in zip(['attacker', 'parent', 'sibling'], sockets):
    print(name, *[ask(path, place, body) for path, body in acts])
child = [ask('/v1/input', sockets[3], {'text': 'x'}), ask('/v1/signal', sockets[3], {'signal': 'WINCH'})]
print('child', *child, ask('/v1/resize', sockets[3], {'rows': 20, 'columns': 70}))
print('port', *[knock(path, body) for path, body in acts], flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while os.getppid() == os.getsid(0): time.sleep(0.01)
        print('orphan', ask('/v1/stop', sockets[2], {'grace_ms': 0}, token), flush=True)
        open('.orphan', 'w').close()
    os._exit(0)
while not os.path.exists('.orphan'): time.sleep(0.01)
order = {'text': 'hello', 'key': 'one'}
print('send', ask('/v1/messages', sockets[2], order, token))
print('speak', ask('/v1/replies', sockets[2], {'text': 'x'}), ask('/v1/errand', sockets[2], {'words': [], 'directory': '/'}),
    ask('/v1/last-word', sockets[2], {'outcome': 'done'}))
"#;
