//! Watches a session for failures and their fixes. A fix becomes a draft of a lesson, or confirms a draft of another
//! session. Not here: what makes a lesson (`learning`).

use std::sync::Arc;

use super::hook_input::{HookEvent, ToolCall};
use super::outcome::OutcomeEvidence;
use super::recall::tag_request;
use super::session_entry::SessionEntry;
use super::session_summary;
use super::switch::LEARN;
use super::tool::Tool;
use super::{HookRun, NoAnswer};
use event::{Draft, MemoryChange, Verdict};
use guard::secrets::RedactedText;
use learning::command_effects::{changed_things, is_path};
use learning::command_failure::{CommandFailure, SessionStep};
use learning::commands::{command_goal, core_command, is_trivial, proves_success};
use learning::last_words::reads_like_a_failure;
use learning::session_lesson::{self, SessionLesson};
use learning::signature::Signature;
use reply::SearchAnswer;
use requests::Request;
use requests::{Api, Flagged, SearchRequest, UnmergedPolicy};

impl HookRun<'_> {
    /// Updates the state of the session with this event, and saves what was learned.
    pub(super) fn learn_from_event(&mut self) -> Result<(), NoAnswer> {
        if !self.is_on(LEARN) || !self.session.remembers() {
            return Ok(());
        }
        match self.input.event.clone() {
            HookEvent::ToolFailed(call) => self.record_failure(&call),
            HookEvent::ToolSucceeded(call) => return self.record_success(&call),
            HookEvent::End => return self.save_summary(),
            HookEvent::Start(_) | HookEvent::Prompt(_) | HookEvent::Compact => {}
        }
        Ok(())
    }

    fn record_failure(&mut self, call: &ToolCall) {
        if call.tool != Tool::Shell || is_trivial(&call.command) {
            return;
        }
        let Some(goal) = call.command.part(command_goal) else { return };
        let is_sure = call.evidence == OutcomeEvidence::Stated;
        let Some(signature) = Signature::from_output(&call.output).filter(|_| is_sure) else {
            self.record_doubt(goal);
            return;
        };
        let is_doubted = self.session.state.doubted_goals.contains(&goal);
        let is_again = |failure: &CommandFailure| {
            failure.goal == goal && failure.words == signature.words && !is_doubted
        };
        if self.session.state.failures.last().is_some_and(is_again) {
            return;
        }
        let key = self.session.key(self.hook.random);
        self.session.record(SessionEntry::Failed(CommandFailure {
            at: self.hook.now.as_second(),
            fingerprint: call.raw_command.fingerprint(key),
            command: call.command.clone(),
            goal,
            excerpt: signature.excerpt,
            words: signature.words,
            since: Vec::new(),
        }));
    }

    /// Output that only looks like a failure teaches nothing, but the goal no longer counts as fixed.
    fn record_doubt(&mut self, goal: RedactedText) {
        if self.session.state.fixed_goals.contains(&goal) {
            self.session.record(SessionEntry::Doubted(goal));
        }
    }

    /// Records each changed file once for the summary, and again for every failure that is still open.
    fn record_success(&mut self, call: &ToolCall) -> Result<(), NoAnswer> {
        let changed = match call.tool {
            Tool::Edit => call.files.clone(),
            Tool::Shell => call.command.parts(changed_things),
            Tool::Look | Tool::Other(_) => return Ok(()),
        };
        let waits = !self.session.state.failures.is_empty();
        for file in changed {
            if waits || (is_path(&file) && self.session.state.is_new_file(&file)) {
                self.session.record(SessionEntry::Step(SessionStep::Changed(file)));
            }
        }
        if call.tool != Tool::Shell {
            return Ok(());
        }
        if reads_like_a_failure(&call.output)
            && let Some(goal) = call.command.part(command_goal)
        {
            self.record_doubt(goal);
        }
        if waits { self.record_command(call) } else { Ok(()) }
    }

    fn record_command(&mut self, call: &ToolCall) -> Result<(), NoAnswer> {
        let command = &call.command;
        if is_trivial(command) {
            return Ok(());
        }
        let Some(failure) =
            session_lesson::fixed_failure(&self.session.state.failures, command).cloned()
        else {
            self.session
                .record(SessionEntry::Step(SessionStep::Ran(command.reshaped(core_command))));
            return Ok(());
        };
        if reads_like_a_failure(&call.output) {
            return Ok(());
        }
        // A pipe or `|| true` hides the exit code, so it is not known whether the failure is fixed.
        if !proves_success(command) {
            if !self.session.state.doubted_goals.contains(&failure.goal) {
                self.session.record(SessionEntry::Doubted(failure.goal));
            }
            return Ok(());
        }
        let key = self.session.key(self.hook.random);
        let is_same = call.raw_command.fingerprint(key) == failure.fingerprint;
        let ran_again = if is_same { &failure.command } else { command };
        if let Some(lesson) = session_lesson::draft_lesson(&failure, ran_again) {
            self.save_lesson(lesson)?;
        }
        // Recorded last: a lesson that could not be saved is learned the next time.
        self.session.record(SessionEntry::Fixed(failure.goal));
        Ok(())
    }

    /// Saves a lesson once. If another session drafted it before, that draft is confirmed instead.
    fn save_lesson(&mut self, lesson: SessionLesson) -> Result<(), NoAnswer> {
        if self.session.state.lesson_keys.contains(&lesson.key) || !self.session.may_learn() {
            return Ok(());
        }
        let api = (self.hook.connect)(&self.input)?;
        match self.find_draft(&*api, &lesson.key)? {
            EarlierDraft::Here => {}
            // A session that was shown the lesson and followed it is no independent proof.
            EarlierDraft::Elsewhere(id) if self.was_shown(&id) => {}
            EarlierDraft::Elsewhere(id) => {
                let draft = Draft {
                    memory_id: Some(id),
                    change: Some(MemoryChange::Feedback(Verdict::Worked)),
                    ..Draft::default()
                };
                api.ask(&Request::Save(Box::new(draft)))?;
            }
            EarlierDraft::Not => {
                api.ask(&Request::Save(Box::new(lesson.draft)))?;
            }
        }
        self.session.record(SessionEntry::Learnt(lesson.key));
        Ok(())
    }

    /// Tells whether a memory was shown in this session, by the end of its id.
    fn was_shown(&self, id: &str) -> bool {
        self.session.state.shown_ids.iter().any(|shown| id.ends_with(shown.as_str()))
    }

    /// Looks for a draft with this key. Every draft has its key among its tags.
    fn find_draft(&self, api: &dyn Api, key: &str) -> Result<EarlierDraft, NoAnswer> {
        let request = SearchRequest {
            flagged: Flagged::Included,
            unmerged: UnmergedPolicy::Marked,
            ..tag_request(key.to_owned(), 1)
        };
        let found: SearchAnswer = api.ask(&Request::Search(request))?.answer().unwrap_or_default();
        let first = found.memories.into_iter().next().map(|hit| hit.memory.event);
        Ok(match first {
            None => EarlierDraft::Not,
            Some(event) if event.session_id.as_deref() == self.input.session_id.as_deref() => {
                EarlierDraft::Here
            }
            Some(event) => EarlierDraft::Elsewhere(event.id),
        })
    }

    /// Saves one event that summarises the session, if there is something to report.
    fn save_summary(&mut self) -> Result<(), NoAnswer> {
        if self.session.state.is_ended || !self.is_on("end") {
            return Ok(());
        }
        let Some(draft) =
            session_summary::summary_draft(&self.session.state, self.input.directory.as_deref())
        else {
            return Ok(());
        };
        let api: Arc<dyn Api> = (self.hook.connect)(&self.input)?;
        api.ask(&Request::Save(Box::new(draft)))?;
        self.session.record(SessionEntry::Ended);
        Ok(())
    }
}

/// Whether a lesson was drafted before.
enum EarlierDraft {
    Not,
    /// In this session.
    Here,
    /// In another session, under this id.
    Elsewhere(String),
}
