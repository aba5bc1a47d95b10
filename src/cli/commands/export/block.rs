//! The block of proven memories in an agent file. Not here: which memories those are (`api::local::list`), how a
//! block stands in a text (`clients::agent_files`).

use serde_json::json;

use crate::commands::export::Export;
use crate::commands::import::import_site::neutral_line;
use crate::program::Program;

use clients::agent_files::{AgentsBlock, BlockSettings, path_below};
use clients::setup::{SetupError, read_shared, replace_shared};
use event::{Problems, quoted};
use memory::Maturity;
use reply::ExportAnswer;
use requests::{
    Api, ApiError, EXPORT_TOKENS_DEFAULT, Listing, Reply, Request, TOKENS_MAX, TOKENS_MIN,
};
use retriever::options::{GlobalOptions, MemoryNeed};
use writer::exit::Exit;

/// The default file of a block: most agents read it.
const TO_DEFAULT: &str = "AGENTS.md";

impl Program<'_> {
    pub(crate) fn write_block(
        &mut self,
        settings: &GlobalOptions,
        command: &Export,
    ) -> Result<Reply, ApiError> {
        let wanted = block_settings(command)?;
        let place = self.import_site(settings)?;
        let name = match &command.to {
            None => TO_DEFAULT.to_owned(),
            Some(file) => path_below(&place.top, self.surroundings.directory.path(), file)
                .map_err(|why| Problems::one("to", why.to_string()))?,
        };
        let path = place.top.join(&name);
        let before = read_shared(&path).map_err(|trouble| setup_error(&trouble))?;
        let text = before.as_deref().unwrap_or_default();
        let (lines, left_out) = match command.remove {
            true => (Vec::new(), 0),
            false => proven_lines(&*self.open(settings, MemoryNeed::Words)?, &wanted)?,
        };
        let after =
            with_block(text, &wanted, &lines).map_err(|why| misplaced_error(&name, &why))?;
        let is_same = after == text;
        if !is_same && !command.dry_run {
            // A file that held nothing else was created for the block.
            let after = Some(after.as_str()).filter(|after| !after.is_empty());
            replace_shared(&path, before.as_deref(), after)
                .map_err(|trouble| setup_error(&trouble))?;
        }
        let status = match (is_same, command.dry_run) {
            (true, _) => "unchanged",
            (false, true) => "would change",
            (false, false) => "written",
        };
        Ok(block_reply(&name, status, &lines, left_out))
    }
}

/// Returns the text with a block of these lines, or without a block where there are none.
pub(crate) fn with_block(
    text: &str,
    settings: &BlockSettings,
    lines: &[String],
) -> Result<String, String> {
    if lines.is_empty() {
        AgentsBlock::without_block(text)
    } else {
        AgentsBlock::with_block(text, settings, lines)
    }
}

fn block_reply(name: &str, status: &str, lines: &[String], left_out: usize) -> Reply {
    let (file, count) = (neutral_line(name), lines.len());
    let more = if left_out == 0 {
        String::new()
    } else {
        format!(", {left_out} more did not fit (--max-tokens)")
    };
    let text = match count {
        0 => format!("{file}: {status}, no block of ours{more}"),
        1 => format!("{file}: {status}, 1 lesson{more}\n{}", lines.concat()),
        _ => format!("{file}: {status}, {count} lessons{more}\n{}", lines.join("\n")),
    };
    let json = json!({ "file": name, "status": status, "lines": lines, "left_out": left_out });
    Reply::new(text, json)
}

fn block_settings(command: &Export) -> Result<BlockSettings, ApiError> {
    let tokens =
        requests::number("max_tokens", command.max_tokens.clone(), TOKENS_MIN..=TOKENS_MAX);
    let mut problems = Problems::none();
    let min = command.min.as_deref().unwrap_or("proven").trim().to_lowercase();
    if maturity(&min).is_none() {
        problems.add("min", format!("must be proven or established, got {}", quoted(&min)));
    }
    let max_tokens = tokens.unwrap_or_else(|more| {
        problems.append(more);
        None
    });
    let max_tokens = max_tokens.unwrap_or(EXPORT_TOKENS_DEFAULT);
    problems.or(BlockSettings { min, max_tokens }).map_err(ApiError::Invalid)
}

fn maturity(word: &str) -> Option<Maturity> {
    [Maturity::Established, Maturity::Proven].into_iter().find(|known| known.as_str() == word)
}

/// Returns the lines of a block, and how many more there are.
pub(crate) fn proven_lines(
    api: &dyn Api,
    settings: &BlockSettings,
) -> Result<(Vec<String>, usize), ApiError> {
    let min = maturity(&settings.min).unwrap_or(Maturity::Proven);
    let max_tokens = settings.max_tokens.clamp(TOKENS_MIN, TOKENS_MAX);
    let grown = Request::List(Listing::Grown { min, max_tokens });
    let ExportAnswer { lines, left_out, .. } = api.ask_for(&grown)?;
    Ok((lines, left_out))
}

fn misplaced_error(name: &str, why: &str) -> ApiError {
    let message =
        format!("{}: {why}; correct or remove the marks, and run this again", neutral_line(name));
    ApiError::Failed { exit: Exit::NotFound, message }
}

fn setup_error(trouble: &SetupError) -> ApiError {
    let exit = if matches!(trouble, SetupError::Io { .. }) { Exit::Io } else { Exit::NotFound };
    ApiError::Failed { exit, message: neutral_line(&trouble.to_string()) }
}
