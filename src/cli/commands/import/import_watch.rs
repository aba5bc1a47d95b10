//! Watches agent files in both directions: changes in them are imported, and a block of ours in them is updated when
//! the memories change. Neither triggers the other: our block is never imported, imported memories are never
//! exported, and text that is in place is not written again. Not here: importing and blocks.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::commands::export::block::{proven_lines, with_block};
use crate::commands::import::import_site::{
    ImportSite, WriteMode, file_version, imported_rules, neutral_line,
};
use crate::program::Program;
use clients::agent_files::{AgentsBlock, FoundFiles, NamedFiles, files_to_import};
use clients::setup::{read_shared, replace_shared};
use guard::secrets::redacted;
use requests::{Api, ApiError, Reply};
use store::on_stop_signal;
use writer::exit::Exit;

/// How often the files are checked, in milliseconds. A check is a few system calls.
const LOOK_MS: u64 = 1_000;

/// After how many checks new rule files are looked for: a walk through a large work tree takes a part of a second.
const LOOKS_PER_WALK: usize = 15;

/// The text of a block while nothing is proven.
const NOTHING: &str = "Nothing at present.";

/// Watches until it is asked to stop.
pub(crate) fn watch_agent_files(
    program: &Program<'_>,
    place: &ImportSite,
    named: &NamedFiles,
    api: &dyn Api,
    messages: &mut dyn Write,
) -> Result<(Exit, Reply), ApiError> {
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, watching) = (Arc::clone(&is_over), std::thread::current());
    // Without this a signal ends the process as usual: every write is whole.
    let _ = on_stop_signal(move || {
        over.store(true, Ordering::SeqCst);
        watching.unpark();
    });
    let mut watched: Vec<String> = Vec::new();
    let (mut seen, mut last) = (None, None);
    let mut printed = String::new();
    let (mut found, mut looks) = (FoundFiles::default(), 0_usize);
    while !is_over.load(Ordering::SeqCst) {
        let mut news = Vec::new();
        if looks.is_multiple_of(LOOKS_PER_WALK) {
            found = named.find(&place.top);
        }
        looks = looks.wrapping_add(1);
        match imported_rules(api) {
            Ok(known) => {
                let files = files_to_import(&place.top, named, &found, &known);
                watched = files.into_iter().map(|(name, _)| name).collect();
            }
            Err(error) => news.push(neutral_line(&error.to_string())),
        }
        let look = |name: &String| (name.clone(), file_version(&place.top, name));
        let now: Vec<_> = watched.iter().map(look).collect();
        // An editor that replaces a file removes it for a moment.
        let is_still = seen.is_none() || last.as_ref() == Some(&now);
        if seen.as_ref() != Some(&now) && is_still {
            match program.import_all(place, named, api, WriteMode::Change) {
                Ok(report) => {
                    seen = Some(now.clone());
                    if report.has_changed() || report.exit() != Exit::Done {
                        news.push(report.reply(&place.repo).text);
                    }
                }
                // It is tried again: another process may hold the log.
                Err(error) => news.push(neutral_line(&error.to_string())),
            }
        }
        news.extend(watched.iter().filter_map(|name| renew_block(place, name, api)));
        let news = news.join("\n");
        // A lasting problem is not reported every second.
        if !news.is_empty() && news != printed {
            // A message that cannot be delivered changes nothing about the outcome.
            let _ = writeln!(messages, "{}", redacted(&news));
            let _ = messages.flush();
        }
        printed = news;
        last = Some(now);
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    }
    Ok((
        Exit::Done,
        Reply::new("stopped watching".to_owned(), json!({ "repo": place.repo.as_str() })),
    ))
}

/// Updates the block of a file that has one; returns the message about it.
fn renew_block(place: &ImportSite, name: &str, api: &dyn Api) -> Option<String> {
    let path = place.top.join(name);
    let text = read_shared(&path).ok()??;
    let block = match AgentsBlock::find(&text) {
        Ok(block) => block?,
        Err(why) => return Some(format!("{}: {why}", neutral_line(name))),
    };
    let lines = proven_lines(api, &block.settings).map(|(lines, _)| lines);
    let after = match lines {
        // Were the block taken out, nobody would know to fill it again.
        Ok(lines) if lines.is_empty() => {
            with_block(&text, &block.settings, &[NOTHING.to_owned()]).ok()?
        }
        Ok(lines) => with_block(&text, &block.settings, &lines).ok()?,
        Err(error) => return Some(neutral_line(&error.to_string())),
    };
    if after == text {
        return None;
    }
    Some(match replace_shared(&path, Some(&text), Some(&after)) {
        Ok(()) => format!("{}: block renewed", neutral_line(name)),
        Err(trouble) => neutral_line(&trouble.to_string()),
    })
}
