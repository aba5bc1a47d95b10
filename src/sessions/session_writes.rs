//! Writes what an import found, and forgets what a person wants forgotten. Each function is one step of a transaction. Not
//! here: the tables (`session_store`), reading them (`session_rows`).

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde_json::{Value, json};

use super::earlier_copy::{CopyComparison, earlier_copies};
use super::file_rows::{ExcludedSessions, KnownFile};
use super::file_state::TranscriptState;
use super::row_text::{CleanFacts, stamped, stored_path};
use super::session_store::{SessionError, SessionStore};
use super::stored_exchange::PackedExchange;
use guard::secrets::RedactedText;
use transcripts::transcript::{Census, SessionExtent};

/// A session of a file, ready to be written.
#[derive(Debug)]
pub(super) struct PackedSession {
    pub(super) native_id: RedactedText,
    pub(super) extent: SessionExtent,
    pub(super) facts: CleanFacts,
    pub(super) repo: Option<RedactedText>,
    pub(super) exchanges: Vec<PackedExchange>,
    /// The beginning of its first question.
    pub(super) opening: RedactedText,
    /// Whether reading ended early, so that what is missing may still be there.
    pub(super) is_cut_off: bool,
}

/// Whether the transcript of a file exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoneMark {
    /// No longer.
    Gone,
    /// Again.
    Back,
}

/// What became of the exchanges of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenSession {
    /// Exchanges that are new or changed.
    pub new: u64,
    /// Exchanges that are there already, as part of another session.
    pub copied: u64,
    /// Whether the person forgot this session.
    pub is_forgotten: bool,
    /// The row of the session, if it is kept.
    pub row: Option<u32>,
}

/// What a person wants forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetTarget {
    /// One session, by its row.
    Session(u32),
    /// All sessions that began in this directory or below it, and later ones too.
    Path(String),
    /// All sessions that ended before this time, in milliseconds since 1970.
    Before(i64),
}

impl SessionStore {
    /// Removes sessions, and keeps a tombstone so that no import brings them back. Their transcripts stay where they are.
    /// Returns how many sessions were removed.
    ///
    /// # Errors
    /// [`SessionError::Database`]; then nothing is forgotten.
    pub fn forget(&mut self, target: &ForgetTarget, now_ms: i64) -> Result<usize, SessionError> {
        let error = self.error();
        let forget = |write: &Transaction<'_>| {
            let rows = rows_to_forget(write, target)?;
            for row in &rows {
                let query = "SELECT tool || '/' || native_id FROM session WHERE id = ?1";
                let id: String = write.query_row(query, [row], |row| row.get(0))?;
                bury(write, "session", &id, now_ms)?;
                write.execute(
                    "INSERT INTO removal(exchange) SELECT id FROM exchange WHERE session = ?1",
                    [row],
                )?;
                write.execute("DELETE FROM exchange WHERE session = ?1", [row])?;
                write.execute("DELETE FROM mended WHERE session = ?1", [row])?;
                write.execute("DELETE FROM session WHERE id = ?1", [row])?;
            }
            match target {
                ForgetTarget::Session(_) => {}
                ForgetTarget::Path(path) => {
                    bury(write, "path", &stored_prefix(path), now_ms)?;
                }
                ForgetTarget::Before(time) => bury(write, "before", &time.to_string(), now_ms)?,
            }
            Ok(rows.len())
        };
        let write = self.connection.transaction().map_err(&error)?;
        let forgotten = forget(&write).map_err(&error)?;
        write.commit().map_err(&error)?;
        self.drop_free_pages()?;
        Ok(forgotten)
    }
}

fn rows_to_forget(write: &Transaction<'_>, target: &ForgetTarget) -> rusqlite::Result<Vec<u32>> {
    let row = |row: &Row<'_>| row.get(0);
    match target {
        ForgetTarget::Session(row) => Ok(vec![*row]),
        ForgetTarget::Path(path) => {
            let query = "SELECT id FROM session WHERE
                substr(json_extract(facts, '$.directory') || '/', 1, length(?1) + 1) = ?1 || '/'";
            write.prepare(query)?.query_map([stored_prefix(path)], row)?.collect()
        }
        ForgetTarget::Before(time) => write
            .prepare("SELECT id FROM session WHERE last_ms < ?1")?
            .query_map([time], row)?
            .collect(),
    }
}

