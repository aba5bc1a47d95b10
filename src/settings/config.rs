//! The settings as programs use them: defaults < file < environment < flags, resolved once at start. Not here: which settings there
//! are (`table`), reading the file (`store`) and the environment (the programs, which pass the values in).

use std::collections::BTreeMap;
use std::ffi::OsString;

use toml::Table;

use super::config_fault::ConfigFault;
use super::config_finding::ConfigFinding;
use super::config_table::{ConfigTable, UnknownRule};
use super::engine_setting::EngineSetting;
use super::judge::Judge;
use super::past_position::PastPosition;
use super::section_budgets::read_budgets;
use super::setting::{Setting, SettingForm};
use super::setting_fields::SettingFields;
use super::table::{
    EmbeddingProvider, EmbeddingSource, GeneralSettings, RerankProvider, RerankSource,
    SessionPolicy, SyncPolicy,
};
use super::unknown_keys::{line_of, set_lines, take_unknown};
use super::value_kinds::ValueSource;
use event::{DayZone, RepoKey, StoreOrigin, quoted};

/// All settings that both programs need.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The settings outside the tables.
    pub general: GeneralSettings,
    /// The external model that makes vectors; by default none is asked.
    pub provider: Option<EmbeddingProvider>,
    /// The external model that orders likely hits; by default none is asked.
    pub rerank: Option<RerankProvider>,
    /// The language model that `review --judge`, `sessions review --draft` and `tag --ask` ask; none by default.
    pub judge: Option<Judge>,
    /// The engine that searches ask besides the memories of this machine; none by default.
    pub engine: Option<EngineSetting>,
    /// Whose days are meant by a day without a time. The programs set it; no file can.
    pub days: DayZone,
    /// Which past position of the store is read. A command sets it; no file can.
    pub as_of: Option<PastPosition>,
    /// The origin of this store, if its own lines are read like those of any other member of the team, so that all
    /// replicas of a team read the same. A command sets it; no file can.
    pub member: Option<StoreOrigin>,
    /// Most tokens of sections of a briefing, by name; 0 leaves a section out.
    pub section_budgets: BTreeMap<String, usize>,
    /// Which past sessions of other tools are left out.
    pub sessions: SessionPolicy,
    /// What is shared with a team.
    pub sync: SyncPolicy,
    /// Old repository keys and the current keys they stand for.
    pub aliases: BTreeMap<RepoKey, RepoKey>,
    /// The parts of the file that this version does not know, and what they did to their tables.
    pub findings: Vec<ConfigFinding>,
}

impl Config {
    /// Reads the text of a configuration file. What this version does not know is left out, and named in [`Config::findings`].
    ///
    /// # Errors
    /// A sentence that names the key and says what is allowed: no TOML, a value of a wrong type, or one that decides where
    /// something goes.
    pub fn parse(text: &str) -> Result<Self, ConfigFault> {
        let table = text.parse().map_err(|error| ConfigFault::of_toml(&error, text))?;
        let mut config = Self::default();
        config.set_file(table).map_err(|fault| {
            let line = line_of(&fault.key, text);
            ConfigFault { line, ..fault }
        })?;
        set_lines(&mut config.findings, text);
        config.findings.sort_by_key(|finding| finding.line);
        Ok(config)
    }

    /// Reads a text in which every key must count.
    #[cfg(test)]
    pub(crate) fn parse_strict(text: &str) -> Result<Self, String> {
        let config = Self::parse(text).map_err(|fault| fault.why)?;
        config.findings.first().map_or(Ok(config.clone()), |finding| Err(finding.why.clone()))
    }

    fn set_file(&mut self, mut table: Table) -> Result<(), ConfigFault> {
        take_unknown(None, &mut table, &mut self.findings)?;
        for (key, value) in table {
            match (ConfigTable::named(&key), value) {
                (Some(section), toml::Value::Table(table)) => self.set_table(section, table)?,
                (_, value) => self.set(&key, &value)?,
            }
        }
        Ok(())
    }

