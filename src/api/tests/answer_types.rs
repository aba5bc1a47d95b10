//! Programs read answers back by their types, and lose nothing. Not here: what an answer holds (`reply`).

use serde_json::Value;

use super::fixtures;
use reply::{
    AnalysisAnswer, Answer, AuditAnswer, ExportAnswer, HistoryAnswer, ImportedAnswer,
    InjectedAnswer, KnownAnswer, KnownFixAnswer, PatternsAnswer, RecordsAnswer, SavedPattern,
    SavingsAnswer, SessionExchangesAnswer, SessionsAnswer, TimelineAnswer,
};

/// Reads an answer and writes it again.
type ReadAgain = fn(&Value) -> Value;

fn again<A: Answer>(json: &Value) -> Value {
    serde_json::to_value(A::deserialize(json).unwrap()).unwrap()
}

/// The types of answers, by the beginning of the names of their fixtures.
const TYPES: &[(&str, ReadAgain)] = &[
    ("acceptPattern-", again::<SavedPattern>),
    ("agent-files", again::<ImportedAnswer>),
    ("analyze-", again::<AnalysisAnswer>),
    ("audit-", again::<AuditAnswer>),
    ("export-", again::<ExportAnswer>),
    ("graphStats-", again::<AnalysisAnswer>),
    ("grown-", again::<ExportAnswer>),
    ("history-", again::<HistoryAnswer>),
    ("injected-", again::<InjectedAnswer>),
    ("known-", again::<KnownAnswer>),
    ("patterns-", again::<PatternsAnswer>),
    ("records-", again::<RecordsAnswer>),
    ("savings-", again::<SavingsAnswer>),
    ("searchSessions-", again::<SessionsAnswer>),
    ("session-", again::<SessionExchangesAnswer>),
    ("sessions-failed", again::<KnownFixAnswer>),
    ("timeline-", again::<TimelineAnswer>),
];

#[test]
fn an_answer_is_read_back_whole() {
    for (start, read) in TYPES {
        let entries = std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path());
        let of_type = |path: &std::path::PathBuf| {
            path.file_name().unwrap().to_string_lossy().starts_with(start)
        };
        let of_type: Vec<_> = entries.filter(of_type).collect();
        assert!(!of_type.is_empty(), "{start} has no fixture");
        for path in of_type {
            let text = std::fs::read_to_string(&path).unwrap();
            let fixture: Value = serde_json::from_str(&text).unwrap();
            let json = &fixture["json"];
            assert_eq!(read(json).to_string(), json.to_string(), "{}", path.display());
        }
    }
}
