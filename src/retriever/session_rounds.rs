//! Reads new past sessions now and then, and when a session ends, if the person agreed to that. Not here: asking (the command
//! `sessions import`), reading (`sessions::session_import`).

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::session_permission::SessionPermission;
use crate::startup::Retriever;
use sessions::session_store::SessionStore;

/// When an import last looked for new sessions, in milliseconds since 1970.
pub const LOOKED_AT: &str = "looked_at_ms";

/// Milliseconds between two imports in the background, and between two looks whether one is due.
const IMPORT_PAUSE_MS: i64 = 3_600_000;

const LOOK_PAUSE: Duration = Duration::from_secs(600);

impl Retriever<'_> {
    /// Imports new sessions at most every hour, if the person said yes. Another process does it, so that its memory is given
    /// back and a fault in a reader cannot end the retriever.
    pub fn import_periodically(&self, folder: PathBuf) {
        let (Some(program), clock) = (self.surroundings.program.clone(), self.surroundings.clock)
        else {
            return;
        };
        // Without a thread the next retriever does it, or the command.
        let _ = std::thread::Builder::new().name("past".to_owned()).spawn(move || {
            loop {
                let now_ms = clock().now.as_millisecond();
                if let Some(tools) = tools_due(&folder, now_ms, IMPORT_PAUSE_MS) {
                    // What could not be read is reported by `sessions check`.
                    let _ = import_command(&program, &tools).status();
                }
                std::thread::park_timeout(LOOK_PAUSE);
            }
        });
    }

    /// Starts an import that goes on by itself, if the person said yes.
    pub fn import_in_background(&self, folder: &Path) {
        let now_ms = (self.surroundings.clock)().now.as_millisecond();
        let tools = tools_due(folder, now_ms, 0);
        if let Some((program, tools)) = self.surroundings.program.as_ref().zip(tools) {
            // A session that was not read now is read within the hour.
            let _ = import_command(program, &tools).spawn();
        }
    }
}

fn import_command(program: &Path, tools: &[String]) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command
        .args(["sessions", "import"])
        .args(tools.iter().flat_map(|tool| ["--tool", tool]))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Returns the tools whose sessions are looked for now, none for all; `None` if the person did not say yes, or an import has
/// looked within `pause_ms`.
fn tools_due(folder: &Path, now_ms: i64, pause_ms: i64) -> Option<Vec<String>> {
    let kept = SessionStore::open(folder).ok()??;
    let looked_at = kept.setting(LOOKED_AT).ok().flatten().and_then(|at| at.parse::<i64>().ok());
    let is_due = looked_at.is_none_or(|at| now_ms.saturating_sub(at) >= pause_ms);
    SessionPermission::read(Some(&kept)).ok()?.tools().filter(|_| is_due)
}
