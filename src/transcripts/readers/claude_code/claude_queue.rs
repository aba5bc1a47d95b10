//! What a person typed while Claude Code worked: it waits in a queue, of which the transcript tells each step. Not here: the
//! lines of those prompts that get one (`claude_session`).
//!
//! A prompt that leaves the queue for a line of its own is told there. Old versions wrote no such line for those that the
//! agent took while it worked. What still waits at the end is not told: nobody knows whether it was sent.

use std::path::Path;

use super::claude_line::ClaudeLine;
use crate::prompt_text::typed_text;
use crate::readers::loose_json::{has_bytes, head_of, may_be_glued};
use crate::records::{RecordLine, RecordLines, values_of_line};
use crate::source::ReadError;

/// Most prompts that wait until the agent has time for them.
const QUEUE_MAX: usize = 100;

/// How far before the place where reading goes on the queue is followed, in bytes. No prompt waits for longer.
const QUEUE_BYTES: u64 = 4 << 20;

/// The kind of a line that tells a step.
const QUEUED: &[u8] = b"\"type\":\"queue-operation\"";

/// The prompts that wait.
#[derive(Default)]
pub(super) struct PromptQueue {
    /// What was typed; empty where a program wrote it.
    waiting: Vec<String>,
    /// What the agent took, so that a second line about it is left out.
    taken: Vec<String>,
}

impl PromptQueue {
    /// The queue as it was before an offset.
    pub(super) fn before(path: &Path, offset: u64) -> Result<Self, ReadError> {
        let mut queue = Self::default();
        let mut lines = RecordLines::open(path, offset.saturating_sub(QUEUE_BYTES))?;
        while lines.offset() < offset {
            let Some(line) = lines.next_line().map_err(ReadError::io(path))? else { break };
            let RecordLine::Whole { bytes, .. } = line else { continue };
            if !has_bytes(head_of(bytes), QUEUED) && !may_be_glued(bytes) {
                continue;
            }
            values_of_line::<ClaudeLine>(bytes, &mut |line| {
                let line = line.unwrap_or_default();
                if line.kind.text() == "queue-operation" {
                    queue.follow(line.operation.text(), line.content.text());
                }
            });
        }
        Ok(queue)
    }

    /// Follows one operation, and returns the prompt that the agent took by it.
    pub(super) fn follow(&mut self, operation: &str, content: &str) -> Option<String> {
        // A program puts its notices in there as well.
        let is_notice = content.starts_with("{\"task_id\"");
        let prompt = if is_notice { String::new() } else { typed_text(content) };
        match operation {
            "enqueue" if self.waiting.len() < QUEUE_MAX => self.waiting.push(prompt),
            "dequeue" => drop(self.remove(Some(0))),
            "popAll" => self.waiting.clear(),
            // New versions say which, and write a line about it when the agent has taken it.
            "remove" if !content.is_empty() => {
                let place = self.waiting.iter().position(|waiting| *waiting == prompt);
                drop(self.remove(place));
            }
            "remove" => {
                let notice = self.waiting.iter().position(String::is_empty);
                return self.remove(notice.or(Some(0))).filter(|prompt| !prompt.is_empty());
            }
            _ => {}
        }
        None
    }

    fn remove(&mut self, place: Option<usize>) -> Option<String> {
        let place = place.filter(|place| *place < self.waiting.len())?;
        Some(self.waiting.remove(place))
    }

    /// Remembers what the agent took.
    pub(super) fn record_taken(&mut self, prompt: String) {
        if self.taken.len() < QUEUE_MAX {
            self.taken.push(prompt);
        }
    }

    /// Tells, once, whether the agent took this prompt already.
    pub(super) fn was_taken(&mut self, prompt: &str) -> bool {
        let place = self.taken.iter().position(|taken| taken == prompt);
        place.is_some_and(|place| {
            self.taken.remove(place);
            true
        })
    }

    /// The agent has come to rest, or a line of its own held the next prompt: what follows is about other prompts.
    pub(super) fn forget_taken(&mut self) {
        self.taken.clear();
    }
}
