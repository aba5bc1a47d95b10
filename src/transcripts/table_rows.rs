//! Rows of a foreign table, by the names of its columns. Tools add columns with every version, keep JSON as text or as bytes, and
//! write rows of any length; a query says which columns are wanted, and one of them may be long. Not here: how a database is
//! opened (`database`), which sessions of it changed (`session_tables`).

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use serde_json::{Map, Value};

use super::records::repaired_value;
use super::transcript::{RecordStatus, TranscriptSink};

/// Longest value of a row that is read, in bytes. Images and copied histories make longer ones; no message does.
pub const VALUE_BYTES_MAX: usize = 16 << 20;

/// Some rows of one table.
#[derive(Debug, Clone, Copy)]
pub struct RowQuery<'a> {
    /// The table.
    pub table: &'a str,
    /// The columns; one that the table does not have is `null`.
    pub columns: &'a [&'a str],
    /// The column with the text or the JSON of the row, if one has it.
    pub content: Option<&'a str>,
    /// Which rows, and in which order: the end of the query.
    pub clause: &'a str,
}

impl<'a> RowQuery<'a> {
    /// Prepares the query for one value of its parameters after the other.
    ///
    /// # Errors
    /// Those of the database, where the table or the column of the content is missing.
    pub fn prepare<'c>(
        &self,
        connection: &'c Connection,
    ) -> rusqlite::Result<PreparedRows<'c, 'a>> {
        let mut wanted = Vec::with_capacity(self.columns.len() + 2);
        if !self.columns.is_empty() {
            let known = columns_of(connection, self.table)?;
            wanted.extend(self.columns.iter().map(|name| {
                let is_known = known.iter().any(|known| known == name);
                if is_known { bounded_value(&format!("\"{name}\"")) } else { "NULL".to_owned() }
            }));
        }
        let content = self.content.unwrap_or("NULL");
        wanted.extend([bounded_value(content), format!("octet_length({content})")]);
        let (wanted, table, clause) = (wanted.join(", "), self.table, self.clause);
        let query = format!("SELECT {wanted} FROM \"{table}\" {clause}");
        let statement = connection.prepare_cached(&query)?;
        Ok(PreparedRows { columns: self.columns, statement })
    }

    /// Returns the first row.
    ///
    /// # Errors
    /// As in [`RowQuery::prepare`].
    pub fn first(
        &self,
        connection: &Connection,
        parameters: impl Params,
    ) -> rusqlite::Result<Option<DatabaseRow>> {
        self.prepare(connection)?.rows(parameters)?.next().transpose()
    }
}

/// A query that was prepared.
pub struct PreparedRows<'c, 'a> {
    columns: &'a [&'a str],
    statement: CachedStatement<'c>,
}

impl PreparedRows<'_, '_> {
    /// Returns the rows for these parameters.
    ///
    /// # Errors
    /// Those of the database.
    pub fn rows(
        &mut self,
        parameters: impl Params,
    ) -> rusqlite::Result<impl Iterator<Item = rusqlite::Result<DatabaseRow>>> {
        let columns = self.columns;
        self.statement.query_map(parameters, move |row| DatabaseRow::from_row(row, columns))
    }
}

/// A row of a table.
#[derive(Debug, Default)]
pub struct DatabaseRow {
    /// Its columns by name.
    pub columns: Map<String, Value>,
    /// The column that may be long, unless it is longer than [`VALUE_BYTES_MAX`].
    pub content: Option<Vec<u8>>,
    /// How long that is, even if it is too long.
    pub content_bytes: Option<i64>,
}

impl DatabaseRow {
    fn from_row(row: &Row<'_>, names: &[&str]) -> rusqlite::Result<Self> {
        let mut columns = Map::new();
        for (place, name) in names.iter().enumerate() {
            columns.insert((*name).to_owned(), json_of(row.get_ref(place)?));
        }
        let content = match row.get_ref(names.len())? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
            _ => None,
        };
        Ok(Self { columns, content, content_bytes: row.get(names.len() + 1)? })
    }

    /// Returns the text of a column, unless it is empty.
    #[must_use]
    pub fn text(&self, column: &str) -> Option<&str> {
        self.columns.get(column)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns the number in a column.
    #[must_use]
    pub fn number(&self, column: &str) -> Option<i64> {
        self.columns.get(column)?.as_i64()
    }

    /// Tells whether the row has more content than is read.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.content.is_none() && self.content_bytes.is_some()
    }

    /// Returns the content, and counts a row that has none, or too much.
    pub fn bytes(&self, sink: &mut dyn TranscriptSink) -> Option<&[u8]> {
        if self.content.is_none() {
            let is_too_long = self.is_too_long();
            sink.count(if is_too_long { RecordStatus::TooLong } else { RecordStatus::Left });
        }
        self.content.as_deref()
    }

    /// Returns the content as JSON, and counts a row that has none, too much, or something else.
    pub fn json(&self, sink: &mut dyn TranscriptSink) -> Option<Value> {
        let value = repaired_value(self.bytes(sink)?).ok();
        if value.is_none() {
            sink.count(RecordStatus::Broken);
        }
        value
    }
}

