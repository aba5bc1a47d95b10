//! The program behind an agent's hooks. The client reports an event; if the memory has something relevant, the hook
//! answers with it; a failure and its fix are saved as a lesson. Errors never disturb the agent: nothing is printed,
//! and the exit code is 0.
//!
//! In reading order: [`hook_input`], [`tool`] and [`outcome`] (the input of a client), [`session`] (the state of its
//! session), [`recall`] (what the memory answers), [`session_dedup`] (no memory is shown twice), [`answer`] (the
//! client's format), `fix_detection` (lessons), [`session_summary`] (the event at the end). Not here: how the memory is
//! reached and how long that may take (the command `hook`), what makes a lesson (`learning`).

pub mod answer;
mod fix_detection;
pub mod hook_input;
pub mod last_seen;
mod loaded_files;
mod no_answer;
pub mod outcome;
mod payload_fields;
pub mod recall;
pub mod session;
pub mod session_dedup;
pub mod session_entry;
pub mod session_summary;
pub mod tool;

pub use no_answer::{ApiConnection, NoAnswer};
use std::io::{Read, Write};
use std::path::Path;

use event::Timestamp;
use guard::secrets::RedactedText;
use writer::exit::deliver;

use answer::AnswerFormat;
use hook_input::{HookEvent, HookInput, StartReason};
use loaded_files::loaded_files;
use session::{Session, SessionReader};
use session_entry::{SessionEntry, ShowOccasion};

/// Which hooks are switched on.
pub mod switch {
    use super::HookEvent;

    /// The environment variable with the switches.
    pub const VARIABLE: &str = "AGENT_KNOWLEDGE_HOOKS";

    /// Tells whether the hook of this name is on. `value` is that of the variable: `off` for none, a list of names
    /// for these, unset for all.
    #[must_use]
    pub fn is_on(value: Option<&str>, name: &str) -> bool {
        let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
            return true;
        };
        let mut names = value.split([',', ' ']).map(str::to_ascii_lowercase);
        names.any(|on| on == name || matches!(on.as_str(), "on" | "all" | "1" | "true" | "yes"))
    }

    /// Returns the switch of an event. Learning has a switch of its own.
    #[must_use]
    pub fn switch_name(event: &HookEvent) -> &'static str {
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

/// One call of a hook.
pub struct HookCall<'a> {
    /// The agent, by its name in the table of clients.
    pub agent: &'a str,
    /// The event, if the client does not name it.
    pub event: Option<&'a str>,
    /// The value of [`switch::VARIABLE`].
    pub switches: Option<&'a str>,
    /// The folder of the cache.
    pub cache: &'a Path,
    /// The time.
    pub now: Timestamp,
    /// Fresh random bits.
    pub random: u128,
    /// Called at compaction and at the end of a session, when its transcript has something new.
    pub on_transcript_growth: &'a mut dyn FnMut(),
    /// Records what was delivered to the agent.
    pub record_delivery: &'a mut dyn FnMut(&HookInput, &HookDelivery<'_>),
    /// Connects to the memory, for a session in a directory.
    pub connect: &'a mut dyn FnMut(&HookInput) -> ApiConnection,
}

/// What a hook delivered to the agent.
pub struct HookDelivery<'a> {
    /// At which occasion.
    pub occasion: &'static str,
    /// What was looked for.
    pub query: Option<&'a RedactedText>,
    /// The text that the agent got; empty where there was nothing to tell.
    pub text: &'a str,
    /// The memories in it.
    pub memories: &'a [String],
}

/// Reads the input of a client, answers, and learns.
///
/// # Errors
/// Why there was no answer; that is no failure.
pub fn run(
    hook: HookCall<'_>,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<(), NoAnswer> {
    if !any_is_on(hook.switches) {
        return Err(NoAnswer::Off("everything"));
    }
    let input = hook_input::read(input, hook.event)?;
    last_seen::record(hook.cache, hook.agent, name_of(&input.event), hook.now);
    if matches!(input.event, HookEvent::Compact | HookEvent::End) {
        (hook.on_transcript_growth)();
    }
    let reader = SessionReader {
        agent: hook.agent,
        session: input.session_id.as_deref(),
        subagent: input.subagent.as_deref(),
    };
    let mut session = Session::open(hook.cache, reader, hook.now);
    if input.event == HookEvent::Start(StartReason::Emptied) {
        session.record(SessionEntry::Emptied);
    }
    let mut call = HookRun { form: AnswerFormat::for_agent(hook.agent), input, session, hook };
    let answered = call.answer(output);
    // Learning produces no output, so it runs after the answer.
    let studied = call.learn_from_event();
    answered.and(studied)
}

