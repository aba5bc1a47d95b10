//! The databases of OpenCode: 1.x keeps `message` and `part`, 2.x `session_message`, and an upgraded one both. Each session
//! is read from where its messages are. The table `event` is never touched: it is nearly all of the file. Not here: what
//! a message means (`opencode_messages`).

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use super::opencode_messages::{MessageHead, report_message, report_session, undone_from};
use crate::database::ForeignDatabase;
use crate::session_tables::{PlannedSession, SessionTables, TableError};
use crate::table_rows::{DatabaseRow, RowQuery, columns_of, has_table};
use crate::transcript::{RecordStatus, TranscriptSink};

/// The tables that hold sessions, the newer one first: where it has a session, it is the one that is kept up to date.
const SESSIONS: &[&str] = &["session_v2", "session"];

/// The tables of OpenCode, and of tools that are made of it.
pub(super) struct OpenCodeTables;

impl SessionTables for OpenCodeTables {
    fn plan(&self, database: &ForeignDatabase) -> Result<Vec<PlannedSession>, TableError> {
        let mut is_known = false;
        let mut planned: Vec<PlannedSession> = Vec::new();
        for table in SESSIONS {
            if !has_table(database, table)? {
                continue;
            }
            is_known = true;
            let query = RowQuery {
                table,
                columns: &["id", "time_updated", "revert"],
                content: None,
                clause: "ORDER BY time_created DESC",
            };
            for row in query.prepare(database)?.rows([])? {
                planned.push(planned_session(&row?));
            }
        }
        if !is_known {
            return Err(TableError::Form("a database without OpenCode's sessions".to_owned()));
        }
        // Of two rows for one session, the first is the newer form.
        let mut seen = std::collections::HashSet::new();
        planned.retain(|session| seen.insert(session.id.clone()));
        let marks = message_marks(database)?;
        for session in &mut planned {
            if let Some(mark) = marks.get(&session.id) {
                session.mark.push_str(mark);
            }
        }
        Ok(planned)
    }

    fn read_session(
        &self,
        database: &ForeignDatabase,
        id: &str,
        sink: &mut dyn TranscriptSink,
    ) -> Result<(), TableError> {
        let Some(info) = session_info(database, id)? else { return Ok(()) };
        report_session(id, &info, sink);
        let undone = undone_from(&info);
        if is_in_new_form(database, id)? {
            read_new_form(database, id, undone, sink)
        } else {
            read_old_form(database, id, undone, sink)
        }
    }
}

fn planned_session(row: &DatabaseRow) -> PlannedSession {
    let (updated, revert) = (row.number("time_updated"), row.text("revert").unwrap_or_default());
    let id = row.text("id").unwrap_or_default().to_owned();
    PlannedSession { id, mark: format!("{updated:?}/{revert}") }
}

/// Returns for each session what tells that its messages changed: rows are added, and rewritten in place.
fn message_marks(
    connection: &Connection,
) -> Result<std::collections::HashMap<String, String>, TableError> {
    const MARKS: &[(&str, &str, &str)] = &[
        ("message", "session_id", "count(*), max(time_updated), 0"),
        ("part", "session_id", "count(*), max(time_updated), 0"),
        ("session_message", "session_id", "count(*), max(time_updated), 0"),
        ("event_sequence", "aggregate_id", "max(seq), 0, 0"),
    ];
    let mut marks = std::collections::HashMap::<String, String>::new();
    for (table, session, counts) in MARKS {
        if !has_table(connection, table)? {
            continue;
        }
        let query = format!("SELECT {session}, {counts} FROM {table} GROUP BY {session}");
        let mut query = connection.prepare(&query)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (count, updated): (i64, Option<i64>) = (row.get(1)?, row.get(2)?);
            let mark = marks.entry(row.get(0)?).or_default();
            mark.push_str(&format!("/{table} {count} {updated:?}"));
        }
    }
    Ok(marks)
}

