//! The settings of the project at hand, for `config`. Not here: the user's own (`setting_rows`), what they mean (`settings`).

use std::path::PathBuf;

use serde_json::json;

use crate::commands::config::setting_rows::SettingRow;
use crate::program::Program;
use place::{Machine, place_by_files};
use settings::ProjectConfig;
use store::{StoreError, project_config_file, read_project_config};

impl Program<'_> {
    /// Reads the settings of the project at hand.
    pub(crate) fn project_config(&self) -> Result<(ProjectConfig, PathBuf), StoreError> {
        let machine = Machine::from_environment(self.surroundings.lookup);
        let top = place_by_files(self.surroundings.directory.path(), &machine).top;
        Ok((read_project_config(&top)?, project_config_file(&top)))
    }

    /// Returns the settings of the project at hand that the user's do not override.
    pub(crate) fn project_rows(&self, known: &[SettingRow]) -> Vec<SettingRow> {
        let Ok((project, path)) = self.project_config() else { return Vec::new() };
        let budgets = project.section_budgets.into_iter();
        let rows = budgets.map(|(section, tokens)| SettingRow {
            key: format!("section_budgets.{section}"),
            value: Some(json!(tokens)),
            origin: "project",
            from: Some(path.display().to_string()),
        });
        rows.filter(|row| known.iter().all(|other| other.key != row.key)).collect()
    }
}
