//! What the agent does to files and processes.

use handoff_agents::scripted::{
    Append, Arguments, Delete, FileText, Git, Run, Spawn, WaitFor, Write,
};

use super::Player;
use crate::beneath::{self, Existing};
use crate::clock;
use crate::command::Surroundings;
use crate::grandchild;
use crate::outcome::Failure;
use crate::terminal::Awaited;

impl Player<'_> {
    pub(super) fn write(&mut self, write: &Write) -> Result<(), Failure> {
        self.put(&write.file, Existing::Replace)
    }

    pub(super) fn append(&mut self, append: &Append) -> Result<(), Failure> {
        self.put(&append.file, Existing::Keep)
    }

    fn put(&self, file: &FileText, existing: Existing) -> Result<(), Failure> {
        let text = self.render(&file.text);
        beneath::write(&self.cwd, &file.path, &text, existing).map_err(|source| {
            Failure::WriteFile {
                path: file.path.clone(),
                source,
            }
        })
    }

    pub(super) fn delete(&self, delete: &Delete) -> Result<(), Failure> {
        beneath::delete(&self.cwd, &delete.path).map_err(|source| Failure::DeleteFile {
            path: delete.path.clone(),
            source,
        })
    }

    pub(super) fn git(&self, git: &Git) -> Result<(), Failure> {
        let mut words = vec!["git".to_owned()];
        words.extend(self.words(&git.arguments));
        self.surroundings().run(&words, git.may_fail)
    }

    pub(super) fn run(&self, run: &Run) -> Result<(), Failure> {
        self.surroundings()
            .run(&self.words(&run.arguments), run.may_fail)
    }

    fn words(&self, arguments: &Arguments) -> Vec<String> {
        self.render_all(arguments.as_slice())
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            environment: self.variables.environment(),
            cwd: &self.cwd,
            stdout: &self.terminal.output,
            stderr: &self.stderr,
        }
    }

    pub(super) fn spawn(&mut self, spawn: &Spawn) -> Result<(), Failure> {
        let pid = grandchild::spawn(spawn, &self.surroundings()).map_err(Failure::Spawn)?;
        self.variables
            .set("child", pid.as_raw_nonzero().to_string());
        Ok(())
    }

    pub(super) fn wait_for(&self, wait: &WaitFor) -> Result<(), Failure> {
        let path = self.cwd.join(self.render(&wait.path));
        let awaited = Awaited::new(format!("the file `{}`", path.display()), wait.timeout);
        let exists = || {
            path.try_exists().map_err(|source| Failure::LookForFile {
                path: path.clone(),
                source,
            })
        };
        if clock::wait_until(awaited.deadline(), exists)? {
            Ok(())
        } else {
            Err(awaited.in_vain())
        }
    }
}
