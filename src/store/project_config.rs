//! The settings that a project brings along, `.agent-knowledge/config.toml` in its top folder. A cloned repository is not
//! trusted: such a file decides how much is told, never where anything goes or what runs. Not here: the user's own settings
//! (`config`), which win.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Table;

use super::config_fault::{ConfigFault, read_bounded};
use super::config_finding::{line_of, set_lines};
use super::section_budgets::read_budgets;
use super::{ConfigFinding, ConfigTable, Setting, StoreError, layout};

/// The settings of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectConfig {
    /// Most tokens of sections of a briefing, by name; 0 leaves a section out.
    pub section_budgets: BTreeMap<String, usize>,
    /// What the file holds that this version does not know.
    pub findings: Vec<ConfigFinding>,
}

/// Where the file is, from the top folder.
const FOLDER: &str = ".agent-knowledge";
const FILE: &str = "config.toml";

/// The sections with what the user told all agents.
const OF_THE_USER: [&str; 2] = ["user", "everywhere"];

/// Longest file that is read, in bytes: far more than all sections take.
const FILE_BYTES_MAX: u64 = 64 * 1024;

impl ProjectConfig {
    /// Returns the path of the file below the top folder of a project.
    #[must_use]
    pub fn path(top: &Path) -> PathBuf {
        top.join(FOLDER).join(FILE)
    }

    /// Reads the settings of a project; a missing file counts as empty. Links are not followed: they could lead to a file of
    /// the user, whose text an error would repeat.
    ///
    /// # Errors
    /// [`StoreError::Config`] names the file and what is wrong in it.
    pub fn read(top: &Path) -> Result<Self, StoreError> {
        let path = Self::path(top);
        if !layout::is_own_folder(&top.join(FOLDER))? {
            return Ok(Self::default());
        }
        let Some((file, _)) = layout::open_to_read(&path)? else {
            return Ok(Self::default());
        };
        let fault = |fault: ConfigFault| fault.in_file(&path);
        let text = read_bounded(file, FILE_BYTES_MAX).map_err(fault)?;
        let mut config = Self::parse(&text).map_err(fault)?;
        set_lines(&mut config.findings, &text);
        config.findings.iter_mut().for_each(|finding| finding.file = Some(path.clone()));
        Ok(config)
    }

    fn parse(text: &str) -> Result<Self, ConfigFault> {
        let table: Table = text.parse().map_err(|error| ConfigFault::of_toml(&error, text))?;
        let wrong = |key: &str, why| {
            let line = line_of(key, text);
            ConfigFault { line, ..ConfigFault::of_key(key, why) }
        };
        let mut config = Self::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("section_budgets", toml::Value::Table(budgets)) => {
                    let (read, findings) = read_budgets(budgets);
                    config.section_budgets = read;
                    config.findings.extend(findings);
                    if let Some(own) =
                        OF_THE_USER.iter().find(|own| config.section_budgets.contains_key(**own))
                    {
                        let why = format!(
                            "section_budgets: {own} is the user's, and no project can shorten it; other sections can be, for \
                             example decisions = 200"
                        );
                        return Err(wrong(&format!("section_budgets.{own}"), why));
                    }
                }
                (key, _) if !is_of_the_user(key) => {
                    let why = format!("{} is no setting of this version", event::quoted(key));
                    config.findings.push(ConfigFinding::of_value(key, None, why));
                }
                (key, _) => {
                    let why = format!(
                        "{key:?} is no setting of a project; it may only have a table [section_budgets], for example \
                         decisions = 200. Where memories go and what runs is set by the user: agent-knowledge config"
                    );
                    return Err(wrong(key, why));
                }
            }
        }
        Ok(config)
    }
}

/// Tells whether a key is one of the user's settings, which no project may set.
fn is_of_the_user(key: &str) -> bool {
    Setting::of(key).is_some() || ConfigTable::named(key).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        std::fs::write(ProjectConfig::path(folder.path()), text).unwrap();
        folder
    }

    // S-CONFIG-3
    #[test]
    fn a_project_sets_budgets_and_nothing_else() {
        let folder = project("[section_budgets]\ndecisions = 200\n");
        let config = ProjectConfig::read(folder.path()).unwrap();
        assert_eq!(config.section_budgets, BTreeMap::from([("decisions".to_owned(), 200)]));
        for text in [
            "logs = \"/tmp/elsewhere\"",
            "model = \"/tmp/model\"",
            "[judge]\ncommand = [\"run\"]",
            "[engine]\nurl = \"postgres://x@127.0.0.1/x\"",
            "[sync]\nremote = \"x\"\nshare = [\"*\"]",
            "[aliases]\na = \"b\"",
        ] {
            let why = ProjectConfig::read(project(text).path()).unwrap_err().to_string();
            assert!(why.contains("no setting of a project"), "{text}: {why}");
        }
        let own = project("[section_budgets]\neverywhere = 0\n");
        assert!(ProjectConfig::read(own.path()).unwrap_err().to_string().contains("the user's"));
        let nothing = tempfile::tempdir().unwrap();
        assert_eq!(ProjectConfig::read(nothing.path()).unwrap(), ProjectConfig::default());
    }

    // S-CONFIG-3
    #[cfg(unix)]
    #[test]
    fn links_and_long_files_are_refused() {
        let secret = tempfile::tempdir().unwrap();
        std::fs::write(secret.path().join(FILE), "password = \"hunter2\"").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(secret.path(), folder.path().join(FOLDER)).unwrap();
        let why = ProjectConfig::read(folder.path()).unwrap_err().to_string();
        assert!(!why.contains("password"), "{why}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let path = ProjectConfig::path(folder.path());
        std::os::unix::fs::symlink(secret.path().join(FILE), path).unwrap();
        assert!(ProjectConfig::read(folder.path()).is_err());
        let long = project(&"#".repeat(100_000));
        assert!(ProjectConfig::read(long.path()).unwrap_err().to_string().contains("longer than"));
    }
}
