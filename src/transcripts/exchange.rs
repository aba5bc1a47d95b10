//! Cuts a transcript into exchanges: a question of a person with all that followed it, up to the next one. Joins calls with
//! their results, and bounds what is kept. Takes the secrets out of each text before it is cut. Not here: which
//! exchanges are copies of others (the importer).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::prompt_text::without_own_answers;
use super::transcript::{
    Census, MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource,
    TranscriptMoment, TranscriptSink,
};
use guard::secrets::RedactedText;

/// Most bytes of one text. A longer one is a pasted file; sessions are not cut, fields are.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

/// Most bytes of a command, a path or an argument.
pub const COMMAND_BYTES_MAX: usize = 8 << 10;

/// Most parts of an exchange; after them a new one begins. Agents that run for hours make thousands.
pub const PARTS_MAX: usize = 400;

/// Characters that are kept from the beginning of the output of a failed call.
pub const EXCERPT_HEAD: usize = 400;

/// Characters that are kept from its end.
pub const EXCERPT_TAIL: usize = 200;

/// Most bytes of a character in UTF-8.
const CHARACTER_BYTES_MAX: usize = 4;

/// Most calls that wait for their results at once.
const CALLS_OPEN_MAX: usize = 1_000;

/// A question with all that followed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Its place in the session, from 0.
    pub ordinal: u32,
    /// The tool's id of its first message that has one. A copy in another session has the same.
    pub message_id: Option<String>,
    /// What happened, in order.
    pub parts: Vec<ExchangePart>,
}

/// One thing that happened in an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangePart {
    /// Milliseconds since 1970 in UTC, if known.
    pub at_ms: Option<i64>,
    /// What happened.
    pub what: PartKind,
}

/// What can happen in an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartKind {
    /// A person said this.
    Asked(String),
    /// The agent said this.
    Answered(String),
    /// The tool summarised the session so far.
    Summarised(String),
    /// The agent planned this.
    Planned(String),
    /// The person decided this.
    Decided(String),
    /// A shell command ran.
    Ran {
        /// The command line.
        command: String,
        /// How it ended.
        outcome: Outcome,
        /// The ends of its output, if it failed.
        excerpt: String,
    },
    /// A file was written or changed.
    Edited {
        /// Its path.
        path: String,
        /// How that ended.
        outcome: Outcome,
        /// The ends of the error, if it failed.
        excerpt: String,
    },
    /// Another tool was called.
    Called {
        /// The name of the tool.
        tool: String,
        /// Its main argument.
        argument: String,
        /// How it ended.
        outcome: Outcome,
        /// The ends of its output, if it failed.
        excerpt: String,
    },
    /// The session itself failed.
    Failed(String),
    /// The person interrupted the agent.
    Interrupted,
}

impl Exchange {
    /// Returns when it began and when it ended, in milliseconds since 1970, where known.
    #[must_use]
    pub fn span_ms(&self) -> Option<(i64, i64)> {
        let times = || self.parts.iter().filter_map(|part| part.at_ms);
        Some((times().min()?, times().max()?))
    }
}

/// A session as far as one file tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRead {
    /// The tool's own id.
    pub native_id: String,
    /// Whether this is all of it.
    pub extent: SessionExtent,
    /// What is known about it.
    pub facts: SessionFacts,
    /// Its exchanges, in order.
    pub exchanges: Vec<Exchange>,
    /// Where the last exchange begins in the file, if the reader tells offsets.
    pub last_offset: Option<u64>,
    /// Whether reading ended early, so that what is missing may still be there.
    pub is_cut_off: bool,
}

/// The facts about a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFacts {
    /// What it is called, and who called it that.
    pub title: Option<(TitleSource, String)>,
    /// The directory in which it began.
    pub directory: Option<String>,
    /// The branch on which it began.
    pub branch: Option<String>,
    /// The URL of the remote, or its `owner/name`.
    pub remote: Option<String>,
    /// The native id of the session that started it.
    pub parent: Option<String>,
    /// The native id of the session that it is a copy of.
    pub fork_of: Option<String>,
    /// Whether a program started it.
    pub is_by_program: bool,
}

impl SessionFacts {
    /// Adds what a later part of the transcript says.
    pub fn add(&mut self, later: Self) {
        let Self { title, directory, branch, remote, parent, fork_of, is_by_program } = later;
        if let Some((source, title)) = title {
            self.add_fact(SessionFact::Title(source, title));
        }
        self.directory = self.directory.take().or(directory);
        self.branch = self.branch.take().or(branch);
        self.remote = remote.or_else(|| self.remote.take());
        self.parent = parent.or_else(|| self.parent.take());
        self.fork_of = fork_of.or_else(|| self.fork_of.take());
        self.is_by_program |= is_by_program;
    }

