//! `pick`: a person chooses one memory at a terminal, and its id, or its text, is the answer. Not here: the list, the keys and
//! the screen (`terminal`).

use serde_json::{Value, json};

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use requests::browse::{BrowseRequest, OutlineRequest};
use requests::{ApiError, Listing, Reply, Request};
use retriever::options::MemoryNeed;
use terminal::screen::ScreenStyle;
use writer::exit::Exit;

const PICK_HELP: &str = "\
Type to filter: every word must fit, its letters in their order. Arrows, page keys, Ctrl-P and
Ctrl-N choose, Enter prints the id, Esc leaves with exit 1. The list has the newest 20,000.

  agent-knowledge show \"$(agent-knowledge pick)\"
  agent-knowledge forget \"$(agent-knowledge pick flaky test)\"";

/// Choose a memory from a list that shortens as you type
#[derive(Debug, Args)]
#[command(after_help = PICK_HELP)]
pub struct Pick {
    /// The words to begin with
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// Print the whole memory instead of its id
    #[arg(long)]
    pub text: bool,
    /// What to choose from.
    #[command(flatten)]
    pub arguments: Arguments<OutlineRequest>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn pick(context: &mut CommandContext<'_, '_>, command: &Pick) -> CommandResult {
    let outline: OutlineRequest = command.arguments.read()?;
    let listing = Request::List(Listing::Outline(Box::new(BrowseRequest::from(outline))));
    let api = context.open(MemoryNeed::Words)?;
    let listed = || api.ask(&listing).map(|reply| reply.json);
    let lookup = context.program.surroundings.lookup;
    let is_set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
    let is_dumb = lookup("TERM").is_some_and(|terminal| terminal == "dumb");
    let is_colourful = context.process.colour_choice.decides(!is_set("NO_COLOR") && !is_dumb);
    let style = if is_colourful { ScreenStyle::Styled } else { ScreenStyle::Plain };
    let Some(id) = pick_memory(&*api, &listed, &command.words.join(" "), style)? else {
        // Nothing is printed: what takes the answer would take a blank line for one.
        let nothing = Reply::new(String::new(), json!({ "id": Value::Null }));
        return Ok(match command.form.json {
            true => CommandEnd::Answer { form: command.form, exit: Exit::NotFound, reply: nothing },
            false => CommandEnd::Exit(Exit::NotFound),
        });
    };
    if command.text {
        return Ok(CommandEnd::answer(command.form, api.ask(&Request::Show([id].to_vec()))?));
    }
    Ok(CommandEnd::answer(command.form, Reply::new(id.clone(), json!({ "id": id }))))
}

const NEEDS_TERMINAL: &str =
    "pick needs a terminal; without one, use agent-knowledge search or agent-knowledge list";

fn failed(exit: Exit, message: impl Into<String>) -> ApiError {
    ApiError::Failed { exit, message: message.into() }
}

#[cfg(not(unix))]
fn chosen(
    _: &dyn requests::Api,
    _: &dyn Fn() -> Result<Value, ApiError>,
    _: &str,
    _: ScreenStyle,
) -> Result<Option<String>, ApiError> {
    Err(failed(Exit::Usage, format!("{NEEDS_TERMINAL}; pick is for Linux and macOS")))
}

#[cfg(unix)]
use on_terminal::pick_memory;

#[cfg(unix)]
mod on_terminal {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use serde_json::Value;

    use crate::commands::pick::{NEEDS_TERMINAL, failed};
    use requests::{Api, ApiError};
    use store::set_on_first_end_signal;
    use terminal::choice_list::{ChoiceList, KeyEffect, PickRow};

    use terminal::keys::{KeyReader, TerminalKey};
    use terminal::raw_terminal::{PersonTerminal, RawTerminal};
    use terminal::screen::{Screen, ScreenStyle, screen_lines};
    use writer::exit::Exit;

    /// How often the size of the terminal is looked at while nobody types, in milliseconds.
    const LOOK_MS: i64 = 250;
    /// How long an escape waits for the rest of a key, in milliseconds: longer than a slow connection parts them.
    const ESCAPE_MS: i64 = 50;
    /// How long somebody must not type for the preview to be made, in milliseconds.
    const PREVIEW_MS: i64 = 30;
    /// Bytes of one read: a pasted text comes in several.
    const READ_BYTES: usize = 1_024;

