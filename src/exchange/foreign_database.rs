//! Rows of foreign databases as JSON objects, so that readers of databases and of JSON read the same way. Databases are
//! opened by `transcripts::database`, which changes nothing of theirs. Not here: which tables a store has (`stores`).

use std::path::Path;

use serde_json::{Map, Value};

use super::error::ExchangeError;
use transcripts::database::{ForeignDatabase, database_error, open};
use transcripts::table_rows::{RowQuery, has_table};

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
    let names = database.tables()?;
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
            let fault = format!("is too large: at most {ROWS_MAX} rows of {table}");
            return Err(ExchangeError::form(self.path, fault));
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
    database: &ForeignDatabase,
    table: &str,
    columns: &[&str],
) -> rusqlite::Result<Vec<ForeignRow>> {
    if !has_table(database, table)? {
        return Ok(Vec::new());
    }
    let clause = format!("LIMIT {}", ROWS_MAX + 1);
    let query = RowQuery { table, columns, content: None, clause: &clause };
    query.prepare(database)?.rows([])?.map(|row| Ok(row?.columns)).collect()
}
