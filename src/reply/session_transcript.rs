//! One past session: its exchanges in full, or a summary by counting. Not here: finding it (`sessions`).

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::reply::Reply;
use super::session_disclosure::{exchange_json, marked, part_mark, session_mark, why_of};
use super::session_line::{MINUTE, NOTICE, line, time};
use super::session_list::{session_json, session_line};
use guard::text::{Layout, neutralise};
use sessions::session_digest::{SessionDigest, ShownEntries};
use sessions::session_judgement::{entry_suspicion, part_suspicion};
use sessions::session_rows::{KeptExchange, KeptSession};
use transcripts::exchange::{Exchange, ExchangePart, PartKind};
use transcripts::transcript::Outcome;

/// Longest text of one part, in characters, where not all is asked for.
const SAID_CHARACTERS: usize = 2_000;

/// Longest command, path or argument, in characters.
const COMMAND_CHARACTERS: usize = 400;

/// What of a session is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TranscriptView {
    /// Only the exchanges around this one, two on either side.
    pub around: Option<u32>,
    /// Calls of tools other than the shell and edits, too.
    pub is_with_tools: bool,
}

/// Exchanges on either side of the one that is asked for.
const AROUND: u32 = 2;

/// Writes a session in full.
#[must_use]
pub fn session_transcript(
    session: &KeptSession,
    exchanges: &[KeptExchange],
    shown: TranscriptView,
) -> Reply {
    let is_near = |exchange: &&Exchange| {
        shown.around.is_none_or(|near| exchange.ordinal.abs_diff(near) <= AROUND)
    };
    let chosen: Vec<&Exchange> =
        exchanges.iter().map(|kept| &kept.exchange).filter(is_near).collect();
    let json = json!({
        "session": marked(session_json(session), why_of(session, &chosen)),
        "exchanges": chosen.iter().map(|one| exchange_json(session, one)).collect::<Vec<_>>(),
    });
    let mut text = head(session, &chosen);
    for exchange in &chosen {
        text.push_str(&exchange_text(exchange, shown));
    }
    if chosen.is_empty() {
        text.push_str("\nThere is no such exchange; sessions show ID without --around shows all.");
    }
    Reply::new(text, json)
}

/// Returns what stands above a session: the notice, a mark where something reads like an order, the session as one line.
fn head(session: &KeptSession, exchanges: &[&Exchange]) -> String {
    let mark = session_mark(session, exchanges);
    format!("**Past session:** {NOTICE}\n{mark}{}\n", session_line(session))
}

/// Returns an exchange as lines below a heading with its number and time.
pub(super) fn exchange_text(exchange: &Exchange, shown: TranscriptView) -> String {
    let begun = exchange.span_ms().map(|(first, _)| first);
    let mut text = format!("\n#{} {}\n", exchange.ordinal, time(begun, MINUTE));
    exchange
        .parts
        .iter()
        .filter_map(|part| part_text(part, shown))
        .for_each(|part| text.push_str(&part));
    text
}

/// Returns one part as lines, with a mark before it if it reads like an order.
pub(super) fn part_text(part: &ExchangePart, shown: TranscriptView) -> Option<String> {
    let text = plain_part_text(part, shown)?;
    Some(format!("{}{text}", part_mark(part_suspicion(&part.what))))
}

fn plain_part_text(part: &ExchangePart, shown: TranscriptView) -> Option<String> {
    let said = |who: &str, text: &str| Some(format!("{who}: {}\n", block(text)));
    match &part.what {
        PartKind::Asked(text) => said("person", text),
        PartKind::Answered(text) => said("agent", text),
        PartKind::Summarised(text) => said("summary", text),
        PartKind::Planned(text) => said("plan", text),
        PartKind::Decided(text) => said("person decided", text),
        PartKind::Failed(text) => said("session failed", text),
        PartKind::Interrupted => Some("person interrupted\n".to_owned()),
        PartKind::Ran { command, outcome, excerpt } => Some(step("ran", command, outcome, excerpt)),
        PartKind::Edited { path, outcome, excerpt } => Some(step("edited", path, outcome, excerpt)),
        PartKind::Called { tool, argument, outcome, excerpt } => {
            let is_shown =
                shown.is_with_tools || !matches!(outcome, Outcome::Succeeded | Outcome::Unknown);
            is_shown.then(|| step("called", &format!("{tool} {argument}"), outcome, excerpt))
        }
    }
}

fn step(verb: &str, what: &str, outcome: &Outcome, excerpt: &str) -> String {
    let mut text = format!("{verb}: {}{}\n", line(what, COMMAND_CHARACTERS), ending(outcome));
    for printed in excerpt.lines().filter(|printed| !printed.trim().is_empty()) {
        let _ = writeln!(text, "    {}", line(printed, COMMAND_CHARACTERS));
    }
    text
}

/// Returns how a call ended, if it did not simply succeed.
pub(super) fn ending(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded | Outcome::Unknown => String::new(),
        Outcome::Exited(code) => format!(" → exit {code}"),
        Outcome::Faulted => " → failed".to_owned(),
        Outcome::Refused(None) => " → refused".to_owned(),
        Outcome::Refused(Some(reason)) => {
            format!(" → refused: {}", line(reason, COMMAND_CHARACTERS))
        }
    }
}

