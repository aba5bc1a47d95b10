//! Databases of other tools, opened so that nothing of theirs changes: read-only, never created, never locked for long,
//! no file left beside them. Here is also what tells their errors apart: unreadable, damaged, of another form.
//! Not here: rows (`table_rows`), which sessions of a database changed (`session_tables`), our own database (the archive).

use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::source::ReadError;

/// How long a query waits for a writer, in milliseconds. Tools checkpoint for longer only when they end.
const WAIT_MS: u64 = 2_000;

/// Largest database that is copied where it cannot be opened in place, in bytes: a copy must not fill the disk.
const COPY_BYTES_MAX: u64 = 4 << 30;

/// How often a copy is made anew because a writer changed the original meanwhile.
const COPIES_MAX: usize = 3;

/// A database of another tool. Queries go to the connection, to which it dereferences.
#[derive(Debug)]
pub struct ForeignDatabase {
    connection: Connection,
    path: PathBuf,
    /// How the file was, if nothing else protects it from a writer.
    unguarded: Option<FileStamp>,
    /// Is deleted after the connection is closed: fields are dropped in this order.
    _copy: Option<PrivateFolder>,
}

impl Deref for ForeignDatabase {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl ForeignDatabase {
    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of its tables and views.
    ///
    /// # Errors
    /// [`ReadError::Form`]
    pub fn tables(&self) -> Result<Vec<String>, ReadError> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let query = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')";
            self.prepare(query)?.query_map([], |row| row.get(0))?.collect()
        };
        names().map_err(database_error(&self.path))
    }

    /// Ends reading.
    ///
    /// # Errors
    /// [`ReadError::Form`] if a writer began meanwhile, so that what was read may be of two states.
    pub fn finish(self) -> Result<(), ReadError> {
        match &self.unguarded {
            Some(stamp) if *stamp != FileStamp::read(&self.path) => {
                Err(ReadError::form(&self.path, "a database that changed while it was read"))
            }
            _ => Ok(()),
        }
    }
}

/// Opens a database for reading, with all that is committed.
///
/// In WAL mode SQLite needs its shared memory. Where no log is there, nobody writes, and the file is read as it is, so that
/// no shared memory is made beside it. Where it cannot be opened, as on a read-only disk, a private copy is read.
///
/// # Errors
/// [`ReadError::Form`] if it is no database or cannot be opened.
pub fn open(path: &Path) -> Result<ForeignDatabase, ReadError> {
    if !path.is_file() {
        return Err(ReadError::form(path, "missing"));
    }
    let is_quiet = is_in_wal_mode(path)? && !sidecar_path(path, "-wal").exists();
    let unguarded = is_quiet.then(|| FileStamp::read(path));
    let options = if is_quiet { "immutable=1&mode=ro" } else { "mode=ro" };
    match connected(path, options) {
        Ok(connection) => {
            Ok(ForeignDatabase { connection, path: path.to_owned(), unguarded, _copy: None })
        }
        Err(error) if is_for_want_of_a_lock_file(&error) => opened_copy(path),
        Err(error) => Err(database_error(path)(error)),
    }
}

/// Reads the header. An empty file is a database to SQLite, and to nobody else.
fn is_in_wal_mode(path: &Path) -> Result<bool, ReadError> {
    let mut header = Vec::with_capacity(20);
    let file = std::fs::File::open(path).map_err(ReadError::io(path))?;
    file.take(20).read_to_end(&mut header).map_err(ReadError::io(path))?;
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(ReadError::form(path, "no database"));
    }
    Ok(header.get(18..20) == Some(&[2, 2]))
}

/// Opening is lazy, so the schema is read to learn whether it works.
fn connected(path: &Path, options: &str) -> rusqlite::Result<Connection> {
    let access = match options {
        "mode=rw" => OpenFlags::SQLITE_OPEN_READ_WRITE,
        _ => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:{}?{options}", percent_encoded(path));
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(Duration::from_millis(WAIT_MS))?;
    connection.pragma_update(None, "query_only", true)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// The shared memory, or the roll back of a journal, needs a file that cannot be written here.
fn is_for_want_of_a_lock_file(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)
    )
}

/// Copies a database with its log into a private folder, and opens the copy.
fn opened_copy(path: &Path) -> Result<ForeignDatabase, ReadError> {
    let folder = PrivateFolder::new().map_err(ReadError::io(path))?;
    let target = folder.path.join("copy.db");
    let files = || {
        ["", "-wal", "-journal"]
            .map(|suffix| (sidecar_path(path, suffix), sidecar_path(&target, suffix)))
    };
    let stamps = || files().map(|(from, _)| FileStamp::read(&from));
    let bytes: u64 = stamps().iter().map(|stamp| stamp.bytes).sum();
    if bytes > COPY_BYTES_MAX {
        return Err(ReadError::form(path, format!("a locked database of {bytes} bytes")));
    }
    for _ in 0..COPIES_MAX {
        let before = stamps();
        for (from, to) in files() {
            match std::fs::copy(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => drop(result.map_err(ReadError::io(&from))?),
            }
        }
        if before == stamps() {
            let connection = connected(&target, "mode=rw").map_err(database_error(path))?;
            let path = path.to_owned();
            return Ok(ForeignDatabase { connection, path, unguarded: None, _copy: Some(folder) });
        }
    }
    Err(ReadError::form(path, "a database that changes faster than it can be copied"))
}

/// How a file is, as far as tells whether it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    written: Option<SystemTime>,
}

impl FileStamp {
    /// A missing file has no bytes.
    fn read(path: &Path) -> Self {
        let metadata = std::fs::metadata(path).ok();
        Self {
            bytes: metadata.as_ref().map_or(0, std::fs::Metadata::len),
            written: metadata.and_then(|metadata| metadata.modified().ok()),
        }
    }
}

