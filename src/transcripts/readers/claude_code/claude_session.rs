//! How the lines of a transcript of Claude Code make sessions: where one begins, what a person said, what is known about it.
//! Not here: what a call and its result mean (`claude_line`), what was typed while the agent worked (`claude_queue`).

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::claude_line::{
    ClaudeAttachment, ClaudeBlock, ClaudeLine, add_call, call_outcome, text_of,
};
use super::claude_queue::PromptQueue;
use crate::prompt_text::typed_text;
use crate::readers::loose_json::millis_of;
use crate::source::{Resume, TranscriptFile};
use crate::transcript::{
    MomentKind, SessionExtent, SessionFact, TitleSource, TranscriptMoment, TranscriptSink,
};

/// Kinds of lines that say nothing worth keeping.
const KINDS_LEFT: &[&str] = &[
    "progress",
    "file-history-snapshot",
    "file-history-delta",
    "last-prompt",
    "permission-mode",
    "mode",
    "agent-name",
    "agent-color",
    "agent-setting",
    "pr-link",
    "bridge-session",
    "frame-link",
    "continued-in",
    "worktree-state",
    "content-replacement",
    "tag",
];

/// The facts at the beginning of a file, which reading needs again when it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ClaudeBegun {
    session: String,
    directory: Option<String>,
    branch: Option<String>,
}

/// Most messages whose ids are remembered, to tell the titles of this session from those of others.
const IDS_MAX: usize = 1_000_000;

/// Most sessions in one file, and titles that wait for their session to begin.
const SESSIONS_MAX: usize = 100;

/// The reading of one file.
pub(super) struct ClaudeReading {
    /// The id of the session if the lines have none: the name of the file.
    stem: String,
    is_agent: bool,
    extent: SessionExtent,
    begun: Option<ClaudeBegun>,
    session: Option<String>,
    ended: Vec<String>,
    /// Whether the directory, and whether a first prompt of the session was reported.
    has_directory: bool,
    has_prompt: bool,
    ids: HashSet<u64>,
    titles: Vec<(String, TitleSource, String)>,
    queue: PromptQueue,
}

impl ClaudeReading {
    /// Begins to read a file, or goes on with it.
    pub(super) fn new(file: &TranscriptFile, resume: Option<&Resume>, queue: PromptQueue) -> Self {
        let stem = file.stem().unwrap_or("unknown");
        let agent = stem.strip_prefix("agent-");
        let is_whole = resume.is_none_or(|resume| resume.offset == 0);
        Self {
            stem: agent.unwrap_or(stem).to_owned(),
            is_agent: agent.is_some(),
            extent: if is_whole { SessionExtent::Whole } else { SessionExtent::Continued },
            begun: resume.and_then(|resume| ClaudeBegun::deserialize(&resume.state).ok()),
            session: None,
            ended: Vec::new(),
            has_directory: false,
            has_prompt: false,
            ids: HashSet::new(),
            titles: Vec::new(),
            queue,
        }
    }

    /// What must be remembered of the beginning of the file.
    pub(super) fn state(&self) -> serde_json::Value {
        serde_json::to_value(&self.begun).unwrap_or_default()
    }

    /// Reports a line. Returns its kind if that is unknown, and an empty text if it says nothing.
    pub(super) fn read_line(
        &mut self,
        line: ClaudeLine,
        sink: &mut dyn TranscriptSink,
    ) -> Option<String> {
        // Old versions wrote the lines of a subagent between those of its parent.
        if line.is_sidechain.is_true() && !self.is_agent {
            return Some(String::new());
        }
        let told = match line.kind.text() {
            "user" => self.user(line, sink),
            "assistant" => self.assistant(line, sink),
            "attachment" => self.attachment(line, sink),
            "queue-operation" => self.queued(line, sink),
            "system" => self.system(line, sink),
            "custom-title" => {
                self.title(&line, TitleSource::Person, line.custom_title.text(), sink)
            }
            "ai-title" => self.title(&line, TitleSource::Model, line.ai_title.text(), sink),
            "summary" => self.summary(&line, sink),
            kind if KINDS_LEFT.contains(&kind) => false,
            kind => return Some(if kind.is_empty() { "without a type" } else { kind }.to_owned()),
        };
        (!told).then(String::new)
    }

