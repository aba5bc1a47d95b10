//! What the table `[rerank]` means: an external model that puts likely hits into another order. Without a provider nobody is
//! asked. Not here: its keys (`table`), asking it (`providers`), which hits it may see (the retriever), when it is asked (`api`).

use std::time::Duration;

use super::provider_form::RerankForm;
use super::table::RerankProvider;

impl RerankProvider {
    /// Returns the wait.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(u64::from(self.timeout_ms))
    }

    /// Returns what people are shown: the host, or the program.
    #[must_use]
    pub fn display_name(&self) -> &str {
        let host = || self.url.split("://").nth(1)?.split('/').next();
        self.command.first().map_or_else(|| host().unwrap_or_default(), String::as_str)
    }

    /// Checks what only makes sense together.
    pub(crate) fn checked(self, form: RerankForm) -> Result<Self, String> {
        let is_command = form == RerankForm::Command;
        if self.command.is_empty() == is_command || is_command && !self.url.is_empty() {
            return Err("rerank: command belongs to provider \"command\", and url to all others, for example \
                        command = [\"rerank\", \"-q\"]"
                .to_owned());
        }
        if self.model.is_empty() && !is_command {
            return Err(
                "rerank: model must be the name of a model, for example rerank-v3.5".to_owned()
            );
        }
        let url = if self.url.is_empty() { form.default_url() } else { &self.url };
        // Other settings take addresses that end with the version.
        let version = form.path().trim_end_matches("/rerank");
        let url = url.strip_suffix(version).filter(|_| !is_command).unwrap_or(url).to_owned();
        Ok(Self { form, url, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> Result<Option<RerankProvider>, String> {
        Config::parse_strict(&format!("[rerank]\n{text}")).map(|config| config.rerank)
    }

    // S-RERANK-1
    #[test]
    fn a_table_names_a_reranker() {
        let cohere = parse("provider = 'cohere'\nmodel = 'rerank-v3.5'").unwrap().unwrap();
        assert_eq!((cohere.url.as_str(), cohere.timeout_ms), ("https://api.cohere.com", 1_500));
        assert_eq!(cohere.display_name(), "api.cohere.com");
        let own = "provider = 'jina'\nmodel = 'm'\nurl = 'http://127.0.0.1:8080/v1/'\nkey_env = 'K'\n\
                   off_repos = ['github.com/acme/*']\ntimeout_ms = 4000";
        let own = parse(own).unwrap().unwrap();
        assert_eq!(
            (own.url.as_str(), own.display_name()),
            ("http://127.0.0.1:8080", "127.0.0.1:8080")
        );
        assert_eq!((own.key_env.as_deref(), own.timeout().as_secs()), (Some("K"), 4));
        let program = parse("provider = 'command'\ncommand = ['order', '-q']").unwrap().unwrap();
        assert_eq!((program.display_name(), program.url.as_str()), ("order", ""));
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
            ("timeout_ms", "0"),
            ("timeout_ms", "10001"),
            ("url", "'http://rerank.example.com'"),
            ("url", "'https://me:secret9@rerank.example.com'"),
            ("url", "'http://localhost.example.com'"),
            ("off_repos", "['Big Letters']"),
            ("key_env", "'sk-live-0123456789abcdef'"),
        ] {
            // A value is checked whether anybody is asked or not.
            for text in [format!("{field} = {value}"), format!("{good}{field} = {value}")] {
                if text.parse::<toml::Table>().is_err() {
                    continue;
                }
                let why = parse(&text).unwrap_err();
                assert!(why.starts_with(&format!("rerank: {field} must be ")), "{text}: {why}");
                assert!(why.contains(", for example "), "{why}");
                assert!(!why.contains("secret9") && !why.contains("0123456789"), "{why}");
            }
        }
        let key = parse("api_key = 'sk-live-0123456789abcdef'").unwrap_err();
        assert!(key.contains("key_env") && !key.contains("0123456789"), "{key}");
        let unknown = parse("colour = 'red'").unwrap_err();
        assert!(unknown.contains("allowed are provider, model"), "{unknown}");
        assert!(parse("provider = 'jina'").unwrap_err().contains("model must be"));
        for wrong in ["provider = 'command'", "provider = 'jina'\nmodel = 'm'\ncommand = ['x']"] {
            assert!(parse(wrong).unwrap_err().contains("command belongs to"), "{wrong}");
        }
    }
}
