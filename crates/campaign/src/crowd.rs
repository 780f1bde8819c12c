//! D45: many who come by the port of a session and never finish, or never listen.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_session::Client;
use serde_json::Value;

use super::hostel::Hostel;
use super::stage::{Findings, Stage};
use handoff_chores::program::timed;

const MEGABYTE: usize = 1_000_000;
/// How many begin a request and do not end it.
const SLOW: usize = 200;
/// On a machine with other work a quiet holder may be slower than this for once; the ratio is judged above it.
const FLOOR: Duration = Duration::from_millis(5);
/// How often it is compared at most.
const ATTEMPTS: usize = 3;
/// An agent that prints all the time.
const TALKER: &str = "while :; do echo \"$RANDOM and more of that\"; read -t 0.02 x; done";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("a crowd at the port", |stage| {
        let hostel = Hostel::open(stage.product());
        let port = free_port()?;
        let number = port.to_string();
        let words = ["bash", "--port", &number, "--", "-c", TALKER];
        let session = hostel.run("busy", &words)?;
        let client = Hostel::client(&session)?;
        let mut complaints = vec![];
        complaints.extend(refusal(port, &long_head(port)).map(|it| format!("a long head: {it}")));
        complaints.extend(refusal(port, &long_body(port)).map(|it| format!("a long body: {it}")));
        let (quiet, crowded) = compare(stage, &client, port, &session)?;
        if !is_fair((quiet, crowded)) {
            complaints.push(format!(
                "a status takes {crowded:?} in a crowd, {quiet:?} without"
            ));
        }
        hostel.say(["stop", "--id", "busy", "--timeout", "0"])?;
        complaints.extend(hostel.left()?);
        Ok(Findings {
            count: SLOW + 3,
            note: format!("p95 {quiet:.1?} quiet, {crowded:.1?} crowded"),
            complaints,
        })
    });
    Ok(())
}

/// What a status takes without a crowd and in one. Compared again if that looks bad: a busy machine spoils one comparison, not
/// each.
fn compare(
    stage: &Stage,
    client: &Client,
    port: u16,
    session: &Value,
) -> Result<(Duration, Duration)> {
    let count = stage.count(60, 400);
    let mut found = (Duration::ZERO, Duration::MAX);
    for _ in 0..ATTEMPTS {
        let quiet = slowest(client, count)?;
        let crowd = Crowd::gather(port, session)?;
        found = (quiet, slowest(client, count)?);
        drop(crowd);
        if is_fair(found) {
            break;
        }
    }
    Ok(found)
}

fn is_fair((quiet, crowded): (Duration, Duration)) -> bool {
    crowded <= (quiet * 2).max(FLOOR)
}

/// What nineteen of twenty answers take at most.
fn slowest(client: &Client, count: usize) -> Result<Duration> {
    let mut times = vec![];
    for _ in 0..count {
        let (status, time) = timed(|| client.status());
        status?;
        times.push(time);
    }
    times.sort_unstable();
    Ok(times[count * 95 / 100])
}

/// Those who keep their connections.
struct Crowd {
    _slow: Vec<TcpStream>,
    _deaf: TcpStream,
}

impl Crowd {
    fn gather(port: u16, session: &Value) -> Result<Self> {
        let mut slow = vec![];
        for _ in 0..SLOW {
            let mut stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.write_all(b"GET /v1/status HTTP/1.1\r\nX-Slow: ")?;
            slow.push(stream);
        }
        let token = session["port_token_path"].as_str();
        let token = fs::read_to_string(token.context("a port has a token")?)?;
        let mut deaf = TcpStream::connect(("127.0.0.1", port))?;
        let request = format!(
            "GET /v1/screens HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {}\r\n\r\n",
            token.trim()
        );
        deaf.write_all(request.as_bytes())?;
        Ok(Self {
            _slow: slow,
            _deaf: deaf,
        })
    }
}

fn long_head(port: u16) -> Vec<u8> {
    let head = format!("GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Long: ");
    [head.as_bytes(), &vec![b'x'; MEGABYTE]].concat()
}

fn long_body(port: u16) -> Vec<u8> {
    let head = format!(
        "POST /v1/input HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        100 * MEGABYTE
    );
    [head.as_bytes(), &vec![b'x'; MEGABYTE]].concat()
}

/// Complains unless such a request is refused without all of it being taken.
fn refusal(port: u16, request: &[u8]) -> Option<String> {
    match refused(port, request) {
        Ok(answer) if answer.starts_with("HTTP/1.1 4") => None,
        // Hung up on while it was still talking.
        Ok(answer) if answer.is_empty() => None,
        Ok(answer) => Some(format!("is answered {answer:?}")),
        Err(error) => Some(format!("{error:#}")),
    }
}

fn refused(port: u16, request: &[u8]) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    let is_end =
        |kind: ErrorKind| matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset);
    match stream.write_all(request) {
        Err(error) if !is_end(error.kind()) => return Err(error).context("it is not taken off"),
        Ok(()) | Err(_) => {}
    }
    let mut answer = vec![0; 64];
    match stream.read(&mut answer) {
        Ok(length) => answer.truncate(length),
        Err(error) if is_end(error.kind()) => answer.clear(),
        Err(error) => return Err(error).context("nothing is answered"),
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
