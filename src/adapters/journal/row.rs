//! An entry as a row of a table, the same in every database.

use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

use crate::control::ports::JournalError;
use crate::domain::change::Entry;
use crate::domain::ids::Revision;

/// Entries one read returns at most, whatever its limit says.
pub const READ_MAX: usize = 10_000;

/// A row of `entries`.
#[derive(Debug)]
pub struct EntryRow {
    /// Where it stands.
    pub revision: i64,
    /// When, as RFC 3339 in UTC.
    pub at: String,
    /// Whose doing it is.
    pub by: String,
    /// Of which input, as JSON.
    pub cause: String,
    /// What changed, as JSON.
    pub change: String,
}

impl<'r, R: Row> FromRow<'r, R> for EntryRow
where
    &'static str: ColumnIndex<R>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
    String: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        Ok(Self {
            revision: row.try_get("revision")?,
            at: row.try_get("at")?,
            by: row.try_get("by")?,
            cause: row.try_get("cause")?,
            change: row.try_get("change")?,
        })
    }
}

impl EntryRow {
    /// As a row: what `append` writes.
    pub fn of(entry: &Entry) -> Result<Self, JournalError> {
        let text = |json: serde_json::Result<String>| json.map_err(|error| corrupt(entry.revision, error));
        Ok(Self {
            revision: signed(entry.revision),
            at: entry.at.to_string(),
            by: entry.by.clone(),
            cause: text(serde_json::to_string(&entry.cause))?,
            change: text(serde_json::to_string(&entry.change))?,
        })
    }

    /// The same of several.
    pub fn all(entries: &[Entry]) -> Result<Vec<Self>, JournalError> {
        entries.iter().map(Self::of).collect()
    }

    /// As an entry, wherever it stands.
    pub fn entry_anywhere(self) -> Result<Entry, JournalError> {
        let place = unsigned(self.revision);
        self.entry(place)
    }

    /// As an entry, which must stand at `place`.
    pub fn entry(self, place: Revision) -> Result<Entry, JournalError> {
        let revision = unsigned(self.revision);
        if revision != place {
            return Err(corrupt(place, format!("it is missing, entry {revision} follows instead")));
        }
        Ok(Entry {
            revision,
            at: self.at.parse().map_err(|error| corrupt(place, format!("its time `{}`: {error}", self.at)))?,
            by: self.by,
            cause: serde_json::from_str(&self.cause).map_err(|error| corrupt(place, format!("its cause: {error}")))?,
            change: serde_json::from_str(&self.change)
                .map_err(|error| corrupt(place, format!("its change: {error}")))?,
        })
    }
}

/// A count as a database keeps it. No journal gets that long.
pub fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The way back; the schema has no negative ones.
pub fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// An entry that cannot be read, and what is wrong with it.
pub fn corrupt(revision: Revision, problem: impl ToString) -> JournalError {
    JournalError::Corrupt { revision, problem: problem.to_string() }
}
