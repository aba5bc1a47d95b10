//! Reads the kept sessions and exchanges. Not here: the database itself (`session_store`), how rows are written
//! (`session_writes`).

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, Row, params};

use super::cited_id::CitedIds;
use super::session_store::{SessionError, SessionStore};
use super::stored_exchange::unpack;
use transcripts::exchange::{Exchange, PartKind, SessionFacts};

/// A session that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSession {
    /// Its row.
    pub row: u32,
    /// The tool.
    pub tool: String,
    /// The tool's own id.
    pub native_id: String,
    /// Its repository.
    pub repo: Option<String>,
    /// What it is called, or the beginning of its first question.
    pub title: String,
    /// The beginning of its first question.
    pub opening: String,
    /// All of that question, where a reply was to be made of the session.
    pub question: String,
    /// The id by which an answer names it.
    pub cited: String,
    /// When its first and its last exchange were, in milliseconds since 1970.
    pub span_ms: Option<(i64, i64)>,
    /// How many exchanges it has.
    pub exchanges: u32,
    /// What else is known about it.
    pub facts: SessionFacts,
    /// Whether its transcript no longer exists.
    pub is_source_gone: bool,
}

/// An exchange that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptExchange {
    /// Its row; rows only grow.
    pub row: u32,
    /// The row of its session.
    pub session: u32,
    /// What happened.
    pub exchange: Exchange,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Only of this tool.
    pub tool: Option<String>,
    /// Only of this repository.
    pub repo: Option<String>,
    /// Only with an exchange at or after this time, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Whether sessions that programs started are listed too.
    pub is_with_programs: bool,
}

/// Sessions that are read at once for a page, of which some may not be shown.
const READ_AT_ONCE: usize = 100;

const SESSION_COLUMNS: &str = "s.id, s.tool, s.native_id, s.repo, s.title, s.first_ms, s.last_ms, s.exchanges, s.facts, s.opening,
    NOT EXISTS (SELECT 1 FROM exchange e JOIN file f ON f.id = e.file WHERE e.session = s.id AND NOT f.is_gone)";

/// Exchanges among which the first question is looked for: only what a tool does by itself stands before it.
const QUESTION_EXCHANGES_MAX: u32 = 4;

impl SessionStore {
    /// Lists sessions, the latest first.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn sessions(
        &self,
        filter: &SessionFilter,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<KeptSession>, SessionError> {
        let query = format!(
            "SELECT {SESSION_COLUMNS} FROM session s WHERE s.exchanges > 0 AND (?1 IS NULL OR s.tool = ?1)
             AND (?2 IS NULL OR s.repo = ?2) AND (?3 IS NULL OR s.last_ms >= ?3) AND (?4 OR NOT s.is_by_program)
             ORDER BY s.last_ms DESC NULLS LAST, s.id DESC LIMIT ?5 OFFSET ?6"
        );
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let values = params![
            filter.tool,
            filter.repo,
            filter.since_ms,
            filter.is_with_programs,
            count(limit),
            count(skip)
        ];
        let mut found = self.rows(&query, values, session_of)?;
        self.cite(&mut found)?;
        Ok(found)
    }

