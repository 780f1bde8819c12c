//! What agents print: much at once (D26), much for a long time (L4), what is no text (D27), and more than is kept (D28).

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use handoff_process::Size;
use serde_json::Value;

use super::hostel::{Hostel, patiently, pid};
use super::stage::{Findings, Stage};
use handoff_chores::processor_time::pause;
use handoff_chores::program::timed;

const MEGABYTE: usize = 1_000_000;
/// On a terminal that changes nothing on the way and repeats nothing, it waits until it may begin.
const WAITS: &str = "stty raw -echo; while [ ! -e go ]; do sleep 0.01; done";
/// What a holder may grow by, whatever is printed.
const GROWTH: f64 = 32.0;
/// What a holder must take in a second, at the least, in megabytes.
const SLOWEST: f64 = 10.0;
/// How long `send` to another session may take meanwhile, for all but one in twenty.
const SEND_TAKES: Duration = Duration::from_millis(250);

/// Everything at once, while others are spoken to; then somebody comes and reads.
pub(super) fn flood(stage: &mut Stage) -> Result<()> {
    stage.trial("much at once, and a reader afterwards", |stage| {
        let hostel = Hostel::open(stage.product());
        hostel.bash("other")?;
        let length = stage.count(20, 100) * MEGABYTE;
        let source = lines(&hostel, "flood", length)?;
        let command = format!(
            "{WAITS}; cat '{}'; touch done; exec sleep 1000",
            source.display()
        );
        let session = hostel.run("flood", &["sh", "--log-limit", "0", "--", "-c", &command])?;
        let holder = pid(&session, "holder_pid")?;
        let before = memory_of_its_own(holder)?;
        fs::write(hostel.file("go"), "")?;
        let done = hostel.file("done");
        let (sends, took) = timed(|| speak_until(&hostel, &done));
        let mut complaints = vec![];
        let sends = sends?;
        if sends.slow_share() > 0.05 {
            complaints.push(format!("{sends:?} of `send` took more than {SEND_TAKES:?}"));
        }
        let speed = megabytes(length) / took.as_secs_f64();
        if speed < SLOWEST {
            complaints.push(format!("{speed:.1} MB a second"));
        }
        let log = log_of(&session)?;
        complaints.extend(differs(&log, &source)?);
        let growth = memory_of_its_own(holder)? - before;
        if growth > GROWTH {
            complaints.push(format!("the holder has grown by {growth:.1} MB"));
        }
        let pane = hostel.say(["pane", "--id", "flood"])?;
        ensure!(pane["lines"].is_array(), "a reader sees a screen");
        Ok(Findings {
            count: 1,
            note: format!(
                "{speed:.0} MB a second, {growth:.1} MB more, {} sends",
                sends.all
            ),
            complaints,
        })
    });
    stage.trial("ten at once, a megabyte a second each (L4)", steady);
    Ok(())
}

/// How many messages were sent, and how many of them took too long.
#[derive(Debug, Default)]
struct Sends {
    all: usize,
    slow: usize,
}

impl Sends {
    fn slow_share(&self) -> f64 {
        let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        count(self.slow) / count(self.all.max(1))
    }
}

/// Speaks to another session until this file is there.
fn speak_until(hostel: &Hostel, done: &Path) -> Result<Sends> {
    let mut sends = Sends::default();
    while !done.exists() {
        let words = [
            "send",
            "--id",
            "other",
            "--wait-for",
            "submitted",
            "--message",
            "true",
        ];
        let (sent, took) = timed(|| hostel.say(words));
        sent?;
        sends.all += 1;
        sends.slow += usize::from(took > SEND_TAKES);
    }
    Ok(sends)
}

