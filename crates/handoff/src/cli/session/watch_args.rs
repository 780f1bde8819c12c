//! What `run` is asked to look after: that the agent is not stuck, and files that it is told of.

use std::path::{Path, PathBuf};

use handoff_operations::session::StartSession;
use handoff_operations::{Failure, Span};
use handoff_session::stall::{Policy, Preset};

use super::patience::Patience;

#[derive(Debug, Default, clap::Args)]
pub(super) struct WatchArgs {
    /// Stay and see that it is not stuck; with `--detach` its holder does, and nobody stays. (With a PATH: the old form of
    /// `--watch-file`.)
    #[arg(long, value_name = "PATH", num_args = 0..=1)]
    watch: Option<Option<PathBuf>>,
    /// How long nothing may move, and how often it is told to go on: `impl` 8m/1, `plan` 3m/2, `gate` 15m/0.
    #[arg(long, value_name = "NAME", requires = "watch")]
    preset: Option<Preset>,
    /// How long nothing may move before it is taken for stuck, in seconds or as `8m`, which it is without this.
    #[arg(long, value_name = "DUR", requires = "watch")]
    stall_after: Option<Patience>,
    /// How often it is told to go on before it is given up; once without this.
    #[arg(long, value_name = "N", requires = "watch")]
    max_resumes: Option<u32>,
    /// Tell it when this file changes, which need not exist yet.
    #[arg(long, value_name = "PATH")]
    watch_file: Vec<PathBuf>,
}

impl WatchArgs {
    /// What a start is asked to look after.
    pub(super) fn fill(&self, start: &mut StartSession) -> Result<(), Failure> {
        if let Some(policy) = self.policy()? {
            start.stall_after = Some(Span::new(policy.stall_after));
            start.max_resumes = Some(policy.max_resumes);
        }
        let old = self.watch.clone().flatten();
        start.watch_files = self.watch_file.iter().cloned().chain(old).collect();
        Ok(())
    }

    /// The file of the old form.
    pub(super) fn old_path(&self) -> Option<&Path> {
        self.watch.as_ref()?.as_deref()
    }

    /// What was taken for a file was none.
    pub(super) fn forget_old_path(&mut self) {
        self.watch = Some(None);
    }

    /// Whether somebody wants to know that it is stuck.
    pub(super) const fn is_watching(&self) -> bool {
        matches!(self.watch, Some(None))
    }

    fn policy(&self) -> Result<Option<Policy>, Failure> {
        let has_details =
            self.preset.is_some() || self.stall_after.is_some() || self.max_resumes.is_some();
        match &self.watch {
            Some(None) => {}
            Some(Some(_)) if has_details => {
                return Err(Failure::usage(
                    "`--watch PATH` only tells of a file; these options need `--watch` without a path",
                )
                .hint("name the file with `--watch-file PATH`"));
            }
            Some(Some(_)) | None => return Ok(None),
        }
        let preset = self.preset.map(Policy::of).unwrap_or_default();
        Ok(Some(Policy {
            stall_after: self.stall_after.map_or(preset.stall_after, |it| it.0),
            max_resumes: self.max_resumes.unwrap_or(preset.max_resumes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        watch: WatchArgs,
    }

    fn policy(words: &str) -> Result<Option<(u64, u32)>, ()> {
        let words = std::iter::once("x").chain(words.split_whitespace());
        let line = Line::try_parse_from(words).map_err(drop)?;
        let policy = line.watch.policy().map_err(drop)?;
        Ok(policy.map(|it| (it.stall_after.as_secs(), it.max_resumes)))
    }

    #[test]
    fn explicit_options_win_over_a_preset_and_a_path_is_the_old_form() {
        let table = [
            ("", Ok(None)),
            ("--watch", Ok(Some((480, 1)))),
            ("--watch --preset plan", Ok(Some((180, 2)))),
            ("--watch --preset gate --max-resumes 3", Ok(Some((900, 3)))),
            ("--watch --stall-after 30", Ok(Some((30, 1)))),
            (
                "--watch --stall-after 5m --max-resumes 0",
                Ok(Some((300, 0))),
            ),
            ("--preset impl", Err(())),
            ("--stall-after 5m", Err(())),
            ("--watch --preset fast", Err(())),
            ("--watch ./status.jsonl", Ok(None)),
            ("--watch=./status.jsonl", Ok(None)),
            ("--watch ./status.jsonl --preset impl", Err(())),
        ];
        for (words, expected) in table {
            assert_eq!(policy(words), expected, "{words}");
        }
        assert_eq!(Policy::default().stall_after, Duration::from_secs(480));
    }
}
