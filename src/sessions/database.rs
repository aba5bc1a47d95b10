//! Databases of other tools, opened so that nothing of theirs changes: read-only, never created, never locked for long.
//! The file that opens them with `rusqlite`. Not here: their tables (`readers`), our own database (the archive).

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::source::ReadError;

/// How long a query waits for a writer, in milliseconds. Tools checkpoint for longer only when they end.
const WAIT_MS: u64 = 2_000;

/// Opens a database for reading. One in WAL mode whose shared memory cannot be opened, as on a read-only disk, is read as
/// its last checkpoint left it.
///
/// # Errors
/// [`ReadError::Form`] if it is no database or cannot be opened.
pub fn open(path: &Path) -> Result<Connection, ReadError> {
    if !path.is_file() {
        return Err(ReadError::form(path, "missing"));
    }
    let uri = |options: &str| format!("file:{}?{options}", percent_encoded(path));
    let opened = connected(&uri("mode=ro")).or_else(|_| connected(&uri("immutable=1&mode=ro")));
    opened.map_err(database_error(path))
}

/// Opening is lazy, so the schema is read to learn whether it works.
fn connected(uri: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(Duration::from_millis(WAIT_MS))?;
    connection.pragma_update(None, "query_only", true)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Tells whether a table or a view exists.
///
/// # Errors
/// Those of the database.
pub fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let query = "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1";
    connection.query_row(query, [name], |row| Ok(row.get::<_, i64>(0)? > 0))
}

/// Returns a function that adds the path to an error of a database.
pub fn database_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> ReadError {
    let path = path.to_owned();
    move |error| ReadError::Form { path, what: format!("no database that can be read: {error}") }
}

/// Escapes what has a meaning in the URI of a file.
fn percent_encoded(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    text.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_created_or_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("100% a?#.db");
        assert!(open(&path).is_err());
        assert!(!path.exists());
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1)").unwrap();
        let reader = open(&path).unwrap();
        assert!(has_table(&reader, "t").unwrap() && !has_table(&reader, "u").unwrap());
        assert!(reader.execute_batch("INSERT INTO t VALUES (2)").is_err());
        std::fs::write(
            folder.path().join("text.db"),
            "no database, but long enough to look like one",
        )
        .unwrap();
        assert!(open(&folder.path().join("text.db")).is_err());
    }

    #[test]
    fn what_a_running_writer_has_not_checkpointed_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(x)").unwrap();
        writer
            .execute_batch(
                "BEGIN; INSERT INTO t VALUES (1); COMMIT; BEGIN; INSERT INTO t VALUES (2)",
            )
            .unwrap();
        let count = |connection: &Connection| -> i64 {
            connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
        };
        let reader = open(&path).unwrap();
        assert_eq!(count(&reader), 1, "committed, but not the open transaction");
        writer.execute_batch("COMMIT").unwrap();
        assert_eq!(count(&open(&path).unwrap()), 2);
    }
}
