//! `context --watch FILE`: writes the briefing into a file, and again when the memories change. For tools that load a file but run no
//! hook. Not here: what a briefing tells (`api`).

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clients::setup::{SetupError, read_shared, replace_shared};
use event::Problems;
use guard::secrets::redacted;
use requests::{Api, ApiError, ContextRequest, Reply, Request};
use serde_json::json;
use store::on_stop_signal;
use writer::exit::Exit;

/// How often is looked whether the briefing has changed, in milliseconds; the file is written no more often. A briefing takes
/// some milliseconds.
const LOOK_MS: u64 = 1_000;

/// What the file begins with: a file without it is somebody's own, and is not touched.
const MARK: &str = "<!-- agent-knowledge context --watch: written again when memories change -->\n";

/// Watches until it is asked to stop.
pub(crate) fn watch_briefing(
    api: &dyn Api,
    request: &ContextRequest,
    file: &Path,
    messages: &mut dyn Write,
) -> Result<Reply, ApiError> {
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, watching) = (Arc::clone(&is_over), std::thread::current());
    // Without this a signal ends the process as usual: every write is whole.
    let _ = on_stop_signal(move || {
        over.store(true, Ordering::SeqCst);
        watching.unpark();
    });
    let mut told = String::new();
    let mut writes: u64 = 0;
    while !is_over.load(Ordering::SeqCst) {
        let news = match renewed(api, request, file) {
            Ok(false) => String::new(),
            Ok(true) => {
                writes += 1;
                format!("wrote {}", file.display())
            }
            // A file that is somebody's own stays so.
            Err(error @ ApiError::Invalid(_)) => return Err(error),
            Err(error) if writes == 0 => return Err(error),
            Err(error) => error.to_string(),
        };
        // A lasting problem is not reported every second.
        if !news.is_empty() && news != told {
            // A message that cannot be delivered changes nothing about the outcome.
            let _ = writeln!(messages, "{}", redacted(&news));
            let _ = messages.flush();
        }
        if !news.is_empty() {
            told = news;
        }
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    }
    let json = json!({ "file": file.display().to_string(), "writes": writes });
    Ok(Reply::new("stopped watching".to_owned(), json))
}

/// Writes the briefing, unless the file has it; tells whether it was written.
fn renewed(api: &dyn Api, request: &ContextRequest, file: &Path) -> Result<bool, ApiError> {
    let now = format!("{MARK}{}\n", api.ask(&Request::Context(request.clone()))?.text.trim_end());
    // It names the file and what failed.
    let trouble =
        |error: SetupError| ApiError::Failed { exit: Exit::Io, message: error.to_string() };
    let before = read_shared(file).map_err(trouble)?;
    match &before {
        Some(before) if *before == now => return Ok(false),
        Some(before) if !before.is_empty() && !before.starts_with(MARK.trim_end()) => {
            let why = format!(
                "{} is no file of context --watch, and is not overwritten; name another one",
                file.display()
            );
            return Err(Problems::one("--watch", why).into());
        }
        _ => {}
    }
    let replaced = replace_shared(file, before.as_deref(), Some(&now));
    replaced.map(|()| true).map_err(trouble)
}
