//! The environment variables that set what no configuration file can, and which of all variables are paths. Not here: those that win
//! over a key of the file (`table`), how a path is expanded (`home_path`).

use std::ffi::{OsStr, OsString};

use super::home_path::{absolute_path, expanded, expanded_roots};
use super::setting::{Setting, SettingForm};

/// A variable of the environment.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What `agent-knowledge config` shows of it where it is set.
    pub shown: VariableDisplay,
    /// What it holds.
    pub form: VariableForm,
}

/// What a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableForm {
    /// No path.
    Word,
    /// The path of a file or directory.
    Path,
    /// Folders of tools: `tool=folder`, separated as in `PATH`.
    Roots,
}

/// What `agent-knowledge config` shows of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableDisplay {
    /// What it holds.
    Content,
    /// That it is set: it holds a secret.
    Name,
    /// Nothing: clients and tests set it.
    Nothing,
}

/// The directory of the logs, which wins over `logs` in the file.
pub const LOGS: &str = "AGENT_KNOWLEDGE_LOGS";
/// The directory of caches, which wins over `cache` in the file.
pub const CACHE: &str = "AGENT_KNOWLEDGE_CACHE";
/// Groups that count as the user, which win over `trusted_groups` in the file.
pub const TRUSTED_GROUPS: &str = "AGENT_KNOWLEDGE_TRUSTED_GROUPS";
/// Folders that are trusted, which win over `trusted_folders` in the file.
pub const TRUSTED_FOLDERS: &str = "AGENT_KNOWLEDGE_TRUSTED_FOLDERS";

/// Makes a constant of each variable, and the table of all.
macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $NAME:ident = $name:literal, $shown:ident, $form:ident;)+) => {
        $($(#[doc = $doc])+ pub const $NAME: &str = $name;)+

        /// All variables.
        pub const VARIABLES: &[Variable] =
            &[$(Variable {
                name: $name,
                about: concat!($($doc),+).trim_ascii(),
                shown: VariableDisplay::$shown,
                form: VariableForm::$form,
            }),+];
    };
}

variables! {
    /// The configuration file.
    CONFIG = "AGENT_KNOWLEDGE_CONFIG", Content, Path;
    /// The directory of what is kept of past sessions.
    SESSIONS = "AGENT_KNOWLEDGE_SESSIONS", Content, Path;
    /// The directory of the retriever's socket.
    RUNTIME = "AGENT_KNOWLEDGE_RUNTIME", Content, Path;
    /// `own`: answer in this process, without the shared retriever.
    RETRIEVER = "AGENT_KNOWLEDGE_RETRIEVER", Content, Word;
    /// If set, the logs are looked at now and then, instead of being watched for changes.
    POLL_ONLY = "AGENT_KNOWLEDGE_POLL_ONLY", Content, Word;
    /// `off`, or the hooks that stay on, such as `start,failure`.
    HOOKS = "AGENT_KNOWLEDGE_HOOKS", Content, Word;
    /// The name under which lessons are saved.
    AGENT = "AGENT_KNOWLEDGE_AGENT", Content, Word;
    /// The token of a server, for `serve --http` and `mcp --remote`.
    TOKEN = "AGENT_KNOWLEDGE_TOKEN", Name, Word;
    /// The session under which lessons are saved.
    SESSION = "AGENT_KNOWLEDGE_SESSION", Nothing, Word;
    /// The name of this machine under which lessons are saved.
    HOST = "AGENT_KNOWLEDGE_HOST", Nothing, Word;
    /// More folders with transcripts of a tool, such as `claude-code=/backup/projects`.
    SESSION_ROOTS = "AGENT_KNOWLEDGE_SESSION_ROOTS", Nothing, Roots;
    /// If set, hooks say on standard error why they printed nothing.
    HOOKS_DEBUG = "AGENT_KNOWLEDGE_HOOKS_DEBUG", Nothing, Word;
    /// How long a hook may take, in milliseconds: 150 unless it is set, 10 to 60000.
    HOOKS_DEADLINE_MS = "AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", Nothing, Word;
}

/// What is wrong with a variable that is a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongPathVariable {
    /// Its name.
    pub name: &'static str,
    /// What is wrong, as the end of a sentence.
    pub why: String,
}

