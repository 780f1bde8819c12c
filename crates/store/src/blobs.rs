//! Contents of attachments, where machines share no directory: named by their digest, kept in pieces.
//!
//! An upload writes its pieces under a name of its own, each in a transaction, and names the whole only when all of them are
//! there. So a transaction is never longer than a piece, a dead uploader leaves pieces that nobody sees, and of two who bring the
//! same content one is kept.

use std::collections::BTreeSet;
use std::time::Duration;

use handoff_core::{Digest, ProjectId, Timestamp};

use crate::column::{field, number, parsed, unsigned};
use crate::error::StoreError;
use crate::sql::RowLock;
use crate::store::{Store, Transaction, write};

/// Whatever was written or wanted within this time is left by [`sweep`]: its package may be about to name it.
pub const GRACE: Duration = Duration::from_secs(3600);

/// A content on its way into the ledger.
#[derive(Debug)]
pub struct Upload {
    project: ProjectId,
    /// Minted by whoever uploads.
    name: String,
    pieces: u64,
    size: u64,
}

impl Upload {
    /// Begins; nothing is written yet.
    #[must_use]
    pub const fn new(project: ProjectId, name: String) -> Self {
        Self {
            project,
            name,
            pieces: 0,
            size: 0,
        }
    }

    /// Writes the next piece.
    pub fn piece(&mut self, store: &mut dyn Store, bytes: &[u8]) -> Result<(), StoreError> {
        write(store, |tx| {
            let now = tx.now.wall.as_millisecond();
            tx.execute(
                "INSERT INTO blob_pieces (upload, number, kept_at, bytes) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (upload, number) DO NOTHING",
                &[
                    self.name.as_str().into(),
                    number(self.pieces)?.into(),
                    now.into(),
                    bytes.to_vec().into(),
                ],
            )?;
            Ok(())
        })?;
        self.pieces += 1;
        self.size += bytes.len() as u64;
        Ok(())
    }

    /// Gives the whole its digest, which the caller has compared. If somebody was faster, theirs is kept.
    pub fn finish(self, store: &mut dyn Store, digest: &Digest) -> Result<(), StoreError> {
        write(store, |tx| {
            if touch(tx, self.project, digest)? {
                return self.discard(tx);
            }
            self.name_whole(tx, digest.as_str())
        })
    }

    /// Puts the whole into the place of what has its digest and is not that content; the caller has compared both.
    pub fn supersede(self, store: &mut dyn Store, digest: &Digest) -> Result<(), StoreError> {
        write(store, |tx| {
            let (project, digest) = (self.project.to_string(), digest.as_str());
            let rows = tx.query(
                "SELECT upload FROM blobs WHERE project = $1 AND sha256 = $2",
                &[project.as_str().into(), digest.into()],
                RowLock::Wait,
            )?;
            for row in &rows {
                discard(tx, field(row.text(0))?)?;
            }
            tx.execute(
                "DELETE FROM blobs WHERE project = $1 AND sha256 = $2",
                &[project.into(), digest.into()],
            )?;
            self.name_whole(tx, digest)
        })
    }

    fn name_whole(&self, tx: &mut Transaction<'_>, digest: &str) -> Result<(), StoreError> {
        let now = tx.now.wall.as_millisecond();
        tx.execute(
            "INSERT INTO blobs (project, sha256, upload, size, kept_at) VALUES ($1, $2, $3, $4, $5)",
            &[
                self.project.to_string().into(),
                digest.into(),
                self.name.as_str().into(),
                number(self.size)?.into(),
                now.into(),
            ],
        )?;
        Ok(())
    }

    /// Takes the pieces back.
    pub fn abandon(self, store: &mut dyn Store) -> Result<(), StoreError> {
        write(store, |tx| self.discard(tx))
    }

    fn discard(&self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        discard(tx, &self.name)
    }
}

fn discard(tx: &mut Transaction<'_>, upload: &str) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM blob_pieces WHERE upload = $1",
        &[upload.into()],
    )?;
    Ok(())
}