/// A text of several lines, each of which is safe. The lines after the first are indented, so that none of them passes for
/// one of ours.
fn block(text: &str) -> String {
    let text = neutralise(text, Layout::Block);
    let cut = text.char_indices().nth(SAID_CHARACTERS).map(|(end, _)| end);
    let kept = cut.and_then(|end| text.get(..end)).unwrap_or(&text);
    let more = if cut.is_some() { "\n  …" } else { "" };
    format!("{}{more}", kept.trim().replace('\n', "\n  "))
}

/// Writes what a session was about.
#[must_use]
pub fn session_summary(session: &KeptSession, digest: &SessionDigest) -> Reply {
    let lists = [
        ("topics", &digest.topics),
        ("files", &digest.files),
        ("commands", &digest.commands),
        ("errors", &digest.errors),
        ("tools", &digest.tools),
        ("packages", &digest.packages),
        ("urls", &digest.urls),
    ];
    let mut text = head(session, &[]);
    let mut json = Map::new();
    json.insert("session".to_owned(), marked(session_json(session), why_of(session, &[])));
    let named = digest.commits.entries.iter().map(|commit| entry_json(commit));
    json.insert("commits".to_owned(), named.collect());
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, ShownEntries { entries, others: more }) in lists {
        let shown = entries.iter().map(|(entry, times)| {
            let entry = entry_text(entry);
            if *times > 1 { format!("{entry} ({times})") } else { entry }
        });
        push_list(&mut text, name, shown.chain(and_others(*more, "more")));
        others.insert(name, *more);
        let values = entries.iter().map(|(entry, times)| {
            marked(json!({ "value": entry, "times": times }), entry_suspicion(entry))
        });
        json.insert(name.to_owned(), values.collect());
    }
    let ShownEntries { entries: commits, others: more } = &digest.commits;
    let commits = commits.iter().map(|commit| entry_text(commit));
    push_list(&mut text, "commits", commits.chain(and_others(*more, "earlier")));
    others.insert("commits", *more);
    others.retain(|_, more| *more > 0);
    json.insert("others".to_owned(), json!(others));
    Reply::new(text, Value::Object(json))
}

/// Returns an entry of a list as one line, with a mark before it if it reads like an order.
fn entry_text(entry: &str) -> String {
    format!("{}{}", part_mark(entry_suspicion(entry)), line(entry, COMMAND_CHARACTERS))
}

/// Returns an entry as JSON: its text, or an object in which the mark stands first.
fn entry_json(entry: &str) -> Value {
    match entry_suspicion(entry) {
        None => entry.into(),
        why => marked(json!({ "value": entry }), why),
    }
}

fn push_list(text: &mut String, name: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<String> = entries.collect();
    if !entries.is_empty() {
        let _ = write!(text, "\n{name}:\n  {}\n", entries.join("\n  "));
    }
}

/// Says how many entries are not shown.
fn and_others(others: usize, which: &str) -> Option<String> {
    (others > 0).then(|| format!("and {others} {which}"))
}

/// One step of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayStep {
    /// How long after the last step it happened, in milliseconds; 0 where the times are unknown.
    pub pause_ms: u64,
    /// What happened, with its time.
    pub text: String,
}

/// Makes the steps of a replay, in time.
#[must_use]
pub fn replay_steps(exchanges: &[KeptExchange], shown: TranscriptView) -> Vec<ReplayStep> {
    let mut last_ms = None;
    let parts = exchanges.iter().flat_map(|kept| &kept.exchange.parts);
    parts
        .filter_map(|part| {
            let text = part_text(part, shown)?;
            let pause = part.at_ms.zip(last_ms).map_or(0, |(now, last): (i64, i64)| now - last);
            last_ms = part.at_ms.or(last_ms);
            let text = format!("[{}] {text}", time(part.at_ms, "%H:%M:%S"));
            Some(ReplayStep { pause_ms: u64::try_from(pause).unwrap_or(0), text })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcripts::exchange::SessionFacts;

    #[test]
    fn a_summary_says_what_it_cuts() {
        let session = KeptSession {
            row: 1,
            tool: "codex".to_owned(),
            native_id: "11112222".to_owned(),
            repo: None,
            title: String::new(),
            opening: String::new(),
            question: String::new(),
            cited: "11112222".to_owned(),
            span_ms: None,
            exchanges: 1,
            facts: SessionFacts::default(),
            is_source_gone: false,
        };
        let ran = |number: u32| ExchangePart {
            at_ms: None,
            what: PartKind::Ran {
                command: format!("git commit -m {number:02}"),
                outcome: Outcome::Succeeded,
                excerpt: String::new(),
            },
        };
        let parts = (0..15).map(ran).collect();
        let exchange = Exchange { ordinal: 0, message_id: None, parts };
        let summary = session_summary(&session, &SessionDigest::from_exchanges(&[exchange]));
        assert!(summary.text.contains("-m 11\n  and 3 more\n"), "{}", summary.text);
        assert!(summary.text.contains("-m 14\n  and 3 earlier\n"), "{}", summary.text);
        assert_eq!(summary.json["others"], json!({ "commands": 3, "commits": 3 }));
    }
}
