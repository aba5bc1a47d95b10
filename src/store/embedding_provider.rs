//! The table `[embedding]` of the settings: which model makes vectors. Without a provider it is the one on this machine, and
//! nothing leaves. Not here: asking a provider (`providers`), which memories it may see (the retriever).

use toml::Table;

use super::provider_rules::{KEYS_THEMSELVES, is_reachable, is_variable_name};
use super::setting::Setting;
use super::sync_policy::{is_match, is_pattern};
use event::RepoKey;

/// The precision of the embedding model. Vectors of memories made with different precisions are never mixed.
/// The vector of a question may be computed with 8 bits in both cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EmbeddingPrecision {
    /// 32-bit floats, as published.
    #[default]
    Fp32,
    /// Layers in 8 bits: a text of 64 tokens takes two thirds of the time, and the model takes less memory.
    Int8,
}

impl EmbeddingPrecision {
    /// Parses the name of a precision.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "fp32" => Ok(Self::Fp32),
            "int8" => Ok(Self::Int8),
            _ => Err(format!("embedding must be \"fp32\" or \"int8\", not {name:?}")),
        }
    }
}

/// The protocol that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderForm {
    /// `/v1/embeddings`, as OpenAI defined it and many local servers have it.
    OpenAi,
    /// Ollama's `/api/embed`.
    Ollama,
    /// Voyage's `/v1/embeddings`, which tells queries from texts.
    Voyage,
    /// Cohere's `/v2/embed`.
    Cohere,
    /// Gemini's `batchEmbedContents`.
    Gemini,
    /// A program with JSON on its standard streams.
    Command,
}

impl ProviderForm {
    /// All forms, by the names that the settings use.
    pub const ALL: [(&str, Self); 6] = [
        ("openai", Self::OpenAi),
        ("ollama", Self::Ollama),
        ("voyage", Self::Voyage),
        ("cohere", Self::Cohere),
        ("gemini", Self::Gemini),
        ("command", Self::Command),
    ];

    /// Returns its name in the settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }

    /// Returns the address of its maker; none where there is no single one.
    #[must_use]
    pub fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::Voyage => Some("https://api.voyageai.com/v1"),
            Self::Cohere => Some("https://api.cohere.com"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Command => None,
        }
    }
}

/// An external model that makes vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingProvider {
    /// How it is asked.
    pub form: ProviderForm,
    /// Its address, up to what the form adds; empty for a program.
    pub url: String,
    /// The name of the model; for a program whatever tells its models apart.
    pub model: String,
    /// The program and its arguments; empty for a server.
    pub command: Vec<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// Numbers per vector, which are asked for only if they are set.
    pub dimensions: Option<u32>,
    /// Most texts in one request, 1 to [`Self::BATCH_MAX`].
    pub batch: u32,
    /// Characters of a text that are sent; the rest is cut here. Local servers refuse what is too long, and all texts with it.
    pub max_chars: u32,
    /// Stands before each query, for models that tell queries from texts that way.
    pub query_prefix: String,
    /// Stands before each text.
    pub text_prefix: String,
    /// Repositories whose memories and queries are never sent; `*` stands for any text.
    pub off_repos: Vec<String>,
}

/// What the table `[embedding]` holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct EmbeddingTable {
    pub(super) precision: EmbeddingPrecision,
    pub(super) provider: Option<EmbeddingProvider>,
}

/// What stands in the table, for error messages.
const FORM: &str = "[embedding] takes provider = \"openai\" (any /v1/embeddings), \"ollama\", \"voyage\", \"cohere\", \"gemini\" \
                    or \"command\", with model, url, key_env, dimensions, batch, max_chars, query_prefix, text_prefix, \
                    off_repos and command; or precision = \"fp32\" or \"int8\" for the model of this machine";

/// What the keys with a rule of their own take.
const URL: &str = "url must begin with https://, or http:// on this machine, without a name or password (@), ? and #; put a key into a \
                   variable, and set key_env to the name of that variable";
const KEY_ENV: &str =
    "key_env must be the name of a variable in capital letters, never the key itself";
const OFF_REPOS: &str = "off_repos takes keys of repositories in lower case, and * for any text";

