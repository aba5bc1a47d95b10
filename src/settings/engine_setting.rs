//! What the table `[engine]` means: the engine that is asked besides the memories of this machine, for stores that no machine can
//! hold. There is none unless the configuration names one. Not here: its keys (`table`), asking it (crate `corpus`).

use std::fmt;

use super::table::EngineSettings;

/// How the engine is reached.
#[derive(Clone, PartialEq)]
pub struct EngineSetting {
    /// What the file says.
    pub settings: EngineSettings,
    /// The password, once the environment was read.
    pub password: Option<String>,
}

/// Without the password.
impl fmt::Debug for EngineSetting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(out)
    }
}

impl EngineSetting {
    /// What the table of the configuration may contain.
    const FORM: &str = "[engine] takes url = \"postgres://user@127.0.0.1/database\" or, for Qdrant, \"https://host:6333\", and perhaps password_env = \"VARIABLE\"";

    /// Checks what only makes sense together.
    pub(crate) fn from_settings(settings: EngineSettings) -> Result<Self, String> {
        if settings.url.is_empty() {
            return Err(format!("[engine] must name a url; {}", Self::FORM));
        }
        let user = settings.url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
        if user.is_some_and(|(user, _)| user.contains(':')) {
            return Err(format!("url in [engine] must hold no password; {}", Self::FORM));
        }
        Ok(Self { settings, password: None })
    }

    /// Returns the feature of a build that asks an engine of this address.
    #[must_use]
    pub fn feature(&self) -> &'static str {
        let url = &self.settings.url;
        let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if is_web { "qdrant" } else { "postgres" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(text: &str) -> Result<Option<EngineSetting>, String> {
        Config::parse_strict(text).map(|config| config.engine)
    }

    // S-CORPUS-8
    #[test]
    fn an_engine_is_named_without_its_password() {
        let named = "[engine]\nurl = \"postgres://me@127.0.0.1/ak\"\npassword_env = \"AK_ENGINE\"";
        let engine = read(named).unwrap().unwrap();
        assert_eq!(engine.settings.password_env.as_deref(), Some("AK_ENGINE"));
        assert_eq!(engine.feature(), "postgres");
        let qdrant = read("[engine]\nurl = \"https://qdrant.example.org\"").unwrap().unwrap();
        assert_eq!(qdrant.feature(), "qdrant");
        let told = format!("{:?}", EngineSetting { password: Some("hush".to_owned()), ..engine });
        assert!(!told.contains("hush"), "{told}");
        assert_eq!(read(""), Ok(None));
        for wrong in [
            "",
            "url = \"postgres://me:hush@127.0.0.1/ak\"",
            "url = \"https://me:hush@qdrant.example.org\"",
        ] {
            let why = read(&format!("[engine]\n{wrong}")).unwrap_err();
            assert!(why.contains("[engine] takes url"), "{wrong}");
        }
    }
}
