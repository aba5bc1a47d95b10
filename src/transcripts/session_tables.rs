//! A database that holds many sessions, of which few have changed since it was last read: plans which to read, reads each
//! in a transaction of its own, and remembers a mark for each. Most tools' tables are a [`SessionTable`]: queries, and a
//! function that reports what they find. Not here: how a database is opened (`database`), what a tool's rows mean (`readers`).

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Row, types};
use serde_json::{Value, json};
use thiserror::Error;

use super::database::{ForeignDatabase, database_error, open};
use super::source::{ReadError, Resume, TranscriptFile};
use super::table_rows::{DatabaseRow, RowQuery, has_table};
use super::transcript::{
    RecordStatus, SessionExtent, SessionFact, TranscriptMoment, TranscriptSink,
};

/// Most sessions that are remembered of one file. Those beyond, the oldest, are read again each time.
const MARKS_MAX: usize = 20_000;

/// Most facts that wait for the first moment of a session.
const FACTS_MAX: usize = 32;

/// The tables of one tool.
pub trait SessionTables {
    /// Lists all sessions of the database, the newest first, without their content.
    ///
    /// # Errors
    /// [`TableError`]
    fn plan(&self, database: &ForeignDatabase) -> Result<Vec<PlannedSession>, TableError>;

    /// Reads one session and reports it whole.
    ///
    /// # Errors
    /// [`TableError`]
    fn read_session(
        &self,
        database: &ForeignDatabase,
        id: &str,
        sink: &mut dyn TranscriptSink,
    ) -> Result<(), TableError>;
}

/// The tables of a tool that keeps a row for each session.
pub struct SessionTable {
    /// What it calls its sessions, for errors: `Zed's threads`.
    pub sessions: &'static str,
    /// Lists them, the newest first: the id, and whatever is different when a session has changed.
    pub plan: &'static str,
    /// The row of one, by its id.
    pub session: RowQuery<'static>,
    /// Its messages in their order, by its id, unless its own row holds them.
    pub messages: Option<RowQuery<'static>>,
    /// Reports one.
    pub report: ReportSession,
}

/// Reports a session with its messages.
pub type ReportSession =
    fn(&mut FoundSession<'_>, &mut dyn TranscriptSink) -> Result<(), TableError>;

/// A session that is to be reported.
pub struct FoundSession<'a> {
    /// The tool's own id.
    pub id: &'a str,
    /// Its database.
    pub path: &'a Path,
    /// Its row.
    pub row: DatabaseRow,
    /// The rows of its messages.
    pub messages: &'a mut (dyn Iterator<Item = rusqlite::Result<DatabaseRow>> + 'a),
}

impl SessionTables for SessionTable {
    fn plan(&self, database: &ForeignDatabase) -> Result<Vec<PlannedSession>, TableError> {
        if !has_table(database, self.session.table)? {
            return Err(TableError::Form(format!("a database without {}", self.sessions)));
        }
        let mut query = database.prepare(self.plan)?;
        let planned = query.query_map([], planned_session)?;
        Ok(planned.collect::<rusqlite::Result<_>>()?)
    }

    fn read_session(
        &self,
        database: &ForeignDatabase,
        id: &str,
        sink: &mut dyn TranscriptSink,
    ) -> Result<(), TableError> {
        let Some(row) = self.session.first(database, [id])? else { return Ok(()) };
        let path = database.path();
        let Some(messages) = &self.messages else {
            let messages = &mut std::iter::empty();
            return (self.report)(&mut FoundSession { id, path, row, messages }, sink);
        };
        let mut messages = messages.prepare(database)?;
        let messages = &mut messages.rows([id])?;
        (self.report)(&mut FoundSession { id, path, row, messages }, sink)
    }
}

/// The first column of a plan is the id; the mark is made of the others.
fn planned_session(row: &Row<'_>) -> rusqlite::Result<PlannedSession> {
    let others = (1..row.as_ref().column_count()).map(|place| row.get::<_, types::Value>(place));
    let others = others.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(PlannedSession { id: row.get(0)?, mark: format!("{others:?}") })
}

/// A session that a database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSession {
    /// The tool's own id.
    pub id: String,
    /// What is different when the session has changed: counts, times, lengths.
    pub mark: String,
}

/// Why tables cannot be read.
#[derive(Debug, Error)]
pub enum TableError {
    /// The database says no.
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    /// The tables are not those of the tool, or of a version that is not known.
    #[error("{0}")]
    Form(String),
}