impl EmbeddingProvider {
    /// Most texts in one request that can be set: what the widest providers take.
    pub const BATCH_MAX: u32 = 512;
    /// Texts in one request: small enough for local servers, large enough that the way counts little.
    pub const BATCH_DEFAULT: u32 = 32;
    /// Characters of a text: some 1,500 tokens, which every model in use takes.
    pub const CHARS_DEFAULT: u32 = 6_000;
    /// Most characters that can be set.
    pub const CHARS_MAX: u32 = 100_000;
    /// Most numbers per vector: the widest index.
    pub const DIMENSIONS_MAX: u32 = 4_096;

    /// Returns a provider with everything usual.
    #[must_use]
    pub fn usual(form: ProviderForm, model: &str) -> Self {
        Self {
            form,
            url: form.usual_url().unwrap_or_default().to_owned(),
            model: model.to_owned(),
            command: Vec::new(),
            key_env: None,
            dimensions: None,
            batch: Self::BATCH_DEFAULT,
            max_chars: Self::CHARS_DEFAULT,
            query_prefix: String::new(),
            text_prefix: String::new(),
            off_repos: Vec::new(),
        }
    }

    /// Returns the text of a configuration file with this provider alone.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut table = Table::new();
        let texts = [
            ("provider", self.form.as_str()),
            ("url", &self.url),
            ("model", &self.model),
            ("key_env", self.key_env.as_deref().unwrap_or_default()),
            ("query_prefix", &self.query_prefix),
            ("text_prefix", &self.text_prefix),
        ];
        let numbers = [
            ("dimensions", self.dimensions),
            ("batch", Some(self.batch)),
            ("max_chars", Some(self.max_chars)),
        ];
        let lists = [("command", &self.command), ("off_repos", &self.off_repos)];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        table.extend(texts.map(|(name, text)| (name.to_owned(), text.into())));
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?)));
        table.extend(numbers.map(|(name, number)| (name.to_owned(), i64::from(number).into())));
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        table.extend(lists.map(|(name, list)| (name.to_owned(), list.clone().into())));
        Table::from_iter([("embedding".to_owned(), toml::Value::Table(table))]).to_string()
    }

    /// Tells whether memories and queries of a repository may be sent.
    #[must_use]
    pub fn is_on_for(&self, repo: &RepoKey) -> bool {
        !self.off_repos.iter().any(|pattern| is_match(pattern, repo.as_str()))
    }
}

/// Reads the table.
///
/// # Errors
/// A sentence that names the key and says what is allowed. It never repeats what may be a secret.
pub(super) fn read(table: Table) -> Result<EmbeddingTable, String> {
    let mut read = EmbeddingTable::default();
    let wrong = |what: &str| format!("{what}; {FORM}");
    let form = match table.get("provider") {
        None => None,
        Some(toml::Value::String(name)) if name == "local" => None,
        Some(toml::Value::String(name)) => {
            let known = ProviderForm::ALL.iter().find(|(known, _)| known == name);
            Some(known.ok_or_else(|| wrong(&format!("[embedding] has no provider {name:?}")))?.1)
        }
        Some(_) => return Err(wrong("[embedding] provider must be a text")),
    };
    // Each key is checked by its own rule, also where nobody is asked: it is kept for later.
    let mut provider = EmbeddingProvider::usual(form.unwrap_or(ProviderForm::Command), "");
    for (key, value) in table {
        if KEYS_THEMSELVES.contains(&key.to_ascii_lowercase().as_str()) {
            return Err(format!(
                "a key does not belong in a file: remove {key} from [embedding], put the key into a variable of the \
                 environment, and set key_env to the name of that variable"
            ));
        }
        match (key.as_str(), &value) {
            ("provider", _) => {}
            ("precision", toml::Value::String(name)) => {
                read.precision = EmbeddingPrecision::parse(name)?;
            }
            (name, value) if is_of_provider(name) => {
                set(&mut provider, name, value).map_err(|what| wrong_key(name, &what))?;
            }
            (name, _) => {
                return Err(wrong(&format!(
                    "{name:?} in [embedding] is unknown or of a wrong type"
                )));
            }
        }
    }
    let provider = form.is_some().then_some(provider);
    read.provider = provider.map(checked).transpose().map_err(|what| wrong(&what))?;
    Ok(read)
}

