//! Checks everything around the logs. Each check reports one line, and one command that fixes a problem. The
//! checks change nothing. Not here: the contents of the logs (`verify`).

mod file_checks;
mod machine;
mod parts;
mod set_up;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{CheckReport, CheckVerdict};
use clients::setup::ClientsStatus;
use engine::watch::Watching;
use guard::text::{Layout, neutralise};
use reply::{Reply, StateNote};
use search::snapshot::Room;
use store::Store;

/// What is examined.
pub struct DoctorRequest<'a> {
    /// The store, if it is known.
    pub store: Option<&'a Store>,
    /// The configuration file, which need not exist.
    pub config_file: Option<PathBuf>,
    /// The problem with the settings, if any.
    pub settings_trouble: Option<String>,
    /// What the settings hold that this version does not know.
    pub settings_findings: Vec<String>,
    /// The directory of the embedding model, which need not exist.
    pub model_dir: Option<PathBuf>,
    /// Where vectors are stored.
    pub cache_dir: Option<PathBuf>,
    /// How much memory the memories take, if it may be close to the limit.
    pub room: Option<Room>,
    /// How a server learns of changes.
    pub watching: Watching,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The state of the clients that setup knows.
    pub clients: ClientsStatus,
    /// The working directory.
    pub directory: &'a Path,
    /// The folders in which programs are searched.
    pub program_folders: Vec<PathBuf>,
    /// The state of past sessions, if there is anything to say.
    pub sessions: Option<StateNote>,
    /// How sharing with a team stands, if the settings name one.
    pub team: Option<StateNote>,
    /// Who orders likely hits, and what is sent there, if the settings name one.
    pub reranker: Option<StateNote>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// No problem.
    Fine,
    /// It works, but could work better.
    Warn,
    /// Memories cannot be written or read, or other users can access them.
    Fail,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Diagnosis {
    about: &'static str,
    level: Level,
    says: String,
    /// The one command that fixes it.
    mend: Option<String>,
}

impl Diagnosis {
    fn fine(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, level: Level::Fine, says: says.into(), mend: None }
    }

    fn warn(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, level: Level::Warn, says: says.into(), mend: None }
    }

    fn fail(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, level: Level::Fail, says: says.into(), mend: None }
    }

    fn mended_by(self, command: String) -> Self {
        Self { mend: Some(command), ..self }
    }
}

/// Examines everything. The verdict is wrong if memories cannot be written or read, or if other users can
/// access them. Anything less is only a warning.
#[must_use]
pub fn examine(request: &DoctorRequest<'_>) -> CheckReport {
    let mut findings: Vec<Diagnosis> = parts::configuration(request).into_iter().collect();
    let unknown = request.settings_findings.iter();
    findings.extend(unknown.map(|says| Diagnosis::warn("configuration", says)));
    if let Some(store) = request.store {
        findings.extend(file_checks::examine(store));
        findings.push(machine::watching(store, request.watching));
        findings.extend(machine::file_system(store));
    }
    findings.extend(request.room.map(parts::room));
    findings.extend(request.model_dir.as_deref().map(parts::model));
    findings.extend(request.cache_dir.as_deref().map(parts::cache));
    findings.push(parts::log_memory(&request.program_folders));
    findings.push(set_up::examine(request.home.as_deref(), request.directory));
    findings.extend(set_up::set_up(&request.clients));
    findings.extend(request.sessions.iter().flat_map(|note| parts::noted("past sessions", note)));
    findings.extend(request.team.iter().flat_map(|note| parts::noted("team", note)));
    findings.extend(request.reranker.iter().flat_map(|note| parts::noted("reranker", note)));
    let is_failed = findings.iter().any(|finding| finding.level == Level::Fail);
    let verdict = if is_failed { CheckVerdict::Wrong } else { CheckVerdict::Fine };
    CheckReport { verdict, reply: Reply::new(text(&findings), json_of(&findings, verdict)) }
}

fn text(findings: &[Diagnosis]) -> String {
    let mut text = String::new();
    for finding in findings {
        let level = match finding.level {
            Level::Fine => "ok",
            Level::Warn => "warn",
            Level::Fail => "FAIL",
        };
        let says = neutralise(&finding.says, Layout::Line);
        let _ = writeln!(text, "{level:<5} {:<14} {says}", finding.about);
        if let Some(mend) = &finding.mend {
            let _ = writeln!(text, "      {:<14} fix: {mend}", "");
        }
    }
    text.trim_end().to_owned()
}

fn json_of(findings: &[Diagnosis], verdict: CheckVerdict) -> Value {
    let checks: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let state = match finding.level {
                Level::Fine => "ok",
                Level::Warn => "warn",
                Level::Fail => "fail",
            };
            json!({ "check": finding.about, "state": state, "says": finding.says, "mend": finding.mend })
        })
        .collect();
    json!({ "fine": verdict == CheckVerdict::Fine, "checks": checks })
}

#[cfg(test)]
mod tests;
