//! The language model that judges memories that may contradict each other, and writes lessons of past sessions. There is
//! none unless the configuration names a program or a server. Not here: asking it (`retriever::judge`).

use toml::Table;

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

    /// Reads the section of a configuration file.
    pub(super) fn read(table: Table) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what}; {}", Self::FORM);
        let (mut command, mut url, mut model, mut key_env) = (None, None, None, None);
        for (key, value) in table {
            match (key.as_str(), value) {
                ("command", toml::Value::Array(words)) => {
                    let words = strings(words).ok_or_else(|| wrong("command must hold strings"))?;
                    command = Some(words);
                }
                ("url", toml::Value::String(text)) => url = Some(text),
                ("model", toml::Value::String(text)) => model = Some(text),
                ("key_env", toml::Value::String(text)) => key_env = Some(text),
                (key, _) => {
                    return Err(wrong(&format!(
                        "{key:?} in [judge] is unknown or of a wrong type"
                    )));
                }
            }
        }
        match (command, url, model) {
            (Some(command), None, None) if !command.is_empty() => Ok(Self::Command(command)),
            (None, Some(url), Some(model)) if is_address(&url) => {
                Ok(Self::Server { url: url.trim_end_matches('/').to_owned(), model, key_env })
            }
            (None, Some(_), Some(_)) => Err(wrong(
                "url in [judge] must begin with http:// or https://; to reach another server, name a command such as curl",
            )),
            _ => Err(wrong("[judge] must name either a command, or a url and a model")),
        }
    }
}

/// Tells whether this is an address of a server.
fn is_address(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

fn strings(words: Vec<toml::Value>) -> Option<Vec<String>> {
    words.into_iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Judge, String> {
        Judge::read(text.parse().unwrap())
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
            "command = [1]",
            "url = 'http://x'",
            "url = 'ftp://x'\nmodel = 'm'",
            "who = 'me'",
            "command = ['a']\nurl = 'http://x'\nmodel = 'm'",
        ] {
            assert!(read(wrong).unwrap_err().contains("[judge] takes command"), "{wrong}");
        }
    }
}
