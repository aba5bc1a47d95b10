//! The kept sessions with their index, for a process that answers questions. A thread brings the index up to date; a
//! question waits for it only so long, and is then answered from what is indexed. The index is saved in the cache, where it
//! may be deleted at any time. Not here: the index itself (`exchange_index`), finding (`session_search`).

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::exchange_index::{ExchangeIndex, IndexedExchange};
use super::search_text::SessionTopic;
use super::session_rows::KeptSession;
use super::session_store::{SessionError, SessionStore};
use store::{make_own_file, own_folder};

/// Exchanges that are indexed before the next part of them can be searched.
const STEP: usize = 400;

/// Changes after which the index is saved: making them again takes under a second.
const UNSAVED_MAX: usize = 1_000;

/// The name of the saved index, below the cache directory.
const FILE_NAME: &str = "sessions.index";

/// The kept sessions and their index. Clones share both. The default has none.
#[derive(Debug, Clone, Default)]
pub struct PastSessions {
    folder: Option<PathBuf>,
    cache: PathBuf,
    shared: Arc<SharedIndex>,
}

#[derive(Debug, Default)]
struct SharedIndex {
    state: Mutex<IndexState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct IndexState {
    index: Arc<ExchangeIndex>,
    /// Which database it is made of, and how far that was read.
    database: String,
    read: ReadPosition,
    is_loaded: bool,
    is_running: bool,
    /// Why the last run ended early.
    error: Option<String>,
}

/// A position in the database: the last row of exchanges and of removals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ReadPosition {
    row: u32,
    removal: i64,
}

impl ReadPosition {
    fn reaches(self, other: Self) -> bool {
        self.row >= other.row && self.removal >= other.removal
    }
}

impl IndexState {
    /// Tells whether all up to a position of a database is indexed.
    fn covers(&self, database: &str, newest: ReadPosition) -> bool {
        self.is_loaded && self.database == database && self.read.reaches(newest)
    }
}

/// The index as it is, and what it lacks.
#[derive(Debug, Clone)]
pub struct IndexView {
    /// The kept sessions.
    pub index: Arc<ExchangeIndex>,
    /// Whether exchanges are kept that are not indexed yet.
    pub is_behind: bool,
}

