//! The keys of a configuration file, one a row: what each takes, and which variable wins over it. Not here: reading a
//! file (`config`), changing one (the retriever's `config_file`).

/// A key of the configuration file.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The key; that of a table is before the dot. `*` stands for any name.
    pub key: &'static str,
    /// What it takes.
    pub form: SettingForm,
    /// The variable that wins over the file, if there is one.
    pub variable: Option<&'static str>,
    /// Its value where nothing sets it, unless the platform decides.
    pub default: Option<&'static str>,
    /// What is allowed, in words.
    pub allowed: &'static str,
    /// A value that is allowed.
    pub example: &'static str,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingForm {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// On or off.
    Switch,
    /// Several texts.
    List,
    /// Several texts, or one word that stands for all.
    ListOrWord,
}

impl SettingForm {
    /// Says what it is in TOML.
    pub(super) fn toml_type(self) -> &'static str {
        match self {
            Self::Text => "a text in quotes",
            Self::Number => "a whole number",
            Self::Switch => "true or false",
            Self::List | Self::ListOrWord => "a list of texts",
        }
    }
}

const fn setting(
    key: &'static str,
    form: SettingForm,
    allowed: &'static str,
    example: &'static str,
) -> Setting {
    Setting { key, form, variable: None, default: None, allowed, example }
}

impl Setting {
    const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn below(self, variable: &'static str) -> Self {
        Self { variable: Some(variable), ..self }
    }

    /// Returns the example as it stands in the file.
    pub(super) fn toml_example(&self) -> String {
        let first = self.example.split(' ').next().unwrap_or_default();
        match self.form {
            SettingForm::Text => format!("{first:?}"),
            SettingForm::Number => first.to_owned(),
            SettingForm::Switch => (first == "on").to_string(),
            SettingForm::List | SettingForm::ListOrWord => {
                format!("{:?}", self.example.split(',').collect::<Vec<_>>())
            }
        }
    }

    /// Finds the setting of a key, such as `logs`, `judge.model` or `aliases.old-name`.
    #[must_use]
    pub fn of(key: &str) -> Option<Self> {
        let is_it = |setting: &&Self| match setting.key.strip_suffix('*') {
            Some(table) => key.strip_prefix(table).is_some_and(|name| !name.is_empty()),
            None => setting.key == key,
        };
        SETTINGS.iter().find(is_it).copied()
    }
}

