//! From the arguments of a call to an analysis. Not here: what it finds (`local::analysis`).

use serde_json::{Map, Value};

use super::fields::Fields;
use super::{REPO_BYTES_MAX, tokens};
use crate::{
    ANALYSIS_TOKENS_DEFAULT, AnalyzeRequest, BRIEF_TOKENS_DEFAULT, FINDINGS_DEFAULT, FINDINGS_MAX,
    PatternsRequest, Topic,
};
use event::limits::ID_BYTES_MAX;
use event::{Problems, quoted};

/// Reads what is to be found out.
///
/// # Errors
/// Every problem, each with its field.
pub fn analysis(arguments: Map<String, Value>) -> Result<AnalyzeRequest, Problems> {
    let mut fields = Fields::of(&["topic", "repo", "limit", "max_tokens"], arguments);
    let word = fields.text("topic", ID_BYTES_MAX);
    let topic = word.as_deref().map_or(Some(Topic::Brief), Topic::parse);
    if topic.is_none() {
        let known = Topic::ALL.map(Topic::as_str).join(", ");
        let got = quoted(&word.unwrap_or_default());
        fields.lacks("topic", &format!("must be one of {known}; got {got}"));
    }
    let topic = topic.unwrap_or(Topic::Brief);
    let tokens_usual =
        if topic == Topic::Brief { BRIEF_TOKENS_DEFAULT } else { ANALYSIS_TOKENS_DEFAULT };
    let repo = fields.text("repo", REPO_BYTES_MAX);
    let limit = fields.number("limit", 1..=FINDINGS_MAX).unwrap_or(FINDINGS_DEFAULT);
    let max_tokens = tokens(&mut fields, tokens_usual);
    fields.finish(AnalyzeRequest { topic, repo, limit, max_tokens })
}

/// Reads which shared patterns are asked for, or which one is accepted.
///
/// # Errors
/// Every problem, each with its field.
pub fn patterns(arguments: Map<String, Value>) -> Result<PatternsRequest, Problems> {
    let mut fields = Fields::of(&["accept", "limit", "max_tokens"], arguments);
    let accept = fields.text("accept", ID_BYTES_MAX);
    let limit = fields.number("limit", 1..=FINDINGS_MAX).unwrap_or(FINDINGS_DEFAULT);
    let max_tokens = tokens(&mut fields, ANALYSIS_TOKENS_DEFAULT);
    fields.finish(match accept {
        Some(which) => PatternsRequest::Accept(which),
        None => PatternsRequest::List { limit, max_tokens },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // S-ANALYZE-1
    #[test]
    fn a_brief_is_short_and_whoever_asks_for_nothing_gets_one() {
        let read = |value: Value| analysis(value.as_object().unwrap().clone());
        let brief = read(json!({})).unwrap();
        assert_eq!((brief.topic, brief.max_tokens, brief.limit), (Topic::Brief, 200, 10));
        for topic in Topic::ALL {
            assert_eq!(read(json!({"topic": topic.as_str()})).unwrap().topic, topic);
        }
        let problems = read(json!({"topic": "hub", "limit": 51})).unwrap_err().to_string();
        assert!(
            problems.contains("topic: must be one of hubs, bridges")
                && problems.contains("limit: must be"),
            "{problems}"
        );
    }
}