    /// Sets the settings of the environment, which win over the file.
    ///
    /// # Errors
    /// A sentence that names the variable and says what is allowed.
    pub fn set_variables(
        &mut self,
        lookup: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<(), String> {
        for setting in Setting::all() {
            let Some(name) = setting.variable else { continue };
            let Some(content) = lookup(name).filter(|content| !content.is_empty()) else {
                continue;
            };
            if let Some(Err(wrong)) = self.general.set(setting.key, ValueSource::Variable(&content))
            {
                return Err(wrong.sentence(name, setting));
            }
        }
        Ok(())
    }

    /// Returns why a table is held; `None` if it counts.
    #[must_use]
    pub fn hold(&self, section: ConfigTable) -> Option<&ConfigFinding> {
        let holds = matches!(section.unknown_rule(), UnknownRule::Holds { .. });
        self.findings.iter().find(|finding| holds && finding.section == Some(section))
    }

    /// Returns in one line which parts do not count; `None` if all do.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let (first, others) = self.findings.split_first()?;
        Some(match others.len() {
            0 => first.to_string(),
            more => format!("{first}; and {more} more, which agent-knowledge config shows"),
        })
    }

    /// Sets one key outside the tables, whose value has the right type.
    fn set(&mut self, key: &str, value: &toml::Value) -> Result<(), ConfigFault> {
        let Some((setting, Err(wrong))) =
            Setting::named(key).zip(self.general.set(key, ValueSource::File(value)))
        else {
            return Ok(());
        };
        let why = wrong.sentence(key, setting);
        if setting.form == SettingForm::Directory {
            return Err(ConfigFault::of_key(key, why));
        }
        self.findings.push(ConfigFinding::of_value(key, ConfigTable::named(key), why));
        Ok(())
    }

    /// Sets the keys of a table. A table that is held sets nothing.
    fn set_table(&mut self, section: ConfigTable, table: Table) -> Result<(), ConfigFault> {
        let read = match section {
            ConfigTable::Aliases => {
                self.aliases = parse_aliases(table)?;
                return Ok(());
            }
            ConfigTable::SectionBudgets => {
                let (budgets, findings) = read_budgets(table);
                self.section_budgets = budgets;
                self.findings.extend(findings);
                return Ok(());
            }
            section => self.set_checked(section, &table),
        };
        // What remains of a table without its unknown keys need not make sense alone.
        let is_new = self.hold(section).is_none();
        let finding = |why| ConfigFinding::of_value(section.as_str(), Some(section), why);
        self.findings.extend(read.err().map(finding).filter(|_| is_new));
        if self.hold(section).is_some() {
            self.hold_back(section);
        }
        Ok(())
    }

    /// Sets the keys of a table, which must all be right.
    fn set_checked(&mut self, section: ConfigTable, table: &Table) -> Result<(), String> {
        let name = section.as_str();
        match section {
            ConfigTable::Embedding => {
                let (source, provider): (EmbeddingSource, EmbeddingProvider) = read(name, table)?;
                self.provider = source.provider.map(|form| provider.checked(form)).transpose()?;
                self.general.embedding = source.precision;
            }
            ConfigTable::Rerank => {
                let (source, provider): (RerankSource, RerankProvider) = read(name, table)?;
                self.rerank = source.provider.map(|form| provider.checked(form)).transpose()?;
            }
            ConfigTable::Judge => self.judge = Some(Judge::from_settings(read(name, table)?)?),
            ConfigTable::Engine => {
                self.engine = Some(EngineSetting::from_settings(read(name, table)?)?);
            }
            ConfigTable::Sessions => self.sessions = read(name, table)?,
            ConfigTable::Sync => self.sync = read(name, table)?,
            ConfigTable::SectionBudgets | ConfigTable::Aliases => {}
        }
        Ok(())
    }

    /// Returns the tables as a file has them, but for those of external models.
    pub(crate) fn to_tables(&self) -> [(ConfigTable, Table); 6] {
        let judge = self.judge.as_ref().map(|judge| judge.settings().to_table());
        let engine = self.engine.as_ref().map(|engine| engine.settings.to_table());
        let budget = |(name, tokens): (&String, &usize)| {
            (name.clone(), toml::Value::Integer(i64::try_from(*tokens).unwrap_or(i64::MAX)))
        };
        let aliases = self.aliases.iter().map(|(old, new)| (old.to_string(), new.as_str().into()));
        [
            (ConfigTable::Judge, judge.unwrap_or_default()),
            (ConfigTable::Engine, engine.unwrap_or_default()),
            (ConfigTable::Sessions, self.sessions.to_table()),
            (ConfigTable::Sync, self.sync.to_table()),
            (ConfigTable::SectionBudgets, self.section_budgets.iter().map(budget).collect()),
            (ConfigTable::Aliases, aliases.collect()),
        ]
    }

