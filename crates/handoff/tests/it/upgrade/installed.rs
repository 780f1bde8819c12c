//! A program installed in a directory of its own, and a server with releases for it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use handoff_testkit::{Output, TestEnv};
use sha2::{Digest as _, Sha256};

use crate::release_server::{ReleaseServer, Reply};

/// A version that is always newer than the one that is tested.
pub(super) const NEWER: &str = "99.0.0";
/// The file of a release for this platform.
pub(super) const FILE: &str = concat!("handoff-", env!("HANDOFF_TARGET"));

pub(super) struct Installed {
    pub(super) env: TestEnv,
    pub(super) server: ReleaseServer,
    pub(super) program: PathBuf,
}

impl Installed {
    pub(super) fn new() -> Self {
        Self::below("bin")
    }

    /// Installed in a directory below that of the test.
    pub(super) fn below(directory: &str) -> Self {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_handoff"));
        let directory = env.root().join(directory);
        fs::create_dir_all(&directory).unwrap();
        let installed = Self {
            server: ReleaseServer::start(),
            program: directory.join("handoff"),
            env,
        };
        installed.install();
        installed
    }

    /// Installed as a file of its own, to be changed.
    pub(super) fn copied() -> Self {
        let installed = Self::new();
        fs::remove_file(&installed.program).unwrap();
        fs::copy(installed.env.binary(), &installed.program).unwrap();
        installed
    }

    /// Puts the built program there. A link: a copy that was just written may still be open for writing in
    /// a process that another test is starting, and cannot be run then.
    pub(super) fn install(&self) {
        if fs::hard_link(self.env.binary(), &self.program).is_err() {
            fs::copy(self.env.binary(), &self.program).unwrap();
        }
    }

    /// Serves a release of this version, with a program that says so.
    pub(super) fn serve(&self, version: &str) {
        self.serve_program(version, saying(version).as_bytes());
    }

    /// Serves a release of this version with this program and its right checksum.
    pub(super) fn serve_program(&self, version: &str, program: &[u8]) {
        self.server
            .reply("/latest", Reply::Body(self.release(version)));
        let body = Reply::Body(program.to_vec());
        self.server.reply("/program", body);
        let line = format!("{}  {FILE}\n", digest(program));
        self.server.reply("/checksum", Reply::Body(line.into()));
    }

    /// The description of a good release.
    pub(super) fn release(&self, version: &str) -> Vec<u8> {
        let checksum = format!("{FILE}.sha256");
        self.describe(version, &[(FILE, "/program"), (&checksum, "/checksum")])
    }

    /// Serves the description of a release with these files.
    pub(super) fn serve_files(&self, version: &str, files: &[(&str, &str)]) {
        let document = self.describe(version, files);
        self.server.reply("/latest", Reply::Body(document));
    }

    fn describe(&self, version: &str, files: &[(&str, &str)]) -> Vec<u8> {
        let assets: Vec<_> = files
            .iter()
            .map(|(name, path)| {
                serde_json::json!({ "name": name, "browser_download_url": self.server.url(path) })
            })
            .collect();
        let document =
            serde_json::json!({ "tag_name": format!("v{version}"), "assets": assets, "id": 7 });
        document.to_string().into()
    }

    #[track_caller]
    pub(super) fn upgrade(&self, more: &[&str]) -> Output {
        self.upgrade_as(&self.program, more)
    }

    #[track_caller]
    pub(super) fn upgrade_as(&self, program: &Path, more: &[&str]) -> Output {
        let mut command = self.env.command(program);
        command.args(["upgrade", "--release-url", &self.server.url("/latest")]);
        command.args(more);
        self.env.run(command)
    }

    /// Runs the installed program without naming the server.
    #[track_caller]
    pub(super) fn bare(&self, words: &[&str]) -> Output {
        let mut command = self.env.command(&self.program);
        command.args(words);
        self.env.run(command)
    }

    /// What the installed program says that it is.
    #[track_caller]
    pub(super) fn version(&self) -> String {
        let answer = self.bare(&["version", "--json"]).success().json();
        answer["version"].as_str().unwrap().to_owned()
    }

    /// Which file it is.
    pub(super) fn identity(&self) -> (u64, Vec<String>) {
        (self.program.metadata().unwrap().ino(), self.files())
    }

    /// The names beside it.
    pub(super) fn files(&self) -> Vec<String> {
        let directory = self.program.parent().unwrap();
        let entries = fs::read_dir(directory).unwrap();
        let name = |it: std::io::Result<fs::DirEntry>| it.unwrap().file_name().into_string();
        let mut names: Vec<_> = entries.map(|it| name(it).unwrap()).collect();
        names.sort();
        names
    }

    /// The output without what differs from run to run and from machine to machine.
    pub(super) fn snapshot(&self, output: &Output) -> String {
        let server = self.server.url("");
        let text = output.snapshot().replace(&server, "http://server");
        let text = text.replace(env!("HANDOFF_TARGET"), "PLATFORM");
        text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
    }
}

/// A program that answers as this version does.
pub(super) fn saying(version: &str) -> String {
    let answer = format!(r#"{{"schema":"handoff.version/1","version":"{version}"}}"#);
    format!("#!/bin/sh\necho '{answer}'\n")
}

pub(super) fn digest(bytes: &[u8]) -> String {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
