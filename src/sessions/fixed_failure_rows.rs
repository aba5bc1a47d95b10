//! The fixed failures of kept sessions, as rows that a failure is looked up by. Not here: what a fixed failure is
//! (`fixed_failure`), the words of an answer (`reply`).

use rusqlite::{Transaction, params};

use super::failure_signs::FailureSigns;
use super::fixed_failure::{FixedFailure, fixed_failures};
use super::row_text::clean_texts;
use super::session_store::{SessionError, SessionStore};

/// Most rows that one failure is compared with, the latest first: an error that is everywhere tells nothing.
const ROWS_MAX: i64 = 200;

impl SessionStore {
    /// Computes the fixed failures of sessions anew, by their rows.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub(super) fn refresh_fixed_failures(&mut self, sessions: &[u32]) -> Result<(), SessionError> {
        let mut found = Vec::new();
        for row in sessions {
            if let Some(session) = self.session(*row)? {
                let exchanges: Vec<_> =
                    self.exchanges_of(*row)?.into_iter().map(|kept| kept.exchange).collect();
                found.push((*row, session.repo, fixed_failures(&session.native_id, &exchanges)));
            }
        }
        let error = self.error();
        let written = self.connection.transaction().and_then(|write| {
            found.iter().try_for_each(|(row, repo, mended)| {
                write_fixed_failures(&write, *row, repo.as_deref(), mended)
            })?;
            write.commit()
        });
        written.map_err(error)
    }

    /// Returns the fixed failures of a repository that share a sign with this one. Those of one session, the caller's, are
    /// left out.
    ///
    /// # Errors
    /// [`SessionError::Database`]
    pub fn fixed_failures_like(
        &self,
        repo: &str,
        signs: &FailureSigns,
        without: Option<&str>,
    ) -> Result<Vec<FixedFailure>, SessionError> {
        let query =
            "SELECT id, mended FROM mended WHERE repo = ?1 AND key = ?2 ORDER BY id DESC LIMIT ?3";
        let mut rows = Vec::new();
        for key in signs.lookup_hashes() {
            let row =
                |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
            rows.extend(self.rows(query, params![repo, key, ROWS_MAX], row)?);
        }
        let mut mended: Vec<FixedFailure> = Vec::new();
        for (_, json) in rows {
            let Ok(row) = serde_json::from_str::<FixedFailure>(&json) else { continue };
            if without != Some(row.session.as_str()) && !mended.contains(&row) {
                mended.push(row);
            }
        }
        Ok(mended)
    }
}

fn write_fixed_failures(
    write: &Transaction<'_>,
    session: u32,
    repo: Option<&str>,
    mended: &[FixedFailure],
) -> rusqlite::Result<()> {
    write.prepare_cached("DELETE FROM mended WHERE session = ?1")?.execute([session])?;
    let Some(repo) = repo else { return Ok(()) };
    let mut insert = write
        .prepare_cached("INSERT INTO mended(session, repo, key, mended) VALUES (?1, ?2, ?3, ?4)")?;
    for failure in mended {
        let json = serde_json::to_value(failure).map(clean_texts).unwrap_or_default().to_string();
        failure
            .signs
            .lookup_hashes()
            .try_for_each(|key| insert.execute(params![session, repo, key, json]).map(drop))?;
    }
    Ok(())
}