    /// Lists a page of those sessions that `may_show` lets through, and tells whether others come after it.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn page_of_sessions(
        &self,
        filter: &SessionFilter,
        may_show: impl Fn(&KeptSession) -> bool,
        (skip, limit): (usize, usize),
    ) -> Result<(Vec<KeptSession>, bool), SessionError> {
        let wanted = skip.saturating_add(limit).saturating_add(1);
        let (mut sessions, mut read) = (Vec::new(), 0);
        while sessions.len() < wanted {
            let some = self.sessions(filter, read, READ_AT_ONCE)?;
            read += some.len();
            let is_last = some.len() < READ_AT_ONCE;
            sessions.extend(some.into_iter().filter(&may_show));
            if is_last {
                break;
            }
        }
        let is_more = sessions.len() >= wanted;
        let page = sessions.into_iter().skip(skip).take(limit).collect();
        Ok((self.for_reply(page)?, is_more))
    }

    /// Completes sessions with what a reply needs of them.
    fn for_reply(&self, mut sessions: Vec<KeptSession>) -> Result<Vec<KeptSession>, SessionError> {
        self.cite(&mut sessions)?;
        for session in &mut sessions {
            session.question = self.first_question(session.row)?;
        }
        Ok(sessions)
    }

    /// Gives sessions the ids by which an answer names them.
    fn cite(&self, sessions: &mut [KeptSession]) -> Result<(), SessionError> {
        let ids = if sessions.is_empty() { CitedIds::default() } else { self.cited_ids()? };
        for session in sessions {
            session.cited = ids.short_id(&session.tool, &session.native_id);
        }
        Ok(())
    }

    /// Returns the id by which an answer names the session with this id.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn cited_id(&self, native_id: &str) -> Result<String, SessionError> {
        let ids = self.cited_ids()?;
        let tool = ids.0.iter().find(|(_, id)| id == native_id).map_or("", |(tool, _)| tool);
        Ok(ids.short_id(tool, native_id))
    }

    fn cited_ids(&self) -> Result<CitedIds, SessionError> {
        let query = "SELECT tool, native_id FROM session";
        Ok(CitedIds(self.rows(query, params![], |row| Ok((row.get(0)?, row.get(1)?)))?))
    }

    /// Returns the first question of a session, whole; an empty text if it has none.
    fn first_question(&self, session: u32) -> Result<String, SessionError> {
        let query = "SELECT id, session, body FROM exchange WHERE id IN (SELECT id FROM exchange WHERE session = ?1
            ORDER BY min(first_ms) OVER (PARTITION BY file) NULLS LAST, file, ordinal LIMIT ?2) ORDER BY ordinal";
        let asked = |exchange: &KeptExchange| {
            exchange.exchange.parts.iter().find_map(|part| match &part.what {
                PartKind::Asked(text) => Some(text.clone()),
                _ => None,
            })
        };
        let first = self.rows(query, params![session, QUESTION_EXCHANGES_MAX], exchange_of)?;
        Ok(first.iter().flatten().find_map(asked).unwrap_or_default())
    }

    /// Returns the sessions whose id begins or ends like this, at most `limit`.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn sessions_named(&self, id: &str, limit: usize) -> Result<Vec<KeptSession>, SessionError> {
        let query = format!(
            "SELECT {SESSION_COLUMNS} FROM session s WHERE (substr(s.native_id, 1, length(?1)) = ?1 OR substr(s.native_id, -length(?1)) = ?1)
             AND length(?1) > 0
             ORDER BY s.native_id = ?1 DESC, s.exchanges DESC LIMIT ?2"
        );
        let found =
            self.rows(&query, params![id, i64::try_from(limit).unwrap_or(i64::MAX)], session_of)?;
        // A whole id is unique in its tool, even if others begin or end like it.
        let whole: Vec<_> =
            found.iter().filter(|session| session.native_id == id).cloned().collect();
        self.for_reply(if whole.is_empty() { found } else { whole })
    }

    /// Returns a session by its row, as a reply needs it.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn session_for_reply(&self, row: u32) -> Result<Option<KeptSession>, SessionError> {
        Ok(self.for_reply(self.session(row)?.into_iter().collect())?.pop())
    }

    /// Returns a session by its row.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn session(&self, row: u32) -> Result<Option<KeptSession>, SessionError> {
        let query = format!("SELECT {SESSION_COLUMNS} FROM session s WHERE s.id = ?1");
        Ok(self.rows(&query, params![row], session_of)?.pop())
    }

    /// Returns the exchanges of a session in order. Damaged rows are left out.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn exchanges_of(&self, session: u32) -> Result<Vec<KeptExchange>, SessionError> {
        let query = "SELECT id, session, body FROM exchange WHERE session = ?1
            ORDER BY min(first_ms) OVER (PARTITION BY file) NULLS LAST, file, ordinal";
        Ok(self.rows(query, params![session], exchange_of)?.into_iter().flatten().collect())
    }

    /// Returns an exchange by its row.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn exchange(&self, row: u32) -> Result<Option<KeptExchange>, SessionError> {
        let query = "SELECT id, session, body FROM exchange WHERE id = ?1";
        Ok(self.rows(query, params![row], exchange_of)?.pop().flatten())
    }

    /// Calls `each` for the exchanges whose rows are above `row`, in order, at most `limit` of them. Returns the last row.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn exchanges_above(
        &self,
        row: u32,
        limit: usize,
        each: &mut dyn FnMut(KeptExchange),
    ) -> Result<u32, SessionError> {
        let query = "SELECT id, session, body FROM exchange WHERE id > ?1 ORDER BY id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(query).map_err(self.error())?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![row, limit]).map_err(self.error())?;
        let mut last = row;
        while let Some(row) = rows.next().map_err(self.error())? {
            last = row.get(0).map_err(self.error())?;
            if let Some(kept) = exchange_of(row).map_err(self.error())? {
                each(kept);
            }
        }
        Ok(last)
    }

    /// Returns what filters need to know of every session, by row.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn session_rows(&self) -> Result<HashMap<u32, SessionRow>, SessionError> {
        let row = |row: &Row<'_>| {
            let session = SessionRow {
                tool: row.get(1)?,
                native_id: row.get(2)?,
                repo: row.get(3)?,
                directory: row.get(4)?,
            };
            Ok((row.get(0)?, session))
        };
        let query =
            "SELECT id, tool, native_id, repo, json_extract(facts, '$.directory') FROM session
            WHERE exchanges > 0";
        Ok(self.rows(query, params![], row)?.into_iter().collect())
    }

    /// Returns the last row of exchanges and the number of the last removal that were ever written.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn newest_rows(&self) -> Result<(u32, i64), SessionError> {
        let query = "SELECT coalesce((SELECT max(id) FROM exchange), 0), coalesce((SELECT max(seq) FROM removal), 0)";
        self.connection
            .query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(self.error())
    }

    /// Returns the rows of exchanges that were removed after the removal `seq`, and the number of the last removal.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn removed_after(&self, seq: i64) -> Result<(Vec<u32>, i64), SessionError> {
        let query = "SELECT seq, exchange FROM removal WHERE seq > ?1 ORDER BY seq";
        let found = self
            .rows(query, params![seq], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?)))?;
        let last = found.last().map_or(seq, |(seq, _)| *seq);
        Ok((found.into_iter().map(|(_, exchange)| exchange).collect(), last))
    }

    /// Returns how many sessions with exchanges and how many exchanges there are, by tool, and the time of the oldest and
    /// the newest.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn extents(&self) -> Result<BTreeMap<String, ToolExtent>, SessionError> {
        let query = "SELECT tool, count(*), sum(exchanges), min(first_ms), max(last_ms) FROM session WHERE exchanges > 0
            GROUP BY tool";
        let extent = |row: &Row<'_>| {
            let span_ms = row.get::<_, Option<i64>>(3)?.zip(row.get::<_, Option<i64>>(4)?);
            Ok((row.get(0)?, ToolExtent { sessions: row.get(1)?, exchanges: row.get(2)?, span_ms }))
        };
        Ok(self.rows(query, params![], extent)?.into_iter().collect())
    }

    pub(super) fn rows<T>(
        &self,
        query: &str,
        values: impl rusqlite::Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, SessionError> {
        let read = |connection: &Connection| -> rusqlite::Result<Vec<T>> {
            connection.prepare_cached(query)?.query_map(values, row)?.collect()
        };
        read(&self.connection).map_err(self.error())
    }
}

