//! Counts what agents were shown, and what reading the logs instead would have cost. Only what was measured is counted. Not here:
//! writing it down (`journal::agent_delivery`).

use std::collections::{BTreeMap, BTreeSet};

use super::deliveries::JOURNAL_OFF;
use crate::journal::agent_delivery::{DeliveryJournal, DeliveryLine};
use crate::journal::journal_line::JournalMemories;
use crate::journal::kind;
use crate::local::Local;
use event::{Timestamp, Verdict};
use reply::{Reply, SavingsAnswer, SavingsOfDay};
use requests::ApiError;
use requests::injected::SavingsRequest;
use search::snapshot::Snapshot;

const DAY_SECONDS: i64 = 24 * 3_600;

/// Bytes of a log that we take for one token.
const LOG_BYTES_PER_TOKEN: u64 = 4;

/// How the figures are made, in words.
const FORMULA: &str = "tokens_given is our estimate of the tokens of every text that hooks and tools gave to agents, also of those that say that nothing was found. tokens_of_logs is what reading the log of the repository instead would have cost: once for each session and repository in which a memory was shown (without a session, once for each agent and day), the bytes of the log at that time divided by 4. helped and failed count memories that an agent reported on after it was shown them, each once for each agent. silent counts the occasions at which a hook or a tool looked and had nothing to show.";

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
    let lines = journal.map(|journal| DeliveryLine::back_from(journal, None, &kinds));
    let lines = lines.unwrap_or_default();
    // A journal that begins later knows nothing of the days before.
    let oldest = journal.and_then(|journal| journal.read_on(journal.start_sequence()?, 1));
    let oldest =
        oldest.and_then(|piece| Some(piece.lines.first()?.1.get("at")?.as_str()?.to_owned()));
    let since = oldest.unwrap_or_else(|| format!("{now:.0}")).max(format!("{first_day}T00:00:00Z"));
    let memories =
        JournalMemories::look_up(lines.iter().flat_map(|(_, line)| line.memories()), snapshot);
    let mut sums = Sums::default();
    for (_, line) in lines.iter().filter(|(_, line)| *line.at >= *since) {
        sums.count(line, &memories);
    }
    let of_day = |day: String| {
        let (answers, tokens_given) = sums.days.get(&day).copied().unwrap_or_default();
        SavingsOfDay { day, answers, tokens_given }
    };
    Ok(Reply::from_answer(&SavingsAnswer {
        since,
        answers: sums.answers,
        tokens_given: sums.tokens_given,
        tokens_of_logs: sums.logs.values().map(|bytes| bytes / LOG_BYTES_PER_TOKEN).sum(),
        helped: sums.helped.len() as u64,
        failed: sums.failed.len() as u64,
        silent: sums.silent,
        formula: FORMULA.to_owned(),
        days: days.into_iter().map(of_day).collect(),
        notices: journal.is_none().then(|| JOURNAL_OFF.to_owned()).into_iter().collect(),
    }))
}

impl Sums {
    fn count(&mut self, line: &DeliveryLine, memories: &JournalMemories) {
        let DeliveryLine { agent, tokens, .. } = line;
        let day: String = line.at.chars().take(10).collect();
        self.tokens_given += tokens;
        let of_day = self.days.entry(day.clone()).or_default();
        of_day.1 += tokens;
        if line.event == kind::SILENT {
            self.silent += 1;
            return;
        }
        self.answers += 1;
        of_day.0 += 1;
        let reader = line.session.clone().unwrap_or_else(|| format!("{agent} {day}"));
        if line.memories().next().is_some() {
            // The newest line comes first; the log was shorter before.
            let reader = [reader, agent.clone(), line.repo.clone().unwrap_or_default()];
            self.logs.insert(reader, line.log_bytes);
        }
        for (verdict, counted) in
            [(Verdict::Worked, &mut self.helped), (Verdict::Failed, &mut self.failed)]
        {
            let reported = memories.reported(line, verdict).into_iter();
            counted.extend(reported.map(|id| [agent.clone(), id]));
        }
    }
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
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    // S-EVENT-7
    #[test]
    fn a_log_counts_once_for_each_session() {
        let none = JournalMemories::default();
        let mut sums = Sums::default();
        let delivery = |session: Option<&str>, repo: &str, log_bytes: u64| {
            json!({ "event": "injected", "at": "2026-01-02T03:04:05Z", "agent": "codex", "session": session,
                "repo": repo, "tokens": 10, "memories": ["m1"], "log_bytes": log_bytes })
        };
        for line in [
            delivery(Some("s"), "a", 900),
            delivery(Some("s"), "a", 800),
            delivery(Some("s"), "b", 40),
            delivery(Some("t"), "a", 400),
            delivery(None, "a", 4),
            delivery(None, "a", 4),
            json!({ "event": "injected", "at": "2026-01-03T00:00:00Z", "agent": "codex", "tokens": 5, "memories": [] }),
            json!({ "event": "silent", "at": "2026-01-03T00:00:00Z", "agent": "codex", "tokens": 3 }),
        ] {
            sums.count(&DeliveryLine::deserialize(line).unwrap(), &none);
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
