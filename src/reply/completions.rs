//! Completions as text, one value a line. Not here: finding them (`search`).

use serde_json::json;

use super::reply::Reply;
use search::Completions;

/// Writes the values.
#[must_use]
pub fn completions(completions: &Completions) -> Reply {
    let Completions { values, total } = completions;
    Reply::new(values.join("\n"), json!({ "values": values, "total": total }))
}
