//! The table `[rerank]` of the settings: an external model that puts likely hits into another order. Without a provider nobody is
//! asked. Not here: asking it (`providers`), which hits it may see (the retriever), when it is asked (`api`).

use std::time::Duration;

use toml::Table;

use super::provider_rules::{KEYS_THEMSELVES, is_reachable, is_variable_name};
use super::setting::Setting;
use super::sync_policy::is_pattern;

/// The protocol that a reranker speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerankForm {
    /// Cohere's `/v2/rerank`.
    Cohere,
    /// Voyage's `/v1/rerank`.
    Voyage,
    /// Jina's `/v1/rerank`, which llama.cpp and vLLM have too.
    Jina,
    /// A program with JSON on its standard streams.
    Command,
}

impl RerankForm {
    /// All forms, by the names that the settings use.
    pub const ALL: [(&str, Self); 4] = [
        ("cohere", Self::Cohere),
        ("voyage", Self::Voyage),
        ("jina", Self::Jina),
        ("command", Self::Command),
    ];

    /// Returns its name in the settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }

    /// Returns the address of its maker; empty for a program.
    #[must_use]
    pub fn usual_url(self) -> &'static str {
        match self {
            Self::Cohere => "https://api.cohere.com",
            Self::Voyage => "https://api.voyageai.com",
            Self::Jina => "https://api.jina.ai",
            Self::Command => "",
        }
    }

    /// Returns what follows the address.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Cohere => "/v2/rerank",
            Self::Voyage | Self::Jina => "/v1/rerank",
            Self::Command => "",
        }
    }
}

/// An external model that orders likely hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankProvider {
    /// How it is asked.
    pub form: RerankForm,
    /// Its address, up to what [`RerankForm::path`] adds; empty for a program.
    pub url: String,
    /// The name of the model; for a program whatever tells its models apart.
    pub model: String,
    /// The program and its arguments; empty for a server.
    pub command: Vec<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// Repositories whose memories and queries are never sent; `*` stands for any text.
    pub off_repos: Vec<String>,
    /// How long a search waits for it, 1 to [`Self::TIMEOUT_MS_MAX`].
    pub timeout_ms: u32,
}

/// The table as it is read, before it is known whether anybody is to be asked.
#[derive(Default)]
struct Fields {
    form: Option<RerankForm>,
    url: String,
    model: String,
    command: Vec<String>,
    key_env: Option<String>,
    off_repos: Vec<String>,
    timeout_ms: Option<u32>,
}

impl RerankProvider {
    /// How long a search waits: what somebody who waits for an answer hardly notices beside the model that reads it.
    pub const TIMEOUT_MS_DEFAULT: u32 = 1_500;
    /// The longest wait that can be set.
    pub const TIMEOUT_MS_MAX: u32 = 4_000;

    /// Returns the wait.
    #[must_use]
    pub fn wait(&self) -> Duration {
        Duration::from_millis(u64::from(self.timeout_ms))
    }

    /// Returns what people are shown: the host, or the program.
    #[must_use]
    pub fn whom(&self) -> &str {
        let host = || self.url.split("://").nth(1)?.split('/').next();
        self.command.first().map_or_else(|| host().unwrap_or_default(), String::as_str)
    }
}

/// Reads the table. `None` where nobody is to be asked; what else stands in it is checked all the same.
///
/// # Errors
/// A sentence that names the key, says what is allowed, and gives an example. It never repeats what may be a secret.
pub(super) fn read(table: Table) -> Result<Option<RerankProvider>, String> {
    let mut fields = Fields::default();
    for (name, value) in table {
        if KEYS_THEMSELVES.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!(
                "a key does not belong in a file: remove {name} from [rerank], put the key into a variable of the \
                 environment, and set key_env to the name of that variable"
            ));
        }
        if fields.set(&name, &value).is_none() {
            return Err(wrong(&name));
        }
    }
    fields.whole()
}

/// Says what a key takes.
fn wrong(name: &str) -> String {
    match Setting::of(&format!("rerank.{name}")) {
        Some(Setting { allowed, example, .. }) => {
            let example = example.split(' ').next().unwrap_or_default();
            format!("rerank: {name} must be {allowed}, for example {example}")
        }
        None => format!(
            "rerank: {name:?} is unknown; allowed are provider, model, url, key_env, off_repos, timeout_ms and command, \
             for example provider = \"jina\""
        ),
    }
}