/// Reads the sessions of a database that are new or changed. One that cannot be read is counted as broken, and read again
/// the next time. A session without any message is not reported: it must not replace what an earlier import kept.
///
/// # Errors
/// [`ReadError`] if the database cannot be opened, its tables are not known, or none of its sessions can be read.
pub fn read_changed(
    file: &TranscriptFile,
    resume: Option<&Resume>,
    tables: &dyn SessionTables,
    sink: &mut dyn TranscriptSink,
) -> Result<Resume, ReadError> {
    let path = &file.path;
    let fault = |error| match error {
        TableError::Sql(error) => database_error(path)(error),
        TableError::Form(what) => ReadError::form(path, what),
    };
    let database = open(path)?;
    let planned = {
        let _snapshot = database.unchecked_transaction().map_err(database_error(path))?;
        tables.plan(&database).map_err(fault)?
    };
    let old = resume.and_then(|resume| resume.state.get("marks")).and_then(Value::as_object);
    let mut tally = ReadingTally::default();
    let mut marks = BTreeMap::new();
    for session in planned {
        let mark = fingerprint(&session.mark);
        let is_known =
            old.and_then(|old| old.get(&session.id)).and_then(Value::as_str) == Some(&mark);
        if !is_known {
            // One transaction for each session: a long one would keep the tool from checkpointing its log.
            let _snapshot = database.unchecked_transaction().map_err(database_error(path))?;
            let mut reported = FirstMomentSink::new(sink);
            if let Err(error) = tables.read_session(&database, &session.id, &mut reported) {
                if !reported.is_waiting {
                    reported.cut_off();
                }
                tally.broken += 1;
                tally.fault.get_or_insert(error);
                sink.count(RecordStatus::Broken);
                continue;
            }
            let is_empty = reported.is_waiting;
            tally.empty += u64::from(is_empty);
            tally.told += u64::from(!is_empty);
        }
        if marks.len() < MARKS_MAX {
            marks.insert(session.id, mark);
        }
    }
    database.finish()?;
    tally.close(marks.is_empty(), sink).map_err(fault)?;
    Ok(Resume { offset: 0, state: json!({ "marks": marks }) })
}

/// How reading went.
#[derive(Default)]
struct ReadingTally {
    told: u64,
    empty: u64,
    broken: u64,
    fault: Option<TableError>,
}

impl ReadingTally {
    /// Sessions without any message are nothing unusual, unless there are no others: then the messages stand where we do
    /// not look.
    fn close(self, is_none_read: bool, sink: &mut dyn TranscriptSink) -> Result<(), TableError> {
        for _ in 0..self.empty {
            match self.told {
                0 => sink.count(RecordStatus::Unknown("session without messages")),
                _ => sink.count(RecordStatus::Left),
            }
        }
        match self.fault {
            Some(fault) if is_none_read && self.broken > 0 => Err(fault),
            _ => Ok(()),
        }
    }
}

/// Passes a session on when something happens in it: an empty one must not replace what an earlier import kept.
pub(crate) struct FirstMomentSink<'a> {
    sink: &'a mut dyn TranscriptSink,
    is_waiting: bool,
    session: Option<(String, SessionExtent)>,
    facts: Vec<SessionFact>,
}

impl<'a> FirstMomentSink<'a> {
    pub(crate) fn new(sink: &'a mut dyn TranscriptSink) -> Self {
        Self { sink, is_waiting: true, session: None, facts: Vec::new() }
    }
}

impl TranscriptSink for FirstMomentSink<'_> {
    fn session(&mut self, native_id: &str, extent: SessionExtent) {
        if self.is_waiting {
            self.session = Some((native_id.to_owned(), extent));
        } else {
            self.sink.session(native_id, extent);
        }
    }

    fn fact(&mut self, fact: SessionFact) {
        if !self.is_waiting {
            self.sink.fact(fact);
        } else if self.facts.len() < FACTS_MAX {
            self.facts.push(fact);
        }
    }

    fn moment(&mut self, moment: TranscriptMoment) {
        if std::mem::take(&mut self.is_waiting) {
            if let Some((native_id, extent)) = self.session.take() {
                self.sink.session(&native_id, extent);
            }
            std::mem::take(&mut self.facts).into_iter().for_each(|fact| self.sink.fact(fact));
        }
        self.sink.moment(moment);
    }

    fn offset(&mut self, offset: u64) {
        self.sink.offset(offset);
    }

    fn count(&mut self, record: RecordStatus<'_>) {
        self.sink.count(record);
    }

    fn cut_off(&mut self) {
        self.sink.cut_off();
    }
}

