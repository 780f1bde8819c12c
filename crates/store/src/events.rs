//! The ledger's own table: append, follow, read one stream.

use handoff_core::hold::HoldEvent;
use handoff_core::{
    BatchEvent, Caller, ContextEvent, Cursor, Digest, Envelope, Event, FeatureEvent,
    IdempotencyKey, PackageEvent, ProjectId, RepositoryEvent, RunEvent, StreamId, TaskEvent,
    Timestamp,
};

use crate::column::{field, from_json, json, number, parsed, unsigned};
use crate::error::StoreError;
use crate::sql::{Act, Row, RowLock, Value};
use crate::store::Transaction;
use crate::{batches, features, runs, tasks};

/// What makes repeating a request harmless: its key, and a digest of what was asked with it.
#[derive(Debug, Clone)]
pub(crate) struct Keyed<'a> {
    pub(crate) key: &'a IdempotencyKey,
    pub(crate) digest: &'a str,
}

/// A new event.
pub(crate) struct Entry<'a> {
    pub(crate) stream: StreamId,
    pub(crate) seq: u64,
    pub(crate) project: Option<ProjectId>,
    pub(crate) by: &'a Caller,
    pub(crate) keyed: Option<&'a Keyed<'a>>,
    pub(crate) event: Event,
}

const COLUMNS: &str = "stream, seq, project, at, caller, key, digest, body, sum";

pub(crate) fn append(tx: &mut Transaction<'_>, entry: &Entry<'_>) -> Result<(), StoreError> {
    let act = appending(tx, std::slice::from_ref(entry))?;
    tx.execute_all(&[act]).map(drop)
}

/// Appends events in this order.
pub(crate) fn appending(tx: &Transaction<'_>, entries: &[Entry<'_>]) -> Result<Act, StoreError> {
    let parts = tx.sql.following();
    let mut values = Vec::with_capacity(entries.len() * 9);
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries {
        // The stream is the first of the fields.
        let first = values.len() + 1;
        let fields = row(tx, entry)?;
        let sum = sum_of(&fields);
        values.extend(fields);
        values.push(sum.into());
        let places = (first..=values.len()).map(|place| format!("${place}"));
        let number = { parts.number }.map(|it| it.replace("$STREAM", &format!("${first}")));
        let places: Vec<_> = places.chain(number).collect();
        rows.push(format!("({})", places.join(", ")));
    }
    let rows = rows.join(", ");
    let numbered = parts
        .number
        .map_or(String::new(), |_| format!(", {}", parts.transaction));
    Ok(Act {
        sql: format!("INSERT INTO events ({COLUMNS}{numbered}) VALUES {rows}"),
        values,
    })
}

/// The fields of [`COLUMNS`] without the last one.
fn row(tx: &Transaction<'_>, entry: &Entry<'_>) -> Result<[Value; 8], StoreError> {
    Ok([
        entry.stream.to_string().into(),
        number(entry.seq)?.into(),
        entry.project.map(|project| project.to_string()).into(),
        tx.now.wall.as_millisecond().into(),
        json(entry.by)?.into(),
        entry.keyed.map(|keyed| keyed.key.as_str()).into(),
        entry.keyed.map(|keyed| keyed.digest).into(),
        json(&entry.event)?.into(),
    ])
}

/// Enough of the digest of an event's fields, each with its length, to tell that one of them is damaged. It keeps nobody from
/// forging anything.
fn sum_of(fields: &[Value]) -> String {
    let mut text = String::new();
    for field in fields {
        let field = match field {
            Value::Null => "-".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Text(text) => format!("{}:{text}", text.len()),
            Value::Bytes(bytes) => format!("{bytes:?}"),
        };
        text.push_str(&field);
        text.push(' ');
    }
    Digest::of(text.as_bytes()).as_str()[..SUM].to_owned()
}

/// So many digits of a digest.
const SUM: usize = 16;

/// Where a reader of all events has got to.
pub(crate) type Reached = (String, i64);

/// The events of all streams whose fields are not what was written, as `(stream, number)`, and where to go on; none at the end.
/// One that was written before there were sums says nothing.
pub(crate) fn damaged_after(
    tx: &mut Transaction<'_>,
    reached: &Reached,
    limit: u32,
) -> Result<(Vec<Reached>, Option<Reached>), StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events WHERE (stream, seq) > ($1, $2) ORDER BY stream, seq LIMIT $3"
    );
    let (stream, seq) = reached;
    let values = [
        stream.as_str().into(),
        (*seq).into(),
        i64::from(limit).into(),
    ];
    let rows = tx.query(&sql, &values, RowLock::None)?;
    let mut damaged = vec![];
    let mut last = None;
    for row in rows {
        let here = (field(row.text(0))?.to_owned(), field(row.int(1))?);
        let (fields, sum) = row.0.split_at(8);
        if sum[0] != Value::Null && sum[0] != Value::Text(sum_of(fields)) {
            damaged.push(here.clone());
        }
        last = Some(here);
    }
    Ok((damaged, last))
}

/// What was recorded under a key.
pub(crate) struct Recorded {
    pub(crate) stream: StreamId,
    pub(crate) seq: u64,
    pub(crate) digest: String,
}

