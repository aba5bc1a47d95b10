//! What `config` says about settings that do not count. Not here: finding them (`settings`), showing those that count
//! (`setting_rows`).

use crate::command_context::Process;
use crate::program::Program;
use requests::ApiError;
use retriever::failure::store_error;
use store::read_user_config;
use writer::exit::complain;

impl Program<'_> {
    /// Says what does not count in the user's file and in that of the project at hand, and returns it.
    pub(crate) fn report_findings(
        &self,
        process: &mut Process<'_>,
    ) -> Result<Vec<String>, ApiError> {
        let config =
            read_user_config(self.surroundings.lookup).map_err(|error| store_error(&error))?;
        let mut findings = config.findings;
        match self.project_config() {
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
}
