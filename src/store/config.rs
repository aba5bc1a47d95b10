//! Settings: defaults < file < environment < flags, resolved once at start into a plain struct. Not here:
//! reading the environment. The programs do that and pass the values in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;
use toml::Table;

use super::config_fault::{ConfigFault, read_config_text};
use super::config_finding::{self, ConfigFinding};
use super::config_table::{ConfigTable, UnknownRule};
use super::memory_mib::MemoryMib;
use super::section_budgets::read_budgets;
use super::tilde::expanded;
use super::{
    AsOf, EmbeddingPrecision, EmbeddingProvider, EngineSetting, Judge, RerankProvider,
    SessionPolicy, StoreError, SyncPolicy, embedding_provider, rerank_provider, trusted,
};
use event::{RepoKey, StoreOrigin, parse_age, quoted};

/// All settings that both programs need.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// Where the logs are.
    pub logs: Option<PathBuf>,
    /// Where the embedding model is.
    pub model: Option<PathBuf>,
    /// Where rebuildable files are kept.
    pub cache: Option<PathBuf>,
    /// The memory limit for memories and indexes.
    pub memory: Option<MemoryMib>,
    /// How vectors are computed.
    pub embedding: EmbeddingPrecision,
    /// The external model that makes vectors; by default none is asked.
    pub provider: Option<EmbeddingProvider>,
    /// The external model that orders likely hits; by default none is asked.
    pub rerank: Option<RerankProvider>,
    /// When old lines are archived automatically.
    pub archive: ArchivePolicy,
    /// The language model that `review --judge`, `sessions review --draft` and `tag --ask` ask; none by default.
    pub judge: Option<Judge>,
    /// The engine that searches ask besides the memories of this machine; none by default.
    pub engine: Option<EngineSetting>,
    /// Whether searches without a result are logged.
    pub query_log: Switch,
    /// Whether it is recorded what happened to memories and what agents were told.
    pub journal: Switch,
    /// Which past position of the store is read. A command sets it; no file can.
    pub as_of: Option<AsOf>,
    /// The origin of this store, where its own lines are read like those of any other member of the team, so that all
    /// replicas read one team alike. A command sets it; no file can.
    pub member: Option<StoreOrigin>,
    /// Most tokens of sections of a briefing, by name; 0 leaves a section out.
    pub section_budgets: BTreeMap<String, usize>,
    /// Which past sessions of other tools are left out.
    pub sessions: SessionPolicy,
    /// What is shared with a team.
    pub sync: SyncPolicy,
    /// Old repository keys and the current keys they stand for.
    pub aliases: BTreeMap<RepoKey, RepoKey>,
    /// What the file holds that this version does not know, and what became of it.
    pub findings: Vec<ConfigFinding>,
}

/// Longest configuration file, in bytes. Thousands of aliases fit; a longer file is refused.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

