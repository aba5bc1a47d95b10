//! Rows of foreign databases as JSON objects, so that readers of databases and of JSON read the same way. Databases are
//! opened by `transcripts::database`, which changes nothing of theirs. Not here: which tables a store has (`stores`).

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

use super::error::ExchangeError;
use transcripts::database::{ForeignDatabase, bounded_value, columns_of, database_error, open};

/// Most rows of a table that are read. Agents do not write as many memories.
const ROWS_MAX: usize = 200_000;

/// One row; a column that the table does not have is `null`.
pub(crate) type ForeignRow = Map<String, Value>;

/// Returns the names of the tables.
///
/// # Errors
/// [`ExchangeError::Database`]
pub(crate) fn tables(path: &Path) -> Result<Vec<String>, ExchangeError> {
    let database = open(path)?;
    let named = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
        let mut query =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")?;
        query.query_map([], |row| row.get(0))?.collect()
    };
    let names = named(&database).map_err(database_error(path))?;
    database.finish()?;
    Ok(names)
}

/// The tables of a database as they were at one moment.
pub(crate) struct ForeignTables<'a> {
    path: &'a Path,
    database: ForeignDatabase,
}

impl<'a> ForeignTables<'a> {
    /// Opens a database.
    ///
    /// # Errors
    /// [`ExchangeError::Database`]
    pub(crate) fn open(path: &'a Path) -> Result<Self, ExchangeError> {
        let database = open(path)?;
        // All tables are read in one state. The connection ends the transaction when it is closed.
        database.execute_batch("BEGIN").map_err(database_error(path))?;
        Ok(Self { path, database })
    }

    /// Reads these columns of a table, in the order of the rows. A table that is missing has no rows.
    ///
    /// # Errors
    /// [`ExchangeError`] where there are too many rows or the database is damaged.
    pub(crate) fn rows(
        &self,
        table: &str,
        wanted: &[&str],
    ) -> Result<Vec<ForeignRow>, ExchangeError> {
        let rows = rows(&self.database, table, wanted).map_err(database_error(self.path))?;
        if rows.len() > ROWS_MAX {
            let what = format!("is too large: at most {ROWS_MAX} rows of {table}");
            return Err(ExchangeError::form(self.path, what));
        }
        Ok(rows)
    }

    /// Ends reading.
    ///
    /// # Errors
    /// [`ExchangeError::Database`] where a writer began meanwhile.
    pub(crate) fn finish(self) -> Result<(), ExchangeError> {
        Ok(self.database.finish()?)
    }
}

fn rows(
    connection: &Connection,
    table: &str,
    wanted: &[&str],
) -> rusqlite::Result<Vec<ForeignRow>> {
    let known = columns_of(connection, table)?;
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let column = |name: &&str| match known.iter().any(|known| known == name) {
        true => bounded_value(&format!("\"{name}\"")),
        false => "NULL".to_owned(),
    };
    let columns: Vec<String> = wanted.iter().map(column).collect();
    let limit = ROWS_MAX + 1;
    let query = format!("SELECT {} FROM \"{table}\" LIMIT {limit}", columns.join(", "));
    let mut query = connection.prepare(&query)?;
    let mut found = query.query([])?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let mut fields = Map::new();
        for (place, name) in wanted.iter().enumerate() {
            fields.insert((*name).to_owned(), value_of(row.get_ref(place)?));
        }
        rows.push(fields);
    }
    Ok(rows)
}

/// A value as JSON. Bytes are vectors and pictures, which nobody here reads.
fn value_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}
