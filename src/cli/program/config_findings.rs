//! What `config` says about settings that do not count. Not here: finding them (`settings`), showing those that count
//! (`config_command`).

use std::path::Path;

use crate::command_context::Process;
use crate::program::Program;
use requests::ApiError;
use retriever::failure::failed;
use settings::ConfigFinding;
use settings::variables::CONFIG;
use store::read_config;
use writer::exit::complain;

impl Program<'_> {
    /// Says what does not count in the user's file and in that of the project at hand, and returns it.
    pub(super) fn tell_findings(
        &self,
        path: &Path,
        process: &mut Process<'_>,
    ) -> Result<Vec<String>, ApiError> {
        let mut findings = self.findings(path)?;
        match self.project() {
            Ok((project, _)) => findings.extend(project.findings),
            Err(why) => {
                let message = format!("failed to {why}; this file is ignored");
                complain(process.messages, process.name, &message);
            }
        }
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        for finding in &findings {
            complain(process.messages, process.name, finding);
        }
        Ok(findings)
    }

    /// Returns what does not count in the user's file, or that a named one does not exist.
    fn findings(&self, path: &Path) -> Result<Vec<ConfigFinding>, ApiError> {
        let is_named = self.set_variable(CONFIG).is_some();
        if is_named && path.metadata().is_err() {
            return Ok(vec![ConfigFinding::absent(path, CONFIG)]);
        }
        read_config(path).map(|config| config.findings).map_err(|error| failed(&error))
    }
}