/// All settings of the configuration file.
pub const SETTINGS: [Setting; 48] = [
    setting(
        "logs",
        SettingForm::Text,
        "an absolute path, or one that begins with ~/",
        "~/knowledge/logs",
    )
    .below("AGENT_KNOWLEDGE_LOGS"),
    setting(
        "model",
        SettingForm::Text,
        "an absolute path, or one that begins with ~/",
        "~/knowledge/model",
    )
    .below("AGENT_KNOWLEDGE_MODEL_DIR"),
    setting(
        "cache",
        SettingForm::Text,
        "an absolute path, or one that begins with ~/",
        "~/.cache/agent-knowledge",
    )
    .below("AGENT_KNOWLEDGE_CACHE"),
    setting("memory_mib", SettingForm::Number, "a number of MiB from 16 to 1048576", "2048")
        .below("AGENT_KNOWLEDGE_MEMORY_MIB")
        .or("1024"),
    setting("embedding", SettingForm::Text, "fp32 or int8", "int8").or("fp32"),
    setting("embedding.precision", SettingForm::Text, "fp32 or int8", "int8").or("fp32"),
    setting(
        "embedding.provider",
        SettingForm::Text,
        "local, openai, ollama, voyage, cohere, gemini or command; agent-knowledge model use tells the cost first",
        "ollama embedding.model NAME",
    )
    .or("local"),
    setting("embedding.url", SettingForm::Text, "an address", "http://127.0.0.1:11434"),
    setting("embedding.model", SettingForm::Text, "the name of a model", "nomic-embed-text"),
    setting("embedding.command", SettingForm::List, "a program and its arguments", "embed,-q"),
    setting("embedding.key_env", SettingForm::Text, "the name of a variable", "MODEL_KEY"),
    setting("embedding.dimensions", SettingForm::Number, "numbers per vector, up to 4096", "768"),
    setting("embedding.batch", SettingForm::Number, "texts in one request, up to 512", "16")
        .or("32"),
    setting("embedding.max_chars", SettingForm::Number, "characters of a text that are sent", "2000")
        .or("6000"),
    setting("embedding.query_prefix", SettingForm::Text, "a text", "search_query:"),
    setting("embedding.text_prefix", SettingForm::Text, "a text", "search_document:"),
    setting(
        "embedding.off_repos",
        SettingForm::List,
        "keys of repositories that are never sent, with * for any text",
        "github.com/acme/*",
    ),
    setting(
        "rerank.provider",
        SettingForm::Text,
        "cohere, voyage, jina (also llama.cpp and vLLM), command or off",
        "jina rerank.model NAME rerank.url http://127.0.0.1:8080",
    )
    .or("off"),
    setting("rerank.model", SettingForm::Text, "the name of a model", "rerank-v3.5"),
    setting(
        "rerank.url",
        SettingForm::Text,
        "an address that begins with https://, or with http:// on this machine",
        "http://127.0.0.1:8080",
    ),
    setting("rerank.command", SettingForm::List, "a program and its arguments", "order,-q"),
    setting(
        "rerank.key_env",
        SettingForm::Text,
        "the name of a variable in capital letters, never the key itself",
        "COHERE_API_KEY",
    ),
    setting(
        "rerank.off_repos",
        SettingForm::List,
        "keys of repositories in lower case that are never sent, with * for any text",
        "github.com/acme/*",
    ),
    setting(
        "rerank.timeout_ms",
        SettingForm::Number,
        "a number of milliseconds from 1 to 4000",
        "800",
    )
    .or("1500"),
    setting("archive_above_lines", SettingForm::Number, "a number of lines, at least 100", "10000"),
    setting("archive_older_than", SettingForm::Text, "an age", "90d"),
    setting("query_log", SettingForm::Switch, "on or off", "off")
        .below("AGENT_KNOWLEDGE_QUERY_LOG")
        .or("on"),
    setting("journal", SettingForm::Switch, "on or off", "off")
        .below("AGENT_KNOWLEDGE_JOURNAL")
        .or("on"),
    setting("judge.command", SettingForm::List, "a program and its arguments", "ask,--short"),
    setting(
        "judge.url",
        SettingForm::Text,
        "an address with http:// or https://, together with judge.model",
        "http://localhost:11434/v1 judge.model NAME",
    ),
    setting(
        "judge.model",
        SettingForm::Text,
        "the name of a model, together with judge.url",
        "NAME judge.url http://localhost:11434/v1",
    ),
    setting("judge.key_env", SettingForm::Text, "the name of a variable", "MODEL_KEY"),
    setting(
        "engine.url",
        SettingForm::Text,
        "the address of an engine, without a password",
        "postgres://me@127.0.0.1/agent_knowledge",
    ),
    setting(
        "engine.password_env",
        SettingForm::Text,
        "the name of a variable, together with engine.url",
        "ENGINE_PASSWORD engine.url postgres://me@127.0.0.1/agent_knowledge",
    ),
    setting("sessions.exclude_tools", SettingForm::List, "names of tools", "codex,cline"),
    setting("sessions.exclude_paths", SettingForm::List, "directories", "~/private"),
    setting(
        "sessions.exclude_repos",
        SettingForm::List,
        "keys of repositories",
        "github.com/acme/api",
    ),
    setting("sessions.private", SettingForm::Switch, "on or off", "on").or("off"),
    setting(
        "sync.remote",
        SettingForm::Text,
        "the address of a git repository, or origin",
        "git@example.com:team/memory.git",
    ),
    setting(
        "sync.credentials",
        SettingForm::Text,
        "the absolute path of a .creds file",
        "/home/me/team.creds",
    ),
    setting(
        "sync.share",
        SettingForm::List,
        "keys of repositories, with * for any text",
        "github.com/acme/*",
    ),
    setting("sync.strip", SettingForm::List, "names of fields", "branch,session_id"),
    setting(
        "sync.every_seconds",
        SettingForm::Number,
        "a number of seconds up to 86400; 0 exchanges nothing by itself",
        "60",
    )
    .or("300"),
    setting(
        "sync.trust",
        SettingForm::ListOrWord,
        "whole origins of other stores, or full",
        "laptop-3fa9c1d2e5b60718",
    ),
    setting(
        "sync.signing_key",
        SettingForm::Text,
        "the absolute path of an SSH key, or of its .pub",
        "/home/me/.ssh/id_ed25519",
    ),
    setting("sync.require_signatures", SettingForm::Switch, "on or off", "on").or("off"),
    setting(
        "section_budgets.*",
        SettingForm::Number,
        "a number of tokens; 0 leaves a section out",
        "120",
    ),
    setting("aliases.*", SettingForm::Text, "the key of a repository", "github.com/acme/new-name"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    // S-CONFIG-1
    #[test]
    fn every_example_is_allowed_by_the_reader() {
        for setting in SETTINGS {
            let key = setting.key;
            let (table, name) = key.split_once('.').unwrap_or(("", key));
            let name = name.replace('*', "decisions");
            let value = setting.toml_example();
            let head = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
            let more = match key {
                "embedding.provider" => "model = \"m\"",
                "embedding.command" => "provider = \"command\"",
                "embedding.model" => "provider = \"ollama\"",
                key if key.starts_with("embedding.") => "provider = \"ollama\"\nmodel = \"m\"",
                "rerank.provider" | "rerank.url" => "model = \"m\"",
                "rerank.command" => "provider = \"command\"",
                "engine.password_env" => "url = \"postgres://me@127.0.0.1/x\"",
                "judge.url" => "model = \"m\"",
                "judge.model" => "url = \"http://localhost:1/v1\"",
                "judge.key_env" => "model = \"m\"\nurl = \"http://localhost:1/v1\"",
                _ => "",
            };
            let text = format!("{head}{name} = {value}\n{more}");
            assert_eq!(Config::parse(&text).unwrap().findings, [], "{text}");
            assert_eq!(Setting::of(&key.replace('*', "a.b")).unwrap().key, key);
        }
        assert!(Setting::of("log").is_none() && Setting::of("aliases.").is_none());
    }
}
