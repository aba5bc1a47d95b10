//! Answers saved in a file, so that a later run can be compared with them query by query. Not here: the
//! comparison (`eval_report`).
//!
//! The file is one JSON object: `format`, `version`, `program`, and `sets`, each with its `modes` and their
//! `queries`. A query has id, type, `relevant` as pairs of grade and rank, `stale` as the rank of the best
//! stale document (null if it was not among the hits; absent if the query has none), depth, returned, tokens, micros,
//! and `hits`: grade (0 for a wrong one), likelihood and score of each examined hit.

use std::path::Path;

use search::Tier;
use serde_json::{Map, Value, json};

use super::EvalError;
use super::measure::{ExaminedHit, QueryAnswer, RelevantDocument};
use super::set_result::{ModeResult, SetResult};
use event::Problems;

const FORMAT: &str = "agent-knowledge eval";
/// Raised when a reader of the old format would misunderstand the new one.
const VERSION: u64 = 1;

/// A saved run.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedRun {
    /// The version of the program that saved it.
    pub program: String,
    /// The results, without misses.
    pub sets: Vec<SetResult>,
}

impl SavedRun {
    /// Finds the run of a set. Other documents, queries or judgements give incomparable numbers. The scope may
    /// differ, because it may be what is compared.
    ///
    /// # Errors
    /// [`EvalError::Options`] if there is no run of exactly this set.
    pub fn find(&self, set: &str, judged: &str) -> Result<&SetResult, EvalError> {
        let refuse = |message: String| Err(Problems::one("against", message).into());
        match self.sets.iter().find(|before| before.set == set) {
            Some(before) if before.judged == judged => Ok(before),
            Some(_) => refuse(format!(
                "contains a run of {set} with other documents, queries or judgements; they must be the same"
            )),
            None => refuse(format!("contains no run of {set}; save one with --save")),
        }
    }
}

/// Checks early that a file can be written, because a measurement takes minutes. The file's content is
/// unchanged.
///
/// # Errors
/// [`EvalError::Io`].
pub fn check_writable(path: &Path) -> Result<(), EvalError> {
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
    opened.map(drop).map_err(EvalError::io("write", path))
}

/// Writes a run.
///
/// # Errors
/// [`EvalError::Io`].
pub fn write(path: &Path, sets: &[SetResult]) -> Result<(), EvalError> {
    let sets: Vec<Value> = sets.iter().map(json_of_set).collect();
    let whole = json!({
        "format": FORMAT, "version": VERSION, "program": env!("CARGO_PKG_VERSION"), "sets": sets,
    });
    std::fs::write(path, format!("{whole}\n")).map_err(EvalError::io("write", path))
}

/// Reads a run.
///
/// # Errors
/// [`EvalError::Io`], or [`EvalError::Form`] if it is not a saved run of a known version.
pub fn read(path: &Path) -> Result<SavedRun, EvalError> {
    let text = std::fs::read_to_string(path).map_err(EvalError::io("read", path))?;
    let wrong = |field: &str, message: &str| {
        EvalError::form(
            path.display().to_string(),
            field,
            format!("{message}; --save writes such a file"),
        )
    };
    let whole: Value =
        serde_json::from_str(&text).map_err(|error| wrong("JSON", &error.to_string()))?;
    if whole.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(wrong("format", &format!("must be {FORMAT:?}")));
    }
    if whole.get("version").and_then(Value::as_u64) != Some(VERSION) {
        return Err(wrong("version", &format!("must be {VERSION}")));
    }
    let sets = whole.get("sets").and_then(Value::as_array);
    let sets = sets.and_then(|sets| sets.iter().map(set_of_json).collect::<Option<Vec<_>>>());
    let sets = sets.ok_or_else(|| wrong("sets", "a field is missing or has another type"))?;
    Ok(SavedRun { program: text_of(&whole, "program").unwrap_or_default(), sets })
}

fn json_of_set(set: &SetResult) -> Value {
    let modes: Vec<Value> = set.modes.iter().map(json_of_mode).collect();
    json!({
        "set": set.set, "scope": set.scope, "split": set.split, "judged": set.judged,
        "documents": set.documents, "held_back": set.held_back, "modes": modes,
    })
}

fn json_of_mode(of_mode: &ModeResult) -> Value {
    let queries: Vec<Value> = of_mode.answers.iter().map(json_of_answer).collect();
    json!({ "mode": of_mode.mode, "queries": queries })
}

fn json_of_answer(answer: &QueryAnswer) -> Value {
    let relevant: Vec<Value> =
        answer.relevant.iter().map(|judged| json!([judged.grade, judged.rank])).collect();
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("id", answer.id.clone().into());
    if let Some(kind) = &answer.kind {
        put("type", kind.clone().into());
    }
    put("relevant", relevant.into());
    if let Some(stale) = answer.stale {
        put("stale", json!(stale));
    }
    put("depth", answer.depth.into());
    put("returned", answer.returned.into());
    if let Some(tier) = answer.right {
        put("right", tier_name(tier).into());
    }
    if let Some(diversity) = answer.diversity {
        put("diversity", diversity.into());
    }
    put("tokens", answer.tokens.into());
    put("micros", answer.micros.into());
    put("hits", answer.hits.iter().map(json_of_hit).collect());
    Value::Object(fields)
}