/// Returns a session as `opencode export` has it.
fn session_info(connection: &Connection, id: &str) -> Result<Option<Value>, TableError> {
    const COLUMNS: &[&str] =
        &["title", "directory", "parent_id", "fork_session_id", "permission", "revert"];
    for table in SESSIONS {
        if !has_table(connection, table)? {
            continue;
        }
        let query = RowQuery { table, columns: COLUMNS, content: None, clause: "WHERE id = ?1" };
        let Some(row) = query.first(connection, [id])? else { continue };
        // Rules and marks of what was undone are JSON in a column.
        let json = |column: &str| -> Value {
            row.text(column).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
        };
        return Ok(Some(json!({
            "title": row.text("title"), "directory": row.text("directory"),
            "parentID": row.text("parent_id"), "forkID": row.text("fork_session_id"),
            "permission": json("permission"), "revert": json("revert"),
        })));
    }
    Ok(None)
}

/// The table alone says nothing: 1.18 has it, empty.
fn is_in_new_form(connection: &Connection, id: &str) -> Result<bool, TableError> {
    if !has_table(connection, "session_message")? {
        return Ok(false);
    }
    let query = "SELECT 1 FROM session_message WHERE session_id = ?1 LIMIT 1";
    Ok(connection.query_row(query, [id], |_| Ok(())).optional()?.is_some())
}

fn read_new_form(
    connection: &Connection,
    session: &str,
    undone: Option<&str>,
    sink: &mut dyn TranscriptSink,
) -> Result<(), TableError> {
    let known = columns_of(connection, "session_message")?;
    let has_order = known.iter().any(|name| name == "seq");
    let query = RowQuery {
        table: "session_message",
        columns: &["id", "type", "time_created"],
        content: Some("data"),
        clause: match has_order {
            true => "WHERE session_id = ?1 ORDER BY seq",
            false => "WHERE session_id = ?1 ORDER BY time_created, id",
        },
    };
    for row in query.prepare(connection)?.rows([session])? {
        let row = row?;
        let (id, kind) = (row.text("id").unwrap_or_default(), row.text("type").unwrap_or_default());
        if undone == Some(id) {
            break;
        }
        if let Some(data) = row.json(sink) {
            report_message(id, kind, row.number("time_created"), &data, sink);
        }
    }
    Ok(())
}