impl Config {
    /// Reads a configuration file. A missing file counts as empty. What this version does not know is left out, and told in
    /// [`Config::findings`].
    ///
    /// # Errors
    /// [`StoreError::Config`] names the file and what is wrong in it.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        trusted(path)
            .map_err(|error| match error {
                // What cannot be looked at cannot be read either; reading says more.
                StoreError::Io { .. } => None,
                error => Some(error),
            })
            .or_else(|error| error.map_or(Ok(()), Err))?;
        let text = Self::text_of(path)?;
        let mut config = Self::parse(&text).map_err(|fault| fault.in_file(path))?;
        config.findings.iter_mut().for_each(|finding| finding.file = Some(path.to_owned()));
        Ok(config)
    }

    /// Returns the text of a configuration file; a missing one is empty.
    ///
    /// # Errors
    /// [`StoreError::Config`] says why it cannot be read.
    pub fn text_of(path: &Path) -> Result<String, StoreError> {
        Ok(read_config_text(path, FILE_BYTES_MAX)?.unwrap_or_default())
    }

    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// A sentence that names the key and says what is allowed: no TOML, a value of a wrong type, or one that decides where
    /// something goes.
    pub fn parse(text: &str) -> Result<Self, ConfigFault> {
        let table = text.parse().map_err(|error| ConfigFault::of_toml(&error, text))?;
        Self::of_table(table, text).map_err(|fault| {
            let line = config_finding::line_of(&fault.key, text);
            ConfigFault { line, ..fault }
        })
    }

    fn of_table(mut table: Table, text: &str) -> Result<Self, ConfigFault> {
        let mut config =
            Self { findings: config_finding::take_unknown(&mut table)?, ..Self::default() };
        for (key, value) in table {
            match (ConfigTable::named(&key), value) {
                (Some(section), toml::Value::Table(table)) => config.set_table(section, table)?,
                (_, value) => config.set(&key, &value)?,
            }
        }
        config_finding::set_lines(&mut config.findings, text);
        config.findings.sort_by_key(|finding| finding.line);
        Ok(config)
    }

    /// Says why a table is held; nothing where it counts.
    #[must_use]
    pub fn hold(&self, section: ConfigTable) -> Option<&ConfigFinding> {
        let holds = matches!(section.unknown_rule(), UnknownRule::Holds { .. });
        self.findings.iter().find(|finding| holds && finding.section == Some(section))
    }

    /// Says in one line what does not count; nothing where everything does.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let (first, others) = self.findings.split_first()?;
        Some(match others.len() {
            0 => first.to_string(),
            more => format!("{first}; and {more} more, which agent-knowledge config shows"),
        })
    }

    /// Sets what one key says, whose value has the right type. Only a place is refused.
    fn set(&mut self, key: &str, value: &toml::Value) -> Result<(), ConfigFault> {
        let text = value.as_str().unwrap_or_default();
        match key {
            "logs" => self.logs = Some(place(key, text)?),
            "model" => self.model = Some(place(key, text)?),
            "cache" => self.cache = Some(place(key, text)?),
            _ => {
                let table = ConfigTable::named(key);
                let finding = |why| ConfigFinding::of_value(key, table, why);
                let wrong = self.set_plain(key, value).err().map(finding);
                self.findings.extend(wrong);
            }
        }
        Ok(())
    }

    /// Sets what one key says that decides no place.
    fn set_plain(&mut self, key: &str, value: &toml::Value) -> Result<(), String> {
        let switch = || if value.as_bool() == Some(false) { Switch::Off } else { Switch::On };
        match key {
            "query_log" => self.query_log = switch(),
            "journal" => self.journal = switch(),
            "memory_mib" => {
                let memory = value.as_integer().ok_or_else(MemoryMib::allowed);
                let memory = memory.and_then(MemoryMib::of);
                self.memory = Some(memory.map_err(|why| format!("memory_mib {why}"))?);
            }
            "embedding" => {
                self.embedding = EmbeddingPrecision::parse(value.as_str().unwrap_or_default())?;
            }
            "archive_above_lines" => self.archive.above_lines = Some(ArchivePolicy::lines(value)?),
            "archive_older_than" => self.archive.older_than = Some(ArchivePolicy::age(value)?),
            _ => {}
        }
        Ok(())
    }

    /// Sets what a table says. A table that is held says nothing.
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
            ConfigTable::Embedding => embedding_provider::read(table)
                .map(|read| (self.embedding, self.provider) = (read.precision, read.provider)),
            ConfigTable::Rerank => rerank_provider::read(table).map(|read| self.rerank = read),
            ConfigTable::Judge => Judge::read(table).map(|judge| self.judge = Some(judge)),
            ConfigTable::Engine => EngineSetting::read(table).map(|read| self.engine = Some(read)),
            ConfigTable::Sessions => SessionPolicy::parse(table).map(|read| self.sessions = read),
            ConfigTable::Sync => SyncPolicy::parse(table).map(|read| self.sync = read),
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

    /// Takes back what a table allows.
    fn hold_back(&mut self, section: ConfigTable) {
        match section {
            ConfigTable::Embedding => self.provider = None,
            ConfigTable::Rerank => self.rerank = None,
            ConfigTable::Judge => self.judge = None,
            ConfigTable::Engine => self.engine = None,
            ConfigTable::Sessions => self.sessions = SessionPolicy::HELD,
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

/// A setting that is on or off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Switch {
    /// On.
    #[default]
    On,
    /// Off.
    Off,
}

impl Switch {
    /// Parses the value of a variable.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "on" | "true" | "1" => Ok(Self::On),
            "off" | "false" | "0" => Ok(Self::Off),
            other => Err(format!("must be on or off, got {other:?}")),
        }
    }
}

/// When old lines of a log are archived automatically; never by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArchivePolicy {
    /// Archive a log when it has more lines than this.
    pub above_lines: Option<u64>,
    /// Archive lines that are older than this.
    pub older_than: Option<Duration>,
}

impl ArchivePolicy {
    /// A lower bound would create a segment every few writes.
    pub const LINES_MIN: u64 = 100;
    /// More lines than any repository has.
    pub const LINES_MAX: u64 = 1_000_000_000;

