//! The formats of sets, distinguished by their fields. Not here: what happens to the sets.

mod folder;
mod locomo;
mod longmemeval;
mod object;

use std::path::Path;

use serde_json::Value;

use super::test_set::{QueryScope, TestSet};
use super::{EvalError, forms::object::SetObject};

/// The format of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetFormat {
    /// A folder of `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.
    Folder,
    /// LongMemEval as published: one JSON array of questions with their haystacks.
    LongMemEval,
    /// LoCoMo as published: one JSON array of conversations with their questions.
    Locomo,
}

const ALLOWED: &str = "must be a folder of corpus.jsonl, queries.jsonl and qrels.tsv, or the JSON file of \
     LongMemEval (objects with haystack_sessions) or of LoCoMo (objects with conversation)";

/// Reads a set and returns the default scope of its queries. Queries of both published sets search within their
/// own haystack or conversation.
///
/// # Errors
/// [`EvalError`] names the file, the line or element, and the field.
pub(super) fn read(
    path: &Path,
    form: Option<SetFormat>,
    scope: Option<QueryScope>,
) -> Result<(TestSet, QueryScope), EvalError> {
    let found = path.metadata().map_err(|_| EvalError::Missing(path.to_owned()))?;
    let shown = path.display().to_string();
    let mut set = TestSet { name: name_of(path), ..TestSet::default() };
    if form == Some(SetFormat::Folder) || (form.is_none() && found.is_dir()) {
        folder::read(path, &mut set)?;
        set.check()?;
        return Ok((set, scope.unwrap_or(QueryScope::Store)));
    }
    if found.is_dir() {
        return Err(EvalError::form(
            shown,
            "format",
            "this format is a file, but the path is a folder",
        ));
    }
    let text = std::fs::read_to_string(path).map_err(EvalError::io("read", path))?;
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| EvalError::form(&shown, "JSON", error.to_string()))?;
    drop(text);
    let Value::Array(items) = value else {
        return Err(EvalError::form(shown, "format", ALLOWED));
    };
    let objects = (0..)
        .zip(&items)
        .map(|(place, item)| SetObject::from_value(format!("{shown}[{place}]"), item));
    let objects = objects.collect::<Result<Vec<_>, _>>()?;
    let scope = scope.unwrap_or(QueryScope::Group);
    match form.or_else(|| recognised(&objects)) {
        Some(SetFormat::LongMemEval) => longmemeval::read(&objects, scope, &mut set)?,
        Some(SetFormat::Locomo) => locomo::read(&objects, &mut set)?,
        Some(SetFormat::Folder) | None => return Err(EvalError::form(shown, "format", ALLOWED)),
    }
    set.check()?;
    Ok((set, scope))
}

fn recognised(objects: &[SetObject<'_>]) -> Option<SetFormat> {
    let first = objects.first()?;
    if first.has("haystack_sessions") {
        Some(SetFormat::LongMemEval)
    } else {
        first.has("conversation").then_some(SetFormat::Locomo)
    }
}

fn name_of(path: &Path) -> String {
    let canonical = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = canonical.file_stem().or_else(|| canonical.file_name()).unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