fn any_is_on(switches: Option<&str>) -> bool {
    ["start", "prompt", "failure", switch::LEARN, "end"]
        .iter()
        .any(|name| switch::is_on(switches, name))
}

/// Returns the name of an event, as [`last_seen`] records it.
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

/// Returns the name of the occasion of a delivery.
fn occasion_of(event: &HookEvent) -> &'static str {
    match event {
        HookEvent::Compact => "compact",
        other => switch::switch_name(other),
    }
}

/// One call with all that is known about it.
struct HookRun<'a> {
    hook: HookCall<'a>,
    form: AnswerFormat,
    input: HookInput,
    session: Session,
}

impl HookRun<'_> {
    fn is_on(&self, name: &str) -> bool {
        switch::is_on(self.hook.switches, name)
    }

    fn answer(&mut self, output: &mut dyn Write) -> Result<(), NoAnswer> {
        let switch = switch::switch_name(&self.input.event);
        if !self.is_on(switch) {
            return Err(NoAnswer::Off(switch));
        }
        if !self.form.reaches_model(&self.input.event) {
            return Ok(());
        }
        let mut was_reached = false;
        let mut reach = || {
            was_reached = true;
            (self.hook.connect)(&self.input)
        };
        let recalled = match &self.input.event {
            HookEvent::Start(why) => {
                let loaded = loaded_files(self.hook.agent, self.input.directory.as_deref());
                recall::start_briefing(*why, loaded, &self.session, &mut reach)
            }
            HookEvent::Prompt(text) => recall::prompt_lessons(text, &self.session, &mut reach),
            HookEvent::ToolFailed(call) => {
                recall::failure_lessons(call, &self.input, &self.session, &mut reach)
            }
            HookEvent::Compact => recall::save_reminder(&self.session),
            HookEvent::ToolSucceeded(_) | HookEvent::End => return Ok(()),
        };
        // A prompt that says too little does not count as the first, and neither does one that got no answer because
        // of an error.
        let is_looked_up = match &recalled {
            Ok(_) => true,
            Err(silence) => {
                matches!(silence, NoAnswer::Nothing(why) if *why != recall::PROMPT_TOO_SHORT)
            }
        };
        let is_prompt = matches!(self.input.event, HookEvent::Prompt(_));
        if is_prompt && is_looked_up && !self.session.state.is_prompted {
            self.session.record(SessionEntry::Prompted);
        }
        if was_reached && matches!(recalled, Err(NoAnswer::Nothing(_))) {
            self.report_delivery("", &[]);
        }
        let recalled = recalled?;
        let fenced = guard::fence::fenced(&recalled.text);
        let text = self.form.answer(&self.input.event_name, &fenced);
        // A briefing may repeat memories that were shown before.
        let is_briefing = matches!(self.input.event, HookEvent::Start(_));
        let at = match &self.input.event {
            HookEvent::ToolFailed(call) => ShowOccasion::Failure(recall::failure_key(call)),
            _ => ShowOccasion::Other,
        };
        let is_told_once = !is_briefing && !recalled.ids.is_empty();
        if is_told_once && !self.session.is_first_to_show(&recalled.ids, at) {
            return Err(NoAnswer::Nothing("another hook shows the same memories"));
        }
        // If the client does not read the answer, nothing was shown, and the next start is briefed again.
        if deliver(output, &text).is_err() {
            return Ok(());
        }
        if is_briefing && !recalled.ids.is_empty() {
            self.session.record(SessionEntry::Shown(recalled.ids.clone()));
        }
        self.report_delivery(&fenced, &recalled.ids);
        Ok(())
    }

    /// Records what was delivered to the agent.
    fn report_delivery(&mut self, text: &str, memories: &[String]) {
        let query = match &self.input.event {
            HookEvent::Prompt(query) => Some(query),
            HookEvent::ToolFailed(call) if call.command.is_empty() => Some(&call.output),
            HookEvent::ToolFailed(call) => Some(&call.command),
            _ => None,
        };
        let occasion = occasion_of(&self.input.event);
        // A past session is not a memory; its parts are named by their number.
        let is_memory = |id: &&String| !id.contains('#');
        let memories: Vec<String> = memories.iter().filter(is_memory).cloned().collect();
        let delivery = HookDelivery { occasion, query, text, memories: &memories };
        (self.hook.record_delivery)(&self.input, &delivery);
    }
}