/// Returns a path as rows hold it, to compare theirs with.
fn stored_prefix(path: &str) -> String {
    stored_path(path.trim_end_matches(['/', '\\'])).into_string()
}

fn bury(write: &Transaction<'_>, kind: &str, value: &str, now_ms: i64) -> rusqlite::Result<()> {
    let query = "INSERT OR IGNORE INTO tombstone VALUES (?1, ?2, ?3)";
    write.execute(query, params![kind, value, now_ms])?;
    Ok(())
}

/// The number of a file, new or known; its state is written with [`keep_file`] after its sessions.
pub(super) fn file_row(
    write: &Transaction<'_>,
    key: &str,
    tool: &str,
    holds_only_prompts: bool,
) -> rusqlite::Result<i64> {
    let query = "INSERT INTO file(path, tool, holds_only_prompts, parser_version, size, mtime_ns, inode, head, tail, end,
        resume, ordinal, census) VALUES (?1, ?2, ?3, 0, 0, 0, 0, 0, 0, 0, '{}', 0, '{}')
        ON CONFLICT(path) DO UPDATE SET tool = excluded.tool RETURNING id";
    write.prepare_cached(query)?.query_row(params![key, tool, holds_only_prompts], |row| row.get(0))
}

/// Writes how far a file was read.
pub(super) fn keep_file(
    write: &Transaction<'_>,
    file: &KnownFile,
    census: &Census,
    error: Option<&str>,
) -> rusqlite::Result<()> {
    let TranscriptState { stat, head, tail, end } = file.state;
    let json = |value: serde_json::Result<Value>| stamped(value.unwrap_or_else(|_| json!({})));
    let query = "UPDATE file SET parser_version = ?2, size = ?3, mtime_ns = ?4, inode = ?5, head = ?6, tail = ?7, end = ?8,
        resume = ?9, ordinal = ?10, census = ?11, error = ?12, is_gone = 0 WHERE id = ?1";
    write.prepare_cached(query)?.execute(params![
        file.row,
        file.parser_version,
        stat.size.cast_signed(),
        stat.mtime_ns,
        stat.inode.cast_signed(),
        head,
        tail,
        end.cast_signed(),
        json(serde_json::to_value(&file.resume)).to_string(),
        file.ordinal,
        json(serde_json::to_value(census)).to_string(),
        error.map(|error| RedactedText::redact(error).into_string()),
    ])?;
    match file.left_out {
        Some(ExcludedSessions { sessions, choice }) => {
            let query = "INSERT OR REPLACE INTO left_out VALUES (?1, ?2, ?3)";
            write.prepare_cached(query)?.execute(params![
                file.row,
                sessions.cast_signed(),
                choice
            ])?
        }
        None => {
            write.prepare_cached("DELETE FROM left_out WHERE file = ?1")?.execute([file.row])?
        }
    };
    Ok(())
}

/// Marks files whose transcripts no longer exist, and those whose transcripts are back. What was kept of them stays.
pub(super) fn mark_gone(
    write: &Transaction<'_>,
    files: &[i64],
    is_gone: GoneMark,
) -> rusqlite::Result<()> {
    let mut statement = write.prepare_cached("UPDATE file SET is_gone = ?2 WHERE id = ?1")?;
    let mark = is_gone == GoneMark::Gone;
    files.iter().try_for_each(|file| statement.execute(params![file, mark]).map(drop))
}

