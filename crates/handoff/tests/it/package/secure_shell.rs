//! A package goes to another machine through a real ssh and a real sshd.
//!
//! The server is started for each connection and speaks over a pipe, as under inetd: it needs no port, and nothing is left when the
//! connection ends. Its keys, its configuration and the home of whoever logs in are the test's own.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::{create, stage, value};
use crate::stage::Stage;

/// Where Debian and most others have it; it is on no user's path.
const SERVER: &str = "/usr/sbin/sshd";
const HOST: &str = "elsewhere";

/// What one machine needs to reach another one.
struct Line {
    directory: PathBuf,
}

impl Line {
    /// From here to there: whoever types `ssh` here meets a server whose sessions use the state that is there.
    fn lay(here: &mut Stage, there: &Stage) -> Self {
        assert!(
            Path::new(SERVER).exists(),
            "install openssh-server, or let `cargo xtask test` do it"
        );
        let line = Self {
            directory: here.env.work().join("line"),
        };
        fs::create_dir_all(line.path("home")).unwrap();
        // A server of the superuser locks itself up in there. Others need it not, and may not make it.
        fs::create_dir_all("/run/sshd").ok();
        line.make_key(here, "host");
        line.make_key(here, "user");
        line.configure_server(there);
        line.configure_client();
        line.know("host");
        let ssh = format!("exec /usr/bin/ssh -F '{}' \"$@\"", line.file("client"));
        super::flaws::ssh(here, &ssh);
        line
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn make_key(&self, here: &Stage, name: &str) {
        let mut keygen = here.env.command("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]);
        keygen.arg(self.path(name));
        here.env.run(keygen).success();
    }

    fn configure_server(&self, there: &Stage) {
        let (host, user, home) = (self.file("host"), self.file("user.pub"), self.file("home"));
        let state = there.env.handoff_home();
        let mut text = String::new();
        for line in [
            format!("HostKey {host}"),
            format!("AuthorizedKeysFile {user}"),
            // The login shell reads the files of the home that it is told of, and not those of whoever runs the tests.
            format!("SetEnv HOME={home} HANDOFF_HOME={}", state.display()),
            "StrictModes no".to_owned(),
            "UsePAM no".to_owned(),
            "PermitRootLogin yes".to_owned(),
            "PidFile none".to_owned(),
        ] {
            writeln!(text, "{line}").unwrap();
        }
        fs::write(self.path("server"), text).unwrap();
    }

    fn configure_client(&self) {
        let server = self.file("server");
        let log = self.file("log");
        let text = format!(
            "Host {HOST}\nProxyCommand {SERVER} -i -f {server} -E {log}\nIdentityFile {user}\nIdentitiesOnly yes\n\
             IdentityAgent none\nUserKnownHostsFile {known}\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n",
            user = self.file("user"),
            known = self.file("known"),
        );
        fs::write(self.path("client"), text).unwrap();
    }

    /// From now on the host is expected to have this key.
    fn know(&self, key: &str) {
        let public = fs::read_to_string(self.path(&format!("{key}.pub"))).unwrap();
        fs::write(self.path("known"), format!("{HOST} {public}")).unwrap();
    }
}

#[test]
fn a_package_reaches_another_machine_through_a_real_sshd() {
    let (mut here, there) = (stage(), Stage::new());
    let line = Line::lay(&mut here, &there);
    here.repo.write("log.txt", "hello\n".repeat(20_000));
    let id = create(&here, &["--attach", "log.txt"]);
    let program = here.env.binary().to_str().unwrap().to_owned();
    let directory = there.repo.path().to_str().unwrap().to_owned();
    let send = |more: &[&str]| {
        let words = ["package", "send", &id, HOST, "--program", &program];
        here.run(words.iter().chain(more))
    };
    // Somebody who is not the host that is known gets nothing.
    line.know("user");
    let refused = send(&["--directory", &directory]).failure(5);
    assert!(refused.stderr.contains("it is still here"), "{refused:?}");
    line.know("host");
    let nowhere = line.file("home");
    send(&["--directory", &nowhere]).failure(5);
    assert_eq!(here.json(&format!("package show {id}"))["state"], "created");
    let sent = send(&["--directory", &directory, "--json"])
        .success()
        .json();
    assert_eq!(sent["targetProcess"], HOST);
    assert!(sent["transferredAt"].is_string());
    here.say(&format!("package receive {id}")).failure(4);
    let receive = format!("package receive {id} --untrusted");
    there.say(&receive).success();
    assert_eq!(value(&there, "phase.a"), "9007199254740993");
    let taken = there.env.work().join("log.txt");
    let words = ["package", "attachment", &id, "log.txt", "-o"];
    there
        .run(words.iter().copied().chain([taken.to_str().unwrap()]))
        .success();
    assert_eq!(fs::read_to_string(taken).unwrap().len(), 120_000);
}

#[test]
fn a_task_is_transferred_through_a_real_sshd() {
    let (mut here, there) = (stage(), Stage::new());
    let _line = Line::lay(&mut here, &there);
    here.add("fix");
    here.claim("fix");
    let words = ["transfer", "fix", "--to", "friend", "--ssh", HOST];
    let program = here.env.binary().to_str().unwrap().to_owned();
    let directory = there.repo.path().to_str().unwrap().to_owned();
    let place = ["--program", &program, "--directory", &directory, "--json"];
    let answer = here.run(words.iter().chain(&place)).success().json();
    assert_eq!(answer["targetProcess"], HOST);
    let id = answer["handoffId"].as_str().unwrap();
    let shown = there.json(&format!("package show {id}"));
    assert_eq!(shown["payload"]["taskName"], "fix");
    here.say(&format!("resume {id}")).failure(4);
}