/// Shortens a mark to 16 characters (FNV-1a): thousands of them are kept. Two states of one session that share one are as
/// unlikely as a broken disk.
#[must_use]
pub fn fingerprint(mark: &str) -> String {
    let hash = mark.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::exchange::{ExchangeBuilder, SessionRead};
    use crate::transcript::{Census, MomentKind};

    /// One table: `t(session, text)`.
    struct Plain;

    impl SessionTables for Plain {
        fn plan(&self, database: &ForeignDatabase) -> Result<Vec<PlannedSession>, TableError> {
            let mut query = database.prepare("SELECT session, count(*) FROM t GROUP BY session")?;
            let planned = query.query_map([], |row| {
                Ok(PlannedSession { id: row.get(0)?, mark: row.get::<_, i64>(1)?.to_string() })
            })?;
            Ok(planned.collect::<rusqlite::Result<_>>()?)
        }

        fn read_session(
            &self,
            database: &ForeignDatabase,
            id: &str,
            sink: &mut dyn TranscriptSink,
        ) -> Result<(), TableError> {
            sink.session(id, SessionExtent::Whole);
            sink.fact(SessionFact::Directory("/w".to_owned()));
            let mut query = database.prepare("SELECT text FROM t WHERE session = ?1")?;
            for text in query.query_map([id], |row| row.get::<_, Option<String>>(0))? {
                let Some(text) = text? else { continue };
                let what = MomentKind::Asked(text);
                sink.moment(TranscriptMoment { message_id: None, at_ms: None, kind: what });
            }
            Ok(())
        }
    }

    fn read(
        path: &Path,
        resume: Option<&Resume>,
    ) -> (Vec<SessionRead>, Census, Result<Resume, ReadError>) {
        let file = TranscriptFile { path: path.to_owned(), root: path.to_owned() };
        let mut sessions = Vec::new();
        let mut deliver = |session| sessions.push(session);
        let mut builder = ExchangeBuilder::new(0, &mut deliver);
        let end = read_changed(&file, resume, &Plain, &mut builder);
        let census = builder.finish();
        (sessions, census, end)
    }

    #[test]
    fn only_changed_sessions_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "CREATE TABLE t(session, text);
                 INSERT INTO t VALUES ('a', 'one'), ('b', 'two'), ('empty', NULL)",
            )
            .unwrap();
        let (sessions, census, end) = read(&path, None);
        assert_eq!(sessions.len(), 2, "the empty one is not told");
        assert_eq!(sessions[0].facts.directory.as_deref(), Some("/w"));
        assert_eq!((census.left, census.unknown.len()), (1, 0));
        let resume = end.unwrap();
        let (sessions, _, end) = read(&path, Some(&resume));
        assert_eq!((sessions.len(), end.unwrap()), (0, resume.clone()));
        writer.execute_batch("INSERT INTO t VALUES ('b', 'three')").unwrap();
        writer.execute_batch("DELETE FROM t WHERE session = 'a'").unwrap();
        let (sessions, _, end) = read(&path, Some(&resume));
        let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
        assert_eq!((session.native_id.as_str(), session.extent), ("b", SessionExtent::Whole));
        assert!(!end.unwrap().state.to_string().contains("\"a\""));
    }

    #[test]
    fn nothing_but_empty_sessions_is_no_empty_history() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t(session, text)").unwrap();
        let (sessions, census, end) = read(&path, None);
        assert!(sessions.is_empty() && end.is_ok() && census == Census::default(), "no data");
        writer.execute_batch("INSERT INTO t VALUES ('a', NULL), ('b', NULL)").unwrap();
        let (_, census, end) = read(&path, None);
        assert_eq!(census.unknown.get("session without messages"), Some(&2));
        assert!(end.is_ok());
        writer.execute_batch("ALTER TABLE t RENAME TO u").unwrap();
        let error = read(&path, None).2.unwrap_err().to_string();
        assert!(error.contains("of a form that is not known"), "{error}");
    }

    #[test]
    fn one_broken_session_does_not_hide_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "CREATE TABLE t(session, text); INSERT INTO t VALUES ('a', x'ff00'), ('b', 'two')",
            )
            .unwrap();
        let (sessions, census, end) = read(&path, None);
        assert_eq!((sessions.len(), census.broken), (1, 1));
        assert!(!end.unwrap().state.to_string().contains("\"a\""), "it is read again");
        writer.execute_batch("DELETE FROM t WHERE session = 'b'").unwrap();
        assert!(read(&path, None).2.is_err());
    }

    // S-SESS-5
    #[test]
    fn a_session_that_breaks_off_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "CREATE TABLE t(session, text);
                 INSERT INTO t VALUES ('a', 'one'), ('a', x'ff00'), ('a', 'three'), ('b', 'two')",
            )
            .unwrap();
        let (sessions, census, _) = read(&path, None);
        let told = |session: &SessionRead| (session.native_id.clone(), session.is_cut_off);
        let told: Vec<_> = sessions.iter().map(told).collect();
        assert_eq!(told, [("a".to_owned(), true), ("b".to_owned(), false)]);
        assert_eq!(census.broken, 1);
    }
}