    /// Lets a person choose; `None` where they leave, or a signal asks this process to end.
    pub(super) fn pick_memory(
        api: &dyn Api,
        listed: &dyn Fn() -> Result<Value, ApiError>,
        query: &str,
        style: ScreenStyle,
    ) -> Result<Option<String>, ApiError> {
        let Some(terminal) = PersonTerminal::find() else {
            return Err(failed(Exit::Usage, NEEDS_TERMINAL));
        };
        // What may take a while, or fail, comes before the terminal is taken.
        let list = ChoiceList::new(candidates(&listed()?), query);
        if list.counts().1 == 0 {
            return Err(failed(Exit::NotFound, "there is no memory to choose from"));
        }
        let is_over = Arc::new(AtomicBool::new(false));
        // Without this a signal leaves the terminal as it is.
        let _ = set_on_first_end_signal(&is_over);
        let terminal = terminal.into_raw().map_err(unusable)?;
        let keys = KeyReader::default();
        let mut picking =
            Picking { api, terminal, list, keys, preview: None, style, is_over: &is_over };
        let chosen = picking.run().map_err(unusable);
        drop(picking);
        // From here on signals end the process as usual.
        is_over.store(true, Ordering::SeqCst);
        chosen
    }

    fn candidates(json: &Value) -> Vec<PickRow> {
        let memories = json.get("memories").and_then(Value::as_array).into_iter().flatten();
        let word = |memory: &Value, name: &str| {
            memory.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let of = |memory| PickRow {
            id: word(memory, "id"),
            day: word(memory, "day"),
            text: word(memory, "text"),
        };
        memories.map(of).collect()
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is passed as a function")]
    fn unusable(error: io::Error) -> ApiError {
        failed(Exit::Io, format!("failed to use the terminal: {error}"))
    }

    struct Picking<'a> {
        api: &'a dyn Api,
        terminal: RawTerminal,
        list: ChoiceList,
        keys: KeyReader,
        /// The id and the text of what is shown below.
        preview: Option<(String, String)>,
        style: ScreenStyle,
        /// Whether a signal came that would have ended the process.
        is_over: &'a AtomicBool,
    }

    impl Picking<'_> {
        fn run(&mut self) -> io::Result<Option<String>> {
            let mut shown: Option<(Screen, Vec<String>)> = None;
            let mut wait_ms = PREVIEW_MS;
            loop {
                self.list.catch_up();
                let screen = self.terminal.screen();
                let lines = screen_lines(&self.list, self.preview(), screen, self.style);
                let now = Some((screen, lines));
                if now != shown {
                    self.terminal.show(now.as_ref().map_or(&[], |(_, lines)| lines))?;
                    shown = now;
                }
                let keys = self.pressed(wait_ms);
                // Of a terminal that is gone the signal tells, and reading fails.
                if self.is_over.load(Ordering::SeqCst) {
                    return Ok(None);
                }
                let keys = keys?;
                if keys.is_empty() {
                    self.look();
                    wait_ms = LOOK_MS;
                }
                for key in keys {
                    wait_ms = PREVIEW_MS;
                    match self.list.press(key, screen.page()) {
                        KeyEffect::Continue => {}
                        KeyEffect::Chosen => {
                            return Ok(self.list.selected().map(|one| one.id.clone()));
                        }
                        KeyEffect::Left => return Ok(None),
                    }
                }
            }
        }

        /// Returns the keys that were pressed, after so many milliseconds at the latest.
        fn pressed(&mut self, wait_ms: i64) -> io::Result<Vec<TerminalKey>> {
            let mut bytes = [0; READ_BYTES];
            let wait_ms = if self.keys.is_waiting() { ESCAPE_MS } else { wait_ms };
            let count = self.terminal.read(wait_ms, &mut bytes)?;
            if count == 0 {
                return Ok(self.keys.end().into_iter().collect());
            }
            Ok(self.keys.read(bytes.get(..count).unwrap_or_default()))
        }

        /// The preview of the selected one, once it was made.
        fn preview(&self) -> &str {
            let selected = self.list.selected().map(|one| one.id.as_str());
            match &self.preview {
                Some((id, text)) if Some(id.as_str()) == selected => text,
                _ => "",
            }
        }

        /// Makes the preview of the selected one.
        fn look(&mut self) {
            let Some(selected) = self.list.selected() else { return };
            if self.preview.as_ref().is_some_and(|(id, _)| *id == selected.id) {
                return;
            }
            let id = selected.id.clone();
            let text = match self.api.ask(&requests::Request::Show(vec![id.clone()])) {
                // The first line says the same of every memory.
                Ok(reply) => reply.text.split_once("\n\n").map_or("", |(_, text)| text).to_owned(),
                Err(error) => error.to_string(),
            };
            self.preview = Some((id, text));
        }
    }
}