fn steady(stage: &Stage) -> Result<Findings> {
    let hostel = Hostel::open(stage.product());
    let seconds = stage.count(3, 60);
    let source = lines(&hostel, "steady", seconds * MEGABYTE)?;
    let source_text = source.display();
    let count = seconds * 10;
    let command = format!(
        "stty raw -echo; i=0; while [ $i -lt {count} ]; do dd if='{source_text}' bs=100000 skip=$i count=1 status=none; \
         i=$((i+1)); sleep 0.1; done"
    );
    let mut logs = vec![];
    for number in 0..10 {
        let name = format!("steady-{number}");
        let session = hostel.run(&name, &["sh", "--log-limit", "0", "--", "-c", &command])?;
        logs.push((name, log_of(&session)?));
    }
    let mut complaints = vec![];
    for (name, log) in &logs {
        hostel.product.run(["wait", "--id", name]);
        let found = differs(log, &source)?;
        complaints.extend(found.map(|it| format!("{name}: {it}")));
    }
    Ok(Findings {
        count: logs.len(),
        note: format!("{} MB", logs.len() * seconds),
        complaints,
    })
}

/// Bytes that are no text, in pieces, on a terminal that changes its size all the time.
pub(super) fn garbage(stage: &mut Stage) -> Result<()> {
    stage.trial("in one piece", |stage| print_garbage(stage, 1 << 20));
    stage.trial("byte by byte", |stage| print_garbage(stage, 1));
    Ok(())
}

fn print_garbage(stage: &Stage, piece: usize) -> Result<Findings> {
    let hostel = Hostel::open(stage.product());
    let source = hostel.file("garbage");
    fs::write(&source, corpus(piece))?;
    let command = format!(
        "{WAITS}; dd if='{}' bs={piece} status=none; touch done; exec sleep 1000",
        source.display()
    );
    let session = hostel.run("odd", &["sh", "--log-limit", "0", "--", "-c", &command])?;
    let client = Hostel::client(&session)?;
    fs::write(hostel.file("go"), "")?;
    let done = hostel.file("done");
    let mut dice = stage.dice("sizes");
    let mut refused = 0;
    let mut last = Size::DETACHED;
    while !done.exists() {
        let sizes = [0, 1, 2, 37, 200, 1000, u16::MAX];
        let (rows, columns) = (
            sizes[dice.index(sizes.len())],
            sizes[dice.index(sizes.len())],
        );
        match client.resize(Size { rows, columns }) {
            Ok(()) => last = Size { rows, columns },
            Err(_) => refused += 1,
        }
        pause(Duration::from_millis(2));
    }
    let log = log_of(&session)?;
    let mut complaints: Vec<String> = differs(&log, &source)?.into_iter().collect();
    let status = client.status()?;
    if (status.rows, status.columns) != (last.rows, last.columns) {
        complaints.push(format!(
            "{}x{} and not {last:?}",
            status.columns, status.rows
        ));
    }
    for words in [
        "pane --id odd",
        "logs --id odd",
        "events --id odd --snapshot",
        "ps",
    ] {
        let shown = hostel.product.run(words.split(' '));
        let is_json = |line: &str| serde_json::from_str::<Value>(line).is_ok();
        if !shown.status.success() || !shown.stdout.lines().all(is_json) {
            complaints.push(format!("`{words}` is no JSON: {:.200}", shown.snapshot()));
        }
    }
    let memory = memory_of_its_own(pid(&session, "holder_pid")?)?;
    if memory > GROWTH {
        complaints.push(format!("the holder has {memory:.1} MB"));
    }
    Ok(Findings {
        count: 1,
        note: format!("{memory:.1} MB, {refused} sizes refused"),
        complaints,
    })
}

/// More than is kept.
pub(super) fn endless(stage: &mut Stage) -> Result<()> {
    stage.trial("more than is kept", |stage| {
        let hostel = Hostel::open(stage.product());
        let (length, limit) = stage.count((64 * MEGABYTE, 2), (10_000 * MEGABYTE, 50));
        let command = format!(
            "stty raw -echo; yes 'all work and no play' | head -c {length}; echo; echo THE END"
        );
        let limit_text = limit.to_string();
        let session = hostel.run(
            "much",
            &["sh", "--log-limit", &limit_text, "--", "-c", &command],
        )?;
        let log = log_of(&session)?;
        let older = log.with_file_name("transcript.1.log");
        let size = |path: &Path| path.metadata().map_or(0, |it| it.len());
        // Each of the two is full once it has come to its limit, by a mouthful of a holder at the most.
        let most = 2 * ((limit << 20) + (64 << 10));
        let mut complaints = vec![];
        while hostel.listed("much")?["state"] != "exited" {
            let (newer, older) = (size(&log), size(&older));
            if newer + older > most {
                complaints.push(format!("{} bytes are kept", newer + older));
                break;
            }
            pause(Duration::from_millis(50));
        }
        let kept = size(&log) + size(&older);
        let marked = hostel
            .product
            .run(["logs", "--id", "much", "--lines", "100000000"]);
        let first: Value = serde_json::from_str(marked.stdout.lines().next().unwrap_or_default())?;
        let printed = u64::try_from(length)? + 9;
        if first["dropped_bytes"].as_u64().map(|it| it + kept) != Some(printed) {
            complaints.push(format!(
                "the gap is not marked: {first} and {kept} of {printed}"
            ));
        }
        let events = hostel.product.run(["events", "--id", "much", "--snapshot"]);
        for word in ["\"started\"", "\"log_cut\"", "\"exited\""] {
            if !events.stdout.contains(word) {
                complaints.push(format!("the journal has no {word}"));
            }
        }
        Ok(Findings {
            count: 1,
            note: format!("{kept} of {printed} bytes are kept"),
            complaints,
        })
    });
    Ok(())
}