/// Returns what a variable holds, where that is a path with the home directory in the place of `~` or `$HOME`. Clients read variables
/// from files, where no shell expands them. The programs ask their environment through this.
#[must_use]
pub fn expanded_variable(name: &str, content: OsString) -> OsString {
    match form_of(name) {
        VariableForm::Path if !content.is_empty() => expanded(&content).into_os_string(),
        VariableForm::Roots => expanded_roots(&content),
        VariableForm::Path | VariableForm::Word => content,
    }
}

/// Checks the variables that are paths: each must be the same place from everywhere. An empty one counts as not set.
///
/// # Errors
/// The first wrong one.
pub fn check_paths(lookup: &dyn Fn(&str) -> Option<OsString>) -> Result<(), WrongPathVariable> {
    for name in path_variables() {
        let Some(content) = lookup(name).filter(|content| !content.is_empty()) else { continue };
        absolute_path(&content).map_err(|why| WrongPathVariable { name, why })?;
    }
    Ok(())
}

/// Returns the names of the variables that are paths.
fn path_variables() -> impl Iterator<Item = &'static str> {
    let of_settings = Setting::all().filter(|setting| setting.form == SettingForm::Directory);
    let alone = VARIABLES.iter().filter(|variable| variable.form == VariableForm::Path);
    of_settings.filter_map(|setting| setting.variable).chain(alone.map(|variable| variable.name))
}

fn form_of(name: &str) -> VariableForm {
    let form =
        VARIABLES.iter().find(|variable| variable.name == name).map(|variable| variable.form);
    let path = || path_variables().any(|path| OsStr::new(path) == name);
    form.unwrap_or_else(|| if path() { VariableForm::Path } else { VariableForm::Word })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    /// Tells whether people are told that something is a place on the disk.
    fn is_of_paths(words: &str) -> bool {
        ["path", "director", "folder", "file"].iter().any(|word| words.contains(word))
    }

    // S-STORE-1
    #[test]
    fn every_variable_that_is_a_path_is_expanded() {
        let home = etcetera::home_dir().unwrap();
        let of_settings = Setting::all().filter(|setting| is_of_paths(setting.allowed));
        let of_settings = of_settings.filter_map(|setting| Some((setting.variable?, setting.form)));
        for (name, form) in of_settings.filter(|(_, form)| *form != SettingForm::List) {
            assert_eq!(
                (form_of(name), form),
                (VariableForm::Path, SettingForm::Directory),
                "{name}"
            );
        }
        let told = VARIABLES.iter().filter(|variable| is_of_paths(variable.about));
        for variable in told.filter(|variable| variable.name != POLL_ONLY) {
            assert_ne!(variable.form, VariableForm::Word, "{}", variable.name);
        }
        for name in path_variables() {
            for text in ["~/x", "$HOME/x", "${HOME}/x", "%USERPROFILE%\\x"] {
                assert_eq!(
                    expanded_variable(name, text.into()),
                    home.join("x").into_os_string(),
                    "{name}={text}"
                );
            }
            for (wrong, why) in [("x/y", "relative"), (" ", "blank"), ("$XDG/x", "nothing expands")]
            {
                let lookup = |asked: &str| (asked == name).then(|| wrong.into());
                let found = check_paths(&lookup).unwrap_err();
                assert!(found.name == name && found.why.contains(why), "{found:?}");
            }
        }
        assert_eq!(check_paths(&|_| Some("".into())), Ok(()));
        let roots = std::env::join_paths(["codex=~/a", "/b"]).unwrap();
        let whole =
            std::env::join_paths([format!("codex={}", home.join("a").display()), "/b".to_owned()]);
        assert_eq!(expanded_variable(SESSION_ROOTS, roots), whole.unwrap());
        assert_eq!(expanded_variable(AGENT, "~/x".into()), "~/x", "it is no path");
    }

    // S-STORE-1
    #[test]
    fn every_setting_that_is_a_path_is_expanded() {
        let home = etcetera::home_dir().unwrap().display().to_string();
        for setting in Setting::all().filter(|setting| is_of_paths(setting.allowed)) {
            let value = |text: &str| match setting.form {
                SettingForm::List | SettingForm::ListOrWord => format!("[\"{text}\"]"),
                _ => format!("\"{text}\""),
            };
            for text in ["~/pl-x", "$HOME/pl-x"] {
                let line = match setting.key.split_once('.') {
                    Some((table, name)) => format!("[{table}]\n{name} = {}", value(text)),
                    None => format!("{} = {}", setting.key, value(text)),
                };
                let config = format!("{:?}", Config::parse(&line).unwrap());
                assert!(config.contains(&format!("{home}/pl-x")), "{}: {line}", setting.key);
            }
        }
    }
}
