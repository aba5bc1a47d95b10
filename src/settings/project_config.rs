//! The settings that a project brings along, in a file of its own. A cloned repository is not trusted: such a file decides how much
//! agents are shown, never where anything goes or what runs. Not here: reading the file (`store`), the user's own settings (`config`), which
//! win.

use std::collections::BTreeMap;

use toml::Table;

use super::config_fault::ConfigFault;
use super::config_finding::ConfigFinding;
use super::section_budgets::read_budgets;
use super::setting::Setting;
use super::unknown_keys::{line_of, set_lines};

/// The settings of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectConfig {
    /// Most tokens of sections of a briefing, by name; 0 leaves a section out.
    pub section_budgets: BTreeMap<String, usize>,
    /// What the file holds that this version does not know.
    pub findings: Vec<ConfigFinding>,
}

/// The sections with what the user told all agents.
const OF_THE_USER: [&str; 2] = ["user", "everywhere"];

impl ProjectConfig {
    /// Reads the text of a project's file.
    ///
    /// # Errors
    /// A sentence that names the key and says what is allowed.
    pub fn parse(text: &str) -> Result<Self, ConfigFault> {
        let table: Table = text.parse().map_err(|error| ConfigFault::of_toml(&error, text))?;
        let mut config = Self::default();
        let read = table.into_iter().try_for_each(|(key, value)| config.set(&key, value));
        read.map_err(|fault| ConfigFault { line: line_of(&fault.key, text), ..fault })?;
        set_lines(&mut config.findings, text);
        Ok(config)
    }

    fn set(&mut self, key: &str, value: toml::Value) -> Result<(), ConfigFault> {
        let setting = Setting::all().find(|setting| setting.key.split('.').next() == Some(key));
        match (setting, value) {
            (None, _) => {
                let why = format!("{} is no setting of this version", event::quoted(key));
                self.findings.push(ConfigFinding::of_value(key, None, why));
                Ok(())
            }
            (Some(setting), toml::Value::Table(budgets)) if setting.is_for_projects => {
                let (read, findings) = read_budgets(budgets);
                self.section_budgets = read;
                self.findings.extend(findings);
                let own = OF_THE_USER.iter().find(|own| self.section_budgets.contains_key(**own));
                let Some(own) = own else { return Ok(()) };
                let why = format!(
                    "section_budgets: {own} is the user's, and no project can shorten it; other sections can be, for \
                     example decisions = 200"
                );
                Err(ConfigFault::of_key(&format!("section_budgets.{own}"), why))
            }
            (Some(_), _) => {
                let why = format!(
                    "{key:?} is no setting of a project; it may only have a table [section_budgets], for example \
                     decisions = 200. Where memories go and what runs is set by the user: agent-knowledge config"
                );
                Err(ConfigFault::of_key(key, why))
            }
        }
    }
}