/// Writes a session of a file. `from` is the ordinal at which reading went on; later exchanges of the session that this
/// file had and no longer has are removed.
pub(super) fn keep_session(
    write: &Transaction<'_>,
    file: i64,
    tool: &str,
    from: u32,
    session: PackedSession,
) -> rusqlite::Result<WrittenSession> {
    if is_forgotten(write, tool, &session)? {
        return Ok(WrittenSession { is_forgotten: true, ..<_>::default() });
    }
    let mut written = WrittenSession::default();
    let from = if session.extent == SessionExtent::Whole { 0 } else { from };
    let Some((row, facts)) = session_row(write, tool, &session)? else { return Ok(written) };
    if !make_way(write, row, file)? {
        return Ok(written);
    }
    written.row = Some(row);
    let mut known = known_exchanges(write, row, file, from)?;
    let elsewhere = earlier_copies(write, row, file)?;
    let mut copy_of = None;
    for exchange in session.exchanges {
        let before = known.remove(&exchange.ordinal);
        if before.is_some_and(|(_, digest)| digest == exchange.digest) {
            continue;
        }
        if let Some((id, _)) = before {
            remove_exchange(write, id)?;
        }
        if let Some(other) = elsewhere.get(&exchange.ordinal) {
            match other.compare(&exchange) {
                CopyComparison::Same => {
                    written.copied += u64::from(!other.is_gone);
                    other.move_to(write, file)?;
                    continue;
                }
                CopyComparison::Shorter => remove_exchange(write, other.row)?,
                CopyComparison::Different => {}
            }
        }
        match owner_of(write, row, &exchange)? {
            Some(owner) => {
                copy_of.get_or_insert(owner);
                written.copied += 1;
            }
            None => {
                insert_exchange(write, row, file, &exchange)?;
                written.new += 1;
            }
        }
    }
    if !session.is_cut_off {
        known.into_values().try_for_each(|(id, _)| remove_exchange(write, id))?;
    }
    finish_session(write, row, &facts, session.repo, &session.opening, copy_of)?;
    Ok(written)
}

/// Removes an exchange, and tells the index so.
pub(super) fn remove_exchange(write: &Transaction<'_>, row: i64) -> rusqlite::Result<()> {
    write.prepare_cached("DELETE FROM exchange WHERE id = ?1")?.execute([row])?;
    write.prepare_cached("INSERT INTO removal(exchange) VALUES (?1)")?.execute([row])?;
    Ok(())
}

fn is_forgotten(
    write: &Transaction<'_>,
    tool: &str,
    session: &PackedSession,
) -> rusqlite::Result<bool> {
    let spans = session.exchanges.iter().filter_map(|exchange| exchange.span_ms);
    let last_ms = spans.map(|(_, last)| last).max();
    let query = "SELECT EXISTS (SELECT 1 FROM tombstone WHERE kind = 'session' AND value = ?1
        OR kind = 'before' AND CAST(value AS INTEGER) > ?2
        OR kind = 'path' AND substr(?3 || '/', 1, length(value) + 1) = value || '/')";
    let id = format!("{tool}/{}", session.native_id);
    write
        .prepare_cached(query)?
        .query_row(params![id, last_ms, session.facts.facts().directory], |row| row.get(0))
}

/// Finds or makes the row of a session. A session without exchanges gets none.
fn session_row(
    write: &Transaction<'_>,
    tool: &str,
    session: &PackedSession,
) -> rusqlite::Result<Option<(u32, CleanFacts)>> {
    let query = "SELECT id, facts FROM session WHERE tool = ?1 AND native_id = ?2";
    let row = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?));
    let known = write
        .prepare_cached(query)?
        .query_row([tool, session.native_id.as_str()], row)
        .optional()?;
    if let Some((row, facts)) = known {
        let mut facts = CleanFacts::from_row(&facts);
        facts.add(session.facts.clone());
        return Ok(Some((row, facts)));
    }
    if session.exchanges.is_empty() {
        return Ok(None);
    }
    let query = "INSERT INTO session(tool, native_id, facts, title, opening, is_by_program)
        VALUES (?1, ?2, '{}', '', '', 0) RETURNING id";
    let row = write
        .prepare_cached(query)?
        .query_row([tool, session.native_id.as_str()], |row| row.get(0))?;
    Ok(Some((row, session.facts.clone())))
}

