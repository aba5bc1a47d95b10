//! Counts what agents were told, and what reading the logs instead would have cost. Only what was measured is counted. Not here:
//! writing it down (`journal::agent_delivery`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Local;
use super::injected::JOURNAL_OFF;
use crate::journal::agent_delivery::DeliveryJournal;
use crate::journal::journal_line::JournalMemories;
use crate::journal::kind;
use event::{Timestamp, Verdict};
use reply::Reply;
use requests::ApiError;
use requests::injected::SavingsRequest;
use search::snapshot::Snapshot;

const DAY_SECONDS: i64 = 24 * 3_600;

/// Bytes of a log that we take for one token.
const LOG_BYTES_PER_TOKEN: u64 = 4;

/// How the figures are made, in words.
const FORMULA: &str = "tokens_given is our estimate of the tokens of every text that hooks and tools gave to agents, also of those that say that nothing was found. tokens_of_logs is what reading the log of the repository instead would have cost: once for each session and repository in which a memory was told (without a session, once for each agent and day), the bytes of the log at that time divided by 4. helped and failed count memories that an agent reported on after it was told them, each once for each agent. silent counts the occasions at which a hook or a tool looked and had nothing to tell.";

/// The sums.
#[derive(Debug, Default)]
struct Sums {
    answers: u64,
    tokens_given: u64,
    silent: u64,
    /// The bytes of a log, by who would have read it.
    logs: BTreeMap<[String; 3], u64>,
    /// The agent and the memory that it reported on.
    helped: BTreeSet<[String; 2]>,
    failed: BTreeSet<[String; 2]>,
    /// The answers and their tokens, by day.
    days: BTreeMap<String, (u64, u64)>,
}

pub(super) fn savings(
    local: &Local,
    request: &SavingsRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let now = local.core.now();
    let days = days_until(now, request.days);
    let first_day = days.first().cloned().unwrap_or_default();
    let journal = local.core.delivery_journal.as_ref().map(DeliveryJournal::journal);
    let kinds = [kind::INJECTED, kind::SILENT];
    let lines = journal.map(|journal| journal.read_back(None, &kinds)).unwrap_or_default();
    // A journal that begins later knows nothing of the days before.
    let oldest = journal.and_then(|journal| journal.read_on(journal.start_sequence()?, 1));
    let oldest = oldest.and_then(|piece| at(&piece.lines.first()?.1).map(str::to_owned));
    let since = oldest.unwrap_or_else(|| format!("{now:.0}")).max(format!("{first_day}T00:00:00Z"));
    let memories = JournalMemories::look_up(lines.iter().map(|(_, line)| line), snapshot);
    let mut sums = Sums::default();
    for (_, line) in lines.iter().filter(|(_, line)| at(line).is_some_and(|at| *at >= *since)) {
        sums.count(line, &memories);
    }
    let of_day = |day: &String| {
        let (answers, tokens) = sums.days.get(day).copied().unwrap_or_default();
        json!({ "day": day, "answers": answers, "tokens_given": tokens })
    };
    let tokens_of_logs = sums.logs.values().map(|bytes| bytes / LOG_BYTES_PER_TOKEN).sum::<u64>();
    let (answers, tokens_given) = (sums.answers, sums.tokens_given);
    let mut text = format!(
        "{answers} answers since {since}: {tokens_given} tokens given, {tokens_of_logs} tokens in the logs instead; {} helped, {} failed, {} times silent",
        sums.helped.len(),
        sums.failed.len(),
        sums.silent
    );
    let mut json = json!({ "since": since, "answers": answers, "tokens_given": tokens_given,
        "tokens_of_logs": tokens_of_logs, "helped": sums.helped.len(), "failed": sums.failed.len(),
        "silent": sums.silent, "formula": FORMULA,
        "days": days.iter().map(of_day).collect::<Vec<Value>>() });
    if let (None, Some(fields)) = (journal, json.as_object_mut()) {
        fields.insert("notices".to_owned(), json!([JOURNAL_OFF]));
        text.push_str(&format!("\n{JOURNAL_OFF}"));
    }
    Ok(Reply::new(text, json))
}

impl Sums {
    fn count(&mut self, line: &Value, memories: &JournalMemories) {
        let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let number = |name: &str| line[name].as_u64().unwrap_or_default();
        let day: String = word("at").chars().take(10).collect();
        let tokens = number("tokens");
        self.tokens_given += tokens;
        let of_day = self.days.entry(day.clone()).or_default();
        of_day.1 += tokens;
        if line["event"] == kind::SILENT {
            self.silent += 1;
            return;
        }
        self.answers += 1;
        of_day.0 += 1;
        let has_session = line["session"].is_string();
        let who = if has_session { word("session") } else { format!("{} {day}", word("agent")) };
        if line["memories"].as_array().is_some_and(|told| !told.is_empty()) {
            // The newest line comes first; the log was shorter before.
            let reader = [who, word("agent"), word("repo")];
            self.logs.insert(reader, number("log_bytes"));
        }
        for (verdict, counted) in
            [(Verdict::Worked, &mut self.helped), (Verdict::Failed, &mut self.failed)]
        {
            let reported = memories.reported(line, verdict).into_iter();
            counted.extend(reported.map(|id| [word("agent"), id.to_owned()]));
        }
    }
}

fn at(line: &Value) -> Option<&str> {
    line["at"].as_str()
}

/// Returns the last days up to a time, the oldest first.
fn days_until(now: Timestamp, count: usize) -> Vec<String> {
    let today = now.as_second().div_euclid(DAY_SECONDS);
    let count = i64::try_from(count).unwrap_or(1);
    let day = |back: i64| {
        let start = Timestamp::from_second((today - back).saturating_mul(DAY_SECONDS));
        start.map(|start| start.to_string().chars().take(10).collect()).ok()
    };
    (0..count).rev().filter_map(day).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-EVENT-7
    #[test]
    fn a_log_counts_once_for_each_session() {
        let none = JournalMemories::default();
        let mut sums = Sums::default();
        let told = |session: Option<&str>, repo: &str, log_bytes: u64| {
            json!({ "event": "injected", "at": "2026-01-02T03:04:05Z", "agent": "codex", "session": session,
                "repo": repo, "tokens": 10, "memories": ["m1"], "log_bytes": log_bytes })
        };
        for line in [
            told(Some("s"), "a", 900),
            told(Some("s"), "a", 800),
            told(Some("s"), "b", 40),
            told(Some("t"), "a", 400),
            told(None, "a", 4),
            told(None, "a", 4),
            json!({ "event": "injected", "at": "2026-01-03T00:00:00Z", "agent": "codex", "tokens": 5, "memories": [] }),
            json!({ "event": "silent", "at": "2026-01-03T00:00:00Z", "agent": "codex", "tokens": 3 }),
        ] {
            sums.count(&line, &none);
        }
        assert_eq!((sums.answers, sums.tokens_given, sums.silent), (7, 68, 1));
        assert_eq!(sums.logs.values().sum::<u64>(), 800 + 40 + 400 + 4);
        let days: Vec<_> = sums.days.into_iter().collect();
        assert_eq!(days, [("2026-01-02".to_owned(), (6, 60)), ("2026-01-03".to_owned(), (1, 8))]);
    }

    #[test]
    fn days_end_with_today() {
        let now = "2026-03-01T23:59:59Z".parse().unwrap();
        assert_eq!(days_until(now, 3), ["2026-02-27", "2026-02-28", "2026-03-01"]);
    }
}
