//! What the table `[judge]` means: the language model that judges memories that may contradict each other, and writes lessons of
//! past sessions. There is none unless the configuration names a program or a server. Not here: its keys (`table`), asking it
//! (`providers::chat_model`).

use super::table::JudgeSettings;

/// How the judge is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judge {
    /// A program that reads the request on its standard input and writes the answer to its standard output.
    Command(Vec<String>),
    /// A server with the chat completions protocol of OpenAI.
    Server {
        /// Its address, up to `/chat/completions`.
        url: String,
        /// The name of the model.
        model: String,
        /// The environment variable that holds the key.
        key_env: Option<String>,
    },
}

impl Judge {
    /// What the table of the configuration may contain.
    pub const FORM: &str = "[judge] takes command = [\"program\", \"argument\"], or url = \"http://localhost:11434/v1\" with model = \"name\" and perhaps key_env = \"VARIABLE\"";

    /// Checks the settings that depend on each other.
    pub(crate) fn from_settings(settings: JudgeSettings) -> Result<Self, String> {
        let wrong = |problem: &str| Err(format!("{problem}; {}", Self::FORM));
        let JudgeSettings { command, url, model, key_env } = settings;
        let has_program = !command.is_empty();
        if has_program && url.is_empty() && model.is_empty() {
            return Ok(Self::Command(command));
        }
        if has_program || url.is_empty() || model.is_empty() {
            return wrong("[judge] must name either a command, or a url and a model");
        }
        if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            return wrong(
                "url in [judge] must begin with http:// or https://; to reach another server, name a command such as curl",
            );
        }
        Ok(Self::Server { url: url.trim_end_matches('/').to_owned(), model, key_env })
    }

    /// Returns the settings that name it.
    pub(crate) fn settings(&self) -> JudgeSettings {
        match self.clone() {
            Self::Command(command) => JudgeSettings { command, ..JudgeSettings::default() },
            Self::Server { url, model, key_env } => {
                JudgeSettings { url, model, key_env, ..JudgeSettings::default() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(text: &str) -> Result<Judge, String> {
        Config::parse_strict(&format!("[judge]\n{text}")).map(|config| config.judge.unwrap())
    }

    // S-JUDGE-1
    #[test]
    fn a_program_or_a_server_is_asked_and_nothing_in_between() {
        let words = ["ask", "-q"].map(str::to_owned).to_vec();
        assert_eq!(read("command = ['ask', '-q']"), Ok(Judge::Command(words)));
        let server =
            Judge::Server { url: "http://localhost:1/v1".into(), model: "m".into(), key_env: None };
        assert_eq!(read("url = 'http://localhost:1/v1/'\nmodel = 'm'"), Ok(server));
        assert!(read("url = 'https://api.example.com/v1'\nmodel = 'm'\nkey_env = 'K'").is_ok());
        for wrong in [
            "",
            "command = []",
            "url = 'http://x'",
            "url = 'ftp://x'\nmodel = 'm'",
            "command = ['a']\nurl = 'http://x'\nmodel = 'm'",
        ] {
            assert!(read(wrong).unwrap_err().contains("[judge] takes command"), "{wrong}");
        }
    }
}
