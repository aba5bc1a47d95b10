//! What other files told of a session that a file tells now: transcripts are moved, compressed and copied, and not all tools
//! give messages ids. Not here: copies in other sessions (`session_writes`).

use std::collections::HashMap;

use rusqlite::{Row, Transaction, params};

use super::stored_exchange::PackedExchange;

/// An exchange that another file told.
pub(super) struct EarlierCopy {
    pub(super) row: i64,
    digest: i64,
    /// Its message and when it began, which stay the same while it goes on.
    key: (Option<i64>, Option<i64>),
    parts: i64,
    /// Whether that file no longer exists.
    pub(super) is_gone: bool,
}

/// How it compares with what a file tells now.
pub(super) enum CopyComparison {
    /// It is the same.
    Same,
    /// It was the beginning of this, in a file that is gone.
    Shorter,
    /// It is another one.
    Different,
}

impl EarlierCopy {
    /// Compares it with what a file tells now.
    pub(super) fn compare(&self, exchange: &PackedExchange) -> CopyComparison {
        let key = (exchange.message_key, exchange.span_ms.map(|(first, _)| first));
        if self.digest == exchange.digest {
            return CopyComparison::Same;
        }
        let is_same_question = key == self.key && key != (None, None);
        if self.is_gone && is_same_question && self.parts <= exchange.parts {
            CopyComparison::Shorter
        } else {
            CopyComparison::Different
        }
    }

    /// Lets another file have the exchange, if its own is gone.
    pub(super) fn move_to(&self, write: &Transaction<'_>, file: i64) -> rusqlite::Result<()> {
        if self.is_gone {
            write
                .prepare_cached("UPDATE OR IGNORE exchange SET file = ?2 WHERE id = ?1")?
                .execute([self.row, file])?;
        }
        Ok(())
    }
}

/// What other files told of a session, by ordinal; of several that say the same, one.
pub(super) fn earlier_copies(
    write: &Transaction<'_>,
    session: u32,
    file: i64,
) -> rusqlite::Result<HashMap<u32, EarlierCopy>> {
    let query = "SELECT e.ordinal, e.id, e.digest, e.message_key, e.first_ms, e.parts, f.is_gone
        FROM exchange e JOIN file f ON f.id = e.file WHERE e.session = ?1 AND e.file <> ?2";
    let row = |row: &Row<'_>| {
        let told = EarlierCopy {
            row: row.get(1)?,
            digest: row.get(2)?,
            key: (row.get(3)?, row.get(4)?),
            parts: row.get(5)?,
            is_gone: row.get(6)?,
        };
        Ok((row.get(0)?, told))
    };
    write.prepare_cached(query)?.query_map(params![session, file], row)?.collect()
}
