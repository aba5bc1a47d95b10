//! Reads what is kept of the files of tools: how far each was read, how its records were recognised, and what of it was left
//! out. Not here: sessions and exchanges (`session_rows`), how rows are written (`session_writes`).

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Row, params};

use super::file_state::{FileStat, TranscriptState};
use super::row_text::key_of_kept_path;
use super::session_store::{SessionError, SessionStore};
use transcripts::source::Resume;
use transcripts::transcript::Census;

/// A file that was read before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownFile {
    pub(super) row: i64,
    pub(super) parser_version: u32,
    pub(super) state: TranscriptState,
    pub(super) resume: Resume,
    /// The ordinal of the exchange at which reading goes on.
    pub(super) ordinal: u32,
    /// What of it was left out, if anything.
    pub(super) left_out: Option<ExcludedSessions>,
    /// Whether it did not exist at the last look.
    pub(super) is_gone: bool,
    /// The folder that was listed when it was read; an earlier version did not keep that.
    pub(super) root: Option<i64>,
}

/// Sessions of a file that were left out: excluded by the user, or of no repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExcludedSessions {
    pub(super) sessions: u64,
    /// The choice, as a hash. Under another choice the file must be read again.
    pub(super) choice: i64,
}

/// How the files of one tool were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCensus {
    /// Files that were read.
    pub files: u64,
    /// Files among them that no longer exist.
    pub gone: u64,
    /// Sessions in them that were left out: excluded, or of no repository.
    pub left_out: u64,
    /// Whether sessions of them may have been forgotten: by their id, their directory or their time.
    pub may_be_forgotten: bool,
    /// Their records.
    pub census: Census,
    /// Why files could not be read to their end.
    pub errors: Vec<String>,
}

impl SessionStore {
    /// Returns how the records of all files of a tool were recognised, by tool, and the errors of files.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn censuses(&self) -> Result<BTreeMap<String, FileCensus>, SessionError> {
        let row = |row: &Row<'_>| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, Option<String>>(2)?,
                row.get::<_, bool>(3)?,
                row.get::<_, Option<i64>>(4)?.unwrap_or_default().cast_unsigned(),
            ))
        };
        let mut of_tools: BTreeMap<String, FileCensus> = BTreeMap::new();
        let query = "SELECT tool, census, error, is_gone, sessions FROM file LEFT JOIN left_out ON file = id";
        for (tool, census, error, is_gone, left_out) in self.rows(query, params![], row)? {
            let of_tool = of_tools.entry(tool).or_default();
            of_tool.files += 1;
            of_tool.gone += u64::from(is_gone);
            of_tool.left_out += left_out;
            of_tool.census.add(&serde_json::from_str(&census).unwrap_or_default());
            // A file that vanished before it was read is not to be looked after.
            of_tool.errors.extend(error.filter(|_| !is_gone));
        }
        let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        for (kind, value) in self.rows("SELECT kind, value FROM tombstone", params![], row)? {
            for (tool, files) in &mut of_tools {
                let is_of_tool = value.split_once('/').is_some_and(|(named, _)| named == tool);
                files.may_be_forgotten |= kind != "session" || is_of_tool;
            }
        }
        Ok(of_tools)
    }

    /// Returns every file that was read before, by its key.
    pub(super) fn known_files(&self) -> Result<HashMap<String, KnownFile>, SessionError> {
        let query = "SELECT path, id, parser_version, size, mtime_ns, inode, head, tail, end, resume, ordinal, sessions, choice,
            is_gone, root FROM file LEFT JOIN left_out ON left_out.file = id LEFT JOIN file_root ON file_root.file = id";
        let known = |row: &Row<'_>| {
            let number = |column: usize| row.get::<_, i64>(column);
            let stat = FileStat {
                size: number(3)?.cast_unsigned(),
                mtime_ns: number(4)?,
                inode: number(5)?.cast_unsigned(),
            };
            let state = TranscriptState {
                stat,
                head: number(6)?,
                tail: number(7)?,
                end: number(8)?.cast_unsigned(),
            };
            let resume = serde_json::from_str(&row.get::<_, String>(9)?).unwrap_or_default();
            let file = KnownFile {
                row: row.get(1)?,
                parser_version: row.get(2)?,
                state,
                resume,
                ordinal: row.get(10)?,
                left_out: row.get::<_, Option<i64>>(11)?.zip(row.get(12)?).map(
                    |(sessions, choice)| ExcludedSessions {
                        sessions: sessions.cast_unsigned(),
                        choice,
                    },
                ),
                is_gone: row.get(13)?,
                root: row.get(14)?,
            };
            let kept: String = row.get(0)?;
            Ok((key_of_kept_path(&kept).unwrap_or(kept), file))
        };
        Ok(self.rows(query, params![], known)?.into_iter().collect())
    }
}
