//! Checks everything around the logs. Each check reports one line, and one command that fixes a problem. The
//! checks change nothing. Not here: the contents of the logs (`verify`).

mod diagnosis;
mod doctor_request;
mod file_checks;
mod log_contents;
mod machine;
mod parts;
mod set_up;

use diagnosis::{Diagnosis, Level};
pub use doctor_request::DoctorRequest;

use super::{CheckReport, CheckVerdict};
use reply::{DoctorAnswer, DoctorCheck, Reply};

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
    findings.extend(
        request.sessions.iter().flat_map(|note| parts::state_diagnoses("past sessions", note)),
    );
    findings.extend(request.team.iter().flat_map(|note| parts::state_diagnoses("team", note)));
    findings
        .extend(request.reranker.iter().flat_map(|note| parts::state_diagnoses("reranker", note)));
    findings.extend(
        request.repository.iter().flat_map(|note| parts::state_diagnoses("repository", note)),
    );
    let is_failed = findings.iter().any(|finding| finding.level == Level::Fail);
    let verdict = if is_failed { CheckVerdict::Wrong } else { CheckVerdict::Fine };
    CheckReport { verdict, reply: Reply::from_answer(&answer(&findings, verdict)) }
}

fn answer(findings: &[Diagnosis], verdict: CheckVerdict) -> DoctorAnswer {
    let checks = findings.iter().map(|finding| {
        let state = match finding.level {
            Level::Fine => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        };
        DoctorCheck {
            check: finding.about.to_string(),
            state: state.to_owned(),
            says: finding.says.clone(),
            mend: finding.fix.clone(),
        }
    });
    DoctorAnswer { fine: verdict == CheckVerdict::Fine, checks: checks.collect() }
}

#[cfg(test)]
mod tests;