    /// Begins the session of a line, or goes on with it, and reports what is known about it.
    fn enter(&mut self, line: &ClaudeLine, sink: &mut dyn TranscriptSink) {
        let named = if self.is_agent { line.agent_id.some() } else { line.session_id.some() };
        let id = named.or(self.session.as_deref()).unwrap_or(&self.stem).to_owned();
        let is_other = self.session.as_ref().is_none_or(|session| *session != id);
        // A session that ended in this file does not begin again: it would replace itself.
        if is_other && !self.ended.contains(&id) {
            let before = self.session.replace(id.clone());
            self.ended.extend(before.filter(|_| self.ended.len() < SESSIONS_MAX));
            (self.has_directory, self.has_prompt) =
                (false, self.extent == SessionExtent::Continued);
            sink.session(&id, self.extent);
            if self.is_agent {
                sink.fact(SessionFact::ByProgram);
                line.session_id
                    .owned()
                    .into_iter()
                    .for_each(|id| sink.fact(SessionFact::Parent(id)));
            }
            let ours = |(session, ..): &(String, _, _)| *session == id;
            for (_, source, title) in self.titles.iter().filter(|title| ours(title)) {
                sink.fact(SessionFact::Title(*source, title.clone()));
            }
            if let Some(fork) = line.forked_from.first().and_then(|from| from.session_id.owned()) {
                sink.fact(SessionFact::ForkOf(fork));
            }
        }
        self.tell_place(line, sink);
        if let Some(id) = line.uuid.some().filter(|_| self.ids.len() < IDS_MAX) {
            self.ids.insert(hash_of(id));
        }
    }

    /// Reports the directory and the branch, once, as they were at the beginning of the file.
    fn tell_place(&mut self, line: &ClaudeLine, sink: &mut dyn TranscriptSink) {
        let Some(session) = self.session.as_ref().filter(|_| !self.has_directory) else { return };
        let here = |session: &String| ClaudeBegun {
            session: session.clone(),
            directory: line.cwd.owned(),
            branch: line.git_branch.owned().filter(|branch| branch != "HEAD"),
        };
        let known = self.begun.clone().filter(|begun| begun.session == *session);
        let place = known.unwrap_or_else(|| here(session));
        if place.directory.is_none() {
            return;
        }
        self.has_directory = true;
        self.begun.get_or_insert_with(|| place.clone());
        let facts =
            [place.directory.map(SessionFact::Directory), place.branch.map(SessionFact::Branch)];
        facts.into_iter().flatten().for_each(|fact| sink.fact(fact));
    }

    fn user(&mut self, mut line: ClaudeLine, sink: &mut dyn TranscriptSink) -> bool {
        self.enter(&line, sink);
        let moment = LineStamp::line(&line);
        let mut message = std::mem::take(&mut line.message).into_first();
        if line.is_compact_summary.is_true() {
            moment.report(sink, MomentKind::Summarised(text_of(&mut message.content)));
            return true;
        }
        let mut is_told = false;
        for block in &mut message.content.items {
            is_told |= block.kind.text() == "tool_result";
            result(block, &moment, sink);
        }
        if line.is_meta.is_true() {
            return is_told;
        }
        let text = text_of(&mut message.content);
        self.prompt(&line, &text, &moment, sink) || is_told
    }

    /// Reports what a person typed, if a person did.
    fn prompt(
        &mut self,
        line: &ClaudeLine,
        text: &str,
        moment: &LineStamp,
        sink: &mut dyn TranscriptSink,
    ) -> bool {
        if text.trim_start().starts_with("[Request interrupted by user") {
            moment.report(sink, MomentKind::Interrupted);
            return true;
        }
        let prompt = typed_text(text);
        if prompt.is_empty() || !self.is_of_person(line, sink) {
            return false;
        }
        self.has_prompt = true;
        if self.queue.was_taken(&prompt) {
            return true;
        }
        self.queue.forget_taken();
        // What follows a `!` is a command of the person.
        let is_command = text.trim_start().starts_with("<bash-input>");
        let call = String::new();
        moment.report(
            sink,
            if is_command {
                MomentKind::Ran { call, command: prompt }
            } else {
                MomentKind::Asked(prompt)
            },
        );
        true
    }

    /// Tells whether a prompt counts as a question. Those of a program that runs the whole session do; it is marked.
    fn is_of_person(&self, line: &ClaudeLine, sink: &mut dyn TranscriptSink) -> bool {
        let origin = line.origin.first().map_or("", |origin| origin.kind.text());
        let (source, entry) = (line.prompt_source.text(), line.entrypoint.text());
        if self.is_agent {
            return true;
        }
        if source == "system" || !["", "human"].contains(&origin) {
            return false;
        }
        // The desktop program and the editors use the same kit, and have a person before them.
        let is_program =
            (source == "sdk" || entry.starts_with("sdk-")) && !entry.starts_with("claude-");
        if is_program && origin.is_empty() && !self.has_prompt {
            sink.fact(SessionFact::ByProgram);
        }
        true
    }

