//! Removes secrets from rows that an earlier version kept, or that rules of today know for the first time, and what SQLite still has of
//! them in free pages and in its log. Not here: how rows are written (`session_writes`), which other files are looked at (`upkeep`).

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Transaction, params};
use serde_json::Value;

use super::row_text::{CleanFacts, clean_texts, key_of_kept_path, stamped};
use super::session_store::{SessionError, SessionStore};
use super::stored_exchange::{pack, unpack};
use guard::secrets::{RedactedText, findings};

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnForm {
    /// A text.
    Text,
    /// A name or an id.
    Stamp,
    /// The key of a transcript's file; an earlier version kept its path.
    FileKey,
    /// Names and ids as JSON.
    StampJson,
    /// Texts as JSON.
    TextJson,
    /// The facts of a session as JSON.
    Facts,
    /// A packed exchange.
    Exchange,
}

/// Every column that can hold a text.
const COLUMNS: [(&str, &str, ColumnForm); 21] = [
    ("setting", "name", ColumnForm::Stamp),
    ("setting", "value", ColumnForm::Stamp),
    ("file", "tool", ColumnForm::Stamp),
    ("file", "resume", ColumnForm::StampJson),
    ("file", "census", ColumnForm::StampJson),
    ("file", "error", ColumnForm::Text),
    // After the error, which the change of a path replaces: it named that path.
    ("file", "path", ColumnForm::FileKey),
    ("session", "tool", ColumnForm::Stamp),
    ("session", "native_id", ColumnForm::Stamp),
    ("session", "facts", ColumnForm::Facts),
    ("session", "repo", ColumnForm::Text),
    ("session", "title", ColumnForm::Text),
    ("session", "opening", ColumnForm::Text),
    ("session", "parent", ColumnForm::Stamp),
    ("exchange", "body", ColumnForm::Exchange),
    ("tombstone", "kind", ColumnForm::Stamp),
    ("tombstone", "value", ColumnForm::Stamp),
    ("mended", "repo", ColumnForm::Text),
    ("mended", "key", ColumnForm::Stamp),
    ("mended", "mended", ColumnForm::TextJson),
    ("decision", "verdict", ColumnForm::Stamp),
];

/// The rule of a path that an earlier version kept: whatever stands in it may have been respelled.
const OUTDATED: &str = "written by an earlier version";

/// What stands for an error that an earlier version kept, which named the path.
const OUTDATED_ERROR: &str = "an earlier version could not read it to its end";

/// Columns that hold hashes alone.
#[cfg(test)]
const HASHES: [(&str, &str); 1] = [("decision", "fingerprint")];

/// Whether rows are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowScrub {
    /// Secrets are removed.
    Change,
    /// They are only counted.
    DryRun,
}

/// A secret in a row. It does not contain the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFinding {
    /// The table and the column.
    pub column: String,
    /// The number of the row.
    pub row: i64,
    /// The rule that recognised it.
    pub rule: String,
}

/// A row that is not clean, and what it becomes.
struct DirtyRow {
    place: (&'static str, &'static str),
    row: i64,
    rule: String,
    clean: CleanCell,
}

enum CleanCell {
    Text(String),
    Exchange { body: Vec<u8>, digest: i64 },
    FileKey { key: String, is_gone: bool },
}

impl SessionStore {
    /// Looks for secrets in all rows, and removes them if it may. Afterwards neither a free page nor the log of SQLite holds what was
    /// removed, and every index that was made of the rows is made anew.
    ///
    /// # Errors
    /// [`SessionError::Database`]; then no row is changed.
    pub fn scrub(&mut self, how: RowScrub) -> Result<Vec<RowFinding>, SessionError> {
        let error = self.error();
        let mut dirty = Vec::new();
        for place in COLUMNS {
            dirty_rows(&self.connection, place, &mut dirty).map_err(&error)?;
        }
        if how == RowScrub::Change {
            let write = self.connection.transaction().map_err(&error)?;
            dirty.iter().try_for_each(|one| write_clean(&write, one)).map_err(&error)?;
            if !dirty.is_empty() {
                let query =
                    "UPDATE setting SET value = lower(hex(randomblob(8))) WHERE name = 'id'";
                write.execute(query, []).map_err(&error)?;
            }
            write.commit().map_err(&error)?;
            self.drop_free_pages()?;
        }
        let found = |one: DirtyRow| {
            let column = format!("{}.{}", one.place.0, one.place.1);
            RowFinding { column, row: one.row, rule: one.rule }
        };
        Ok(dirty.into_iter().map(found).collect())
    }

