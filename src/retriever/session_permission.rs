//! What a person has said about reading past sessions, and how the store keeps it. Not here: asking (`session_consent`).

use std::collections::BTreeSet;

use crate::failure::session_store_error;
use requests::ApiError;
use sessions::session_store::SessionStore;

/// The setting of the store that holds it, and its words. A program that knows only `yes` and `no` reads nothing where some
/// tools are named.
const SETTING: &str = "consent";
const YES: &str = "yes";
const NO: &str = "no";
const YES_TO: &str = "yes to ";

/// What a person has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionPermission {
    /// Nothing yet.
    NotAsked,
    /// No.
    Refused,
    /// Yes, to all tools.
    AllTools,
    /// Yes, to these tools.
    OnlyTools(BTreeSet<String>),
}

impl SessionPermission {
    /// Reads what the store keeps.
    ///
    /// # Errors
    /// [`ApiError::Failed`] if the store cannot be read.
    pub fn read(kept: Option<&SessionStore>) -> Result<Self, ApiError> {
        let said = kept.map(|kept| kept.setting(SETTING)).transpose();
        let said = said.map_err(|error| session_store_error(&error))?.flatten();
        Ok(said.map_or(Self::NotAsked, |said| Self::parse(&said)))
    }

    /// Keeps it.
    ///
    /// # Errors
    /// [`ApiError::Failed`] if the store cannot be written.
    pub fn write(&self, kept: &SessionStore) -> Result<(), ApiError> {
        kept.set(SETTING, &self.text()).map_err(|error| session_store_error(&error))
    }

    fn parse(said: &str) -> Self {
        match said {
            YES => Self::AllTools,
            NO => Self::Refused,
            _ => said.strip_prefix(YES_TO).map_or(Self::NotAsked, |tools| {
                Self::OnlyTools(tools.split(' ').map(str::to_owned).collect())
            }),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::NotAsked => String::new(),
            Self::Refused => NO.to_owned(),
            Self::AllTools => YES.to_owned(),
            Self::OnlyTools(tools) => {
                format!(
                    "{YES_TO}{}",
                    tools.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
                )
            }
        }
    }

    /// Returns what holds after a yes to `tools`; none for all.
    pub fn with_tools(self, tools: &[String]) -> Self {
        let more = tools.iter().cloned();
        match self {
            Self::AllTools => Self::AllTools,
            _ if tools.is_empty() => Self::AllTools,
            Self::OnlyTools(known) => Self::OnlyTools(known.into_iter().chain(more).collect()),
            Self::NotAsked | Self::Refused => Self::OnlyTools(more.collect()),
        }
    }

    /// Tells whether all of `tools` may be read; none for all tools.
    pub fn covers(&self, tools: &[String]) -> bool {
        match self {
            Self::AllTools => true,
            Self::OnlyTools(known) => {
                !tools.is_empty() && tools.iter().all(|tool| known.contains(tool))
            }
            Self::NotAsked | Self::Refused => false,
        }
    }

    /// Returns the tools that may be read, none for all; `None` if nothing may be read.
    pub fn tools(&self) -> Option<Vec<String>> {
        match self {
            Self::AllTools => Some(Vec::new()),
            Self::OnlyTools(known) => Some(known.iter().cloned().collect()),
            Self::NotAsked | Self::Refused => None,
        }
    }

    /// Returns it as a word for programs; `None` if nobody was asked.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::NotAsked => None,
            Self::Refused => Some(NO),
            Self::AllTools | Self::OnlyTools(_) => Some(YES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn a_yes_covers_the_tools_named() {
        let codex = SessionPermission::NotAsked.with_tools(&names(&["codex"]));
        assert!(codex.covers(&names(&["codex"])));
        assert!(!codex.covers(&names(&["codex", "pi"])) && !codex.covers(&[]));
        let both = codex.with_tools(&names(&["pi"]));
        assert!(both.covers(&names(&["codex", "pi"])) && !both.covers(&[]));
        assert_eq!(both.tools(), Some(names(&["codex", "pi"])));
        let all = both.with_tools(&[]);
        assert_eq!(all, SessionPermission::AllTools);
        assert_eq!(all.clone().with_tools(&names(&["pi"])), all, "a yes to all stays");
        assert_eq!(
            SessionPermission::Refused.with_tools(&names(&["pi"])).tools(),
            Some(names(&["pi"]))
        );
    }

    #[test]
    fn what_was_said_is_read_back() {
        let some = SessionPermission::NotAsked.with_tools(&names(&["pi", "codex"]));
        for said in [SessionPermission::Refused, SessionPermission::AllTools, some] {
            assert_eq!(SessionPermission::parse(&said.text()), said);
        }
        assert_eq!(SessionPermission::parse("perhaps"), SessionPermission::NotAsked);
    }
}