    /// Takes over a fact, as [`TranscriptSink::fact`] says.
    pub fn add_fact(&mut self, fact: SessionFact) {
        let short = |text: String| clipped(&text, COMMAND_BYTES_MAX);
        match fact {
            SessionFact::Title(source, title) => {
                let title = RedactedText::beginning(&title, COMMAND_BYTES_MAX).line();
                let is_better = self.title.as_ref().is_none_or(|(known, _)| *known <= source);
                if is_better && !title.is_empty() {
                    self.title = Some((source, title.into_string()));
                }
            }
            SessionFact::Directory(path) => drop(self.directory.get_or_insert(short(path))),
            SessionFact::Branch(name) => drop(self.branch.get_or_insert(short(name))),
            SessionFact::Remote(url) => self.remote = Some(short(url)),
            SessionFact::Parent(id) => self.parent = Some(short(id)),
            SessionFact::ForkOf(id) => self.fork_of = Some(short(id)),
            SessionFact::ByProgram => self.is_by_program = true,
        }
    }
}

/// Receives a transcript and makes sessions of it.
pub struct ExchangeBuilder<'a> {
    deliver: &'a mut dyn FnMut(SessionRead),
    first_ordinal: u32,
    session: Option<SessionRead>,
    /// Where the result of a call belongs: exchanges and parts. A call that edits several files has several.
    calls: HashMap<String, Vec<(usize, usize)>>,
    offset: Option<u64>,
    census: Census,
}

impl<'a> ExchangeBuilder<'a> {
    /// Builds the sessions of one file. `first_ordinal` is that of the first exchange where reading goes on; a session
    /// that is told whole begins with 0.
    pub fn new(first_ordinal: u32, deliver: &'a mut dyn FnMut(SessionRead)) -> Self {
        Self {
            deliver,
            first_ordinal,
            session: None,
            calls: HashMap::new(),
            offset: None,
            census: Census::default(),
        }
    }

    /// Delivers the last session, and returns how many records the file had.
    #[must_use]
    pub fn finish(mut self) -> Census {
        self.end_session();
        self.census
    }

    fn end_session(&mut self) {
        self.calls.clear();
        if let Some(session) = self.session.take() {
            (self.deliver)(session);
        }
    }

    fn begin_exchange(&mut self, message_id: Option<String>) {
        let offset = self.offset;
        let Some(session) = &mut self.session else { return };
        // A reader that cannot go on tells the session whole.
        let first = if session.extent == SessionExtent::Whole { 0 } else { self.first_ordinal };
        let ordinal = session.exchanges.last().map_or(first, |last| last.ordinal + 1);
        session.exchanges.push(Exchange { ordinal, message_id, parts: Vec::new() });
        session.last_offset = offset;
    }

    fn push(&mut self, moment: TranscriptMoment, call: Option<&str>, what: PartKind) {
        let is_question = matches!(what, PartKind::Asked(_));
        let last = self.session.as_ref().and_then(|session| session.exchanges.last());
        // Several prompts in a row, or a prompt that was sent in pieces, are one question.
        let begins = last.is_none_or(|last| {
            let is_answered =
                last.parts.iter().any(|part| !matches!(part.what, PartKind::Asked(_)));
            last.parts.len() >= PARTS_MAX || is_question && is_answered
        });
        if begins {
            self.begin_exchange(moment.message_id.clone());
        }
        let Some(session) = &mut self.session else { return };
        let place = session.exchanges.len().saturating_sub(1);
        let Some(exchange) = session.exchanges.last_mut() else { return };
        if exchange.message_id.is_none() {
            exchange.message_id = moment.message_id;
        }
        if let Some(call) =
            call.filter(|call| !call.is_empty() && self.calls.len() < CALLS_OPEN_MAX)
        {
            self.calls.entry(call.to_owned()).or_default().push((place, exchange.parts.len()));
        }
        exchange.parts.push(ExchangePart { at_ms: moment.at_ms, what });
    }

    fn returned(&mut self, call: &str, ended: &Outcome, output: &str) {
        let places = self.calls.remove(call).unwrap_or_default();
        let Some(session) = &mut self.session else { return };
        let is_kept = !matches!(ended, Outcome::Succeeded | Outcome::Unknown);
        let kept = if is_kept { excerpt_of(output) } else { String::new() };
        for (place, part) in places {
            let part = session.exchanges.get_mut(place).and_then(|one| one.parts.get_mut(part));
            if let Some(
                PartKind::Ran { outcome, excerpt, .. }
                | PartKind::Edited { outcome, excerpt, .. }
                | PartKind::Called { outcome, excerpt, .. },
            ) = part.map(|part| &mut part.what)
            {
                (*outcome, *excerpt) = (ended.clone(), kept.clone());
            }
        }
    }