impl PastSessions {
    /// Names the folder of the kept sessions and the folder of caches. Nothing is opened.
    #[must_use]
    pub fn at(folder: &Path, cache: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), cache: cache.to_owned(), shared: Arc::default() }
    }

    /// Opens the kept sessions, if there are any.
    ///
    /// # Errors
    /// [`SessionError`]
    pub fn open_store(&self) -> Result<Option<SessionStore>, SessionError> {
        self.folder.as_deref().map_or(Ok(None), SessionStore::open)
    }

    /// Returns the index, with all that was kept when the call began if that takes no longer than `wait`. Nothing if no
    /// sessions are kept.
    ///
    /// # Errors
    /// [`SessionError`]
    pub fn view(&self, wait: Duration) -> Result<Option<IndexView>, SessionError> {
        let Some(kept) = self.open_store()? else { return Ok(None) };
        let (database, newest) = (kept.setting("id")?.unwrap_or_default(), newest(&kept)?);
        drop(kept);
        let deadline = Instant::now() + wait;
        let mut state = self.lock();
        while !state.covers(&database, newest) {
            if !state.is_running && state.error.take().is_none() {
                state.is_running = self.spawn();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !state.is_running {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Some(IndexView {
            index: Arc::clone(&state.index),
            is_behind: !state.covers(&database, newest),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, IndexState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self) -> bool {
        let this = self.clone();
        let run = move || {
            let outcome = this.catch_up();
            let mut state = this.lock();
            state.is_running = false;
            state.error = outcome.err().map(|error| error.to_string());
            this.shared.changed.notify_all();
        };
        std::thread::Builder::new().name("sessions".to_owned()).spawn(run).is_ok()
    }

    /// Indexes what the database has and the index lacks, step by step.
    fn catch_up(&self) -> Result<(), SessionError> {
        let Some(kept) = self.open_store()? else { return Ok(()) };
        let id = kept.setting("id")?.unwrap_or_default();
        let is_loaded = {
            let state = self.lock();
            state.is_loaded && state.database == id
        };
        if !is_loaded {
            let (index, read) = self.saved(&id).unwrap_or_default();
            self.publish(&id, &index, read);
        }
        let (mut index, mut read) = {
            let state = self.lock();
            ((*state.index).clone(), state.read)
        };
        let mut unsaved = 0;
        loop {
            let (removed, removal) = kept.removed_after(read.removal)?;
            unsaved += removed.len();
            index.remove_all(removed);
            let mut exchanges = Vec::new();
            let row = kept.exchanges_above(read.row, STEP, &mut |kept| exchanges.push(kept))?;
            let is_last = row == read.row;
            let mut sessions: Vec<KeptSession> = Vec::new();
            for one in &exchanges {
                if sessions.last().is_none_or(|last| last.row != one.session) {
                    sessions.extend(kept.session(one.session)?);
                }
            }
            let indexed: Vec<IndexedExchange<'_>> = exchanges
                .iter()
                .filter_map(|one| {
                    let session = sessions.iter().find(|session| session.row == one.session)?;
                    let topic =
                        SessionTopic { title: &session.title, first_question: &session.opening };
                    Some(IndexedExchange {
                        row: one.row,
                        session: one.session,
                        topic,
                        exchange: &one.exchange,
                    })
                })
                .collect();
            // Rows above the highest that can be indexed are left out; four billion divided by eight are enough.
            let _ = index.insert_all(&indexed);
            unsaved += indexed.len();
            read = ReadPosition { row, removal };
            self.publish(&id, &index, read);
            if is_last {
                break;
            }
        }
        if unsaved >= UNSAVED_MAX || !is_loaded && unsaved > 0 {
            // An index that cannot be saved is made again the next time.
            let _ = self.save(&id, &index, read);
        }
        Ok(())
    }

    /// Shows the index to searches, together with the database that it is made of: one must not pass for another's.
    fn publish(&self, database: &str, index: &ExchangeIndex, read: ReadPosition) {
        let mut state = self.lock();
        database.clone_into(&mut state.database);
        (state.index, state.read, state.is_loaded) = (Arc::new(index.clone()), read, true);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Reads the saved index, if it belongs to this database and is whole.
    fn saved(&self, id: &str) -> Option<(ExchangeIndex, ReadPosition)> {
        let mut input = BufReader::new(File::open(self.cache.join(FILE_NAME)).ok()?);
        let (mut row, mut removal) = ([0; 4], [0; 8]);
        input.read_exact(&mut row).ok()?;
        input.read_exact(&mut removal).ok()?;
        let read =
            ReadPosition { row: u32::from_le_bytes(row), removal: i64::from_le_bytes(removal) };
        let index = ExchangeIndex::read_from(&key_of(id, read), &mut input).ok()?;
        Some((index, read))
    }

    /// Writes the index beside the old one, and then in its place.
    fn save(&self, id: &str, index: &ExchangeIndex, read: ReadPosition) -> Option<()> {
        own_folder(&self.cache).ok()?;
        let (path, new) = (self.cache.join(FILE_NAME), self.cache.join(format!("{FILE_NAME}.new")));
        let mut out = BufWriter::new(make_own_file(&new).ok()?);
        out.write_all(&read.row.to_le_bytes()).ok()?;
        out.write_all(&read.removal.to_le_bytes()).ok()?;
        index.write_to(&key_of(id, read), &mut out).ok()?;
        out.flush().ok()?;
        drop(out);
        std::fs::rename(&new, &path).ok()
    }
}

/// The key of a saved index: the database, and how far it was read.
fn key_of(id: &str, read: ReadPosition) -> String {
    format!("{id} {} {}", read.row, read.removal)
}

fn newest(kept: &SessionStore) -> Result<ReadPosition, SessionError> {
    let (row, removal) = kept.newest_rows()?;
    Ok(ReadPosition { row, removal })
}
