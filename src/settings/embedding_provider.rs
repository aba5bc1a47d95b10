//! What the table `[embedding]` means: an external model that makes vectors. Without one it is the model of this machine, and
//! nothing leaves. Not here: its keys (`table`), asking a provider (`providers`), which memories it may see (the retriever).

use event::RepoKey;
use toml::Table;

use super::provider_form::ProviderForm;
use super::repo_pattern::is_match;
use super::setting_fields::SettingFields;
use super::table::EmbeddingProvider;

/// What stands in the table, for error messages.
const FORM: &str = "[embedding] takes provider = \"openai\" (any /v1/embeddings), \"ollama\", \"voyage\", \"cohere\", \"gemini\" \
                    or \"command\", with model, url, key_env, dimensions, batch, max_chars, query_prefix, text_prefix, \
                    off_repos and command; or precision = \"fp32\" or \"int8\" for the model of this machine";

impl EmbeddingProvider {
    /// Most numbers per vector: the widest index.
    pub const DIMENSIONS_MAX: u32 = 4_096;

    /// Returns a provider with everything usual.
    #[must_use]
    pub fn with_defaults(form: ProviderForm, model: &str) -> Self {
        let url = form.default_url().to_owned();
        Self { form, url, model: model.to_owned(), ..Self::default() }
    }

    /// Returns the text of a configuration file with this provider alone.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut table = self.to_table();
        table.insert("provider".to_owned(), self.form.as_str().into());
        Table::from_iter([("embedding".to_owned(), toml::Value::Table(table))]).to_string()
    }

    /// Tells whether memories and queries of a repository may be sent.
    #[must_use]
    pub fn is_on_for(&self, repo: &RepoKey) -> bool {
        !self.off_repos.iter().any(|pattern| is_match(pattern, repo.as_str()))
    }

    /// Checks what only makes sense together.
    pub(crate) fn checked(self, form: ProviderForm) -> Result<Self, String> {
        let is_command = form == ProviderForm::Command;
        let wrong = |what: &str| Err(format!("{what}; {FORM}"));
        if self.command.is_empty() == is_command || is_command && !self.url.is_empty() {
            return wrong("command belongs to provider \"command\", and url to all others");
        }
        if self.model.is_empty() && !is_command {
            return wrong("[embedding] must name a model");
        }
        let url = if self.url.is_empty() { form.default_url().to_owned() } else { self.url };
        Ok(Self { form, url, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::provider_form::EmbeddingPrecision;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse_strict(&format!("[embedding]\n{text}"))
    }

    // S-PROVIDER-1
    #[test]
    fn a_table_names_a_provider_and_the_rest_is_usual() {
        let read = parse("provider = 'ollama'\nmodel = 'nomic-embed-text'").unwrap().provider;
        let usual = EmbeddingProvider::with_defaults(ProviderForm::Ollama, "nomic-embed-text");
        assert_eq!(read, Some(usual.clone()));
        assert_eq!(usual.url, "http://127.0.0.1:11434");
        let full = "provider = 'voyage'\nmodel = 'm'\nkey_env = 'K'\ndimensions = 8\nbatch = 2\nmax_chars = 9\n\
                    query_prefix = 'q: '\ntext_prefix = 't: '\noff_repos = ['a', 'b']";
        let full = parse(full).unwrap().provider.unwrap();
        let again = Config::parse(&full.to_toml()).unwrap().provider;
        assert_eq!(again, Some(full), "a table that was written is read back");
        for none in ["", "precision = 'int8'", "provider = 'local'\nmodel = 'kept for later'"] {
            assert_eq!(parse(none).unwrap().provider, None, "{none}");
        }
        assert_eq!(
            parse("precision = 'int8'").unwrap().general.embedding,
            EmbeddingPrecision::Int8
        );
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
            "provider = 'openai'",
            "provider = 'openai'\nmodel = 'm'\ncommand = ['x']",
            "provider = 'command'",
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
            ("max_chars = 0", "embedding: max_chars must be a whole number from 1 to 100000"),
            ("provider = 'nobody'", "embedding: provider must be local, openai, ollama"),
            ("url = 'ftp://x'", "embedding: url must begin with https://"),
            ("url = 'http://api.example.com'", "embedding: url must begin with https://"),
            ("key_env = 'lower case'", "embedding: key_env must be the name of a variable"),
            ("off_repos = ['Big Letters']", "embedding: off_repos takes keys of repositories"),
        ] {
            for provider in ["", "provider = 'local'\n", "provider = 'openai'\nmodel = 'm'\n"] {
                if line.starts_with("provider") && provider.contains("provider") {
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
