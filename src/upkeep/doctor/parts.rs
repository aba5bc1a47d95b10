//! Checks of the parts beside the logs: configuration, model, cache, the other program. Not here:
//! loading any of it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::diagnosis::Diagnosis;
use super::doctor_request::DoctorRequest;
use crate::display_path::{display_path, shell_word};
use index::embed::EmbedError;
use index::embed::model::{self, FetchState};
use reply::StateNote;
use search::snapshot::MemoryUsage;
use store::{access_remedy, create_probe_file, trusted};

/// How long the other program may take to print its version, in milliseconds. Ours takes two. Another program of
/// that name must not block this process.
const VERSION_WAIT_MS: u64 = 2_000;

/// The polling interval.
const LOOK_MS: u64 = 5;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Reports the state of a part, and its warnings.
pub(super) fn state_diagnoses(about: &'static str, note: &StateNote) -> Vec<Diagnosis> {
    let with_fix = |finding: Diagnosis| match &note.command {
        Some(command) => finding.with_fix(command.clone()),
        None => finding,
    };
    let mut findings = vec![Diagnosis::fine(about, note.says.as_str())];
    if note.warnings.is_empty() {
        return findings.into_iter().map(with_fix).collect();
    }
    let warnings = note.warnings.iter().map(|says| Diagnosis::warn(about, says.as_str()));
    findings.extend(warnings.map(with_fix));
    findings
}

/// Reports which configuration counts, or what is wrong with it. If the file is only missing, the findings say so.
pub(super) fn configuration(request: &DoctorRequest<'_>) -> Option<Diagnosis> {
    let about = "configuration";
    let file = request.config_file.as_deref();
    if let Some(trouble) = &request.settings_trouble {
        let finding = Diagnosis::fail(about, trouble.as_str());
        return Some(match file {
            Some(file) if file.is_file() => {
                finding.with_fix(format!("${{EDITOR:-vi}} {}", shell_word(file)))
            }
            Some(_) | None => finding,
        });
    }
    match file {
        Some(file) if file.exists() => Some(Diagnosis::fine(about, display_path(file))),
        Some(_) if !request.settings_findings.is_empty() => None,
        Some(file) => {
            Some(Diagnosis::fine(about, format!("none at {}, which is fine", display_path(file))))
        }
        None => Some(Diagnosis::fine(about, "none")),
    }
}

pub(super) fn room(room: MemoryUsage) -> Diagnosis {
    match room.notice() {
        None => Diagnosis::fine(
            "memory",
            format!("{} of {} MiB, by estimate", room.held_bytes >> 20, room.mib_max()),
        ),
        Some(notice) => {
            let raise = "a larger memory_mib in the configuration holds more";
            Diagnosis::warn("memory", format!("{notice}; {raise}"))
        }
    }
}

pub(super) fn model(directory: &Path) -> Diagnosis {
    let status = model::status(directory);
    if let Err(error @ EmbedError::Untrusted { .. }) = model::verify(directory) {
        return Diagnosis::warn("model", format!("search by words only: {error}"));
    }
    if status.is_ready() {
        let megabytes = status.bytes() / 1_000_000;
        return Diagnosis::fine("model", format!("{megabytes} MB in {}", display_path(directory)));
    }
    match model::fetch_state(directory) {
        FetchState::Running(line) => {
            let says = format!("search by words until it is fetched, which goes on: {line}");
            return Diagnosis::fine("model", says);
        }
        FetchState::Failed(why) => {
            let says = format!("search by words only: the model was not fetched: {why}");
            return Diagnosis::warn("model", says)
                .with_fix("agent-knowledge model fetch".to_owned());
        }
        FetchState::None => {}
    }
    let bad = status.files.iter().filter(|file| {
        !matches!(file.state, model::FileState::Present | model::FileState::OwnCopy)
    });
    let bad: Vec<String> = bad.map(|file| format!("{} {}", file.name, file.state)).collect();
    let says = format!(
        "search by words only: no usable model in {} ({})",
        display_path(directory),
        bad.join(", ")
    );
    Diagnosis::warn("model", says).with_fix("agent-knowledge model fetch".to_owned())
}

pub(super) fn cache(directory: &Path) -> Diagnosis {
    if !directory.exists() {
        return Diagnosis::fine(
            "cache",
            format!("{} is created when needed", display_path(directory)),
        );
    }
    if let Err(error) = trusted(directory) {
        return Diagnosis::warn("cache", format!("answers are slower: failed to {error}"));
    }
    if let Err(error) = create_probe_file(directory) {
        let says = format!("vectors cannot be stored in {}: {error}", display_path(directory));
        return Diagnosis::warn("cache", says).with_remedy(access_remedy(directory, directory));
    }
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes: u64 =
        entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum();
    let tenths = bytes / 100_000;
    Diagnosis::fine(
        "cache",
        format!("{}.{} MB in {}", tenths / 10, tenths % 10, display_path(directory)),
    )
}

pub(super) fn log_memory(folders: &[PathBuf]) -> Diagnosis {
    let name = format!("log-memory{}", std::env::consts::EXE_SUFFIX);
    let found = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
    let Some(path) = found else {
        let says = "log-memory is not in PATH: agents can save over MCP, but not from a shell";
        return Diagnosis::warn("log-memory", says);
    };
    match version_of(&path) {
        Some(version) if version == VERSION => {
            Diagnosis::fine("log-memory", format!("{version}, {}", display_path(&path)))
        }
        Some(version) => Diagnosis::warn(
            "log-memory",
            format!(
                "{} has version {version}, this program has {VERSION}; install the same version of both",
                display_path(&path)
            ),
        ),
        None => Diagnosis::warn(
            "log-memory",
            format!("{} does not print its version", display_path(&path)),
        ),
    }
}

fn version_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    if !ends_in_time(&mut child) {
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.trim().strip_prefix("log-memory ")?;
    let is_version = version.len() < 64 && !version.contains(char::is_whitespace);
    is_version.then(|| version.to_owned())
}

fn ends_in_time(child: &mut Child) -> bool {
    let deadline = Instant::now() + Duration::from_millis(VERSION_WAIT_MS);
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::park_timeout(Duration::from_millis(LOOK_MS)),
            Err(_) => return false,
        }
    }
    false
}
