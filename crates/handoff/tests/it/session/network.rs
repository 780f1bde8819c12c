//! A session that listens on a port: who is let in.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;

use handoff_session::control::ROUTES;

use super::hall::Hall;
use crate::stage::PATIENCE;

/// A session with a port.
struct Door {
    hall: Hall,
    port: u16,
    token: String,
}

impl Door {
    fn open() -> Self {
        let hall = Hall::new();
        hall.run("open", &["--port", "0", "sh", "--", "-c", "cat"]);
        let listed = hall.listed("open");
        let path = listed["port_token_path"].as_str().unwrap();
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let token = fs::read_to_string(path).unwrap().trim().to_owned();
        let port = u16::try_from(listed["port"].as_u64().unwrap()).unwrap();
        Self { hall, port, token }
    }

    /// Sends these bytes and says which status comes back.
    fn knock(&self, request: &str) -> u16 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        let status = std::str::from_utf8(&status).unwrap();
        status.trim_start_matches("HTTP/1.1 ").parse().unwrap()
    }

    /// Asks with these headers besides a right `Host`.
    fn ask(&self, method: &str, target: &str, headers: &str) -> u16 {
        let port = self.port;
        self.knock(&format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost:{port}\r\n{headers}\r\n"
        ))
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }
}

#[test]
fn nobody_gets_anything_without_a_token() {
    let door = Door::open();
    for (method, target) in ROUTES {
        assert_eq!(door.ask(method, target, ""), 401, "{method} {target}");
    }
    assert_eq!(door.ask("GET", "/", ""), 401);
    assert_eq!(door.ask("GET", "/v1/status", &door.bearer()), 200);
    assert_eq!(door.ask("GET", "/v1/nowhere", &door.bearer()), 404);
    let row = door.hall.stage.say("ps").success().stdout;
    assert!(row.contains(&format!(" {} ", door.port)), "{row}");
}

#[test]
fn a_page_in_a_browser_gets_nothing_even_with_the_token() {
    let door = Door::open();
    let bearer = door.bearer();
    let foreign = format!("GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n{bearer}\r\n");
    assert_eq!(door.knock(&foreign), 403);
    let origin = format!("{bearer}Origin: http://evil.example\r\n");
    assert_eq!(door.ask("GET", "/v1/status", &origin), 403);
    let upgrade = format!("{bearer}Origin: null\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n");
    assert_eq!(door.ask("GET", "/v1/attach?mode=write", &upgrade), 403);
    let form = format!("{bearer}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}");
    assert_eq!(door.ask("POST", "/v1/stop", &form), 415);
}

#[test]
fn only_the_loopback_is_listened_on_and_only_on_request() {
    let door = Door::open();
    door.hall.bash("closed");
    assert_eq!(door.hall.listed("closed")["port"], serde_json::Value::Null);
    let wanted = format!(":{:04X}", door.port);
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap());
    let listening: Vec<&str> = tables
        .iter()
        .flat_map(|table| table.lines())
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|address| address.ends_with(&wanted))
        .collect();
    assert!(
        listening.iter().all(|it| it.starts_with("0100007F:")),
        "{listening:?}"
    );
    for host in ["0.0.0.0", "::", "192.168.0.1", "example.org"] {
        let refused = door
            .hall
            .stage
            .run(["run", "sh", "--detach", "--host", host]);
        assert_eq!(refused.code(), Some(2), "{host}");
    }
}

#[test]
fn a_port_that_is_taken_starts_nothing() {
    let hall = Hall::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = hall
        .stage
        .run(["run", "sh", "--detach", "--id", "x", "--port", &port]);
    assert_eq!(refused.code(), Some(1));
    assert!(
        refused.stderr.contains("cannot listen on 127.0.0.1"),
        "{}",
        refused.stderr
    );
    assert_eq!(hall.stage.say("pane --id x").code(), Some(3));
}

#[test]
fn those_who_never_finish_asking_keep_nobody_out() {
    let door = Door::open();
    let slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", door.port)).unwrap();
            stream.write_all(b"GET /v1/status HTTP/1.1\r\nX-").unwrap();
            stream
        })
        .collect();
    assert_eq!(door.ask("GET", "/v1/status", &door.bearer()), 200);
    assert!(door.hall.listed("open")["source"].is_string());
    let long = format!("X: {}\r\n", "a".repeat(1024 * 1024));
    let endless = format!("GET /v1/status HTTP/1.1\r\n{long}");
    let mut stream = TcpStream::connect(("127.0.0.1", door.port)).unwrap();
    // It hangs up while we still talk.
    stream.write_all(endless.as_bytes()).ok();
    let body = format!(
        "{}Content-Type: application/json\r\nContent-Length: 104857600\r\n",
        door.bearer()
    );
    assert_eq!(door.ask("POST", "/v1/input", &body), 413);
    assert_eq!(door.ask("GET", "/v1/status", &door.bearer()), 200);
    drop(slow);
}

#[test]
fn a_program_sends_reads_and_follows_without_a_key() {
    let door = Door::open();
    let (bearer, port) = (door.bearer(), door.port);
    let ask = |method: &str, target: &str, body: &str, until: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost:{port}\r\n{bearer}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = vec![];
        let mut piece = [0; 4096];
        while !String::from_utf8_lossy(&answer).contains(until) {
            let length = stream.read(&mut piece).unwrap();
            assert_ne!(length, 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend(&piece[..length]);
        }
        String::from_utf8(answer).unwrap()
    };
    ask(
        "POST",
        "/v1/messages",
        r#"{"text":"one"}"#,
        r#""is_new":true"#,
    );
    ask(
        "POST",
        "/v1/messages",
        r#"{"text":"one"}"#,
        r#""is_new":true"#,
    );
    ask("GET", "/v1/messages", "", r#""number":2"#);
    let events = ask("GET", "/v1/events?after=1", "", "\"type\":\"send\"");
    assert!(events.contains("Content-Type: text/event-stream"));
    assert!(events.contains("\r\n\r\nid: 2\ndata: {"), "{events}");
    ask("GET", "/v1/transcript?lines=5", "", r#"{"lines":["#);
    for wrong in ["/v1/events?after=x", "/v1/transcript?after=1"] {
        ask("GET", wrong, "", "HTTP/1.1 400 ");
    }
    let spaced = format!("GET /v1/status HTTP/1.1\r\nHost : localhost:{port}\r\n{bearer}\r\n");
    assert_eq!(door.knock(&spaced), 400);
    ask("POST", "/v1/stop", "{}", "HTTP/1.1 200 ");
}
