//! D44: texts that would be more than a text to the program that they are typed into.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::hostel::{Hostel, patiently};
use super::product::exit;
use super::stage::{Findings, Stage};

const BEGIN: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";
/// An agent that writes down every byte that it gets.
const RECORDER: &str = "stty raw -echo; printf '\\033[?2004h> '; exec cat >got";

/// Texts, and what is left of them between the marks of a paste.
const TEXTS: [(&str, &str); 8] = [
    ("end\u{1b}[201~\rrm -rf x\r", "end[201~\nrm -rf x"),
    ("nested \u{1b}[200~ paste", "nested [200~ paste"),
    ("split \u{1b}\u{1b}[201~[201~", "split [201~[201~"),
    ("\u{3}\u{4}\u{1a}st\0op", "stop"),
    ("\u{9b}201~ eight bits", "201~ eight bits"),
    ("bell\u{7} back\u{8} delete\u{7f}", "bell back delete"),
    ("two\r\nlines\rthree", "two\nlines\nthree"),
    ("tab\tand \u{202e}turned", "tab\tand \u{202e}turned"),
];

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("one paste and one Enter", short);
    stage.trial("ten thousand lines", long);
    Ok(())
}

fn short(stage: &Stage) -> Result<Findings> {
    let mut complaints = vec![];
    for (text, expected) in TEXTS {
        let recorder = Recorder::start(stage)?;
        recorder.send(text)?;
        let got = recorder.got()?;
        let wanted = [BEGIN, expected.as_bytes(), END, b"\r"].concat();
        if got != wanted {
            let shown = String::from_utf8_lossy(&got).into_owned();
            complaints.push(format!("{text:?} arrives as {shown:?}"));
        }
    }
    Ok(Findings {
        count: TEXTS.len(),
        complaints,
        ..Findings::default()
    })
}

/// A text that is too long is not typed at all: the program gets the name of a file that has it.
fn long(stage: &Stage) -> Result<Findings> {
    let recorder = Recorder::start(stage)?;
    let text: String = (0..10_000)
        .map(|number| format!("line {number}\u{1b}[201~\n"))
        .collect();
    recorder.send(&text)?;
    let got = recorder.got()?;
    let mut complaints = vec![];
    if got.len() > 4096 || got.iter().filter(|byte| **byte == b'\r').count() != 1 {
        complaints.push(format!("{} bytes were typed", got.len()));
    }
    let stored = recorder.stored()?;
    let whole = text.replace('\u{1b}', "");
    if stored.trim_end() != whole.trim_end() {
        complaints.push("the file does not have the whole text".to_owned());
    }
    Ok(Findings {
        count: 1,
        complaints,
        ..Findings::default()
    })
}

/// A session whose agent writes down what is typed.
struct Recorder {
    hostel: Hostel,
    session: serde_json::Value,
}

impl Recorder {
    fn start(stage: &Stage) -> Result<Self> {
        let hostel = Hostel::open(stage.product());
        let session = hostel.run("rec", &["env", "--", "sh", "-c", RECORDER])?;
        let file = hostel.file("got");
        patiently("the recorder listens", || Ok(file.exists().then_some(())))?;
        Ok(Self { hostel, session })
    }

    /// By force: nobody knows what a recorder does.
    fn send(&self, text: &str) -> Result<()> {
        let file = self.hostel.file("text");
        fs::write(&file, text)?;
        let file = file.to_string_lossy().into_owned();
        let words = [
            "send",
            "--id",
            "rec",
            "--force",
            "--no-wait",
            "--file",
            &file,
        ];
        let sent = self.hostel.product.run(words);
        let is_taken = sent.code() == Some(exit::DONE);
        anyhow::ensure!(is_taken, "cannot send: {}", sent.snapshot());
        Ok(())
    }

    /// All that was typed, up to the Enter at its end.
    fn got(&self) -> Result<Vec<u8>> {
        let file = self.hostel.file("got");
        patiently("Enter is pressed", || {
            let got = fs::read(&file)?;
            let is_whole =
                got.ends_with(b"\x1b[201~\r") || (got.ends_with(b"\r") && !got.starts_with(BEGIN));
            Ok(is_whole.then_some(got))
        })
    }

    fn stored(&self) -> Result<String> {
        let log = self.session["output_log_path"].as_str();
        let log = PathBuf::from(log.context("a session has a log")?);
        let messages = log.with_file_name("messages");
        let mut files = fs::read_dir(messages)?;
        let file = files.next().context("no text was stored")??.path();
        Ok(fs::read_to_string(file)?)
    }
}