    fn lines(value: &toml::Value) -> Result<u64, String> {
        let (min, max) = (Self::LINES_MIN, Self::LINES_MAX);
        let lines = value.as_integer().and_then(|lines| u64::try_from(lines).ok());
        lines.filter(|lines| (min..=max).contains(lines)).ok_or_else(|| {
            format!(
                "archive_above_lines must be a whole number from {min} to {max}, for example 10000"
            )
        })
    }

    fn age(value: &toml::Value) -> Result<Duration, String> {
        let age = value.as_str().and_then(|text| parse_age(text.trim()));
        age.filter(|age| !age.is_zero())
            .ok_or_else(|| "archive_older_than must be an age, for example \"90d\"".to_owned())
    }
}

/// Reads a directory. A relative one would be another in each working directory.
fn place(key: &str, path: &str) -> Result<PathBuf, ConfigFault> {
    let place = expanded(path);
    if place.is_absolute() {
        return Ok(place);
    }
    let why = format!(
        "{key} must be an absolute path, or begin with ~/, for example {key} = \"~/knowledge/{key}\"; got {}",
        quoted(path)
    );
    Err(ConfigFault::of_key(key, why))
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

/// The platform's directories for this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformDirs {
    /// The configuration file.
    pub config_file: PathBuf,
    /// The logs.
    pub logs: PathBuf,
    /// The embedding model.
    pub model: PathBuf,
    /// Rebuildable files.
    pub cache: PathBuf,
    /// What is kept of past sessions.
    pub sessions: PathBuf,
    /// The home directory.
    pub home: PathBuf,
    /// The data of all programs.
    pub data_of_all: PathBuf,
    /// The configuration of all programs.
    pub config_of_all: PathBuf,
}