/// Says that a content is wanted again; whether it is there.
fn touch(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    digest: &Digest,
) -> Result<bool, StoreError> {
    let now = tx.now.wall.as_millisecond();
    let touched = tx.execute(
        "UPDATE blobs SET kept_at = $1 WHERE project = $2 AND sha256 = $3",
        &[
            now.into(),
            project.to_string().into(),
            digest.as_str().into(),
        ],
    )?;
    Ok(touched > 0)
}

/// Whether a content is there; if it is, it stays for a while.
pub fn want(
    store: &mut dyn Store,
    project: ProjectId,
    digest: &Digest,
) -> Result<bool, StoreError> {
    write(store, |tx| touch(tx, project, digest))
}

/// Whether a content is there.
pub fn has(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    digest: &Digest,
) -> Result<bool, StoreError> {
    let rows = tx.query(
        "SELECT size FROM blobs WHERE project = $1 AND sha256 = $2",
        &[project.to_string().into(), digest.as_str().into()],
        RowLock::None,
    )?;
    Ok(!rows.is_empty())
}

/// One piece of a content; none behind its end.
pub fn piece(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    digest: &Digest,
    place: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let rows = tx.query(
        "SELECT bytes FROM blob_pieces WHERE number = $1 \
         AND upload = (SELECT upload FROM blobs WHERE project = $2 AND sha256 = $3)",
        &[
            number(place)?.into(),
            project.to_string().into(),
            digest.as_str().into(),
        ],
        RowLock::None,
    )?;
    let row = rows.into_iter().next();
    row.map(|row| field(row.into_bytes(0))).transpose()
}

/// What [`sweep`] took away, or would.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Contents that no package names.
    pub contents: usize,
    /// Pieces that a dead uploader left.
    pub pieces: u64,
}

/// Contents of a project that are none of these, and have not been wanted for a while, with their sizes.
pub fn unnamed(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    kept: &BTreeSet<Digest>,
) -> Result<Vec<(Digest, u64)>, StoreError> {
    let rows = tx.query(
        "SELECT sha256, size FROM blobs WHERE project = $1 AND kept_at < $2 ORDER BY sha256",
        &[project.to_string().into(), before(tx).into()],
        RowLock::None,
    )?;
    let contents = rows
        .iter()
        .map(|row| Ok((parsed(row, 0)?, unsigned(field(row.int(1))?)?)));
    let is_named = |it: &Result<_, _>| matches!(it, Ok((digest, _)) if kept.contains(digest));
    contents.filter(|it| !is_named(it)).collect()
}

/// Takes these contents away, if nobody wants them by now, and the pieces that dead uploaders left.
pub fn sweep(
    store: &mut dyn Store,
    project: ProjectId,
    unnamed: &[Digest],
) -> Result<Swept, StoreError> {
    let mut swept = Swept::default();
    for digest in unnamed {
        swept.contents += usize::from(write(store, |tx| remove(tx, project, digest))?);
    }
    swept.pieces = write(store, |tx| {
        let limit = before(tx);
        tx.execute(
            "DELETE FROM blob_pieces WHERE kept_at < $1 AND upload NOT IN (SELECT upload FROM blobs)",
            &[limit.into()],
        )
    })?;
    Ok(swept)
}

fn remove(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    digest: &Digest,
) -> Result<bool, StoreError> {
    let limit = before(tx);
    let rows = tx.query(
        "SELECT upload FROM blobs WHERE project = $1 AND sha256 = $2 AND kept_at < $3",
        &[
            project.to_string().into(),
            digest.as_str().into(),
            limit.into(),
        ],
        RowLock::Wait,
    )?;
    let Some(row) = rows.first() else {
        return Ok(false);
    };
    discard(tx, field(row.text(0))?)?;
    tx.execute(
        "DELETE FROM blobs WHERE project = $1 AND sha256 = $2",
        &[project.to_string().into(), digest.as_str().into()],
    )?;
    Ok(true)
}

/// What was wanted before this is old.
fn before(tx: &Transaction<'_>) -> i64 {
    let limit = tx.now.wall.checked_sub(GRACE);
    limit.unwrap_or(Timestamp::MIN).as_millisecond()
}
