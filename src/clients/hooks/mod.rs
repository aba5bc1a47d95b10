//! What an agent's hooks run: the client tells what happened, and where the memory has something to say at that
//! moment it is said; what failed and then worked is learned. Whatever goes wrong, the agent is not disturbed:
//! there is nothing on standard output, and the exit is 0.
//!
//! In reading order: [`hook_input`] and [`outcome`] (what the client says), [`session`] (what its session saw),
//! [`signature`] and [`commands`] (what failed), [`recall`] (what is said about it), [`learn`] and `steps` (what is
//! learned from it), [`ending`] (what is left of a session), [`told`] and [`fence`] (how it is said), [`answer`] (the client's form). Not here: how the memory is
//! reached and how long that may take (`program`).

pub mod answer;
mod command_effects;
pub mod commands;
mod fields;
mod fix_detection;
pub mod hook_input;
pub mod last_seen;
pub mod learn;
pub mod outcome;
pub mod recall;
pub mod session;
pub mod session_dedup;
pub mod session_summary;
mod shell_line;
pub mod tool;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use api::{Api, ApiError};
use event::Timestamp;
use writer::exit::deliver;

use answer::AnswerFormat;
use hook_input::{HookEvent, HookInput};
use session::{Session, SessionEntry};

/// StartReason nothing is said. Told only to who asks for it: to an agent silence is an answer.
#[derive(Debug, Error)]
pub enum NoAnswer {
    /// The input could not be understood.
    #[error("the input is {0}")]
    Input(String),
    /// Neither the input nor an option names an event.
    #[error("no event is named; give --event, for example --event start")]
    NoEvent,
    /// An event of no concern.
    #[error("nothing is done at {0:?}")]
    OtherEvent(String),
    /// A person broke it off.
    #[error("a person broke the tool off")]
    Interrupted,
    /// Hooks of this kind are switched off.
    #[error("AGENT_KNOWLEDGE_HOOKS leaves {0} out")]
    Off(&'static str),
    /// The memory could not be reached in time.
    #[error("{0}")]
    Unreached(String),
    /// It had no answer.
    #[error("{0}")]
    Api(#[from] ApiError),
    /// There is nothing to say.
    #[error("{0}")]
    Nothing(&'static str),
}

/// Which hooks are on.
pub mod switch {
    use super::HookEvent;

    /// The variable that says so.
    pub const VARIABLE: &str = "AGENT_KNOWLEDGE_HOOKS";

    /// Tells whether the hook of a name is on, by the value of the variable: `off` for none, a list for those
    /// in it, nothing for all.
    #[must_use]
    pub fn is_on(value: Option<&str>, name: &str) -> bool {
        let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
            return true;
        };
        let mut names = value.split([',', ' ']).map(str::to_ascii_lowercase);
        names.any(|on| on == name || matches!(on.as_str(), "on" | "all" | "1" | "true" | "yes"))
    }

    /// Names the switch of what happens; learning has one of its own.
    #[must_use]
    pub fn of(event: &HookEvent) -> &'static str {
        match event {
            HookEvent::Start(_) => "start",
            HookEvent::Prompt(_) => "prompt",
            HookEvent::ToolFailed(_) => "failure",
            HookEvent::ToolSucceeded(_) => LEARN,
            HookEvent::Compact | HookEvent::End => "end",
        }
    }

    /// The switch of drafting lessons.
    pub const LEARN: &str = "learn";
}

/// The memory, or why it cannot be asked.
pub type Reached = Result<Arc<dyn Api>, NoAnswer>;

/// A call of the hook.
pub struct HookCall<'a> {
    /// The agent, by its name in setup's table.
    pub agent: &'a str,
    /// What happened, where the client does not say.
    pub event: Option<&'a str>,
    /// The value of [`switch::VARIABLE`].
    pub switches: Option<&'a str>,
    /// Where what can be made again is kept.
    pub cache: &'a Path,
    /// The time.
    pub now: Timestamp,
    /// Reaches the memory, for a session in a directory.
    pub reach: &'a mut dyn FnMut(&HookInput) -> Reached,
}