fn json_of_hit(hit: &ExaminedHit) -> Value {
    json!({ "grade": hit.grade, "likelihood": hit.likelihood, "score": hit.score })
}

fn hit_of_json(value: &Value) -> Option<ExaminedHit> {
    Some(ExaminedHit {
        grade: u32::try_from(value.get("grade")?.as_u64()?).ok()?,
        likelihood: value.get("likelihood")?.as_f64()?,
        score: value.get("score")?.clone(),
    })
}

fn set_of_json(value: &Value) -> Option<SetResult> {
    let modes = value.get("modes")?.as_array()?;
    Some(SetResult {
        set: text_of(value, "set")?,
        scope: text_of(value, "scope")?,
        split: text_of(value, "split")?,
        judged: text_of(value, "judged")?,
        documents: count_of(value, "documents")?,
        // The first saved runs do not contain it.
        held_back: count_of(value, "held_back").unwrap_or(0),
        modes: modes.iter().map(mode_of_json).collect::<Option<_>>()?,
    })
}

fn mode_of_json(value: &Value) -> Option<ModeResult> {
    let answers = value.get("queries")?.as_array()?;
    let answers = answers.iter().map(answer_of_json).collect::<Option<_>>()?;
    Some(ModeResult {
        mode: text_of(value, "mode")?,
        answers,
        misses: Vec::new(),
        economy: Vec::new(),
    })
}

fn answer_of_json(value: &Value) -> Option<QueryAnswer> {
    let judged = |pair: &Value| {
        let grade = u32::try_from(pair.get(0)?.as_u64()?).ok()?;
        Some(RelevantDocument { grade, rank: rank_of(pair.get(1)?)? })
    };
    let relevant = value.get("relevant")?.as_array()?;
    let stale = match value.get("stale") {
        Some(stale) => Some(rank_of(stale)?),
        None => None,
    };
    Some(QueryAnswer {
        id: text_of(value, "id")?,
        kind: text_of(value, "type"),
        relevant: relevant.iter().map(judged).collect::<Option<_>>()?,
        stale,
        depth: count_of(value, "depth")?,
        returned: count_of(value, "returned")?,
        // Runs of earlier programs have none.
        right: value.get("right").and_then(Value::as_str).and_then(tier_named),
        diversity: value.get("diversity").and_then(Value::as_f64),
        tokens: count_of(value, "tokens")?,
        micros: value.get("micros")?.as_u64()?,
        // Runs of earlier programs have none.
        hits: match value.get("hits").and_then(Value::as_array) {
            Some(hits) => hits.iter().map(hit_of_json).collect::<Option<_>>()?,
            None => Vec::new(),
        },
    })
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Likely => "likely",
        Tier::Possible => "possible",
    }
}

fn tier_named(name: &str) -> Option<Tier> {
    [Tier::Likely, Tier::Possible].into_iter().find(|tier| tier_name(*tier) == name)
}

/// Reads a rank or null. The outer `None` means neither.
#[expect(clippy::option_option, reason = "what is wrong and what is null differ")]
fn rank_of(value: &Value) -> Option<Option<usize>> {
    if value.is_null() { Some(None) } else { usize::try_from(value.as_u64()?).ok().map(Some) }
}

fn text_of(value: &Value, field: &str) -> Option<String> {
    Some(value.get(field)?.as_str()?.to_owned())
}

fn count_of(value: &Value, field: &str) -> Option<usize> {
    usize::try_from(value.get(field)?.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> SetResult {
        let judged = |grade, rank| RelevantDocument { grade, rank };
        let answers = vec![
            QueryAnswer {
                id: "q1".into(),
                kind: Some("vague".into()),
                relevant: vec![judged(2, Some(3)), judged(1, None)],
                stale: Some(None),
                depth: 10,
                returned: 5,
                right: Some(Tier::Possible),
                diversity: Some(0.75),
                tokens: 321,
                micros: 1_234,
                hits: vec![ExaminedHit { grade: 2, likelihood: 0.5, score: json!({"total": 1}) }],
            },
            QueryAnswer { id: "q2".into(), stale: Some(Some(1)), ..QueryAnswer::default() },
            QueryAnswer { id: "q3".into(), ..QueryAnswer::default() },
        ];
        let of_mode =
            ModeResult { mode: "lexical".into(), answers, misses: Vec::new(), economy: Vec::new() };
        let text = String::from;
        SetResult {
            set: text("s"),
            scope: text("store"),
            split: text("all"),
            judged: text("00"),
            documents: 7,
            held_back: 1,
            modes: vec![of_mode],
        }
    }

    #[test]
    fn what_was_saved_is_read_back_equal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        write(&path, &[run()]).unwrap();
        let saved = read(&path).unwrap();
        assert_eq!(saved.sets, [run()]);
        assert_eq!(saved.program, env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn what_is_no_saved_run_is_named_by_field() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        write(&path, &[run()]).unwrap();
        let good = std::fs::read_to_string(&path).unwrap();
        for (text, field) in [
            ("[]".to_owned(), "format"),
            ("{".to_owned(), "JSON"),
            (good.replace("\"version\":1", "\"version\":2"), "version"),
            (good.replace("\"depth\":10", "\"depth\":\"ten\""), "sets"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("run.json: {field}: ")), "{error}");
        }
    }
}