impl Fields {
    /// Sets one field; `None` where the value is not allowed.
    fn set(&mut self, name: &str, value: &toml::Value) -> Option<()> {
        let text = || value.as_str().map(str::to_owned);
        let list = || {
            let words = value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
            words.collect::<Option<Vec<String>>>()
        };
        match name {
            "provider" => {
                let name = value.as_str()?;
                let known = RerankForm::ALL.iter().find(|(known, _)| *known == name);
                self.form = known.map(|(_, form)| *form);
                (known.is_some() || matches!(name, "" | "off")).then_some(())?;
            }
            "url" => self.url = text().filter(|url| is_reachable(url))?,
            "model" => self.model = text()?,
            "command" => self.command = list()?,
            "key_env" => self.key_env = Some(text().filter(|name| is_variable_name(name))?),
            "off_repos" => {
                let patterns = list()?;
                self.off_repos = patterns.iter().all(|one| is_pattern(one)).then_some(patterns)?;
            }
            "timeout_ms" => {
                let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
                let allowed = 1..=RerankProvider::TIMEOUT_MS_MAX;
                self.timeout_ms = Some(number.filter(|number| allowed.contains(number))?);
            }
            _ => return None,
        }
        Some(())
    }

    /// Checks what only makes sense together.
    fn whole(self) -> Result<Option<RerankProvider>, String> {
        let Some(form) = self.form else { return Ok(None) };
        let is_command = form == RerankForm::Command;
        if self.command.is_empty() == is_command || is_command && !self.url.is_empty() {
            return Err("rerank: command belongs to provider \"command\", and url to all others, for example \
                        command = [\"rerank\", \"-q\"]"
                .to_owned());
        }
        if self.model.is_empty() && !is_command {
            return Err(wrong("model"));
        }
        let url = if self.url.is_empty() { form.usual_url() } else { &self.url };
        // Other settings take addresses that end with the version.
        let version = form.path().trim_end_matches("/rerank");
        let url = url.trim_end_matches('/');
        let url = url.strip_suffix(version).filter(|_| !is_command).unwrap_or(url);
        Ok(Some(RerankProvider {
            form,
            url: url.to_owned(),
            model: self.model,
            command: self.command,
            key_env: self.key_env,
            off_repos: self.off_repos,
            timeout_ms: self.timeout_ms.unwrap_or(RerankProvider::TIMEOUT_MS_DEFAULT),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<RerankProvider>, String> {
        read(text.parse().unwrap())
    }

    // S-RERANK-1
    #[test]
    fn a_table_names_a_reranker() {
        let cohere = parse("provider = 'cohere'\nmodel = 'rerank-v3.5'").unwrap().unwrap();
        assert_eq!((cohere.url.as_str(), cohere.timeout_ms), ("https://api.cohere.com", 1_500));
        assert_eq!(cohere.whom(), "api.cohere.com");
        let own = "provider = 'jina'\nmodel = 'm'\nurl = 'http://127.0.0.1:8080/v1/'\nkey_env = 'K'\n\
                   off_repos = ['github.com/acme/*']\ntimeout_ms = 4000";
        let own = parse(own).unwrap().unwrap();
        assert_eq!((own.url.as_str(), own.whom()), ("http://127.0.0.1:8080", "127.0.0.1:8080"));
        assert_eq!((own.key_env.as_deref(), own.wait().as_secs()), (Some("K"), 4));
        let program = parse("provider = 'command'\ncommand = ['order', '-q']").unwrap().unwrap();
        assert_eq!((program.whom(), program.url.as_str()), ("order", ""));
        for off in ["", "provider = ''", "provider = 'off'\nmodel = 'kept for later'"] {
            assert_eq!(parse(off), Ok(None), "{off}");
        }
    }

    // S-RERANK-1
    #[test]
    fn what_makes_no_sense_names_its_field() {
        let good = "provider = 'jina'\nmodel = 'm'\n";
        for (field, value) in [
            ("provider", "'nobody'"),
            ("provider", "3"),
            ("timeout_ms", "0"),
            ("timeout_ms", "10001"),
            ("timeout_ms", "'1500'"),
            ("url", "'http://rerank.example.com'"),
            ("url", "'https://me:secret9@rerank.example.com'"),
            ("url", "'http://localhost.example.com'"),
            ("off_repos", "['Big Letters']"),
            ("off_repos", "'acme'"),
            ("key_env", "'sk-live-0123456789abcdef'"),
            ("model", "7"),
        ] {
            // A value is checked whether anybody is asked or not.
            for text in [format!("{field} = {value}"), format!("{good}{field} = {value}")] {
                let Ok(table) = text.parse::<Table>() else { continue };
                let why = read(table).unwrap_err();
                assert!(why.starts_with(&format!("rerank: {field} must be ")), "{text}: {why}");
                assert!(why.contains(", for example "), "{why}");
                assert!(!why.contains("secret9") && !why.contains("0123456789"), "{why}");
            }
        }
        let key = parse("api_key = 'sk-live-0123456789abcdef'").unwrap_err();
        assert!(key.contains("key_env") && !key.contains("0123456789"), "{key}");
        assert!(parse("colour = 'red'").unwrap_err().contains("allowed are provider, model"));
        assert!(parse("provider = 'jina'").unwrap_err().contains("model must be"));
        for wrong in ["provider = 'command'", "provider = 'jina'\nmodel = 'm'\ncommand = ['x']"] {
            assert!(parse(wrong).unwrap_err().contains("command belongs to"), "{wrong}");
        }
    }
}
