//! Attachments of packages where machines share no directory: named by their digest, in parts, each a text.
//!
//! A blob is no row of a stream: it never changes, and it means nothing until a package names it. So it is written without an
//! event, before the package that names it.

use handoff_core::Digest;

use crate::column::{field, number};
use crate::error::StoreError;
use crate::sql::RowLock;
use crate::store::{Store, Transaction, write};

/// Writes a part. Writing the same one again is no error.
pub fn put(
    store: &mut dyn Store,
    digest: &Digest,
    part: u64,
    content: &str,
) -> Result<(), StoreError> {
    write(store, |tx| {
        tx.execute(
            "INSERT INTO blobs (digest, part, content) VALUES ($1, $2, $3) \
             ON CONFLICT (digest, part) DO NOTHING",
            &[digest.as_str().into(), number(part)?.into(), content.into()],
        )?;
        Ok(())
    })
}

/// A part; none after the last one.
pub fn part(
    tx: &mut Transaction<'_>,
    digest: &Digest,
    part: u64,
) -> Result<Option<String>, StoreError> {
    let rows = tx.query(
        "SELECT content FROM blobs WHERE digest = $1 AND part = $2",
        &[digest.as_str().into(), number(part)?.into()],
        RowLock::None,
    )?;
    let text = rows.first().map(|row| field(row.text(0))).transpose()?;
    Ok(text.map(str::to_owned))
}
