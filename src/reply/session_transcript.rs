//! One past session: its exchanges in full, or a summary by counting. Not here: finding it (`sessions`).

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reply::Reply;
use super::session_disclosure::{ShownExchange, part_mark, reason, session_mark, why_of};
use super::session_line::{MINUTE, NOTICE, line, time};
use super::session_list::{SessionItem, session_line};
use guard::text::{Layout, neutralise};
use sessions::session_digest::{RankedEntries, SessionDigest, ShownEntries};
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

/// A past session with exchanges of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTranscript {
    /// The session.
    pub session: SessionItem,
    /// Its exchanges, in order.
    pub exchanges: Vec<ShownExchange>,
}

impl SessionTranscript {
    /// Marks what reads like an order.
    pub(super) fn new(session: &KeptSession, exchanges: &[&Exchange]) -> Self {
        Self {
            session: SessionItem::new(session, why_of(session, exchanges)),
            exchanges: exchanges.iter().map(|one| ShownExchange::new(session, one)).collect(),
        }
    }
}

/// What a past session was about, by counting. Each list begins with what it names most often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The session.
    pub session: SessionItem,
    /// The titles of its commits, in order.
    pub commits: Vec<CommitTitle>,
    /// Words that the questions repeat.
    pub topics: Vec<SummaryEntry>,
    /// Files that were written.
    pub files: Vec<SummaryEntry>,
    /// Commands that ran.
    pub commands: Vec<SummaryEntry>,
    /// First lines of errors.
    pub errors: Vec<SummaryEntry>,
    /// Tools that were called.
    pub tools: Vec<SummaryEntry>,
    /// Packages that were installed.
    pub packages: Vec<SummaryEntry>,
    /// Addresses that were named.
    pub urls: Vec<SummaryEntry>,
    /// How many entries are not shown, by the name of their list.
    pub others: BTreeMap<String, usize>,
}

/// An entry of a list, with how often it was named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryEntry {
    /// Why it reads like an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flagged: Option<String>,
    /// The entry.
    pub value: String,
    /// How often.
    pub times: usize,
}

/// The title of a commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommitTitle {
    /// As it is.
    Plain(String),
    /// One that reads like an order, with the reason.
    Flagged {
        /// The reason.
        flagged: String,
        /// The title.
        value: String,
    },
}

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
    let mut text = head(session, &chosen);
    for exchange in &chosen {
        text.push_str(&exchange_text(exchange, shown));
    }
    if chosen.is_empty() {
        text.push_str("\nThere is no such exchange; sessions show ID without --around shows all.");
    }
    Reply::with_text(text, &SessionTranscript::new(session, &chosen))
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
    Some(format!("{}{text}", part_mark(part_suspicion(&part.kind))))
}

fn plain_part_text(part: &ExchangePart, shown: TranscriptView) -> Option<String> {
    let turn = |who: &str, text: &str| Some(format!("{who}: {}\n", block(text)));
    match &part.kind {
        PartKind::Asked(text) => turn("person", text),
        PartKind::Answered(text) => turn("agent", text),
        PartKind::Summarised(text) => turn("summary", text),
        PartKind::Planned(text) => turn("plan", text),
        PartKind::Decided(text) => turn("person decided", text),
        PartKind::Failed(text) => turn("session failed", text),
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
    let ranked = |list: &RankedEntries| {
        let entries = list.entries.iter();
        entries.map(|(entry, times)| SummaryEntry::new(entry, *times)).collect()
    };
    let others = |(name, list): &(&str, &RankedEntries)| ((*name).to_owned(), list.others);
    let lists = ranked_lists(digest);
    let commits = ("commits".to_owned(), digest.commits.others);
    let others = lists.iter().map(others).chain([commits]).filter(|(_, others)| *others > 0);
    let summary = SessionSummary {
        session: SessionItem::new(session, why_of(session, &[])),
        commits: digest.commits.entries.iter().map(|commit| CommitTitle::new(commit)).collect(),
        topics: ranked(&digest.topics),
        files: ranked(&digest.files),
        commands: ranked(&digest.commands),
        errors: ranked(&digest.errors),
        tools: ranked(&digest.tools),
        packages: ranked(&digest.packages),
        urls: ranked(&digest.urls),
        others: others.collect(),
    };
    Reply::with_text(format!("{}{}", head(session, &[]), digest_text(digest)), &summary)
}

fn ranked_lists(digest: &SessionDigest) -> [(&'static str, &RankedEntries); 7] {
    [
        ("topics", &digest.topics),
        ("files", &digest.files),
        ("commands", &digest.commands),
        ("errors", &digest.errors),
        ("tools", &digest.tools),
        ("packages", &digest.packages),
        ("urls", &digest.urls),
    ]
}

fn digest_text(digest: &SessionDigest) -> String {
    let mut text = String::new();
    for (name, ShownEntries { entries, others }) in ranked_lists(digest) {
        let shown = entries.iter().map(|(entry, times)| {
            let entry = entry_text(entry);
            if *times > 1 { format!("{entry} ({times})") } else { entry }
        });
        push_list(&mut text, name, shown.chain(and_others(*others, "more")));
    }
    let ShownEntries { entries: commits, others } = &digest.commits;
    let commits = commits.iter().map(|commit| entry_text(commit));
    push_list(&mut text, "commits", commits.chain(and_others(*others, "earlier")));
    text
}

/// Returns an entry of a list as one line, with a mark before it if it reads like an order.
fn entry_text(entry: &str) -> String {
    format!("{}{}", part_mark(entry_suspicion(entry)), line(entry, COMMAND_CHARACTERS))
}

impl SummaryEntry {
    fn new(entry: &str, times: usize) -> Self {
        Self { flagged: reason(entry_suspicion(entry)), value: entry.to_owned(), times }
    }
}

impl CommitTitle {
    fn new(title: &str) -> Self {
        let value = title.to_owned();
        match reason(entry_suspicion(title)) {
            None => Self::Plain(value),
            Some(flagged) => Self::Flagged { flagged, value },
        }
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
    use serde_json::json;
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
            kind: PartKind::Ran {
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