/// What filters need to know of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The tool.
    pub tool: String,
    /// The tool's own id.
    pub native_id: String,
    /// Its repository.
    pub repo: Option<String>,
    /// The directory in which it began.
    pub directory: Option<String>,
}

/// What is kept of the sessions of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolExtent {
    /// Sessions with at least one exchange.
    pub sessions: u64,
    /// Their exchanges.
    pub exchanges: u64,
    /// The time of the first and of the last, in milliseconds since 1970.
    pub span_ms: Option<(i64, i64)>,
}

fn session_of(row: &Row<'_>) -> rusqlite::Result<KeptSession> {
    Ok(KeptSession {
        row: row.get(0)?,
        tool: row.get(1)?,
        native_id: row.get(2)?,
        repo: row.get(3)?,
        title: row.get(4)?,
        span_ms: row.get::<_, Option<i64>>(5)?.zip(row.get::<_, Option<i64>>(6)?),
        exchanges: row.get(7)?,
        facts: serde_json::from_str(&row.get::<_, String>(8)?).unwrap_or_default(),
        opening: row.get(9)?,
        question: String::new(),
        cited: row.get(2)?,
        is_source_gone: row.get(10)?,
    })
}

fn exchange_of(row: &Row<'_>) -> rusqlite::Result<Option<KeptExchange>> {
    let body = row.get_ref(2)?.as_blob()?;
    let (id, session) = (row.get(0)?, row.get(1)?);
    Ok(unpack(body).map(|exchange| KeptExchange { row: id, session, exchange }))
}