/// A value as JSON. Bytes are vectors and pictures, which no column here is asked for.
fn json_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}

/// Tells whether a table or a view exists.
///
/// # Errors
/// Those of the database.
pub fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let query = "SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1";
    Ok(connection.query_row(query, [name], |_| Ok(())).optional()?.is_some())
}

/// Returns the names of a table's columns, none if there is no such table.
///
/// # Errors
/// Those of the database.
pub fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// Returns an expression for a column that is `NULL` where the value is longer than [`VALUE_BYTES_MAX`]. Its length stands
/// in the header of the row, so that a row of half a gigabyte never enters memory.
fn bounded_value(column: &str) -> String {
    format!("CASE WHEN octet_length({column}) <= {VALUE_BYTES_MAX} THEN {column} END")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{ExchangeBuilder, SessionRead};

    const ROWS: RowQuery<'_> = RowQuery {
        table: "t",
        columns: &["a", "text", "no such column"],
        content: Some("data"),
        clause: "WHERE a >= ?1 ORDER BY a",
    };

    fn database(rows: &str) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&format!("CREATE TABLE t(a, text, data); {rows}")).unwrap();
        connection
    }

    #[test]
    fn columns_that_are_missing_and_values_too_long_are_null() {
        let connection = database(
            "INSERT INTO t VALUES (1, 'x', zeroblob(20000000)), (2, zeroblob(20000000), NULL),
                 (3, '', '{\"b\": 1}')",
        );
        let mut query = ROWS.prepare(&connection).unwrap();
        let rows: Vec<DatabaseRow> = query.rows([1]).unwrap().collect::<Result<_, _>>().unwrap();
        let numbers: Vec<_> = rows.iter().map(|row| row.number("a")).collect();
        assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
        let texts: Vec<_> = rows.iter().map(|row| row.text("text")).collect();
        assert_eq!(texts, [Some("x"), None, None]);
        assert!(rows.iter().all(|row| row.columns["no such column"].is_null()));
        let lengths: Vec<_> = rows.iter().map(|row| row.content_bytes).collect();
        assert_eq!(lengths, [Some(20_000_000), None, Some(8)]);
        assert_eq!((&rows[0].content, &rows[1].content), (&None, &None));
        assert_eq!(rows[2].content.as_deref(), Some(b"{\"b\": 1}".as_slice()));
        assert_eq!(ROWS.first(&connection, [2]).unwrap().unwrap().number("a"), Some(2));
        assert!(ROWS.first(&connection, [4]).unwrap().is_none());
    }

    #[test]
    fn a_row_that_cannot_be_read_is_counted_by_its_reason() {
        let connection = database(
            "INSERT INTO t VALUES (1, '', '{\"b\":\"\\ud83d\"}'), (2, '', zeroblob(20000000)),
                 (3, '', NULL), (4, '', '{'), (5, '', x'5b315d')",
        );
        let mut deliver = |_: SessionRead| {};
        let mut builder = ExchangeBuilder::new(0, &mut deliver);
        let mut query = ROWS.prepare(&connection).unwrap();
        let rows = query.rows([1]).unwrap().map(|row| row.unwrap().json(&mut builder));
        let read: Vec<Option<Value>> = rows.collect();
        assert_eq!(read[0].as_ref().unwrap()["b"], "\u{fffd}", "half a character loses nothing");
        assert_eq!(read[1..4], [None, None, None]);
        assert_eq!(read[4].as_ref().unwrap()[0], 1, "JSON may be kept as bytes");
        let census = builder.finish();
        assert_eq!((census.too_long, census.left, census.broken), (1, 1, 1));
    }

    #[test]
    fn a_missing_table_is_told_from_an_empty_one() {
        let connection = database("CREATE VIEW u AS SELECT a FROM t");
        assert!(has_table(&connection, "t").unwrap() && has_table(&connection, "u").unwrap());
        assert!(!has_table(&connection, "v").unwrap());
        assert_eq!(columns_of(&connection, "u").unwrap(), ["a"]);
        assert!(columns_of(&connection, "v").unwrap().is_empty());
        assert!(ROWS.first(&connection, [1]).unwrap().is_none());
        let missing = RowQuery { table: "v", ..ROWS };
        assert!(missing.first(&connection, [1]).is_err());
    }
}
