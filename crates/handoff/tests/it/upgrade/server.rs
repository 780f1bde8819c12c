//! Releases that must not be installed, because of what the server says or serves.

use insta::assert_snapshot;

use super::installed::{FILE, Installed, NEWER, digest, saying};
use crate::release_server::Reply;

/// A server with a good release, of which `path` answers otherwise. What is installed stays as it is.
#[track_caller]
fn refused(path: &str, reply: Reply, more: &[&str]) -> String {
    let installed = Installed::new();
    installed.serve(NEWER);
    installed.server.reply(path, reply);
    let before = installed.identity();
    let output = installed.upgrade(more);
    assert_eq!(installed.identity(), before);
    installed.snapshot(&output)
}

fn body(text: &str) -> Reply {
    Reply::Body(text.into())
}

#[test]
fn a_tampered_program_is_refused() {
    let evil = saying(NEWER).replace("echo", "rm -rf /; echo");
    assert_snapshot!(refused("/program", body(&evil), &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: `handoff-PLATFORM` is not what its checksum says: it should be hash_1 and is hash_2
    hint: nothing was changed; trying again later may help
    ");
}

#[test]
fn a_truncated_program_is_refused() {
    let whole = saying(NEWER);
    let part = whole.as_bytes()[..whole.len() / 2].to_vec();
    let announced = Reply::Announced(whole.len(), part.clone());
    assert_snapshot!(refused("/program", announced, &[]), @"
    exit status: 5
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: cannot fetch the newest release
      because the answer of `http://server/program` breaks off
      because Peer disconnected
    hint: nothing was changed; trying again later may help
    ");
    assert_snapshot!(refused("/program", Reply::Body(part), &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: `handoff-PLATFORM` is not what its checksum says: it should be hash_1 and is hash_2
    hint: nothing was changed; trying again later may help
    ");
}

#[test]
fn a_checksum_that_says_nothing_is_refused() {
    assert_snapshot!(refused("/checksum", body("<html>Not here</html>"), &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: the newest release cannot be verified
      because the list of checksums does not name `handoff-PLATFORM`
    hint: nothing was changed; trying again later may help
    ");
    let other = format!("{}  handoff-other\n", digest(b""));
    assert_snapshot!(refused("/checksum", body(&other), &[]), @"
    exit status: 12
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: the newest release cannot be verified
      because the list of checksums does not name `handoff-PLATFORM`
    hint: nothing was changed; trying again later may help
    ");
    assert_snapshot!(refused("/checksum", Reply::Status(404), &[]), @"
    exit status: 3
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: cannot fetch the newest release
      because `http://server/checksum` is not there
    hint: nothing was changed; trying again later may help
    ");
}

#[test]
fn the_list_of_all_checksums_serves_as_well() {
    let installed = Installed::new();
    installed.serve(NEWER);
    installed.serve_files(NEWER, &[(FILE, "/program"), ("SHA256SUMS", "/all")]);
    let own = digest(saying(NEWER).as_bytes());
    let list = format!("{}  handoff-other\n{own} *{FILE}\n", digest(b""));
    installed.server.reply("/all", body(&list));
    installed.upgrade(&[]).success();
    assert_eq!(installed.version(), NEWER);
}

#[test]
fn a_release_without_a_checksum_is_refused() {
    let installed = Installed::new();
    installed.serve_files(NEWER, &[(FILE, "/program")]);
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 1
    --- stderr ---
    error: the newest release cannot be used
      because release 99.0.0 has no checksum for `handoff-PLATFORM`
    hint: nothing was changed; please report this release
    ");
    assert_eq!(installed.server.asked(), ["/latest"]);
}

#[test]
fn a_release_for_other_platforms_is_told_as_such() {
    let installed = Installed::new();
    installed.serve_files(NEWER, &[("handoff-sparc-sun-solaris", "/program")]);
    assert_snapshot!(installed.snapshot(&installed.upgrade(&[])), @"
    exit status: 3
    --- stderr ---
    error: the newest release cannot be used
      because release 99.0.0 has no program for PLATFORM
    hint: build it from source, or use what your package manager has
    ");
    assert_snapshot!(installed.snapshot(&installed.upgrade(&["--check", "--json"])), @r#"
    exit status: 3
    --- stdout ---
    {"schema":"handoff.error/1","error":"not_found","exit_code":3,"message":"the newest release cannot be used","causes":["release 99.0.0 has no program for PLATFORM"],"hints":["build it from source, or use what your package manager has"]}
    "#);
}

#[test]
fn a_server_without_a_release_is_told_from_one_in_trouble() {
    assert_snapshot!(refused("/latest", Reply::Status(404), &[]), @"
    exit status: 3
    --- stderr ---
    error: there is no release at `http://server/latest`
    hint: there may be none yet; the address is set by `--release-url`, HANDOFF_RELEASE_URL or `[upgrade] url`
    ");
    assert_snapshot!(refused("/latest", Reply::Status(500), &["--json"]), @r#"
    exit status: 5
    --- stdout ---
    {"schema":"handoff.error/1","error":"unavailable","exit_code":5,"message":"cannot fetch the newest release","causes":["`http://server/latest` answers with status 500 Internal Server Error"],"hints":["nothing was changed; trying again later may help"]}
    "#);
}

#[test]
fn an_answer_that_is_no_release_is_refused() {
    assert_snapshot!(refused("/latest", body("<html>Log in</html>"), &[]), @"
    exit status: 1
    --- stderr ---
    error: the newest release cannot be used
      because the answer of `http://server/latest` is not the description of a release
      because expected value at line 1 column 1
    hint: nothing was changed; please report this release
    ");
    let strange = r#"{"tag_name":"\u001b[2Jnightly","assets":[]}"#;
    assert_snapshot!(refused("/latest", body(strange), &[]), @r#"
    exit status: 1
    --- stderr ---
    error: the newest release cannot be used
      because the tag "\u{1b}[2Jnightly" of the newest release is not a version
      because a version is written as in `1.2.3`
      because unexpected character '\u{1b}' while parsing major version number
    hint: nothing was changed; please report this release
    "#);
}

#[test]
fn an_answer_that_is_too_large_is_refused() {
    let text = Reply::Body(vec![b' '; 1024 * 1024 + 1]);
    assert_snapshot!(refused("/latest", text, &[]), @"
    exit status: 1
    --- stderr ---
    error: cannot fetch the newest release
      because the answer of `http://server/latest` is larger than 1048576 bytes
    hint: nothing was changed; please report this release
    ");
    let announced = Reply::Announced(300 * 1024 * 1024, vec![]);
    assert_snapshot!(refused("/program", announced, &[]), @"
    exit status: 1
    --- stderr ---
    Fetching handoff-PLATFORM from http://server/program …
    error: cannot fetch the newest release
      because the answer of `http://server/program` is larger than 268435456 bytes
    hint: nothing was changed; please report this release
    ");
}

#[test]
fn redirects_are_followed_but_not_for_ever_and_not_everywhere() {
    let installed = Installed::new();
    installed.serve(NEWER);
    let reply = |path: &str, to: &str| installed.server.reply(path, Reply::Redirect(to.to_owned()));
    let digest = digest(saying(NEWER).as_bytes());
    installed.server.reply("/real", body(&digest));
    reply("/checksum", "/hop");
    reply("/hop", &installed.server.url("/real"));
    installed.upgrade(&[]).success();

    assert_snapshot!(refused("/latest", Reply::Redirect("/latest".to_owned()), &[]), @"
    exit status: 1
    --- stderr ---
    error: cannot fetch the newest release
      because `http://server/latest` leads from one place to the next without end
    hint: nothing was changed; please report this release
    ");
    for to in [
        "http://example.org/",
        "https://example.org/",
        "file:///etc/passwd",
    ] {
        let output = refused("/program", Reply::Redirect(to.to_owned()), &[]);
        assert!(
            output.contains("leads to a place that may not be asked"),
            "{output}"
        );
    }
}

#[test]
fn a_server_that_keeps_silent_is_not_waited_for() {
    assert_snapshot!(refused("/latest", Reply::Silence, &["--timeout", "100ms"]), @"
    exit status: 5
    --- stderr ---
    error: cannot fetch the newest release
      because `http://server/latest` takes too long
    hint: nothing was changed; trying again later may help
    ");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let installed = Installed::new();
    let url = installed.server.url("/latest");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}/latest", nobody.local_addr().unwrap());
    drop(nobody);
    let output = installed.bare(&["upgrade", "--release-url", &closed]);
    let text = installed.snapshot(&output).replace(&closed, &url);
    assert_snapshot!(text.replace(&url, "http://closed/latest"), @"
    exit status: 5
    --- stderr ---
    error: cannot fetch the newest release
      because `http://closed/latest` cannot be reached
      because Connection refused (os error 111)
    hint: nothing was changed; trying again later may help
    ");
}
