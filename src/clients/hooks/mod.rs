//! What an agent's hooks run: the client tells what happened, and where the memory has something to say at that
//! moment it is said; what failed and then worked is learned. Whatever goes wrong, the agent is not disturbed:
//! there is nothing on standard output, and the exit is 0.
//!
//! In reading order: [`said`] and [`outcome`] (what the client says), [`session`] (what its session saw),
//! [`signature`] and [`commands`] (what failed), [`recall`] (what is said about it), [`learn`] and `steps` (what is
//! learned from it), [`ending`] (what is left of a session), [`told`] and [`fence`] (how it is said), [`answer`] (the client's form). Not here: how the memory is
//! reached and how long that may take (`program`).

pub mod answer;
pub mod commands;
pub mod ending;
pub mod learn;
pub mod life;
mod line;
pub mod outcome;
pub mod recall;
pub mod said;
pub mod session;
mod steps;
mod study;
pub mod told;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use api::{Api, ApiError};
use event::Timestamp;
use writer::exit::deliver;

use answer::Form;
use said::{Happening, Said};
use session::{Entry, Session};

/// Why nothing is said. Told only to who asks for it: to an agent silence is an answer.
#[derive(Debug, Error)]
pub enum Silence {
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
    use super::Happening;

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
    pub fn of(happening: &Happening) -> &'static str {
        match happening {
            Happening::Start(_) => "start",
            Happening::Prompt(_) => "prompt",
            Happening::ToolFailed(_) => "failure",
            Happening::ToolSucceeded(_) => LEARN,
            Happening::Compact | Happening::End => "end",
        }
    }

    /// The switch of drafting lessons.
    pub const LEARN: &str = "learn";
}

/// The memory, or why it cannot be asked.
pub type Reached = Result<Arc<dyn Api>, Silence>;

/// A call of the hook.
pub struct Hook<'a> {
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
    pub reach: &'a mut dyn FnMut(&Said) -> Reached,
}

/// Hears what a client says, answers, and learns.
///
/// # Errors
/// Why nothing was said; that is no failure.
pub fn run(hook: Hook<'_>, input: &mut dyn Read, output: &mut dyn Write) -> Result<(), Silence> {
    if !any_is_on(hook.switches) {
        return Err(Silence::Off("everything"));
    }
    let said = said::read(input, hook.event)?;
    life::note(hook.cache, hook.agent, name_of(&said.happening), hook.now);
    let session = Session::open(hook.cache, hook.agent, said.session_id.as_deref(), hook.now);
    let mut visit = Visit { form: Form::of(hook.agent), said, session, hook };
    let answered = visit.answer(output);
    // What is learned is nobody's answer, so it comes after.
    let studied = visit.study();
    answered.and(studied)
}

fn any_is_on(switches: Option<&str>) -> bool {
    ["start", "prompt", "failure", switch::LEARN, "end"]
        .iter()
        .any(|name| switch::is_on(switches, name))
}

/// Names what happened, as signs of life do.
fn name_of(happening: &Happening) -> &'static str {
    match happening {
        Happening::Start(_) => "start",
        Happening::Prompt(_) => "prompt",
        Happening::ToolFailed(_) => "tool-failed",
        Happening::ToolSucceeded(_) => "tool-succeeded",
        Happening::Compact => "compact",
        Happening::End => "end",
    }
}

/// One call, with all that is known about it.
struct Visit<'a> {
    hook: Hook<'a>,
    form: Form,
    said: Said,
    session: Session,
}

impl Visit<'_> {
    fn is_on(&self, name: &str) -> bool {
        switch::is_on(self.hook.switches, name)
    }

    fn answer(&mut self, output: &mut dyn Write) -> Result<(), Silence> {
        let switch = switch::of(&self.said.happening);
        if !self.is_on(switch) {
            return Err(Silence::Off(switch));
        }
        if !self.form.hands_on(&self.said.happening) {
            return Ok(());
        }
        let recalled = match &self.said.happening {
            Happening::Start(why) => {
                recall::at_start(*why, &self.session, || (self.hook.reach)(&self.said))
            }
            Happening::Prompt(text) => {
                recall::for_prompt(text, &self.session, || (self.hook.reach)(&self.said))
            }
            Happening::ToolFailed(call) => {
                recall::for_failure(call, &self.said, &self.session, || {
                    (self.hook.reach)(&self.said)
                })
            }
            Happening::Compact => recall::at_compaction(&self.session),
            Happening::ToolSucceeded(_) | Happening::End => return Ok(()),
        };
        // One that says too little is not the first, and one that nobody could answer comes again.
        let is_looked_up = match &recalled {
            Ok(_) => true,
            Err(silence) => matches!(silence, Silence::Nothing(why) if *why != recall::TOO_LITTLE),
        };
        let is_prompt = matches!(self.said.happening, Happening::Prompt(_));
        if is_prompt && is_looked_up && !self.session.seen.is_prompted {
            self.session.note(Entry::Prompted);
        }
        let recalled = recalled?;
        let text = self.form.answer(&self.said.event, &reply::fence::fenced(&recalled.text));
        // A briefing may repeat what was told before.
        let is_briefing = matches!(self.said.happening, Happening::Start(_));
        if !is_briefing && !recalled.ids.is_empty() && !self.session.is_first_to_tell(&recalled.ids)
        {
            return Err(Silence::Nothing("another hook tells it at this moment"));
        }
        // Who does not listen has heard nothing, and is briefed again.
        if deliver(output, &text).is_ok() && is_briefing && !recalled.ids.is_empty() {
            self.session.note(Entry::Told(recalled.ids));
        }
        Ok(())
    }
}