    /// Removes the last questions. An exchange that was cut because it is long has its question in the first piece.
    fn take_back(&mut self, questions: usize) {
        let Some(session) = &mut self.session else { return };
        let is_question = |exchange: &Exchange| {
            exchange.parts.first().is_none_or(|part| matches!(part.what, PartKind::Asked(_)))
        };
        for _ in 0..questions {
            while session.exchanges.pop().is_some_and(|exchange| !is_question(&exchange)) {}
        }
        self.calls.clear();
    }
}

impl TranscriptSink for ExchangeBuilder<'_> {
    fn session(&mut self, native_id: &str, extent: SessionExtent) {
        if self.session.as_ref().is_some_and(|session| session.native_id == native_id) {
            return;
        }
        self.end_session();
        self.session = Some(SessionRead {
            native_id: native_id.to_owned(),
            extent,
            facts: SessionFacts::default(),
            exchanges: Vec::new(),
            last_offset: None,
            is_cut_off: false,
        });
    }

    fn cut_off(&mut self) {
        if let Some(session) = &mut self.session {
            session.is_cut_off = true;
        }
    }

    fn fact(&mut self, fact: SessionFact) {
        if let Some(session) = &mut self.session {
            session.facts.add_fact(fact);
        }
    }

    fn moment(&mut self, mut moment: TranscriptMoment) {
        let what = std::mem::replace(&mut moment.kind, MomentKind::Interrupted);
        let said = |text: String, kind: fn(String) -> PartKind| {
            let text = clipped(without_own_answers(&text).trim(), TEXT_BYTES_MAX);
            (!text.is_empty()).then(|| kind(text))
        };
        let short = |text: String| clipped(text.trim(), COMMAND_BYTES_MAX);
        let (outcome, excerpt) = (Outcome::Unknown, String::new());
        let (call, part) = match what {
            MomentKind::Asked(text) => (None, said(text, PartKind::Asked)),
            MomentKind::Answered(text) => (None, said(text, PartKind::Answered)),
            MomentKind::Summarised(text) => (None, said(text, PartKind::Summarised)),
            MomentKind::Planned(text) => (None, said(text, PartKind::Planned)),
            MomentKind::Decided(text) => (None, said(text, PartKind::Decided)),
            MomentKind::Failed(text) => (None, said(text, PartKind::Failed)),
            MomentKind::Interrupted => (None, Some(PartKind::Interrupted)),
            MomentKind::Ran { call, command } => {
                (Some(call), Some(PartKind::Ran { command: short(command), outcome, excerpt }))
            }
            MomentKind::Edited { call, path } => {
                (Some(call), Some(PartKind::Edited { path: short(path), outcome, excerpt }))
            }
            MomentKind::Called { call, tool, argument } => {
                let (tool, argument) = (short(tool), short(argument));
                (Some(call), Some(PartKind::Called { tool, argument, outcome, excerpt }))
            }
            MomentKind::Returned { call, outcome, output } => {
                return self.returned(&call, &outcome, &output);
            }
            MomentKind::TakenBack { questions } => return self.take_back(questions),
        };
        if let Some(part) = part {
            self.push(moment, call.as_deref(), part);
        }
    }

    fn offset(&mut self, offset: u64) {
        self.offset = Some(offset);
    }

    fn count(&mut self, record: RecordStatus<'_>) {
        self.census.count(record);
    }
}

/// Returns both ends of an output, in characters. Secrets go before anything is cut: the rules know only whole ones.
fn excerpt_of(output: &str) -> String {
    let output = without_own_answers(output);
    let output = output.trim();
    let bytes = (EXCERPT_HEAD * CHARACTER_BYTES_MAX, EXCERPT_TAIL * CHARACTER_BYTES_MAX);
    let ends = RedactedText::head_and_tail(output, bytes, "\n...\n");
    let characters = ends.chars().count();
    if characters <= EXCERPT_HEAD + EXCERPT_TAIL {
        return ends.into_string();
    }
    let head: String = ends.chars().take(EXCERPT_HEAD).collect();
    let tail: String = ends.chars().skip(characters - EXCERPT_TAIL).collect();
    format!("{head}\n...\n{tail}")
}