fn read_old_form(
    connection: &Connection,
    session: &str,
    undone: Option<&str>,
    sink: &mut dyn TranscriptSink,
) -> Result<(), TableError> {
    const MESSAGES: RowQuery<'_> = RowQuery {
        table: "message",
        columns: &["id", "time_created"],
        content: Some("data"),
        clause: "WHERE session_id = ?1 ORDER BY time_created, id",
    };
    const PARTS: RowQuery<'_> = RowQuery {
        table: "part",
        columns: &["id"],
        content: Some("data"),
        clause: "WHERE message_id = ?1 ORDER BY id",
    };
    let mut parts = PARTS.prepare(connection)?;
    for row in MESSAGES.prepare(connection)?.rows([session])? {
        let row = row?;
        let id = row.text("id").unwrap_or_default();
        if undone == Some(id) {
            break;
        }
        let info = row.json(sink);
        if info.is_none() && !row.is_too_long() {
            continue;
        }
        let Some(head) = MessageHead::from_info(id, row.number("time_created"), info.as_ref())
        else {
            sink.count(RecordStatus::Unknown("message of no known role"));
            continue;
        };
        for part in parts.rows([id])? {
            let part = part?;
            if let Some(data) = part.json(sink) {
                head.report_part(part.text("id").unwrap_or_default(), &data, sink);
            }
        }
        if let Some(info) = info {
            head.report_error(&info, sink);
            sink.count(RecordStatus::Understood);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::exchange::{PartKind, SessionRead};
    use crate::readers::golden::{GoldenCounts, sessions_of, try_sessions_of};
    use crate::readers::opencode::OPENCODE;
    use crate::real_files::fixtures;
    use crate::transcript::{Outcome, TitleSource};

    /// Both forms, as an upgraded database has them. Whoever reads `event` fails.
    const TABLES: &str = "
        CREATE TABLE session(id, parent_id, directory, title, revert, permission, time_created, time_updated);
        CREATE TABLE session_v2(id, parent_id, fork_session_id, directory, title, time_created, time_updated);
        CREATE TABLE message(id, session_id, time_created, time_updated, data);
        CREATE TABLE part(id, message_id, session_id, time_created, time_updated, data);
        CREATE TABLE session_message(id, session_id, type, seq, time_created, time_updated, data);
        CREATE TABLE event_sequence(aggregate_id, seq);
        CREATE VIEW event AS SELECT * FROM nowhere;";

    fn database(rows: &str) -> (tempfile::TempDir, PathBuf, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        writer.execute_batch(TABLES).unwrap();
        writer.execute_batch(rows).unwrap();
        (folder, path, writer)
    }

    fn kinds(session: &SessionRead) -> Vec<PartKind> {
        let parts = session.exchanges.iter().flat_map(|exchange| &exchange.parts);
        parts.map(|part| part.what.clone()).collect()
    }

    fn named<'a>(sessions: &'a [SessionRead], id: &str) -> &'a SessionRead {
        sessions.iter().find(|session| session.native_id == id).unwrap()
    }

    const OLD: &str = r#"
        INSERT INTO session VALUES
            ('old', NULL, '/w', 'New session - 2026', NULL, NULL, 10, 20),
            ('kid', 'old', '/w', 'Explore', NULL, NULL, 11, 20);
        INSERT INTO message VALUES
            ('m2', 'old', 2000, 0, '{"role":"assistant","error":{"name":"MessageAbortedError"}}'),
            ('m1', 'old', 1000, 0, '{"role":"user","summary":{"diffs":[]}}'),
            ('m3', 'kid', 3000, 0, '{"role":"user"}');
        INSERT INTO part VALUES
            ('p1', 'm1', 'old', 0, 0, '{"type":"text","text":"\"why does it fail\""}'),
            ('p2', 'm1', 'old', 0, 0, '{"type":"text","synthetic":true,"text":"a file"}'),
            ('p3', 'm2', 'old', 0, 0, '{"type":"tool","tool":"bash","state":{"status":"completed",
                "input":{"command":"make"},"output":"no rule","metadata":{"exit":2}}}'),
            ('p4', 'm2', 'old', 0, 0, '{"type":"tool","tool":"write","state":{"status":"completed",
                "input":{"filePath":"a.rs"},"output":""}}'),
            ('p5', 'm2', 'old', 0, 0, '{"type":"sculpture"}'),
            ('p6', 'm3', 'kid', 0, 0, '{"type":"text","text":"look"}');"#;

    #[test]
    fn old_messages_are_read_in_order_with_what_failed() {
        let (_folder, path, _writer) = database(OLD);
        let (sessions, census) = sessions_of(&OPENCODE, &path);
        assert_eq!(sessions.len(), 2);
        let (old, kid) = (named(&sessions, "old"), named(&sessions, "kid"));
        let expected = [
            PartKind::Asked("why does it fail".to_owned()),
            PartKind::Ran {
                command: "make".to_owned(),
                outcome: Outcome::Exited(2),
                excerpt: "no rule".to_owned(),
            },
            PartKind::Edited {
                path: "a.rs".to_owned(),
                outcome: Outcome::Succeeded,
                excerpt: String::new(),
            },
            PartKind::Interrupted,
        ];
        assert_eq!(kinds(old), expected);
        assert_eq!(old.exchanges[0].message_id.as_deref(), Some("m1"));
        assert_eq!(old.exchanges[0].span_ms(), Some((1_000, 2_000)));
        assert_eq!(old.facts.title, None, "nobody named it");
        assert_eq!(kid.facts.title, Some((TitleSource::Model, "Explore".to_owned())));
        assert_eq!((kid.facts.parent.as_deref(), kid.facts.is_by_program), (Some("old"), true));
        assert_eq!(census.unknown.get("sculpture"), Some(&1));
    }

    #[test]
    fn a_session_in_both_forms_is_read_once_from_the_new_one() {
        let (_folder, path, writer) = database(OLD);
        writer
            .execute_batch(
                r#"INSERT INTO session_v2 VALUES ('old', NULL, NULL, '/w', 'Named', 10, 30),
                       ('copy', NULL, 'old', '/w', 'Fork', 10, 30);
                   INSERT INTO session_message VALUES
                       ('n2', 'old', 'synthetic', 2, 0, 0, '{"text":"not typed"}'),
                       ('n3', 'old', 'assistant', 3, 0, 0, '{"content":[{"type":"reasoning","text":"x"},
                           {"type":"tool","name":"bash","state":{"status":"completed","input":{"command":"make"},
                            "content":[{"type":"text","text":"no rule"}],"metadata":{"exit":2}}},
                           {"type":"text","text":"done"}]}'),
                       ('n1', 'old', 'user', 1, 0, 0, '{"text":"why"}'),
                       ('n4', 'old', 'compaction', 4, 0, 0, '{"summary":"short"}'),
                       ('n5', 'old', 'model-switched', 5, 0, 0, '{}'),
                       ('n6', 'copy', 'user', 1, 0, 0, '{"text":"again"}');"#,
            )
            .unwrap();
        let (sessions, _) = sessions_of(&OPENCODE, &path);
        assert_eq!(sessions.len(), 3);
        let old = named(&sessions, "old");
        let expected = [
            PartKind::Asked("why".to_owned()),
            PartKind::Ran {
                command: "make".to_owned(),
                outcome: Outcome::Exited(2),
                excerpt: "no rule".to_owned(),
            },
            PartKind::Answered("done".to_owned()),
            PartKind::Summarised("short".to_owned()),
        ];
        assert_eq!(kinds(old), expected);
        assert_eq!(named(&sessions, "copy").facts.fork_of.as_deref(), Some("old"));
        assert_eq!(kinds(named(&sessions, "kid")).len(), 1, "not migrated, so from the old form");
    }

    #[test]
    fn a_row_rewritten_in_place_is_read_again() {
        let (_folder, path, writer) = database(OLD);
        let resume = try_sessions_of(&OPENCODE, &path, None).2.unwrap();
        let (sessions, _, _) = try_sessions_of(&OPENCODE, &path, Some(&resume));
        assert_eq!(sessions.len(), 0);
        for change in [
            "UPDATE part SET time_updated = 9 WHERE id = 'p6'",
            "UPDATE session SET title = 'x', time_updated = 21 WHERE id = 'kid'",
            "INSERT INTO event_sequence VALUES ('kid', 1)",
        ] {
            writer.execute_batch(change).unwrap();
            let (sessions, _, _) = try_sessions_of(&OPENCODE, &path, Some(&resume));
            let ids: Vec<_> = sessions.iter().map(|session| session.native_id.as_str()).collect();
            assert_eq!(ids, ["kid"], "{change}");
        }
        writer.execute_batch("DELETE FROM session WHERE id = 'kid'").unwrap();
        let (sessions, _, end) = try_sessions_of(&OPENCODE, &path, Some(&resume));
        assert!(sessions.is_empty() && end.is_ok(), "what is gone is not told");
    }

    #[test]
    fn a_huge_row_loses_only_itself() {
        let (_folder, path, writer) = database(OLD);
        // The changes that followed a prompt stand in the message, the prompt in its part.
        writer
            .execute_batch(
                "UPDATE message SET data = data || printf('%20000000s', ' ') WHERE id = 'm1';
                 UPDATE part SET data = data || printf('%20000000s', ' ') WHERE id = 'p3';",
            )
            .unwrap();
        let (sessions, census) = sessions_of(&OPENCODE, &path);
        assert_eq!(census.too_long, 2);
        let kinds = kinds(named(&sessions, "old"));
        assert_eq!(kinds.first(), Some(&PartKind::Asked("why does it fail".to_owned())));
        assert_eq!(kinds.len(), 3);
    }

    #[test]
    fn half_a_character_loses_nothing() {
        let (_folder, path, writer) = database(OLD);
        writer
            .execute_batch(
                r#"UPDATE part SET data = '{"type":"text","text":"why \ud83d"}' WHERE id = 'p1'"#,
            )
            .unwrap();
        let (sessions, census) = sessions_of(&OPENCODE, &path);
        let asked = PartKind::Asked("why \u{fffd}".to_owned());
        assert_eq!(kinds(named(&sessions, "old")).first(), Some(&asked));
        assert_eq!(census.broken, 0);
    }

    /// A writer adds messages while sessions are read, each in a transaction with its part.
    #[test]
    fn rows_written_meanwhile_are_read_next_time() {
        const MESSAGES_MAX: usize = 20_000;
        let (_folder, path, writer) = database(OLD);
        writer
            .execute_batch(
                "INSERT INTO session VALUES ('live', NULL, '/w', 'Live', NULL, NULL, 10, 20)",
            )
            .unwrap();
        let (news, is_over) = (&AtomicUsize::new(0), &AtomicBool::new(false));
        let write = move || {
            let mut written = 0;
            while news.load(Ordering::SeqCst) < 5 && written < MESSAGES_MAX {
                let message = format!(
                    r#"BEGIN; INSERT INTO message VALUES ('n{written}', 'live', {written}, 0, '{{"role":"user"}}');
                       INSERT INTO part VALUES ('n{written}', 'n{written}', 'live', 0, 0, '{{"type":"text","text":"{written}"}}');
                       COMMIT"#
                );
                writer.execute_batch(&message).unwrap();
                written += 1;
            }
            is_over.store(true, Ordering::SeqCst);
            written
        };
        let (mut resume, mut told) = (None, Vec::new());
        let mut read = || {
            let (sessions, census, end) = try_sessions_of(&OPENCODE, &path, resume.as_ref());
            assert_eq!((census.broken, census.too_long), (0, 0));
            resume = Some(end.unwrap());
            if let Some(live) = sessions.iter().find(|session| session.native_id == "live") {
                let later = kinds(live);
                assert!(later.starts_with(&told), "what was told is told again");
                told = later;
                news.fetch_add(1, Ordering::SeqCst);
            }
        };
        let written = std::thread::scope(|scope| {
            let writer = scope.spawn(write);
            while !is_over.load(Ordering::SeqCst) {
                read();
            }
            writer.join().unwrap()
        });
        read();
        let expected = (0..written).map(|number| PartKind::Asked(number.to_string()));
        assert_eq!(told, expected.collect::<Vec<_>>());
    }

    #[test]
    fn what_a_person_undid_is_left_out() {
        let (_folder, path, writer) = database(OLD);
        writer
            .execute_batch(r#"UPDATE session SET revert = '{"messageID":"m2"}' WHERE id = 'old'"#)
            .unwrap();
        let (sessions, _) = sessions_of(&OPENCODE, &path);
        assert_eq!(kinds(named(&sessions, "old")).len(), 1);
    }

    #[test]
    fn tables_that_are_not_known_are_an_error() {
        let (_folder, path, writer) = database(OLD);
        writer.execute_batch("DROP VIEW event; ALTER TABLE part RENAME TO parts").unwrap();
        let error = try_sessions_of(&OPENCODE, &path, None).2.unwrap_err().to_string();
        assert!(error.contains("of a form that is not known"), "{error}");
        writer.execute_batch("DROP TABLE session; DROP TABLE session_v2").unwrap();
        let error = try_sessions_of(&OPENCODE, &path, None).2.unwrap_err().to_string();
        assert!(error.contains("without OpenCode's sessions"), "{error}");
    }

    fn loaded(script: &Path, folder: &Path) -> PathBuf {
        let path = folder.join("opencode.db");
        let script = std::fs::read_to_string(script).unwrap();
        Connection::open(&path).unwrap().execute_batch(&script).unwrap();
        path
    }

    #[test]
    fn an_upgraded_database_is_read_in_its_new_form() {
        let Some(fixtures) = fixtures() else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = loaded(&fixtures.join("opencode/own/opencode-v2.sql"), folder.path());
        let (sessions, census) = sessions_of(&OPENCODE, &path);
        assert_eq!(sessions.len(), 3);
        let expected = GoldenCounts {
            user: 3,
            assistant: 2,
            commands: 2,
            exit_nonzero: 2,
            summaries: 1,
            ..GoldenCounts::default()
        };
        assert_eq!(GoldenCounts::count(&sessions), expected);
        assert_eq!((census.understood, census.left, census.unknown.len()), (6, 1, 0));
    }

    #[test]
    fn a_real_database_is_read_where_it_lies() {
        let Some(fixtures) = fixtures() else { return };
        let path = fixtures.join("opencode/real/lantern/opencode-sqlite/opencode.db");
        let (sessions, census) = sessions_of(&OPENCODE, &path);
        let expected = GoldenCounts { user: 3, assistant: 2, edits: 1, ..GoldenCounts::default() };
        assert_eq!((sessions.len(), GoldenCounts::count(&sessions)), (3, expected));
        assert!(census.unknown.is_empty() && census.broken == 0, "{census:?}");
        let question = "What does average_item_price do? One sentence.";
        let asked: Vec<_> = sessions.iter().flat_map(kinds).collect();
        assert!(asked.contains(&PartKind::Asked(question.to_owned())), "without its quotes");
    }
}