/// A folder that only this user can read, which is deleted at the end.
#[derive(Debug)]
struct PrivateFolder {
    path: PathBuf,
}

impl PrivateFolder {
    /// Never takes a folder that is there: another user may have made it.
    fn new() -> io::Result<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let builder = store::private_dirs();
        let process = std::process::id();
        // Folders of a process with the same number that was killed are few.
        for _ in 0..100 {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("agent-knowledge-{process}-{number}"));
            match builder.create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => return result.map(|()| Self { path }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What cannot be deleted is private and in the folder that systems clear.
        drop(std::fs::remove_dir_all(&self.path));
    }
}

/// Returns a function that adds the path to an error of a database, and tells which kind it is.
pub fn database_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> ReadError {
    let path = path.to_owned();
    move |error| {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "a database that is busy",
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                "a database that cannot be opened"
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => "damaged or no database",
            Some(ErrorCode::Unknown) | None => "a database of a form that is not known",
            Some(_) => "a database that cannot be read",
        };
        ReadError::Form { path, what: format!("{kind}: {error}") }
    }
}

/// Returns the path of a file that SQLite keeps beside a database.
fn sidecar_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Escapes what has a meaning in the URI of a file.
fn percent_encoded(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    text.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// The files of a folder with their bytes and times, without what SQLite needs for a writer.
    fn listing(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_kept = |path: &PathBuf| path.is_file() && !path.to_str().unwrap().ends_with("-shm");
        let file = |path: PathBuf| {
            let written = path.metadata().unwrap().modified().unwrap();
            (path.clone(), (std::fs::read(&path).unwrap(), written))
        };
        entries.filter(is_kept).map(file).collect()
    }

    fn count(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn nothing_is_created_or_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("100% a?#.db");
        assert!(open(&path).is_err());
        assert!(!path.exists());
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1)").unwrap();
        let reader = open(&path).unwrap();
        assert_eq!(reader.tables().unwrap(), ["t"]);
        assert!(reader.execute_batch("INSERT INTO t VALUES (2)").is_err());
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
        let before = listing(folder.path());
        let reader = open(&path).unwrap();
        assert_eq!(count(&reader), 1, "committed, but not the open transaction");
        reader.finish().unwrap();
        assert_eq!(listing(folder.path()), before);
        writer.execute_batch("COMMIT").unwrap();
        assert_eq!(count(&open(&path).unwrap()), 2);
    }

    #[test]
    fn a_database_at_rest_gets_no_file_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)")
            .unwrap();
        drop(writer);
        let before = listing(folder.path());
        let reader = open(&path).unwrap();
        assert_eq!(count(&reader), 1);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        reader.finish().unwrap();
        assert_eq!(listing(folder.path()), before);
    }

    #[test]
    fn a_writer_that_begins_meanwhile_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(x)").unwrap();
        drop(writer);
        let reader = open(&path).unwrap();
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE u AS SELECT randomblob(100000)").unwrap();
        drop(writer);
        let error = reader.finish().unwrap_err().to_string();
        assert!(error.contains("changed while"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_is_read_where_no_shared_memory_can_be_had() {
        let folder = tempfile::tempdir().unwrap();
        let (path, locked) = (folder.path().join("a.db"), folder.path().join("locked.db"));
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)")
            .unwrap();
        std::fs::copy(&path, &locked).unwrap();
        std::fs::copy(sidecar_path(&path, "-wal"), sidecar_path(&locked, "-wal")).unwrap();
        // Nobody, not even root, opens a link that leads nowhere.
        std::os::unix::fs::symlink("none/none", sidecar_path(&locked, "-shm")).unwrap();
        let before = listing(folder.path());
        let reader = open(&locked).unwrap();
        assert_eq!(count(&reader), 1, "from the log alone");
        let copy = reader._copy.as_ref().unwrap().path.clone();
        assert!(copy.is_dir());
        reader.finish().unwrap();
        assert!(!copy.exists());
        assert_eq!(listing(folder.path()), before);
    }

    #[test]
    fn a_writer_under_load_is_read_to_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(x)").unwrap();
        let (is_done, written) = (&AtomicBool::new(false), &AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Bounded, so that a failed assertion ends the test.
                for _ in 0..50_000 {
                    if is_done.load(Ordering::SeqCst) {
                        break;
                    }
                    // Two rows at once: nobody may see one of them alone.
                    writer.execute_batch("INSERT INTO t VALUES (randomblob(2000)), (1)").unwrap();
                    written.fetch_add(2, Ordering::SeqCst);
                }
            });
            while written.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            for _ in 0..50 {
                let least = i64::try_from(written.load(Ordering::SeqCst)).unwrap();
                let reader = open(&path).unwrap();
                let snapshot = reader.unchecked_transaction().unwrap();
                let first = count(&snapshot);
                assert!(first >= least && first % 2 == 0, "{first} of {least}");
                assert_eq!(count(&snapshot), first, "one state for one transaction");
                drop(snapshot);
                reader.finish().unwrap();
            }
            is_done.store(true, Ordering::SeqCst);
        });
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let said = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            open(&path).unwrap_err().to_string()
        };
        assert!(said(b"").ends_with("is no database"));
        assert!(said(b"text, but long enough to look like one").ends_with("is no database"));
        let mut torn = b"SQLite format 3\0".to_vec();
        torn.resize(5_000, b'x');
        assert!(said(&torn).contains("damaged or no database"));
        std::fs::remove_file(&path).unwrap();
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t(x)").unwrap();
        let reader = open(&path).unwrap();
        let error = reader.prepare("SELECT y FROM t").unwrap_err();
        let said = database_error(&path)(error).to_string();
        assert!(said.contains("of a form that is not known"), "{said}");
    }
}