/// Lets a transcript replace what a file of prompts alone held of its session. Returns false if `file` is such a file
/// and the session has a transcript.
fn make_way(write: &Transaction<'_>, session: u32, file: i64) -> rusqlite::Result<bool> {
    let query = "SELECT holds_only_prompts FROM file WHERE id = ?1";
    let holds_only_prompts: bool =
        write.prepare_cached(query)?.query_row([file], |row| row.get(0))?;
    let query = "SELECT e.id FROM exchange e JOIN file f ON f.id = e.file
        WHERE e.session = ?1 AND e.file <> ?2 AND f.holds_only_prompts = ?3";
    let others: rusqlite::Result<Vec<i64>> = write
        .prepare_cached(query)?
        .query_map(params![session, file, !holds_only_prompts], |row| row.get(0))?
        .collect();
    let others = others?;
    if holds_only_prompts {
        return Ok(others.is_empty());
    }
    others.into_iter().try_for_each(|id| remove_exchange(write, id))?;
    Ok(true)
}

/// The rows and digests of the exchanges of a session in a file, from an ordinal on.
fn known_exchanges(
    write: &Transaction<'_>,
    session: u32,
    file: i64,
    from: u32,
) -> rusqlite::Result<HashMap<u32, (i64, i64)>> {
    let query = "SELECT ordinal, id, digest FROM exchange WHERE session = ?1 AND file = ?2 AND ordinal >= ?3";
    let row = |row: &Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
    write.prepare_cached(query)?.query_map(params![session, file, from], row)?.collect()
}

/// The session that already has an exchange, whole. One that goes on here, because the copy was made in the middle of it, is
/// kept here too.
fn owner_of(
    write: &Transaction<'_>,
    session: u32,
    exchange: &PackedExchange,
) -> rusqlite::Result<Option<u32>> {
    let Some(key) = exchange.message_key else { return Ok(None) };
    let query = "SELECT session FROM exchange WHERE message_key = ?1 AND parts >= ?2 ORDER BY session = ?3 DESC LIMIT 1";
    let values = params![key, exchange.parts, session];
    write.prepare_cached(query)?.query_row(values, |row| row.get(0)).optional()
}

fn insert_exchange(
    write: &Transaction<'_>,
    session: u32,
    file: i64,
    exchange: &PackedExchange,
) -> rusqlite::Result<()> {
    let query =
        "INSERT INTO exchange(session, file, ordinal, message_key, first_ms, last_ms, digest, parts, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let (first, last) = exchange.span_ms.unzip();
    let values = params![
        session,
        file,
        exchange.ordinal,
        exchange.message_key,
        first,
        last,
        exchange.digest,
        exchange.parts,
        exchange.body
    ];
    write.prepare_cached(query)?.execute(values)?;
    Ok(())
}

fn finish_session(
    write: &Transaction<'_>,
    row: u32,
    facts: &CleanFacts,
    repo: Option<RedactedText>,
    opening: &RedactedText,
    copy_of: Option<u32>,
) -> rusqlite::Result<()> {
    // A key of a path alone, which a removed directory gives, says less than what was found before.
    let query = "UPDATE session SET facts = ?2,
        repo = CASE WHEN ?3 LIKE '%~%' THEN coalesce(repo, ?3) ELSE coalesce(?3, repo) END, parent = ?4, is_by_program = ?5,
        title = CASE WHEN ?6 <> '' THEN ?6 WHEN title = '' THEN ?7 ELSE title END,
        opening = CASE WHEN opening = '' THEN ?7 ELSE opening END,
        fork_of = coalesce(fork_of, nullif(?8, id)),
        (exchanges, first_ms, last_ms) = (SELECT count(*), min(first_ms), max(last_ms) FROM exchange WHERE session = ?1)
        WHERE id = ?1";
    let facts = facts.facts();
    let title = facts.title.as_ref().map_or("", |(_, title)| title);
    let json = serde_json::to_string(facts).unwrap_or_else(|_| "{}".to_owned());
    let is_by_program = facts.is_by_program || facts.parent.is_some();
    let (repo, opening) = (repo.map(RedactedText::into_string), opening.as_str());
    let values = params![row, json, repo, facts.parent, is_by_program, title, opening, copy_of];
    write.prepare_cached(query)?.execute(values)?;
    Ok(())
}