pub(crate) fn recorded_under(
    tx: &mut Transaction<'_>,
    key: &IdempotencyKey,
) -> Result<Option<Recorded>, StoreError> {
    let rows = tx.query(
        "SELECT stream, seq, digest FROM events WHERE key = $1",
        &[key.as_str().into()],
        RowLock::None,
    )?;
    rows.first()
        .map(|row| {
            Ok(Recorded {
                stream: parsed(row, 0)?,
                seq: unsigned(field(row.int(1))?)?,
                digest: field(row.text(2))?.to_owned(),
            })
        })
        .transpose()
}

/// Which events a follower wants.
#[derive(Debug, Clone, Copy)]
pub struct Following {
    /// Those after this one.
    pub since: Cursor,
    /// Of this project, or of all.
    pub project: Option<ProjectId>,
    /// At most so many.
    pub limit: u32,
}

/// The next events after a cursor, in order, none of which can still be preceded by another.
pub fn since(tx: &mut Transaction<'_>, wanted: Following) -> Result<Vec<Envelope>, StoreError> {
    let parts = tx.sql.following();
    let horizon = tx.sql.horizon()?;
    let mut values: Vec<Value> = vec![
        wanted.since.transaction.into(),
        wanted.since.position.into(),
        horizon.into(),
    ];
    let project_part = wanted.project.map_or("", |_| "AND project = $4 ");
    values.extend(
        wanted
            .project
            .map(|project| Value::from(project.to_string())),
    );
    let limit = format!("LIMIT ${}", values.len() + 1);
    values.push(i64::from(wanted.limit).into());
    let sql = format!(
        "SELECT {}, position, stream, seq, project, at, caller, body FROM events \
         WHERE {} {project_part}ORDER BY {} {limit}",
        parts.transaction, parts.after, parts.order
    );
    tx.query(&sql, &values, RowLock::None)?
        .iter()
        .map(envelope)
        .collect()
}

/// The cursor of the newest event that a follower could have seen.
pub fn newest(tx: &mut Transaction<'_>) -> Result<Cursor, StoreError> {
    let parts = tx.sql.following();
    let sql = format!(
        "SELECT {}, position FROM events WHERE {} ORDER BY {} LIMIT 1",
        parts.transaction, parts.after, parts.newest_first
    );
    let horizon = tx.sql.horizon()?;
    let rows = tx.query(&sql, &[0.into(), 0.into(), horizon.into()], RowLock::None)?;
    rows.first().map_or(Ok(Cursor::START), cursor)
}

/// The history of one stream, oldest first, up to number `last`.
pub fn history(
    tx: &mut Transaction<'_>,
    stream: StreamId,
    last: u64,
) -> Result<Vec<Envelope>, StoreError> {
    let transaction = tx.sql.following().transaction;
    let sql = format!(
        "SELECT {transaction}, position, stream, seq, project, at, caller, body FROM events \
         WHERE stream = $1 AND seq <= $2 ORDER BY seq"
    );
    let last = i64::try_from(last).unwrap_or(i64::MAX);
    let rows = tx.query(
        &sql,
        &[stream.to_string().into(), last.into()],
        RowLock::None,
    )?;
    rows.iter().map(envelope).collect()
}

/// What people call the subject of a stream; none where it has no name.
pub fn name_of(tx: &mut Transaction<'_>, stream: StreamId) -> Result<Option<String>, StoreError> {
    match stream {
        StreamId::Task(id) => Ok(Some(tasks::get(tx, id)?.spec.name.to_string())),
        StreamId::Feature(id) => Ok(Some(features::get(tx, id)?.name.to_string())),
        StreamId::Batch(id) => Ok(Some(batches::get(tx, id)?.spec.name.to_string())),
        StreamId::Run(id) => Ok(Some(runs::get(tx, id)?.spec.name.to_string())),
        StreamId::Hold(_)
        | StreamId::Package(_)
        | StreamId::Context(_)
        | StreamId::Repository(_) => Ok(None),
    }
}

fn envelope(row: &Row) -> Result<Envelope, StoreError> {
    let stream = parsed(row, 2)?;
    let project = field(row.optional_text(4))?
        .is_some()
        .then(|| parsed(row, 4))
        .transpose()?;
    let at = Timestamp::from_millisecond(field(row.int(5))?)
        .map_err(|error| StoreError::Inconsistent(format!("an event's time: {error}")))?;
    Ok(Envelope {
        cursor: cursor(row)?,
        seq: unsigned(field(row.int(3))?)?,
        project,
        at,
        by: from_json(field(row.text(6))?)?,
        event: decode(stream, field(row.text(7))?)?,
        stream,
    })
}

fn cursor(row: &Row) -> Result<Cursor, StoreError> {
    Ok(Cursor {
        transaction: field(row.int(0))?,
        position: field(row.int(1))?,
    })
}

fn decode(stream: StreamId, body: &str) -> Result<Event, StoreError> {
    match stream {
        StreamId::Hold(_) => from_json::<HoldEvent>(body).map(Event::Hold),
        StreamId::Task(_) => from_json::<TaskEvent>(body).map(Event::Task),
        StreamId::Feature(_) => from_json::<FeatureEvent>(body).map(Event::Feature),
        StreamId::Package(_) => from_json::<PackageEvent>(body).map(Event::Package),
        StreamId::Context(_) => from_json::<ContextEvent>(body).map(Event::Context),
        StreamId::Batch(_) => from_json::<BatchEvent>(body).map(Event::Batch),
        StreamId::Run(_) => from_json::<RunEvent>(body).map(Event::Run),
        StreamId::Repository(_) => from_json::<RepositoryEvent>(body).map(Event::Repository),
    }
}
