//! What a session is watched for: failures, what is done about them, and that they are mended. Then a lesson is
//! drafted, or one that was drafted elsewhere is confirmed. Not here: what makes a lesson (`learn`).

use std::sync::Arc;

use super::commands::{core, goal, is_trivial, proves};
use super::ending;
use super::learn::{self, Lesson};
use super::outcome::{Evidence, reads_like_a_failure};
use super::recall::tagged;
use super::said::{Happening, Tool, ToolCall};
use super::session::{Entry, Failure, Step};
use super::steps::{changes, is_path};
use super::switch::LEARN;
use super::{Silence, Visit};
use api::signature::Signature;
use api::{Api, Flagged, SearchRequest};
use event::{Draft, MemoryChange, Verdict};
use reply::fence::unfenced;

impl Visit<'_> {
    /// Learns from what happened.
    pub(super) fn study(&mut self) -> Result<(), Silence> {
        if !self.is_on(LEARN) || !self.session.remembers() {
            return Ok(());
        }
        match self.said.happening.clone() {
            Happening::ToolFailed(call) => self.failed(&call),
            Happening::ToolSucceeded(call) => return self.succeeded(&call),
            Happening::End => return self.ended(),
            Happening::Start(_) | Happening::Prompt(_) | Happening::Compact => {}
        }
        Ok(())
    }

    fn failed(&mut self, call: &ToolCall) {
        if call.tool != Tool::Shell || is_trivial(&call.command) {
            return;
        }
        let Some(goal) = goal(&call.command) else { return };
        let is_sure = call.evidence == Evidence::Told;
        let Some(signature) = Signature::of(&call.output).filter(|_| is_sure) else {
            self.doubt(goal);
            return;
        };
        let is_doubted = self.session.seen.doubted.contains(&goal);
        let is_again = |failure: &Failure| {
            failure.goal == goal && failure.words == signature.words && !is_doubted
        };
        if self.session.seen.failures.last().is_some_and(is_again) {
            return;
        }
        self.session.note(Entry::Failed(Failure {
            at: self.hook.now.as_second(),
            command: unfenced(&call.command),
            goal,
            excerpt: signature.excerpt,
            words: signature.words,
            since: Vec::new(),
        }));
    }

    /// What seems to fail may be too little to learn from, and is enough not to say any more that it works.
    fn doubt(&mut self, goal: String) {
        if self.session.seen.mended.contains(&goal) {
            self.session.note(Entry::Doubted(goal));
        }
    }

    /// What was changed is noted for the end, once, and again for each failure that waits to be mended.
    fn succeeded(&mut self, call: &ToolCall) -> Result<(), Silence> {
        let changed = match call.tool {
            Tool::Edit => call.files.clone(),
            Tool::Shell => changes(&unfenced(&call.command)),
            Tool::Look | Tool::Other(_) => return Ok(()),
        };
        let waits = !self.session.seen.failures.is_empty();
        for file in changed {
            if waits || (is_path(&file) && self.session.seen.is_news(&file)) {
                self.session.note(Entry::Did(Step::Changed(file)));
            }
        }
        if call.tool != Tool::Shell {
            return Ok(());
        }
        if reads_like_a_failure(&call.output)
            && let Some(goal) = goal(&call.command)
        {
            self.doubt(goal);
        }
        if waits { self.ran(call) } else { Ok(()) }
    }

    fn ran(&mut self, call: &ToolCall) -> Result<(), Silence> {
        let command = unfenced(&call.command);
        if is_trivial(&command) {
            return Ok(());
        }
        let Some(failure) = learn::mended(&self.session.seen.failures, &command).cloned() else {
            self.session.note(Entry::Did(Step::Ran(core(&command))));
            return Ok(());
        };
        if reads_like_a_failure(&call.output) {
            return Ok(());
        }
        // A pipe, or `|| true`, ends well whatever happened in it: whether this is mended is not known.
        if !proves(&command) {
            if !self.session.seen.doubted.contains(&failure.goal) {
                self.session.note(Entry::Doubted(failure.goal));
            }
            return Ok(());
        }
        if let Some(lesson) = learn::lesson(&failure, &command) {
            self.learned(lesson)?;
        }
        // Only now: what could not be written down is learned the next time.
        self.session.note(Entry::Mended(failure.goal));
        Ok(())
    }

    /// Writes a lesson down, once: who learned it before, elsewhere, is told that it worked again.
    fn learned(&mut self, lesson: Lesson) -> Result<(), Silence> {
        if self.session.seen.learnt.contains(&lesson.key) || !self.session.may_learn() {
            return Ok(());
        }
        let api = (self.hook.reach)(&self.said)?;
        match self.known(&*api, &lesson.key)? {
            Known::Here => {}
            // Who was told of it and does it proves that it was told.
            Known::Elsewhere(id) if self.was_told(&id) => {}
            Known::Elsewhere(id) => {
                let draft = Draft {
                    memory_id: Some(id),
                    change: Some(MemoryChange::Feedback(Verdict::Worked)),
                    ..Draft::default()
                };
                api.save(draft, None)?;
            }
            Known::Not => {
                api.save(lesson.draft, None)?;
            }
        }
        self.session.note(Entry::Learnt(lesson.key));
        Ok(())
    }

    /// Tells whether a memory was shown in this session, by the end of its id.
    fn was_told(&self, id: &str) -> bool {
        self.session.seen.told.iter().any(|shown| id.ends_with(shown.as_str()))
    }

    /// Looks for what was drafted under a key. Every draft has it among its tags.
    fn known(&self, api: &dyn Api, key: &str) -> Result<Known, Silence> {
        let request = SearchRequest { flagged: Flagged::Included, ..tagged(key.to_owned(), 1) };
        let reply = api.search(&request)?;
        let text = |name: &str| reply.json.get("memories")?.get(0)?.get(name)?.as_str();
        Ok(match text("id") {
            None => Known::Not,
            Some(_) if text("session_id") == self.said.session_id.as_deref() => Known::Here,
            Some(id) => Known::Elsewhere(id.to_owned()),
        })
    }

    /// Tells in one event what became of a session, if that is worth telling.
    fn ended(&mut self) -> Result<(), Silence> {
        if self.session.seen.is_ended || !self.is_on("end") {
            return Ok(());
        }
        let Some(draft) = ending::draft(&self.session.seen, self.said.directory.as_deref()) else {
            return Ok(());
        };
        let api: Arc<dyn Api> = (self.hook.reach)(&self.said)?;
        api.save(draft, None)?;
        self.session.note(Entry::Ended);
        Ok(())
    }
}

/// Whether a lesson was drafted before.
enum Known {
    Not,
    /// In this session.
    Here,
    /// In another one, under this id.
    Elsewhere(String),
}