/// Says what a key takes, with an example.
fn wrong_key(name: &str, what: &str) -> String {
    let setting = Setting::of(&format!("embedding.{name}"));
    let example = setting.and_then(|setting| setting.example.split(' ').next());
    format!("embedding: {what}, for example {}", example.unwrap_or_default())
}

fn is_of_provider(name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "url",
        "model",
        "command",
        "key_env",
        "dimensions",
        "batch",
        "max_chars",
        "query_prefix",
        "text_prefix",
        "off_repos",
    ];
    NAMES.contains(&name)
}

fn set(provider: &mut EmbeddingProvider, name: &str, value: &toml::Value) -> Result<(), String> {
    let text = || value.as_str().map(str::to_owned).ok_or(format!("{name} must be a text"));
    let number = |max: u32| {
        let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (1..=max).contains(number));
        number.ok_or(format!("{name} must be a whole number from 1 to {max}"))
    };
    let list = || {
        let words = value.as_array().map(|words| words.iter().map(toml::Value::as_str));
        let words = words.and_then(|words| words.map(|word| word.map(str::to_owned)).collect());
        words.ok_or(format!("{name} must be a list of texts"))
    };
    match name {
        // As if it were not there.
        "url" | "key_env" if value.as_str() == Some("") => {}
        "url" => {
            let url = text()?;
            // What stands there may be a password or a key, which is not repeated.
            if !is_reachable(&url.to_ascii_lowercase()) {
                return Err(URL.to_owned());
            }
            url.trim_end_matches('/').clone_into(&mut provider.url);
        }
        "model" => provider.model = text()?,
        "command" => provider.command = list()?,
        "key_env" => {
            // A key that was pasted here is not repeated.
            let name = text()?;
            provider.key_env = Some(name).filter(|name| is_variable_name(name));
            provider.key_env.as_ref().ok_or(KEY_ENV)?;
        }
        "dimensions" => provider.dimensions = Some(number(EmbeddingProvider::DIMENSIONS_MAX)?),
        "batch" => provider.batch = number(EmbeddingProvider::BATCH_MAX)?,
        "max_chars" => provider.max_chars = number(EmbeddingProvider::CHARS_MAX)?,
        "query_prefix" => provider.query_prefix = text()?,
        "text_prefix" => provider.text_prefix = text()?,
        "off_repos" => {
            provider.off_repos = list()?;
            if !provider.off_repos.iter().all(|pattern| is_pattern(pattern)) {
                return Err(OFF_REPOS.to_owned());
            }
        }
        _ => {}
    }
    Ok(())
}