impl PlatformDirs {
    /// Returns the platform's directories, or `None` if there is no home directory.
    #[must_use]
    pub fn of_platform() -> Option<Self> {
        let base = etcetera::base_strategy::choose_native_strategy().ok()?;
        let data = base.data_dir().join("agent-knowledge");
        Some(Self {
            config_file: base.config_dir().join("agent-knowledge").join("config.toml"),
            logs: data.join("logs"),
            model: data.join("model"),
            cache: base.cache_dir().join("agent-knowledge"),
            sessions: data.join("sessions"),
            home: base.home_dir().to_owned(),
            data_of_all: base.data_dir(),
            config_of_all: base.config_dir(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> RepoKey {
        RepoKey::parse(text).unwrap()
    }

    /// What is told of a value that does not count.
    fn left_out(text: &str) -> String {
        let config = Config::parse(text).unwrap();
        let [finding] = &*config.findings else { panic!("{text}: {:?}", config.findings) };
        finding.why.clone()
    }

    // S-STORE-1
    #[test]
    fn a_file_sets_what_it_names() {
        let config = Config::parse("logs = \"/l\"\n[aliases]\nold = \"github.com/a/new\"").unwrap();
        assert_eq!(config.logs, Some("/l".into()));
        let home = etcetera::home_dir().unwrap();
        assert_eq!(Config::parse("cache = \"~/c\"").unwrap().cache, Some(home.join("c")));
        assert_eq!(config.current(&key("old")), key("github.com/a/new"));
        assert_eq!(config.current(&key("other")), key("other"));
    }

    // S-CONFIG-2
    #[test]
    fn a_directory_is_the_same_from_everywhere() {
        for key in ["logs", "model", "cache"] {
            for wrong in ["", " ", "logs", "./logs", "../l", "~", "~other/l"] {
                let refused = Config::parse(&format!("{key} = {wrong:?}")).unwrap_err().why;
                let told = format!("{key} must be an absolute path, or begin with ~/, for example");
                assert!(refused.starts_with(&told), "{refused}");
            }
            assert!(Config::parse(&format!("{key} = \"~/l\"")).is_ok());
        }
    }

    // S-BOUND-1
    #[test]
    fn memory_is_set_in_mib_within_bounds() {
        let memory = |text: &str| Config::parse(text).map(|config| config.memory);
        assert_eq!(memory("memory_mib = 16"), Ok(Some(MemoryMib::of(16).unwrap())));
        assert_eq!(MemoryMib::parse(" 2048 ").map(MemoryMib::bytes), Ok(2 << 30));
        let allowed = "must be a whole number of MiB from 16 to 1048576, for example 1024";
        for wrong in ["15", "1048577", "-1"] {
            let text = format!("memory_mib = {wrong}");
            assert_eq!(left_out(&text), format!("memory_mib {allowed}"));
            assert_eq!(memory(&text), Ok(None));
            assert_eq!(MemoryMib::parse(wrong), Err(allowed.to_owned()));
        }
        assert_eq!(MemoryMib::parse("much"), Err(allowed.to_owned()));
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
        let embedding = |text: &str| Config::parse(text).map(|config| config.embedding);
        assert_eq!(embedding("embedding = \"fp32\""), Ok(EmbeddingPrecision::Fp32));
        assert_eq!(embedding("embedding = \"int8\""), Ok(EmbeddingPrecision::Int8));
        assert_eq!(embedding(""), Ok(EmbeddingPrecision::default()));
        assert_eq!(embedding("embedding = \"INT4\""), Ok(EmbeddingPrecision::default()));
        let told = left_out("embedding = \"INT4\"");
        assert_eq!(told, "embedding must be \"fp32\" or \"int8\", not \"INT4\"");
        assert!(
            embedding("embedding = 8").unwrap_err().why.starts_with("embedding is of a wrong type")
        );
    }

    #[test]
    fn past_sessions_are_left_out_by_tool_path_and_repository() {
        let policy = |text: &str| Config::parse(text).map(|config| config.sessions);
        let home = etcetera::home_dir().unwrap();
        let expected = SessionPolicy {
            without_tools: vec!["codex".to_owned()],
            without_paths: vec![home.join("secret")],
            without_repos: Vec::new(),
            is_with_private: true,
            is_held: false,
        };
        let text = "[sessions]\nexclude_tools = [\"codex\"]\nexclude_paths = [\"~/secret\"]\nprivate = true";
        assert_eq!(policy(text), Ok(expected));
        assert_eq!(policy("[sessions]\nexclude = []"), Ok(SessionPolicy::HELD));
        let wrong = policy("[sessions]\nexclude_repos = \"a\"").unwrap_err().why;
        assert!(wrong.contains("exclude_repos is of a wrong type: it must be a list"), "{wrong}");
    }

    // S-ARCH-6
    #[test]
    fn archiving_is_asked_for_by_lines_and_by_age() {
        let policy = |text: &str| Config::parse(text).map(|config| config.archive);
        assert_eq!(policy(""), Ok(ArchivePolicy::default()));
        let both = "archive_above_lines = 10000\narchive_older_than = \"90d\"";
        let older_than = Some(Duration::from_secs(90 * 24 * 60 * 60));
        assert_eq!(policy(both), Ok(ArchivePolicy { above_lines: Some(10_000), older_than }));
        for (wrong, told) in [
            ("archive_above_lines = 99", "from 100 to"),
            ("archive_above_lines = -1", "from 100 to"),
            ("archive_older_than = \"0d\"", "\"90d\""),
            ("archive_older_than = \"2026-01-01\"", "\"90d\""),
        ] {
            assert!(left_out(wrong).contains(told), "{wrong}");
            assert_eq!(policy(wrong), Ok(ArchivePolicy::default()), "{wrong}");
        }
        for wrong in ["archive_above_lines = \"100\"", "archive_older_than = 90"] {
            assert!(policy(wrong).unwrap_err().why.contains("is of a wrong type"), "{wrong}");
        }
    }

    #[test]
    fn what_is_endless_is_no_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "# ".repeat(usize::try_from(FILE_BYTES_MAX / 2).unwrap())).unwrap();
        assert_eq!(Config::read(&path).unwrap(), Config::default());
        std::fs::write(
            &path,
            format!("{}#", "# ".repeat(usize::try_from(FILE_BYTES_MAX / 2).unwrap())),
        )
        .unwrap();
        assert!(Config::read(&path).unwrap_err().to_string().contains("longer than 1048576 bytes"));
        assert_eq!(Config::read(&folder.path().join("none")).unwrap(), Config::default());
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
        for section in ConfigTable::ALL {
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
            for other in ConfigTable::ALL {
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
            let told = config.hold(section).map(ToString::to_string);
            assert!(told.is_some_and(|told| told.contains("until it is removed, or")), "{text}");
        }
    }

    // S-CONFIG-4
    #[test]
    fn what_is_no_toml_of_a_wrong_type_or_a_place_is_refused() {
        for (text, told) in [
            ("logs =", "line 1"),
            ("logs = 3", "logs is of a wrong type: it must be a text in quotes"),
            ("logs = \"logs\"", "logs must be an absolute path"),
            ("sync = 3", "sync is of a wrong type: it must be a table [sync]"),
            ("[sync]\nshare = \"a\"", "sync.share is of a wrong type: it must be a list of texts"),
            ("[memory_mib]\na = 1", "memory_mib is of a wrong type"),
            ("[aliases]\na = \"../b\"", "github.com/acme/api"),
        ] {
            let fault = Config::parse(text).unwrap_err().to_string();
            assert!(fault.contains(told), "{text}: {fault}");
        }
    }
}
