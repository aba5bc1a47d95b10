//! The report of a measurement, as a table for people and as JSON for programs. Not here: the numbers
//! (`measure`, `bootstrap`).

mod economy;
mod misses;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::EvalError;
use super::bootstrap::{self, Difference, RESAMPLES};
use super::measure::{Measure, QueryAnswer, percentile_ms};
use super::request::EvalRequest;
use super::saved_run::SavedRun;
use super::set_result::{ModeResult, SetResult};
use event::Problems;
use reply::Reply;

/// The name of the row over all queries.
const ALL: &str = "all";
/// The name of the row of queries without a type, if others have one.
const UNTYPED: &str = "other";
/// The width of the column of row names.
const NAME_COLUMNS: usize = 26;
/// The measures that are compared with a saved run.
const COMPARED: [Measure; 8] = [
    Measure::Recall1,
    Measure::Recall5,
    Measure::Recall10,
    Measure::Mrr,
    Measure::Ndcg10,
    Measure::FalseAnswer,
    Measure::StaleAbove,
    Measure::Tokens,
];

/// Formats the report.
///
/// # Errors
/// [`EvalError::Options`] if no measured mode can be compared with the saved run.
pub(super) fn reply(
    results: &[SetResult],
    against: Option<&SavedRun>,
    request: &EvalRequest,
) -> Result<Reply, EvalError> {
    let (mut text, mut sets) = (String::new(), Vec::new());
    for result in results {
        let before = against.map(|saved| saved.find(&result.set, &result.judged)).transpose()?;
        let mut modes = Vec::new();
        heading(&mut text, result, request);
        for of_mode in &result.modes {
            let rows = rows(&of_mode.answers);
            table(&mut text, &of_mode.mode, &rows);
            let mut json = json_of_mode(&of_mode.mode, &rows);
            if let Some(count) = request.misses {
                json.insert("misses".to_owned(), misses::misses_json(&of_mode.misses));
                text.push_str(&misses::misses_text(&of_mode.misses, count));
            }
            if request.economy {
                json.insert("economy".to_owned(), economy::economy_json(&of_mode.economy));
                text.push_str(&economy::economy_text(&of_mode.economy));
            }
            modes.push(json);
        }
        if let (Some(before), Some(saved)) = (before, against) {
            let _ = writeln!(
                text,
                "\nagainst version {}, scope {}: difference and its 95 % interval ({RESAMPLES} resamples); * excludes 0",
                saved.program, before.scope
            );
            compare(&mut text, &mut modes, result, before, request.seed)?;
        }
        text.push('\n');
        sets.push(json!({
            "set": result.set, "scope": result.scope, "split": result.split, "judged": result.judged,
            "documents": result.documents, "held_back": result.held_back, "modes": modes,
        }));
    }
    Ok(Reply::new(text, json!({ "sets": sets })))
}

/// The answers of one row of a table.
struct TableRow<'a> {
    name: String,
    answers: Vec<&'a QueryAnswer>,
}

/// Returns a row for each type of query, and one for all.
fn rows(answers: &[QueryAnswer]) -> Vec<TableRow<'_>> {
    let mut kinds: BTreeMap<&str, Vec<&QueryAnswer>> = BTreeMap::new();
    for answer in answers {
        kinds.entry(answer.kind.as_deref().unwrap_or(UNTYPED)).or_default().push(answer);
    }
    let has_kinds = kinds.keys().any(|kind| *kind != UNTYPED);
    let kinds = kinds.into_iter().filter(|_| has_kinds);
    let mut rows: Vec<TableRow<'_>> =
        kinds.map(|(kind, answers)| TableRow { name: kind.to_owned(), answers }).collect();
    rows.push(TableRow { name: ALL.to_owned(), answers: answers.iter().collect() });
    rows
}

fn heading(text: &mut String, result: &SetResult, request: &EvalRequest) {
    let queries = result.modes.first().map_or(0, |of_mode| of_mode.answers.len());
    let _ = writeln!(
        text,
        "{}: {} documents ({} held back), {queries} queries (split {}), scope {}, {} hits",
        result.set, result.documents, result.held_back, result.split, result.scope, request.limit
    );
}