    /// Withdraws what a table allows.
    fn hold_back(&mut self, section: ConfigTable) {
        match section {
            ConfigTable::Embedding => self.provider = None,
            ConfigTable::Rerank => self.rerank = None,
            ConfigTable::Judge => self.judge = None,
            ConfigTable::Engine => self.engine = None,
            ConfigTable::Sessions => self.sessions.is_held = true,
            ConfigTable::Sync => self.sync.hold_back(),
            ConfigTable::SectionBudgets | ConfigTable::Aliases => {}
        }
    }

    /// Follows aliases to the current key of a repository. A circular alias ends at its first key.
    #[must_use]
    pub fn current(&self, key: &RepoKey) -> RepoKey {
        let mut current = key;
        for _ in 0..=self.aliases.len() {
            match self.aliases.get(current) {
                Some(next) if next != key => current = next,
                Some(_) | None => break,
            }
        }
        current.clone()
    }
}

/// Reads a table, up to its first value that is not allowed.
fn read<T: SettingFields>(name: &str, table: &Table) -> Result<T, String> {
    let mut fields = T::default();
    for (key, value) in table {
        let setting = Setting::named(&format!("{name}.{key}"));
        if let Some((setting, Err(wrong))) = setting.zip(fields.set(key, ValueSource::File(value)))
        {
            return Err(wrong.sentence(&format!("{name}: {key}"), setting));
        }
    }
    Ok(fields)
}