    fn assistant(&mut self, line: ClaudeLine, sink: &mut dyn TranscriptSink) -> bool {
        self.enter(&line, sink);
        let moment = LineStamp::line(&line);
        let mut message = line.message.into_first();
        if message.model.text() == "<synthetic>" {
            let is_error = line.is_api_error_message.is_true();
            if is_error {
                moment.report(sink, MomentKind::Failed(text_of(&mut message.content)));
            }
            return is_error;
        }
        let mut found = Vec::new();
        if let Some(text) = message.content.text.some() {
            found.push(MomentKind::Answered(text.to_owned()));
        }
        for mut block in message.content.items {
            match block.kind.text() {
                "text" => found.push(MomentKind::Answered(block.text.take_text())),
                "tool_use" => add_call(block, &mut found),
                _ => {}
            }
        }
        let is_told = !found.is_empty();
        found.into_iter().for_each(|what| moment.report(sink, what));
        is_told
    }

    /// A prompt that was given to the agent while it worked.
    fn attachment(&mut self, mut line: ClaudeLine, sink: &mut dyn TranscriptSink) -> bool {
        let ClaudeAttachment { kind, mut prompt } =
            std::mem::take(&mut line.attachment).into_first();
        if kind.text() != "queued_command" {
            return false;
        }
        self.enter(&line, sink);
        let (text, moment) = (text_of(&mut prompt), LineStamp::line(&line));
        self.prompt(&line, &text, &moment, sink)
    }

    /// Follows the queue of prompts, and reports one that the agent took while it worked.
    fn queued(&mut self, mut line: ClaudeLine, sink: &mut dyn TranscriptSink) -> bool {
        let content = line.content.take_text();
        let Some(prompt) = self.queue.follow(line.operation.text(), &content) else {
            return false;
        };
        self.enter(&line, sink);
        let is_told = self.prompt(&line, &prompt, &LineStamp::line(&line), sink);
        self.queue.record_taken(prompt);
        is_told
    }

    fn system(&mut self, mut line: ClaudeLine, sink: &mut dyn TranscriptSink) -> bool {
        self.enter(&line, sink);
        let is_recap = line.subtype.text() == "away_summary";
        if is_recap {
            LineStamp::line(&line).report(sink, MomentKind::Summarised(line.content.take_text()));
        }
        is_recap
    }

    /// Reports a title, now or when its session begins. One of another session was copied with its lines.
    fn title(
        &mut self,
        line: &ClaudeLine,
        source: TitleSource,
        title: &str,
        sink: &mut dyn TranscriptSink,
    ) -> bool {
        let id = line.session_id.some().or(self.session.as_deref()).unwrap_or(&self.stem);
        match &self.session {
            Some(session) if session == id => {
                sink.fact(SessionFact::Title(source, title.to_owned()));
            }
            // Where reading goes on, the session began before.
            None if self.begun.as_ref().is_some_and(|begun| begun.session == id) => {
                self.enter(line, sink);
                sink.fact(SessionFact::Title(source, title.to_owned()));
            }
            None if self.titles.len() < SESSIONS_MAX => {
                self.titles.push((id.to_owned(), source, title.to_owned()));
            }
            _ => return false,
        }
        true
    }

    /// Reports a summary of this session. Those at the beginning of a file are of other sessions.
    fn summary(&mut self, line: &ClaudeLine, sink: &mut dyn TranscriptSink) -> bool {
        let is_ours = self.ids.contains(&hash_of(line.leaf_uuid.text()));
        if is_ours {
            sink.fact(SessionFact::Title(TitleSource::Summary, line.summary.text().to_owned()));
        }
        is_ours
    }
}

/// Reports how a call ended, and what the person decided by it.
fn result(block: &mut ClaudeBlock, moment: &LineStamp, sink: &mut dyn TranscriptSink) {
    if block.kind.text() != "tool_result" {
        return;
    }
    let output = text_of(&mut block.content);
    let (outcome, decided) = call_outcome(&output, block.is_error.is_true());
    let call = block.tool_use_id.take_text();
    moment.report(sink, MomentKind::Returned { call, outcome, output });
    if let Some(decided) = decided {
        moment.report(sink, MomentKind::Decided(decided));
    }
}

/// When a line was written, and its id.
struct LineStamp {
    message_id: Option<String>,
    at_ms: Option<i64>,
}

impl LineStamp {
    fn line(line: &ClaudeLine) -> Self {
        Self { message_id: line.uuid.owned(), at_ms: millis_of(line.timestamp.text()) }
    }

    fn report(&self, sink: &mut dyn TranscriptSink, what: MomentKind) {
        let (message_id, at_ms) = (self.message_id.clone(), self.at_ms);
        sink.moment(TranscriptMoment { message_id, at_ms, kind: what });
    }
}

/// A short form of an id; a collision would only lend a session the title of another.
fn hash_of(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