    /// Replaces the paths of files that an earlier version kept.
    ///
    /// # Errors
    /// [`SessionError::Database`]; then no row is changed.
    pub(super) fn name_files_by_key(&mut self) -> Result<(), SessionError> {
        let error = self.error();
        let mut dirty = Vec::new();
        let place = ("file", "path", ColumnForm::FileKey);
        dirty_rows(&self.connection, place, &mut dirty).map_err(&error)?;
        if dirty.is_empty() {
            return Ok(());
        }
        let write = self.connection.transaction().map_err(&error)?;
        dirty.iter().try_for_each(|one| write_clean(&write, one)).map_err(&error)?;
        write.commit().map_err(&error)?;
        self.drop_free_pages()
    }

    /// Removes from the disk what rows held before: deleted ones stay in the file until they are overwritten.
    ///
    /// # Errors
    /// [`SessionError::Database`]; [`SessionError::Read`] while another process reads, for longer than a command waits.
    pub(super) fn drop_free_pages(&self) -> Result<(), SessionError> {
        let error = self.error();
        self.connection.execute_batch("VACUUM").map_err(&error)?;
        // SQLite does not call it an error that a reader keeps its log.
        let is_kept = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_kept: bool =
            self.connection.query_row(is_kept, [], |row| row.get(0)).map_err(&error)?;
        if is_kept {
            return Err(SessionError::Read { folder: self.folder().to_owned() });
        }
        Ok(())
    }
}

fn dirty_rows(
    connection: &Connection,
    (table, column, form): (&'static str, &'static str, ColumnForm),
    dirty: &mut Vec<DirtyRow>,
) -> rusqlite::Result<()> {
    let query = format!("SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL");
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some((rule, clean)) = cleaned(form, row.get_ref(1)?) {
            dirty.push(DirtyRow { place: (table, column), row: row.get(0)?, rule, clean });
        }
    }
    Ok(())
}

/// Returns a cell without secrets and the rule of the first one; `None` if it has none.
fn cleaned(form: ColumnForm, cell: ValueRef<'_>) -> Option<(String, CleanCell)> {
    if form == ColumnForm::FileKey {
        let path = cell.as_str().ok()?;
        let key = key_of_kept_path(path)?;
        // What is without its secret cannot be looked for.
        let is_gone = !path.contains("[REDACTED:") && !Path::new(path).exists();
        let rule = findings(path).first().map_or(OUTDATED, |found| found.rule);
        return Some((rule.to_owned(), CleanCell::FileKey { key, is_gone }));
    }
    if form == ColumnForm::Exchange {
        let before = unpack(cell.as_blob().ok()?)?;
        let text = serde_json::to_string(&before).ok()?;
        let clean = pack("", before)?;
        let after = serde_json::to_string(&unpack(&clean.body)?).ok()?;
        let cell = CleanCell::Exchange { body: clean.body, digest: clean.digest };
        return (after != text).then(|| (rule_in(&text, &after), cell));
    }
    let before = cell.as_str().ok()?;
    let json = || serde_json::from_str::<Value>(before).ok();
    let after = match form {
        ColumnForm::Stamp => RedactedText::stamp(before).into_string(),
        ColumnForm::StampJson | ColumnForm::TextJson => {
            let clean = if form == ColumnForm::TextJson { clean_texts } else { stamped };
            let (before, after) = (json()?, clean(json()?));
            if before == after {
                return None;
            }
            after.to_string()
        }
        ColumnForm::Facts => {
            let facts = serde_json::to_value(CleanFacts::from_row(before).facts()).ok()?;
            if Some(&facts) == json().as_ref() {
                return None;
            }
            facts.to_string()
        }
        ColumnForm::Text | ColumnForm::Exchange | ColumnForm::FileKey => {
            RedactedText::redact(before).into_string()
        }
    };
    (after != before).then(|| (rule_in(before, &after), CleanCell::Text(after)))
}