fn parse_aliases(table: Table) -> Result<BTreeMap<RepoKey, RepoKey>, ConfigFault> {
    let mut aliases = BTreeMap::new();
    for (old, new) in table {
        let key = |text: &str| {
            RepoKey::parse(text).map_err(|error| {
                let name = format!("{}.{old}", ConfigTable::Aliases.as_str());
                let why = format!(
                    "aliases: {} {error}; for example old-name = \"github.com/acme/new-name\" below [aliases]",
                    quoted(text)
                );
                ConfigFault::of_key(&name, why)
            })
        };
        aliases.insert(key(&old)?, key(new.as_str().unwrap_or_default())?);
    }
    Ok(aliases)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::memory_mib::MemoryMib;
    use crate::provider_form::EmbeddingPrecision;
    use crate::value_kinds::Switch;

    fn key(text: &str) -> RepoKey {
        RepoKey::parse(text).unwrap()
    }

    // S-STORE-1
    #[test]
    fn a_file_sets_what_it_names() {
        let config = Config::parse("logs = \"/l\"\n[aliases]\nold = \"github.com/a/new\"").unwrap();
        assert_eq!(config.general.logs, Some("/l".into()));
        let home = etcetera::home_dir().unwrap();
        assert_eq!(Config::parse("cache = \"~/c\"").unwrap().general.cache, Some(home.join("c")));
        assert_eq!(config.current(&key("old")), key("github.com/a/new"));
        assert_eq!(config.current(&key("other")), key("other"));
    }

    // S-CONFIG-2
    #[test]
    fn a_directory_is_the_same_from_everywhere() {
        for key in ["logs", "model", "cache"] {
            for wrong in ["", " ", "logs", "./logs", "../l", "~other/l", "$DATA/l"] {
                let refused = Config::parse(&format!("{key} = {wrong:?}")).unwrap_err().why;
                let expected =
                    format!("{key} must be an absolute path, or begin with ~/, for example");
                assert!(refused.starts_with(&expected), "{refused}");
            }
            assert!(Config::parse(&format!("{key} = \"~/l\"")).is_ok());
        }
    }

    // S-BOUND-1
    #[test]
    fn memory_is_set_in_mib_within_bounds() {
        let memory =
            |text: &str| Config::parse(text).map(|config| config.general.memory_mib.bytes() >> 20);
        let usual = MemoryMib::default().bytes() >> 20;
        assert_eq!((memory("memory_mib = 16"), memory("")), (Ok(16), Ok(usual)));
        let variable = |content: &str| {
            let mut config = Config::default();
            let content = OsString::from(content);
            config.set_variables(&|name| name.ends_with("_MIB").then(|| content.clone()))?;
            Ok(config.general.memory_mib.bytes())
        };
        assert_eq!(variable(" 2048 "), Ok(2 << 30));
        let wrong_variable = |allowed: &str| Err(format!("AGENT_KNOWLEDGE_MEMORY_MIB {allowed}"));
        let allowed = "must be a whole number of MiB from 16 to 1048576, for example 1024";
        for wrong in ["15", "1048577", "-1"] {
            let text = format!("memory_mib = {wrong}");
            assert_eq!(Config::parse_strict(&text).unwrap_err(), format!("memory_mib {allowed}"));
            assert_eq!(memory(&text), Ok(usual));
            assert_eq!(variable(wrong), wrong_variable(allowed));
        }
        assert_eq!(variable("much"), wrong_variable(allowed));
        assert!(
            memory("memory_mib = \"1024\"")
                .unwrap_err()
                .why
                .starts_with("memory_mib is of a wrong type")
        );
    }

    // S-RANK-2
    #[test]
    fn how_vectors_are_computed_is_one_of_two_names() {
        let embedding = |text: &str| Config::parse(text).map(|config| config.general.embedding);
        assert_eq!(embedding("embedding = \"fp32\""), Ok(EmbeddingPrecision::Fp32));
        assert_eq!(embedding("embedding = \"int8\""), Ok(EmbeddingPrecision::Int8));
        assert_eq!(embedding(""), Ok(EmbeddingPrecision::default()));
        assert_eq!(embedding("embedding = \"INT4\""), Ok(EmbeddingPrecision::default()));
        let message = Config::parse_strict("embedding = \"INT4\"").unwrap_err();
        let allowed = "embedding must be \"fp32\" or \"int8\", for example int8";
        assert_eq!(message, format!("{allowed}; got \"INT4\""));
        assert!(
            embedding("embedding = 8").unwrap_err().why.starts_with("embedding is of a wrong type")
        );
    }

    #[test]
    fn past_sessions_are_left_out_by_tool_path_and_repository() {
        let policy = |text: &str| Config::parse(text).map(|config| config.sessions);
        let home = etcetera::home_dir().unwrap();
        let expected = SessionPolicy {
            exclude_tools: vec!["codex".to_owned()],
            exclude_paths: vec![home.join("secret")],
            exclude_repos: Vec::new(),
            private: Switch::On,
            is_held: false,
        };
        let text = "[sessions]\nexclude_tools = [\"codex\"]\nexclude_paths = [\"~/secret\"]\nprivate = true";
        assert_eq!(policy(text), Ok(expected));
        let held = SessionPolicy { is_held: true, ..<_>::default() };
        assert_eq!(policy("[sessions]\nexclude = []"), Ok(held));
        let wrong = policy("[sessions]\nexclude_repos = \"a\"").unwrap_err().why;
        assert!(wrong.contains("exclude_repos is of a wrong type: it must be a list"), "{wrong}");
    }

    // S-ARCH-6
    #[test]
    fn archiving_is_asked_for_by_lines_and_by_age() {
        let policy = |text: &str| {
            let general = Config::parse(text)?.general;
            Ok((general.archive_above_lines, general.archive_older_than))
        };
        assert_eq!(policy(""), Ok((None, None)));
        let both = "archive_above_lines = 10000\narchive_older_than = \"90d\"";
        let older_than = Some(Duration::from_secs(90 * 24 * 60 * 60));
        assert_eq!(policy(both), Ok((Some(10_000), older_than)));
        for (wrong, expected) in [
            ("archive_above_lines = 99", "from 100 to"),
            ("archive_above_lines = -1", "from 100 to"),
            ("archive_older_than = \"0d\"", "\"90d\""),
            ("archive_older_than = \"2026-01-01\"", "\"90d\""),
        ] {
            assert!(Config::parse_strict(wrong).unwrap_err().contains(expected), "{wrong}");
            assert_eq!(policy(wrong), Ok((None, None)), "{wrong}");
        }
        for wrong in ["archive_above_lines = \"100\"", "archive_older_than = 90"] {
            assert!(
                policy(wrong)
                    .is_err_and(|fault: ConfigFault| fault.why.contains("is of a wrong type")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_circle_of_aliases_ends() {
        let config = Config::parse("[aliases]\na = \"b\"\nb = \"a\"").unwrap();
        assert_eq!(config.current(&key("a")), key("b"));
    }

    // S-CONFIG-4
    #[test]
    fn a_table_is_held_by_what_this_version_does_not_know() {
        let full = "[embedding]\nprovider = 'ollama'\nmodel = 'm'\n[rerank]\nprovider = 'jina'\nmodel = 'm'\n\
                    [judge]\ncommand = ['ask']\n[engine]\nurl = 'postgres://me@127.0.0.1/x'\n\
                    [sessions]\nprivate = true\n[sync]\nremote = 'r'\nshare = ['*']\ntrust = 'full'\n";
        let whole = Config::parse(full).unwrap();
        assert_eq!(whole.findings, []);
        for &section in ConfigTable::ALL {
            let UnknownRule::Holds { .. } = section.unknown_rule() else { continue };
            let head = format!("[{}]\n", section.as_str());
            let config =
                Config::parse(&full.replace(&head, &format!("{head}future = 3\n"))).unwrap();
            assert!(config.hold(section).is_some(), "{section:?}");
            let held = match section {
                ConfigTable::Embedding => config.provider.is_none(),
                ConfigTable::Rerank => config.rerank.is_none(),
                ConfigTable::Judge => config.judge.is_none(),
                ConfigTable::Engine => config.engine.is_none(),
                ConfigTable::Sessions => config.sessions.leaves_out("any", None, None),
                ConfigTable::Sync => {
                    let repo = key("github.com/a/b");
                    config.sync.remote.is_none()
                        && !config.sync.shares(&repo)
                        && !config.sync.receives(&repo)
                }
                ConfigTable::SectionBudgets | ConfigTable::Aliases => false,
            };
            assert!(held, "{section:?} is acted on");
            for &other in ConfigTable::ALL {
                assert!(other == section || config.hold(other).is_none(), "{other:?} is held too");
            }
        }
    }

    // S-CONFIG-4
    #[test]
    fn a_value_that_is_not_known_holds_its_table() {
        for (section, text) in [
            (ConfigTable::Embedding, "[embedding]\nprovider = 'nova'\nmodel = 'm'"),
            (ConfigTable::Rerank, "[rerank]\nprovider = 'nova'\nmodel = 'm'"),
            (ConfigTable::Judge, "[judge]\nurl = 'quic://x'\nmodel = 'm'"),
            (ConfigTable::Engine, "[engine]\nurl = 'postgres://me:hush@127.0.0.1/x'"),
            (ConfigTable::Sync, "[sync]\ntrust = 'reviewed'\nshare = ['*']"),
        ] {
            let config = Config::parse(text).unwrap();
            let message = config.hold(section).map(ToString::to_string);
            assert!(
                message.is_some_and(|message| message.contains("until it is removed, or")),
                "{text}"
            );
        }
    }

    // S-CONFIG-4
    #[test]
    fn what_is_no_toml_of_a_wrong_type_or_a_place_is_refused() {
        for (text, expected) in [
            ("logs =", "line 1"),
            ("logs = 3", "logs is of a wrong type: it must be a text in quotes"),
            ("logs = \"logs\"", "logs must be an absolute path"),
            ("sync = 3", "sync is of a wrong type: it must be a table [sync]"),
            ("[sync]\nshare = \"a\"", "sync.share is of a wrong type: it must be a list of texts"),
            ("[memory_mib]\na = 1", "memory_mib is of a wrong type"),
            ("[aliases]\na = \"../b\"", "github.com/acme/api"),
        ] {
            let fault = Config::parse(text).unwrap_err().to_string();
            assert!(fault.contains(expected), "{text}: {fault}");
        }
    }
}
