//! The engine that is asked besides the memories of this machine, for stores that no machine can hold. There is none unless the
//! configuration names one. Not here: asking it (crate `corpus`).

use std::fmt;

use toml::Table;

/// How the engine is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct EngineSetting {
    /// Its address, such as `postgres://user@127.0.0.1/database` or `https://qdrant.example.org/collection`, without a password.
    pub url: String,
    /// The environment variable that holds the password or key.
    pub password_env: Option<String>,
    /// The password, once the environment was read.
    pub password: Option<String>,
}

/// Without the password.
impl fmt::Debug for EngineSetting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, password_env, password: _ } = self;
        out.debug_struct("EngineSetting")
            .field("url", url)
            .field("password_env", password_env)
            .finish_non_exhaustive()
    }
}

impl EngineSetting {
    /// What the table of the configuration may contain.
    pub const FORM: &str = "[engine] takes url = \"postgres://user@127.0.0.1/database\" or, for Qdrant, \"https://host:6333\", and perhaps password_env = \"VARIABLE\"";

    /// Reads the section of a configuration file.
    pub(super) fn read(table: Table) -> Result<Self, String> {
        let (mut url, mut password_env) = (None, None);
        for (key, value) in table {
            match (key.as_str(), value) {
                ("url", toml::Value::String(text)) => url = Some(text),
                ("password_env", toml::Value::String(text)) => password_env = Some(text),
                (key, _) => {
                    let form = Self::FORM;
                    return Err(format!(
                        "{key:?} in [engine] is unknown or of a wrong type; {form}"
                    ));
                }
            }
        }
        let url = url.ok_or_else(|| format!("[engine] must name a url; {}", Self::FORM))?;
        let has_password = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
        if has_password.is_some_and(|(user, _)| user.contains(':')) {
            return Err(format!("url in [engine] must hold no password; {}", Self::FORM));
        }
        Ok(Self { url, password_env, password: None })
    }

    /// Returns the feature of a build that asks an engine of this address.
    #[must_use]
    pub fn feature(&self) -> &'static str {
        let is_web = ["http://", "https://"].iter().any(|scheme| self.url.starts_with(scheme));
        if is_web { "qdrant" } else { "postgres" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn read(text: &str) -> Result<Option<EngineSetting>, String> {
        Config::parse(text).map(|config| config.engine).map_err(|fault| fault.why)
    }

    // S-CORPUS-8
    #[test]
    fn an_engine_is_named_without_its_password() {
        let named = "[engine]\nurl = \"postgres://me@127.0.0.1/ak\"\npassword_env = \"AK_ENGINE\"";
        let engine = read(named).unwrap().unwrap();
        assert_eq!(engine.password_env.as_deref(), Some("AK_ENGINE"));
        assert_eq!(engine.feature(), "postgres");
        let qdrant = read("[engine]\nurl = \"https://qdrant.example.org\"").unwrap().unwrap();
        assert_eq!(qdrant.feature(), "qdrant");
        let told = format!("{:?}", EngineSetting { password: Some("hush".to_owned()), ..engine });
        assert!(!told.contains("hush"), "{told}");
        assert_eq!(read(""), Ok(None));
        for wrong in [
            "",
            "url = 3",
            "url = \"postgres://me:hush@127.0.0.1/ak\"",
            "url = \"https://me:hush@qdrant.example.org\"",
            "url = \"postgres://me@127.0.0.1/ak\"\npassword = \"hush\"",
        ] {
            let why = EngineSetting::read(wrong.parse().unwrap()).unwrap_err();
            assert!(why.contains("[engine] takes url"), "{wrong}");
        }
    }
}
