//! The files of a backup: copied with their digest, and only if they are what their name or the ledger says.

use std::io::Read;
use std::path::{Path, PathBuf};

use handoff_core::{PackageId, PackageRecord};
use handoff_files::atomic::{self, Mode};
use handoff_files::{Access, Dir, DirError};
use handoff_package::hashing::{Checked, Hashing};
use handoff_package::payload::Attachment;
use handoff_package::{LoadError, Shelf};
use handoff_store::sqlite::SqliteStore;
use handoff_store::{packages, read};

use super::error::BackupError;
use super::manifest::FileEntry;
use super::{PACKAGES, target};
use crate::places::Places;

/// So many rows are read at a time.
const PAGE: u32 = 1_000;

/// What is copied to where, and what came of it.
pub(super) struct Copying<'a> {
    pub(super) places: &'a Places,
    pub(super) to: &'a Dir,
    pub(super) files: Vec<FileEntry>,
    pub(super) left_out: usize,
}

impl Copying<'_> {
    /// One file, as it is.
    pub(super) fn file(&mut self, from: &Dir, name: &Path, to: &str) -> Result<(), BackupError> {
        let content = from.open_beneath(name, Access::Read)?;
        let mut content = Hashing::new(content);
        let size = self.write(to, &mut content)?;
        let (sha256, _) = content.finish();
        let path = to.to_owned();
        self.files.push(FileEntry { path, size, sha256 });
        Ok(())
    }

    pub(super) fn write(&self, to: &str, content: &mut dyn Read) -> Result<u64, BackupError> {
        let path = Path::new(to);
        let name = path.file_name().and_then(|it| it.to_str());
        let name = name.ok_or_else(|| BackupError::NoDirectory(path.to_owned()))?;
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        let made = parent.map(|it| target::below(self.to, it)).transpose()?;
        let dir = made.as_ref().unwrap_or(self.to);
        Ok(atomic::create_new_from(dir, name, content, Mode::Private)?)
    }

    /// All files below a directory of the home; none if there is none.
    pub(super) fn directory(&mut self, name: &str) -> Result<(), BackupError> {
        let home = Dir::open(self.places.home())?;
        let mut waiting = vec![PathBuf::from(name)];
        while let Some(at) = waiting.pop() {
            let dir = match home.dir(&at) {
                Ok(dir) => dir,
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(error.into()),
            };
            for name in dir.names()? {
                let path = at.join(&name);
                match dir.entry(&name)? {
                    Some(handoff_files::Entry::Directory) => waiting.push(path),
                    Some(handoff_files::Entry::File) => {
                        let to = path
                            .to_str()
                            .ok_or_else(|| BackupError::NoDirectory(path.clone()))?;
                        self.file(&home, &path, to)?;
                    }
                    // Nothing of ours.
                    Some(handoff_files::Entry::Link | handoff_files::Entry::Other) | None => {}
                }
            }
        }
        Ok(())
    }

    /// The packages that this copy of a ledger names, with their attachments. What nobody can receive any more may be gone.
    pub(super) fn packages(&mut self, ledger: &mut SqliteStore) -> Result<(), BackupError> {
        let mut after = String::new();
        loop {
            let page = read(ledger, |tx| packages::all_after(tx, &after, PAGE))?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            after = last.label.id.to_string();
            for (record, standing) in page {
                match self.package(&record) {
                    Err(BackupError::Package(..)) if !standing.is_active() => self.left_out += 1,
                    copied => copied?,
                }
            }
        }
    }

    fn package(&mut self, record: &PackageRecord) -> Result<(), BackupError> {
        let id = record.label.id;
        let shelf = Shelf::at(self.places.packages(record.project));
        let opened = shelf
            .load(id, &record.digest)
            .map_err(|error| unfit(id, error))?;
        let folder = format!("{PACKAGES}/{}", record.project);
        let attachments = &opened.package.payload.attachments;
        for attachment in attachments {
            self.attachment(&shelf, attachment, &folder, id)?;
        }
        // Read once more: what is copied is compared with what was verified.
        let bytes = shelf
            .bytes(id)
            .map_err(|error| unfit(id, LoadError::Read(error)))?;
        let again =
            handoff_package::open(&bytes).map_err(|error| unfit(id, LoadError::Open(error)))?;
        if again.digest != record.digest {
            return Err(unfit(id, LoadError::Replaced));
        }
        let name = shelf.file(id);
        let name = name.file_name().unwrap_or_default().display();
        let to = format!("{folder}/{name}");
        let size = self.write(&to, &mut bytes.as_slice())?;
        let sha256 = handoff_core::Digest::of(&bytes);
        self.files.push(FileEntry {
            path: to,
            size,
            sha256,
        });
        Ok(())
    }

    /// Several packages may have the same.
    fn attachment(
        &mut self,
        shelf: &Shelf,
        attachment: &Attachment,
        folder: &str,
        id: PackageId,
    ) -> Result<(), BackupError> {
        let path = format!("{folder}/blobs/{}", attachment.sha256);
        if self.files.iter().any(|it| it.path == path) {
            return Ok(());
        }
        let lies = shelf.path().join("blobs");
        let content = Dir::open(&lies)
            .and_then(|dir| dir.open_beneath(attachment.sha256.as_str(), Access::Read))
            .map_err(|error: DirError| unfit(id, LoadError::Read(error)))?;
        let mut content = Checked::new(content, attachment.sha256.clone(), attachment.size);
        let size = self.write(&path, &mut content)?;
        let sha256 = attachment.sha256.clone();
        self.files.push(FileEntry { path, size, sha256 });
        Ok(())
    }
}

fn unfit(id: PackageId, error: LoadError) -> BackupError {
    BackupError::Package(id, Box::new(error))
}