/// Lines as a build prints them.
fn lines(hostel: &Hostel, name: &str, length: usize) -> Result<PathBuf> {
    let path = hostel.file(name);
    let mut file = std::io::BufWriter::new(fs::File::create(&path)?);
    let mut written = 0;
    for number in 0.. {
        let line =
            format!("{number}: compiling the module that does what the one before did not\r\n");
        let rest = length - written;
        file.write_all(&line.as_bytes()[..line.len().min(rest)])?;
        written += line.len().min(rest);
        if written == length {
            break;
        }
    }
    file.flush()?;
    Ok(path)
}

/// Everything that is no text: no UTF-8, NUL, endless lines, escapes that never end, and sizes that are none.
fn corpus(piece: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = vec![];
    let escapes: [&[u8]; 12] = [
        b"\x1b",
        b"\x1b[",
        b"\x1b[38;2;1;2;3m",
        b"\x1b]0;title",
        b"\x1b]52;c;aGk=\x07",
        b"\x1bP1;2|data",
        b"\x1b\\",
        b"\x1b[99999;99999H",
        b"\x1b[4294967295A",
        b"\x1b[?1049h\x1b[2J",
        b"\x1b[?2004l",
        b"\x9b31m\x90q\x9c",
    ];
    for escape in escapes {
        for cut in 1..=escape.len() {
            bytes.extend_from_slice(&escape[..cut]);
            bytes.extend_from_slice(b"x\r\n");
        }
    }
    bytes.extend(0..=u8::MAX);
    bytes.extend_from_slice(&[0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f]);
    // Byte by byte a long line takes minutes and says nothing new.
    let long = if piece == 1 { 4096 } else { MEGABYTE };
    bytes.extend(std::iter::repeat_n(b'w', long));
    bytes.extend_from_slice("e\u{301}\u{200d}漢字🦀\u{1b}[c\u{1b}[6n\r\n".as_bytes());
    bytes
}

fn log_of(session: &Value) -> Result<PathBuf> {
    let log = session["output_log_path"].as_str();
    Ok(PathBuf::from(log.context("a session has a log")?))
}

/// Says where a log is not what was printed.
fn differs(log: &Path, source: &Path) -> Result<Option<String>> {
    let wanted = fs::read(source)?;
    let is_whole = || Ok((log.metadata()?.len() >= wanted.len() as u64).then_some(()));
    patiently("all of it is kept", is_whole)?;
    let got = fs::read(log)?;
    let first = got.iter().zip(&wanted).position(|(a, b)| a != b);
    Ok(match first {
        Some(at) => Some(format!("byte {at} of the log is another one")),
        None if got.len() != wanted.len() => {
            Some(format!("{} bytes and not {}", got.len(), wanted.len()))
        }
        None => None,
    })
}

fn megabytes(length: usize) -> f64 {
    f64::from(u32::try_from(length / MEGABYTE).unwrap_or(u32::MAX))
}

/// What a process has of memory that it shares with nobody, in megabytes.
fn memory_of_its_own(pid: u32) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.context("a process has memory")?.trim();
    Ok(kilobytes.trim_end_matches(" kB").parse::<f64>()? * 1024.0 / 1e6)
}
