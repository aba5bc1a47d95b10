//! A folder of `corpus.jsonl`, `queries.jsonl`, `qrels.tsv` and optionally `stale.tsv`. Not here: other
//! formats.
//!
//! A line of the corpus is `{id, text, timestamp?, group?, title?}`, or a whole event if it has a `lesson`. A
//! query is `{id, text, group?, type?, split?}`. A judgement is query, document and grade, a stale one query
//! and document, separated by tabs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::object::SetObject;
use crate::EvalError;
use crate::test_set::{SetDocument, SetQuery, TestSet};

const TEXT: &str = r#"{"id":"d1","text":"what it says"}"#;
const QRELS: &str = "for example \"q1\\td1\\t1\"";

/// Judgements by query: documents and grades.
type Judged = BTreeMap<String, Vec<(String, u32)>>;

pub(super) fn read(folder: &Path, set: &mut TestSet) -> Result<(), EvalError> {
    lines(&folder.join("corpus.jsonl"), |object| {
        set.documents.push(document(&object)?);
        Ok(())
    })?;
    lines(&folder.join("queries.jsonl"), |object| {
        set.queries.push(query(&object)?);
        Ok(())
    })?;
    let documents: BTreeSet<&str> = set.documents.iter().map(|document| &*document.id).collect();
    let queries: BTreeSet<&str> = set.queries.iter().map(|query| &*query.id).collect();
    let known = KnownIds { documents: &documents, queries: &queries };
    let mut relevant = judgements(&folder.join("qrels.tsv"), &known, Columns::WithGrade)?;
    let stale = folder.join("stale.tsv");
    let mut stale = match stale.exists() {
        true => judgements(&stale, &known, Columns::WithoutGrade)?,
        false => Judged::new(),
    };
    for query in &mut set.queries {
        query.relevant = relevant.remove(&query.id).unwrap_or_default();
        query.relevant.retain(|(_, grade)| *grade > 0);
        let stale = stale.remove(&query.id).unwrap_or_default();
        query.stale = stale.into_iter().map(|(document, _)| document).collect();
    }
    Ok(())
}

fn lines(
    path: &Path,
    mut take: impl FnMut(SetObject<'_>) -> Result<(), EvalError>,
) -> Result<(), EvalError> {
    for (number, line) in numbered(path)? {
        let place = format!("{}:{number}", path.display());
        let value: Value = serde_json::from_str(&line).map_err(|error| {
            EvalError::form(
                &place,
                "JSON",
                format!("{error}; each line is one object such as {TEXT}"),
            )
        })?;
        take(SetObject::from_value(place, &value)?)?;
    }
    Ok(())
}

/// Returns the lines that are not blank, with their numbers from 1.
fn numbered(path: &Path) -> Result<Vec<(usize, String)>, EvalError> {
    let text = std::fs::read_to_string(path).map_err(EvalError::io("read", path))?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    // `lines` is not used, because a text may contain a lone carriage return or U+2028.
    let lines = (1..).zip(text.split('\n'));
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    Ok(lines.map(|(number, line)| (number, line.trim_end_matches('\r').to_owned())).collect())
}

fn document(object: &SetObject<'_>) -> Result<SetDocument, EvalError> {
    let is_event = object.has("lesson");
    let text = if is_event { "" } else { object.text("text", TEXT)? };
    Ok(SetDocument {
        id: object.text("id", "\"d1\"")?.to_owned(),
        text: text.to_owned(),
        title: object.optional("title", "\"npm install fails\"")?,
        timestamp: object.optional("timestamp", "\"2026-02-19\"")?,
        group: object.optional("group", "\"acme/api\"")?,
        event: is_event.then(|| object.map().clone()),
        place: object.place.clone(),
    })
}

fn query(object: &SetObject<'_>) -> Result<SetQuery, EvalError> {
    Ok(SetQuery {
        id: object.text("id", "\"q1\"")?.to_owned(),
        text: object.text("text", "\"npm install EACCES\"")?.to_owned(),
        group: object.optional("group", "\"acme/api\"")?,
        kind: object.optional("type", "\"paraphrase\"")?,
        split: object.optional("split", "\"tune\"")?,
        ..SetQuery::default()
    })
}

struct KnownIds<'a> {
    documents: &'a BTreeSet<&'a str>,
    queries: &'a BTreeSet<&'a str>,
}

#[derive(Clone, Copy, PartialEq)]
enum Columns {
    WithGrade,
    WithoutGrade,
}

fn judgements(path: &Path, known: &KnownIds<'_>, columns: Columns) -> Result<Judged, EvalError> {
    let mut judged = Judged::new();
    for (number, line) in numbered(path)? {
        let wrong = |field: &str, message: String| {
            EvalError::form(format!("{}:{number}", path.display()), field, message)
        };
        let mut parts = line.split('\t').map(str::trim);
        let (query, document) =
            (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let grade = match (parts.next(), columns) {
            (Some(grade), Columns::WithGrade) => grade.parse().map_err(|_| {
                wrong("grade", format!("must be a whole number from 0, got {grade:?}; {QRELS}"))
            })?,
            (None, Columns::WithGrade) => {
                return Err(wrong("grade", format!("is missing; {QRELS}")));
            }
            (_, Columns::WithoutGrade) => 1,
        };
        if !known.queries.contains(query) {
            return Err(wrong("query", format!("{query:?} is not in queries.jsonl; {QRELS}")));
        }
        if !known.documents.contains(document) {
            return Err(wrong("document", format!("{document:?} is not in corpus.jsonl; {QRELS}")));
        }
        judged.entry(query.to_owned()).or_default().push((document.to_owned(), grade));
    }
    Ok(judged)
}