/// Checks what only makes sense together.
fn checked(provider: EmbeddingProvider) -> Result<EmbeddingProvider, String> {
    let is_command = provider.form == ProviderForm::Command;
    if provider.command.is_empty() == is_command || is_command && !provider.url.is_empty() {
        return Err("command belongs to provider \"command\", and url to all others".to_owned());
    }
    if provider.model.is_empty() && !is_command {
        return Err("[embedding] must name a model".to_owned());
    }
    Ok(provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<EmbeddingTable, String> {
        read(text.parse().unwrap())
    }

    // S-PROVIDER-1
    #[test]
    fn a_table_names_a_provider_and_the_rest_is_usual() {
        let read = parse("provider = 'ollama'\nmodel = 'nomic-embed-text'").unwrap().provider;
        let usual = EmbeddingProvider::usual(ProviderForm::Ollama, "nomic-embed-text");
        assert_eq!(read, Some(usual.clone()));
        assert_eq!(usual.url, "http://127.0.0.1:11434");
        let full = "provider = 'voyage'\nmodel = 'm'\nkey_env = 'K'\ndimensions = 8\nbatch = 2\nmax_chars = 9\n\
                    query_prefix = 'q: '\ntext_prefix = 't: '\noff_repos = ['a', 'b']";
        let full = parse(full).unwrap().provider.unwrap();
        let again = crate::Config::parse(&full.to_toml()).unwrap().provider;
        assert_eq!(again, Some(full), "a table that was written is read back");
        for none in ["", "precision = 'int8'", "provider = 'local'\nmodel = 'kept for later'"] {
            assert_eq!(parse(none).unwrap().provider, None, "{none}");
        }
        assert_eq!(parse("precision = 'int8'").unwrap().precision, EmbeddingPrecision::Int8);
        let command = parse("provider = 'command'\ncommand = ['embed', '-q']").unwrap();
        assert_eq!(command.provider.unwrap().command, ["embed", "-q"]);
    }

    // S-PROVIDER-2
    #[test]
    fn a_key_in_the_file_is_refused_and_not_repeated() {
        let secret = "sk-proj-ab12cd34ef56";
        for line in [
            format!("api_key = '{secret}'"),
            format!("Token = '{secret}'"),
            format!("key_env = '{secret}'"),
        ] {
            let why = parse(&format!("provider = 'openai'\nmodel = 'm'\n{line}")).unwrap_err();
            assert!(!why.contains(secret), "{why}");
            assert!(why.contains("key_env"), "{why}");
        }
        let named = parse("provider = 'openai'\nmodel = 'm'\nkey_env = 'OPENAI_API_KEY'").unwrap();
        assert_eq!(named.provider.unwrap().key_env.as_deref(), Some("OPENAI_API_KEY"));
    }

    // S-PROVIDER-2
    #[test]
    fn a_key_in_the_address_is_refused() {
        for url in [
            "https://me:hunter2secret@api.example.com/v1",
            "https://hunter2secret@api.example.com",
            "https://api.example.com/v1?key=hunter2secret",
            "https://api.example.com/v1#hunter2secret",
        ] {
            let text = format!("provider = 'openai'\nmodel = 'm'\nurl = '{url}'");
            let why = parse(&text).unwrap_err();
            assert!(!why.contains("hunter2secret"), "{why}");
            for told in
                ["url must begin with https://", "for example http://127.0.0.1:11434", "key_env"]
            {
                assert!(why.contains(told), "{told}: {why}");
            }
        }
        let fine = parse("provider = 'openai'\nmodel = 'm'\nurl = 'https://api.example.com/v1/'");
        assert_eq!(fine.unwrap().provider.unwrap().url, "https://api.example.com/v1");
    }

    // S-PROVIDER-1
    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            "provider = 'nobody'",
            "provider = 3",
            "provider = 'openai'",
            "provider = 'openai'\nmodel = 'm'\ncommand = ['x']",
            "provider = 'command'",
            "colour = 'red'",
        ] {
            assert!(parse(wrong).unwrap_err().contains("[embedding] takes provider"), "{wrong}");
        }
    }

    // S-CONFIG-2
    #[test]
    fn each_key_is_checked_also_without_provider() {
        for (line, told) in [
            ("batch = 0", "embedding: batch must be a whole number from 1 to 512, for example 16"),
            ("dimensions = 99999", "embedding: dimensions must be a whole number from 1 to 4096"),
            ("max_chars = 'x'", "embedding: max_chars must be a whole number from 1 to 100000"),
            ("url = 'ftp://x'", "embedding: url must begin with https://"),
            ("url = 'http://api.example.com'", "embedding: url must begin with https://"),
            ("key_env = 'lower case'", "embedding: key_env must be the name of a variable"),
            ("off_repos = ['Big Letters']", "embedding: off_repos takes keys of repositories"),
            ("command = 'embed'", "embedding: command must be a list of texts, for example embed"),
            ("model = 3", "embedding: model must be a text, for example nomic-embed-text"),
        ] {
            for provider in ["", "provider = 'local'\n", "provider = 'openai'\nmodel = 'm'\n"] {
                if line.starts_with("model") && provider.contains("model") {
                    continue;
                }
                let why = parse(&format!("{provider}{line}")).unwrap_err();
                assert!(why.starts_with(told) && why.contains("for example"), "{why}");
            }
        }
        assert!(parse("url = 'HTTPS://api.example.com/v1'").is_ok());
    }

    // S-PROVIDER-7
    #[test]
    fn a_repository_can_be_left_out() {
        let off = "provider = 'ollama'\nmodel = 'm'\noff_repos = ['github.com/acme/*', 'api']";
        let provider = parse(off).unwrap().provider.unwrap();
        let is_on = |repo: &str| provider.is_on_for(&RepoKey::parse(repo).unwrap());
        assert!(!is_on("github.com/acme/shop") && !is_on("api"));
        assert!(is_on("github.com/other/shop") && is_on("api2"));
    }
}
