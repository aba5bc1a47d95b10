//! What is kept of past sessions, in one SQLite database of ours in the data directory, private to the user. It is no
//! cache: tools delete their transcripts, and then this is all there is. Not here: sessions and exchanges (`session_rows`),
//! the index over them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use thiserror::Error;

use store::{StoreError, make_own_file, own_folder};

/// The name of the database.
const FILE_NAME: &str = "sessions.db";

/// The version of its tables. A later version only adds.
const FORMAT: i64 = 1;

/// How long a command waits for another process that writes, in milliseconds. A batch of an import takes less.
const WAIT_MS: u64 = 5_000;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS setting(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS file(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, tool TEXT NOT NULL, parser_version INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  head INTEGER NOT NULL, tail INTEGER NOT NULL, end INTEGER NOT NULL,
  resume TEXT NOT NULL, ordinal INTEGER NOT NULL, census TEXT NOT NULL, error TEXT, is_gone INTEGER NOT NULL DEFAULT 0,
  holds_only_prompts INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS session(
  id INTEGER PRIMARY KEY, tool TEXT NOT NULL, native_id TEXT NOT NULL, facts TEXT NOT NULL, repo TEXT,
  title TEXT NOT NULL, opening TEXT NOT NULL, first_ms INTEGER, last_ms INTEGER, exchanges INTEGER NOT NULL DEFAULT 0,
  is_by_program INTEGER NOT NULL, parent TEXT, fork_of INTEGER, UNIQUE(tool, native_id)
) STRICT;
CREATE INDEX IF NOT EXISTS session_by_time ON session(last_ms);
CREATE TABLE IF NOT EXISTS exchange(
  id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, file INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  message_key INTEGER, first_ms INTEGER, last_ms INTEGER, digest INTEGER NOT NULL, parts INTEGER NOT NULL,
  body BLOB NOT NULL,
  UNIQUE(session, file, ordinal)
) STRICT;
CREATE INDEX IF NOT EXISTS exchange_by_message ON exchange(message_key) WHERE message_key IS NOT NULL;
CREATE TABLE IF NOT EXISTS removal(seq INTEGER PRIMARY KEY AUTOINCREMENT, exchange INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS tombstone(
  kind TEXT NOT NULL, value TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY(kind, value)
) STRICT;
CREATE TABLE IF NOT EXISTS mended(
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, repo TEXT NOT NULL, key TEXT NOT NULL, mended TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS mended_by_key ON mended(repo, key);
CREATE INDEX IF NOT EXISTS mended_by_session ON mended(session);
CREATE TABLE IF NOT EXISTS decision(
  fingerprint TEXT PRIMARY KEY, verdict TEXT NOT NULL, at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS without_candidates(
  session INTEGER PRIMARY KEY, rules INTEGER NOT NULL, newest INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS file_root(file INTEGER PRIMARY KEY, root INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS left_out(
  file INTEGER PRIMARY KEY, sessions INTEGER NOT NULL, choice INTEGER NOT NULL
) STRICT;
";

/// Gives the database an id of its own, by which a saved index recognises it.
const OWN_ID: &str = "INSERT OR IGNORE INTO setting VALUES ('id', lower(hex(randomblob(8))))";

/// What is kept of past sessions.
#[derive(Debug)]
pub struct SessionStore {
    pub(super) connection: Connection,
    folder: PathBuf,
}

/// Why the kept sessions cannot be used.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The database fails.
    #[error("the kept sessions in {}: {error}", folder.display())]
    Database {
        /// The folder of the database.
        folder: PathBuf,
        /// What SQLite says.
        error: rusqlite::Error,
    },
    /// A later version of this program made the database.
    #[error("the kept sessions in {} were made by a later version of agent-knowledge; update it", folder.display())]
    Later {
        /// The folder of the database.
        folder: PathBuf,
    },
    /// Another process reads, so that what was removed is still in the log of SQLite.
    #[error("what was removed from the kept sessions in {} is still on the disk, because another process reads them; end it and run agent-knowledge scrub again", folder.display())]
    Read {
        /// The folder of the database.
        folder: PathBuf,
    },
    /// The folder cannot be made or trusted.
    #[error("failed to {0}")]
    Store(#[from] StoreError),
}

impl SessionStore {
    /// Opens the kept sessions in a folder, and creates them, private to the user.
    ///
    /// # Errors
    /// [`SessionError`]
    pub fn create(folder: &Path) -> Result<Self, SessionError> {
        own_folder(folder)?;
        let path = folder.join(FILE_NAME);
        // SQLite gives its other files the rights of this one.
        if !path.exists() {
            drop(make_own_file(&path)?);
        }
        let kept = Self::connect(folder)?;
        let made = kept
            .connection
            .execute_batch(TABLES)
            .and_then(|()| kept.connection.execute(OWN_ID, []))
            .and_then(|_| kept.connection.pragma_update(None, "user_version", FORMAT));
        made.map_err(kept.error())?;
        Ok(kept)
    }

    /// Opens the kept sessions if there are any.
    ///
    /// # Errors
    /// [`SessionError`]
    pub fn open(folder: &Path) -> Result<Option<Self>, SessionError> {
        if !folder.join(FILE_NAME).exists() {
            return Ok(None);
        }
        own_folder(folder)?;
        let kept = Self::connect(folder)?;
        // A process that was killed right after it made the file left no tables.
        let version: i64 = kept
            .connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(kept.error())?;
        if version == 0 {
            return Ok(None);
        }
        // An earlier version of this program may have made fewer tables.
        kept.connection.execute_batch(TABLES).map_err(kept.error())?;
        Ok(Some(kept))
    }

    fn connect(folder: &Path) -> Result<Self, SessionError> {
        let error = |error| SessionError::Database { folder: folder.to_owned(), error };
        let connection = Connection::open(folder.join(FILE_NAME)).map_err(error)?;
        connection.busy_timeout(Duration::from_millis(WAIT_MS)).map_err(error)?;
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(error)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(error)?;
        // What is deleted is overwritten.
        connection.query_row("PRAGMA secure_delete = ON", [], |_| Ok(())).map_err(error)?;
        let version: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(error)?;
        if version > FORMAT {
            return Err(SessionError::Later { folder: folder.to_owned() });
        }
        Ok(Self { connection, folder: folder.to_owned() })
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a function that names the folder in an error of the database.
    pub(super) fn error(&self) -> impl Fn(rusqlite::Error) -> SessionError + use<> {
        let folder = self.folder.clone();
        move |error| SessionError::Database { folder: folder.clone(), error }
    }

    /// Returns a setting.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn setting(&self, name: &str) -> Result<Option<String>, SessionError> {
        let query = "SELECT value FROM setting WHERE name = ?1";
        self.connection.query_row(query, [name], |row| row.get(0)).optional().map_err(self.error())
    }

    /// Keeps a setting.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn set(&self, name: &str, value: &str) -> Result<(), SessionError> {
        let query = "INSERT INTO setting VALUES (?1, ?2) ON CONFLICT(name) DO UPDATE SET value = excluded.value";
        self.connection.execute(query, [name, value]).map_err(self.error())?;
        Ok(())
    }

    /// Returns the bytes of the database on the disk, with what SQLite has not moved into it yet.
    #[must_use]
    pub fn bytes_on_disk(&self) -> u64 {
        let files = [FILE_NAME.to_owned(), format!("{FILE_NAME}-wal")];
        let bytes = |name: &String| self.folder.join(name).metadata().map_or(0, |file| file.len());
        files.iter().map(bytes).sum()
    }

    /// Returns what a person decided about a candidate, by its fingerprint.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn decision(&self, fingerprint: &str) -> Result<Option<String>, SessionError> {
        let query = "SELECT verdict FROM decision WHERE fingerprint = ?1";
        self.connection
            .query_row(query, [fingerprint], |row| row.get(0))
            .optional()
            .map_err(self.error())
    }

    /// Keeps what a person decided about a candidate.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn decide(
        &self,
        fingerprint: &str,
        verdict: &str,
        now_ms: i64,
    ) -> Result<(), SessionError> {
        let query = "INSERT INTO decision VALUES (?1, ?2, ?3)
            ON CONFLICT(fingerprint) DO UPDATE SET verdict = excluded.verdict, at_ms = excluded.at_ms";
        let row = (fingerprint, verdict, now_ms);
        self.connection.execute(query, row).map_err(self.error())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_made_by_looking() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("sessions");
        assert!(SessionStore::open(&place).unwrap().is_none());
        assert!(!place.exists());
        let kept = SessionStore::create(&place).unwrap();
        kept.set("consent", "yes").unwrap();
        kept.decide("f", "no", 1).unwrap();
        drop(kept);
        let kept = SessionStore::open(&place).unwrap().unwrap();
        assert_eq!(kept.setting("consent").unwrap().as_deref(), Some("yes"));
        assert_eq!(kept.decision("f").unwrap().as_deref(), Some("no"));
        assert_eq!(kept.decision("g").unwrap(), None);
    }

    #[cfg(unix)]
    // S-SESS-3
    #[test]
    fn no_other_user_can_read_what_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("sessions");
        let kept = SessionStore::create(&place).unwrap();
        kept.set("a", "b").unwrap();
        let files: Vec<_> =
            std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() > 1, "the database and its log");
        for file in files {
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", file.display());
        }
        assert_eq!(place.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_later_version_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let kept = SessionStore::create(folder.path()).unwrap();
        kept.connection.pragma_update(None, "user_version", FORMAT + 1).unwrap();
        drop(kept);
        assert!(
            SessionStore::open(folder.path()).unwrap_err().to_string().contains("later version")
        );
    }
}