/// Names the rule of a mark that a cell has and had not.
fn rule_in(before: &str, after: &str) -> String {
    let marks = |text: &str| -> Vec<String> {
        let after = text.split("[REDACTED:").skip(1);
        after.filter_map(|rest| Some(rest.split_once(']')?.0.to_owned())).collect()
    };
    let old = marks(before);
    let new = marks(after).into_iter().find(|rule| !old.contains(rule));
    new.or_else(|| findings(before).first().map(|found| found.rule.to_owned()))
        .unwrap_or_else(|| "hidden".to_owned())
}

fn write_clean(write: &Transaction<'_>, dirty: &DirtyRow) -> rusqlite::Result<()> {
    let (table, column) = dirty.place;
    match &dirty.clean {
        // Two rows may become one; the other goes.
        CleanCell::Text(text) => {
            let query = format!("UPDATE OR REPLACE {table} SET {column} = ?2 WHERE rowid = ?1");
            write.execute(&query, params![dirty.row, text])?;
        }
        CleanCell::FileKey { key, is_gone } => {
            let query = "UPDATE OR REPLACE file SET path = ?2, is_gone = max(is_gone, ?3),
                error = CASE WHEN error IS NULL THEN NULL ELSE ?4 END WHERE id = ?1";
            write.execute(query, params![dirty.row, key, is_gone, OUTDATED_ERROR])?;
        }
        CleanCell::Exchange { body, digest } => {
            let query = "UPDATE exchange SET body = ?2, digest = ?3 WHERE id = ?1";
            write.execute(query, params![dirty.row, body, digest])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn token() -> String {
        ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat()
    }

    #[test]
    fn every_column_that_can_hold_a_text_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let kept = SessionStore::create(folder.path()).unwrap();
        let query = "SELECT m.name, t.name FROM sqlite_schema m, pragma_table_info(m.name) t
            WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND t.type <> 'INTEGER'";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let all: BTreeSet<(String, String)> =
            kept.rows(query, [], row).unwrap().into_iter().collect();
        let own = |(table, column): (&str, &str)| (table.to_owned(), column.to_owned());
        let known = COLUMNS.into_iter().map(|(table, column, _)| own((table, column)));
        assert_eq!(all, known.chain(HASHES.into_iter().map(own)).collect());
    }

    // S-SCRUB-3
    #[test]
    fn what_an_earlier_version_kept_goes_from_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = SessionStore::create(folder.path()).unwrap();
        let facts = format!(
            r#"{{"title":null,"directory":"/w/{}","branch":"x","remote":null,"parent":null,"fork_of":null,"is_by_program":false}}"#,
            token()
        );
        let query = "INSERT INTO session(tool, native_id, facts, repo, title, opening, is_by_program) VALUES ('codex', 's', ?1, NULL, ?2, ?2, 0)";
        kept.connection.execute(query, [&facts, &format!("use {}", token())]).unwrap();
        // What was deleted is in a free page.
        let long = token().repeat(500);
        kept.connection.execute("INSERT INTO tombstone VALUES ('path', ?1, 1)", [&long]).unwrap();
        kept.connection.execute("DELETE FROM tombstone", []).unwrap();
        let held = |folder: &Path| {
            let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
            let bytes: Vec<u8> = files.flat_map(|file| std::fs::read(file).unwrap()).collect();
            bytes.windows(token().len()).any(|run| run == token().as_bytes())
        };
        assert!(held(folder.path()));
        assert_eq!(kept.scrub(RowScrub::DryRun).unwrap().len(), 3);
        let found = kept.scrub(RowScrub::Change).unwrap();
        assert!(found.iter().all(|one| one.rule == "github-token"), "{found:?}");
        assert!(!held(folder.path()), "in a page or in the log");
        assert_eq!(kept.scrub(RowScrub::DryRun).unwrap(), []);
    }
}