fn table(text: &mut String, mode: &str, rows: &[TableRow<'_>]) {
    let _ = write!(text, "{mode:NAME_COLUMNS$} {:>5}", "n");
    for measure in Measure::ALL {
        let _ = write!(text, " {:>8}", measure.name());
    }
    let _ = writeln!(text, " {:>8} {:>8}", "p50 ms", "p99 ms");
    for row in rows {
        let _ = write!(text, "  {} {:>5}", fitted(&row.name), row.answers.len());
        for measure in Measure::ALL {
            let value = measure.mean(&row.answers);
            let _ =
                write!(text, " {:>8}", value.map_or("-".to_owned(), |value| cell(measure, value)));
        }
        for share in [0.5, 0.99] {
            let _ = write!(text, " {:>8.2}", percentile_ms(&row.answers, share));
        }
        text.push('\n');
    }
}

/// Truncates or pads the name of a row to its column.
fn fitted(name: &str) -> String {
    let width = NAME_COLUMNS - 2;
    let cut: String = name.chars().take(width).collect();
    format!("{cut:width$}")
}

fn cell(measure: Measure, value: f64) -> String {
    if measure == Measure::Tokens { format!("{value:.0}") } else { format!("{value:.4}") }
}

fn json_of_mode(mode: &str, rows: &[TableRow<'_>]) -> Map<String, Value> {
    let row = |row: &TableRow<'_>| {
        let mut json = Map::new();
        json.insert("type".to_owned(), row.name.clone().into());
        json.insert("queries".to_owned(), row.answers.len().into());
        for measure in Measure::ALL {
            json.insert(measure.name().to_owned(), json!(measure.mean(&row.answers)));
        }
        json.insert("p50_ms".to_owned(), json!(percentile_ms(&row.answers, 0.5)));
        json.insert("p99_ms".to_owned(), json!(percentile_ms(&row.answers, 0.99)));
        Value::Object(json)
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    Map::from_iter([("mode".to_owned(), mode.into()), ("rows".to_owned(), rows.into())])
}

fn compare(
    text: &mut String,
    modes: &mut [Map<String, Value>],
    result: &SetResult,
    before: &SetResult,
    seed: u64,
) -> Result<(), EvalError> {
    let mut is_any = false;
    for (of_mode, json) in result.modes.iter().zip(modes) {
        let Some(old) = before.modes.iter().find(|old| old.mode == of_mode.mode) else { continue };
        is_any = true;
        let compared = differences(of_mode, old, seed);
        json.insert("against".to_owned(), compared.iter().map(json_of_compared).collect());
        comparison(text, &of_mode.mode, &compared);
    }
    if is_any {
        return Ok(());
    }
    let message = format!("contains none of the modes measured for {}", result.set);
    Err(Problems::one("against", message).into())
}

/// The differences of one row.
struct Compared {
    name: String,
    queries: usize,
    of: Vec<(Measure, Option<Difference>)>,
}

fn differences(new: &ModeResult, old: &ModeResult, seed: u64) -> Vec<Compared> {
    let old: BTreeMap<&str, &QueryAnswer> =
        old.answers.iter().map(|answer| (answer.id.as_str(), answer)).collect();
    let of_row = |row: TableRow<'_>| {
        let pairs = row.answers.iter().filter_map(|new| Some((*new, *old.get(new.id.as_str())?)));
        let pairs: Vec<(&QueryAnswer, &QueryAnswer)> = pairs.collect();
        let of = COMPARED.into_iter().map(|measure| {
            let both = pairs
                .iter()
                .filter_map(|(new, old)| Some(measure.value(new)? - measure.value(old)?));
            (measure, bootstrap::mean_difference(&both.collect::<Vec<_>>(), seed))
        });
        Compared { name: row.name, queries: pairs.len(), of: of.collect() }
    };
    rows(&new.answers).into_iter().map(of_row).collect()
}

fn comparison(text: &mut String, mode: &str, compared: &[Compared]) {
    // A measure that applies to no query needs no column.
    let is_there = |measure: Measure| {
        let mut all = compared.iter().flat_map(|row| &row.of);
        all.any(|(other, difference)| *other == measure && difference.is_some())
    };
    let shown: Vec<Measure> = COMPARED.into_iter().filter(|measure| is_there(*measure)).collect();
    let _ = write!(text, "{mode:NAME_COLUMNS$} {:>5}", "n");
    for measure in &shown {
        let _ = write!(text, " {:>24}", measure.name());
    }
    text.push('\n');
    for row in compared {
        let _ = write!(text, "  {} {:>5}", fitted(&row.name), row.queries);
        for (measure, difference) in row.of.iter().filter(|(measure, _)| shown.contains(measure)) {
            let cell = difference.map_or("-".to_owned(), |found| difference_cell(*measure, found));
            let _ = write!(text, " {cell:>24}");
        }
        text.push('\n');
    }
}

fn difference_cell(measure: Measure, found: Difference) -> String {
    let star = if found.is_sure() { '*' } else { ' ' };
    let Difference { mean, low, high } = found;
    if measure == Measure::Tokens {
        format!("{mean:+.1} [{low:+.1} {high:+.1}]{star}")
    } else {
        format!("{mean:+.4} [{low:+.3} {high:+.3}]{star}")
    }
}

fn json_of_compared(row: &Compared) -> Value {
    let of = row.of.iter().map(|(measure, difference)| {
        let json = difference.map(|found| {
            json!({ "mean": found.mean, "low": found.low, "high": found.high, "sure": found.is_sure() })
        });
        (measure.name().to_owned(), json!(json))
    });
    let mut json = Map::from_iter([
        ("type".to_owned(), row.name.clone().into()),
        ("queries".to_owned(), row.queries.into()),
    ]);
    json.extend(of);
    Value::Object(json)
}
