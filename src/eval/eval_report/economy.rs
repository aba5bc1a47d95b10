//! The cost of an answer, as text and JSON. Not here: counting it (`eval::economy`).

use std::fmt::Write;

use serde_json::{Value, json};

use crate::economy::{AnswerCost, OutputForm};

/// The width of the column of format names.
const NAME_COLUMNS: usize = 30;

pub(super) fn economy_text(costs: &[(OutputForm, AnswerCost)]) -> String {
    let mut text = String::new();
    let columns = ["tokens", "answered", "tokens per answer"];
    let _ = writeln!(
        text,
        "  {:NAME_COLUMNS$} {:>9} {:>9} {:>18}",
        "economy", columns[0], columns[1], columns[2]
    );
    for (shape, cost) in costs {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let _ = writeln!(
            text,
            "  {:NAME_COLUMNS$} {:>9} {:>9} {:>18}",
            shape.name(),
            number(cost.mean_tokens(), 0),
            number(cost.share_answered(), 4),
            number(cost.tokens_per_answer(), 0)
        );
    }
    text
}

pub(super) fn economy_json(costs: &[(OutputForm, AnswerCost)]) -> Value {
    let one = |(shape, cost): &(OutputForm, AnswerCost)| {
        json!({
            "form": shape.name(), "tokens": cost.mean_tokens(), "answered": cost.share_answered(),
            "tokens_per_answer": cost.tokens_per_answer(),
        })
    };
    costs.iter().map(one).collect()
}
