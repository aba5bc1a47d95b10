//! What a reader reports of a transcript, the same for every tool: sessions, facts about them, and what happened in
//! them. Not here: how a tool writes it down (`readers`), what is made of it (`exchange`).

use std::collections::BTreeMap;

use guard::secrets::RedactedText;

/// Receives a transcript from a reader.
pub trait TranscriptSink {
    /// Begins a session, or goes on with it; all that follows belongs to it. `native_id` is the tool's own id.
    fn session(&mut self, native_id: &str, extent: SessionExtent);

    /// Reports a fact about the session. A later fact of the same kind replaces an earlier one, except for titles,
    /// where the better one stays.
    fn fact(&mut self, fact: SessionFact);

    /// Reports what happened next.
    fn moment(&mut self, moment: TranscriptMoment);

    /// Tells that the next records begin at this byte of the file. Readers of files that only grow call it for each
    /// record, so that the next import can go on at the last exchange.
    fn offset(&mut self, offset: u64);

    /// Counts one record.
    fn count(&mut self, record: RecordStatus<'_>);

    /// Tells that the session broke off: what is missing of it may still be there.
    fn cut_off(&mut self) {}
}

/// Whether a reader tells a session whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionExtent {
    /// From its beginning: what an earlier import took from this file is replaced.
    Whole,
    /// From where the last import stopped.
    Continued,
}

/// Whether a reader understood a record of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordStatus<'a> {
    /// It was read.
    Understood,
    /// It is known, and says nothing worth keeping.
    Left,
    /// It is of an unknown kind, which is named.
    Unknown(&'a str),
    /// It could not be parsed.
    Broken,
    /// It is longer than a record may be.
    TooLong,
}

/// How many records of which kind a file had.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Census {
    /// Records that were read.
    pub understood: u64,
    /// Records that are known and left.
    pub left: u64,
    /// Records of unknown kinds, by kind; at most [`UNKNOWN_KINDS_MAX`] kinds, the rest under `...`.
    pub unknown: BTreeMap<String, u64>,
    /// Records that could not be parsed.
    pub broken: u64,
    /// Records that are too long.
    pub too_long: u64,
}

/// Most unknown kinds that are told apart: a damaged file must not fill the memory with its kinds.
pub const UNKNOWN_KINDS_MAX: usize = 32;

/// Longest name of an unknown kind, in characters.
const KIND_CHARACTERS_MAX: usize = 48;

impl Census {
    /// Counts a record.
    pub fn count(&mut self, record: RecordStatus<'_>) {
        match record {
            RecordStatus::Understood => self.understood += 1,
            RecordStatus::Left => self.left += 1,
            RecordStatus::Broken => self.broken += 1,
            RecordStatus::TooLong => self.too_long += 1,
            RecordStatus::Unknown(kind) => self.add_unknown(kind, 1),
        }
    }

    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Self) {
        self.understood += other.understood;
        self.left += other.left;
        self.broken += other.broken;
        self.too_long += other.too_long;
        for (kind, records) in &other.unknown {
            self.add_unknown(kind, *records);
        }
    }

    fn add_unknown(&mut self, kind: &str, records: u64) {
        let is_room = self.unknown.len() < UNKNOWN_KINDS_MAX;
        let kind = RedactedText::redact(kind).cut_to_characters(KIND_CHARACTERS_MAX).into_string();
        let kind =
            if is_room || self.unknown.contains_key(&kind) { kind } else { "...".to_owned() };
        *self.unknown.entry(kind).or_default() += records;
    }
}

/// A fact about a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFact {
    /// What it is called.
    Title(TitleSource, String),
    /// The directory in which it began. Only the first one counts.
    Directory(String),
    /// The branch. Only the first one counts.
    Branch(String),
    /// The URL of the repository's remote, or its `owner/name`.
    Remote(String),
    /// The native id of the session that started this one, such as the parent of a subagent.
    Parent(String),
    /// The native id of the session that this one continues as a copy.
    ForkOf(String),
    /// A program started it, not a person: a subagent, a review, a scheduled or scripted run.
    ByProgram,
}

/// Where a title comes from, the best last.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum TitleSource {
    /// A program summarised the session.
    Summary,
    /// A model named it.
    Model,
    /// A person named it.
    Person,
}

/// One thing that happened, in the order of the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptMoment {
    /// The tool's own id of the message, by which a copy in another session is recognised.
    pub message_id: Option<String>,
    /// Milliseconds since 1970 in UTC, where the tool says when.
    pub at_ms: Option<i64>,
    /// What happened.
    pub kind: MomentKind,
}

/// What can happen in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MomentKind {
    /// A person typed this; see [`crate::prompt_text`] for what is taken off first.
    Asked(String),
    /// The agent said this to the person. Not its thinking.
    Answered(String),
    /// The tool summarised the session so far, for instance when it compacted it.
    Summarised(String),
    /// The agent put a plan before the person.
    Planned(String),
    /// The person decided: an answer to a question of the agent.
    Decided(String),
    /// The agent ran a shell command.
    Ran {
        /// The tool's id of the call, which the matching [`MomentKind::Returned`] repeats; empty if there is none.
        call: String,
        /// The command line.
        command: String,
    },
    /// The agent wrote or changed a file. One for each path.
    Edited {
        /// As in [`MomentKind::Ran`].
        call: String,
        /// The path, as the tool wrote it.
        path: String,
    },
    /// The agent called another tool.
    Called {
        /// As in [`MomentKind::Ran`].
        call: String,
        /// The name of the tool.
        tool: String,
        /// Its main argument: a path, a URL, a query, a prompt for a subagent.
        argument: String,
    },
    /// A call came back.
    Returned {
        /// The id of the call.
        call: String,
        /// How it ended.
        outcome: Outcome,
        /// What it printed. Readers pass it whole; only the ends of failures are kept.
        output: String,
    },
    /// The session itself failed: the model could not be reached, or the turn was aborted.
    Failed(String),
    /// The person interrupted the agent.
    Interrupted,
    /// The last questions were taken back, with all that followed them.
    TakenBack {
        /// How many questions.
        questions: usize,
    },
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Outcome {
    /// It succeeded.
    Succeeded,
    /// The command ended with an exit code other than 0, which is known.
    Exited(i32),
    /// It failed, and no exit code is known: the tool reported an error, or time ran out.
    Faulted,
    /// The person refused it, with a reason if one was given.
    Refused(Option<String>),
    /// The transcript does not say.
    Unknown,
}