/// Hears what a client says, answers, and learns.
///
/// # Errors
/// StartReason nothing was said; that is no failure.
pub fn run(
    hook: HookCall<'_>,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<(), NoAnswer> {
    if !any_is_on(hook.switches) {
        return Err(NoAnswer::Off("everything"));
    }
    let said = hook_input::read(input, hook.event)?;
    last_seen::record(hook.cache, hook.agent, name_of(&said.event), hook.now);
    let session = Session::open(hook.cache, hook.agent, said.session_id.as_deref(), hook.now);
    let mut visit = HookRun { form: AnswerFormat::of(hook.agent), said, session, hook };
    let answered = visit.answer(output);
    // What is learned is nobody's answer, so it comes after.
    let studied = visit.learn_from_event();
    answered.and(studied)
}

fn any_is_on(switches: Option<&str>) -> bool {
    ["start", "prompt", "failure", switch::LEARN, "end"]
        .iter()
        .any(|name| switch::is_on(switches, name))
}

/// Names what happened, as signs of life do.
fn name_of(event: &HookEvent) -> &'static str {
    match event {
        HookEvent::Start(_) => "start",
        HookEvent::Prompt(_) => "prompt",
        HookEvent::ToolFailed(_) => "tool-failed",
        HookEvent::ToolSucceeded(_) => "tool-succeeded",
        HookEvent::Compact => "compact",
        HookEvent::End => "end",
    }
}

/// One call, with all that is known about it.
struct HookRun<'a> {
    hook: HookCall<'a>,
    form: AnswerFormat,
    said: HookInput,
    session: Session,
}

impl HookRun<'_> {
    fn is_on(&self, name: &str) -> bool {
        switch::is_on(self.hook.switches, name)
    }

    fn answer(&mut self, output: &mut dyn Write) -> Result<(), NoAnswer> {
        let switch = switch::of(&self.said.event);
        if !self.is_on(switch) {
            return Err(NoAnswer::Off(switch));
        }
        if !self.form.hands_on(&self.said.event) {
            return Ok(());
        }
        let recalled = match &self.said.event {
            HookEvent::Start(why) => {
                recall::at_start(*why, &self.session, || (self.hook.reach)(&self.said))
            }
            HookEvent::Prompt(text) => {
                recall::for_prompt(text, &self.session, || (self.hook.reach)(&self.said))
            }
            HookEvent::ToolFailed(call) => {
                recall::for_failure(call, &self.said, &self.session, || {
                    (self.hook.reach)(&self.said)
                })
            }
            HookEvent::Compact => recall::at_compaction(&self.session),
            HookEvent::ToolSucceeded(_) | HookEvent::End => return Ok(()),
        };
        // One that says too little is not the first, and one that nobody could answer comes again.
        let is_looked_up = match &recalled {
            Ok(_) => true,
            Err(silence) => matches!(silence, NoAnswer::Nothing(why) if *why != recall::TOO_LITTLE),
        };
        let is_prompt = matches!(self.said.event, HookEvent::Prompt(_));
        if is_prompt && is_looked_up && !self.session.seen.is_prompted {
            self.session.note(SessionEntry::Prompted);
        }
        let recalled = recalled?;
        let text = self.form.answer(&self.said.event_name, &reply::fence::fenced(&recalled.text));
        // A briefing may repeat what was told before.
        let is_briefing = matches!(self.said.event, HookEvent::Start(_));
        if !is_briefing && !recalled.ids.is_empty() && !self.session.is_first_to_tell(&recalled.ids)
        {
            return Err(NoAnswer::Nothing("another hook tells it at this moment"));
        }
        // Who does not listen has heard nothing, and is briefed again.
        if deliver(output, &text).is_ok() && is_briefing && !recalled.ids.is_empty() {
            self.session.note(SessionEntry::Told(recalled.ids));
        }
        Ok(())
    }
}