/// Cuts a text. One that is short enough keeps its secrets until the exchange is packed.
fn clipped(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    RedactedText::beginning(text, bytes_max).cut(bytes_max).into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(told: &[MomentKind]) -> Vec<SessionRead> {
        let mut sessions = Vec::new();
        let mut deliver = |session| sessions.push(session);
        let mut builder = ExchangeBuilder::new(0, &mut deliver);
        builder.session("s", SessionExtent::Whole);
        for (place, what) in told.iter().enumerate() {
            builder.offset(place as u64 * 10);
            let message_id = Some(format!("m{place}"));
            builder.moment(TranscriptMoment {
                message_id,
                at_ms: Some(place as i64),
                kind: what.clone(),
            });
        }
        let _ = builder.finish();
        sessions
    }

    fn asked(text: &str) -> MomentKind {
        MomentKind::Asked(text.to_owned())
    }

    fn ran(call: &str) -> MomentKind {
        MomentKind::Ran { call: call.to_owned(), command: format!("make {call}") }
    }

    fn returned(call: &str, outcome: Outcome) -> MomentKind {
        MomentKind::Returned { call: call.to_owned(), outcome, output: "out\n".repeat(400) }
    }

    #[test]
    fn a_question_holds_all_up_to_the_next() {
        let told = [
            asked("one"),
            asked("and this"),
            ran("a"),
            asked("two"),
            returned("a", Outcome::Exited(2)),
            MomentKind::Answered("ok".to_owned()),
        ];
        let sessions = built(&told);
        let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
        let [first, second] = session.exchanges.as_slice() else { panic!("{session:?}") };
        assert_eq!((first.parts.len(), second.parts.len()), (3, 2));
        assert_eq!((first.ordinal, second.ordinal), (0, 1));
        assert_eq!(
            (first.message_id.as_deref(), second.message_id.as_deref()),
            (Some("m0"), Some("m3"))
        );
        assert_eq!(session.last_offset, Some(30));
        assert_eq!(first.span_ms(), Some((0, 2)));
        let PartKind::Ran { outcome, excerpt, .. } = &first.parts[2].what else {
            panic!("{first:?}")
        };
        assert_eq!(*outcome, Outcome::Exited(2), "the result came after the next question");
        assert!(excerpt.chars().count() <= EXCERPT_HEAD + EXCERPT_TAIL + 5);
    }

    #[test]
    fn the_output_of_a_success_is_not_kept() {
        let sessions = built(&[asked("one"), ran("a"), returned("a", Outcome::Succeeded)]);
        let PartKind::Ran { excerpt, .. } = &sessions[0].exchanges[0].parts[1].what else {
            panic!()
        };
        assert_eq!(excerpt, "");
    }

    #[test]
    fn what_is_taken_back_is_gone() {
        let told = [
            asked("one"),
            ran("a"),
            asked("two"),
            ran("b"),
            MomentKind::TakenBack { questions: 1 },
            asked("three"),
        ];
        let exchanges = &built(&told)[0].exchanges;
        let texts: Vec<_> =
            exchanges.iter().map(|exchange| exchange.parts[0].what.clone()).collect();
        assert_eq!(texts, [PartKind::Asked("one".to_owned()), PartKind::Asked("three".to_owned())]);
        assert_eq!(exchanges[1].ordinal, 1);
    }

    #[test]
    fn a_session_that_is_told_whole_counts_from_0() {
        for (extent, expected) in [(SessionExtent::Whole, 0), (SessionExtent::Continued, 7)] {
            let mut ordinals = Vec::new();
            let mut deliver = |session: SessionRead| ordinals.push(session.exchanges[0].ordinal);
            let mut builder = ExchangeBuilder::new(7, &mut deliver);
            builder.session("s", extent);
            builder.moment(TranscriptMoment { message_id: None, at_ms: None, kind: asked("one") });
            let _ = builder.finish();
            assert_eq!(ordinals, [expected]);
        }
    }

    // S-SESS-10
    #[test]
    fn our_own_answers_are_dropped_and_texts_are_bounded() {
        let told = [
            asked("<agent-knowledge>1. a note</agent-knowledge>"),
            asked(&"é".repeat(TEXT_BYTES_MAX)),
        ];
        let exchanges = &built(&told)[0].exchanges;
        let [part] = exchanges[0].parts.as_slice() else { panic!("{exchanges:?}") };
        assert!(matches!(&part.what, PartKind::Asked(text) if text.len() == TEXT_BYTES_MAX));
    }

    #[test]
    fn an_exchange_without_end_is_cut() {
        let told: Vec<_> =
            std::iter::once(asked("go")).chain((0..PARTS_MAX).map(|_| ran("x"))).collect();
        let exchanges = &built(&told)[0].exchanges;
        assert_eq!(
            exchanges.iter().map(|exchange| exchange.parts.len()).collect::<Vec<_>>(),
            [PARTS_MAX, 1]
        );
    }
}
