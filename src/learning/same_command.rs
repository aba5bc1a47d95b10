//! Whether two command lines do the same. The state of a session holds commands without their secrets, so a command
//! is recognised by a fingerprint of its whole text. Not here: what a command is meant for (`commands`).

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::commands::core_command;
use guard::secrets::redacted;

/// A random key that one session makes its fingerprints with. It stands in the state of the session, and nowhere else.
pub type SessionKey = [u64; 2];

/// Words in front of a command that change nothing about what it does.
const WRAPPERS: [&str; 6] = ["time", "nice", "nohup", "exec", "command", "env"];

/// Options that change only what a command prints.
const PRINTING: [&str; 14] = [
    "--verbose",
    "-v",
    "-vv",
    "-vvv",
    "--debug",
    "--quiet",
    "-q",
    "--silent",
    "-s",
    "--no-color",
    "--no-progress",
    "--no-audit",
    "--no-fund",
    "--progress=plain",
];

/// Variables that change only what a command prints.
const PRINTING_VARIABLES: [&str; 14] = [
    "CI",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "GIT_PAGER",
    "LANG",
    "LC_ALL",
    "NO_COLOR",
    "NPM_CONFIG_LOGLEVEL",
    "PAGER",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "VERBOSE",
];

/// What stands for the value of a variable, to learn whether its name means a secret.
const DRAWN: &str = "q7Wm2Zx9Tb4K";

/// Returns a command without what does not change its effect: its surroundings, what only prints, and variables that
/// hold a secret.
#[must_use]
pub fn essence(command: &str) -> String {
    let core = core_command(command);
    let kept = core.split_whitespace().filter(|word| {
        let prints = WRAPPERS.contains(word) || PRINTING.contains(word);
        !prints && !changes_nothing(word)
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Tells whether a word sets a variable that changes only what is printed, or one that holds a secret.
#[must_use]
pub fn changes_nothing(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_variable = !name.is_empty() && name.bytes().all(is_name);
    let binds = || [word, &format!("{name}={DRAWN}")].iter().any(|word| redacted(word) != **word);
    is_variable && (PRINTING_VARIABLES.contains(&name) || is_mark(word) || binds())
}

/// Tells whether the value is a secret that was removed.
fn is_mark(word: &str) -> bool {
    word.contains("[REDACTED:")
}

/// A command with its secrets. It is recognised by its fingerprint, and nothing else leaves it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RawCommand(String);

impl RawCommand {
    /// Takes a command as a client sent it.
    #[must_use]
    pub fn new(command: String) -> Self {
        Self(command)
    }

    /// Returns its fingerprint, as [`fingerprint`] does.
    #[must_use]
    pub fn fingerprint(&self, key: SessionKey) -> u64 {
        fingerprint(key, &self.0)
    }
}

impl std::fmt::Debug for RawCommand {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("RawCommand")
    }
}

/// Returns the fingerprint of a command in its whole text: the first 64 bits of HMAC-SHA256 (RFC 2104).
#[must_use]
fn fingerprint(key: SessionKey, command: &str) -> u64 {
    let key = key.map(u64::to_le_bytes).concat();
    // HMAC takes a key of any length, so this cannot fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key) else { return 0 };
    mac.update(essence(command).as_bytes());
    mac.finalize().into_bytes().iter().take(8).fold(0, |bits, byte| (bits << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HOOK-6
    #[test]
    fn what_changes_nothing_is_left_out() {
        let token = format!(
            "GITHUB_TOKEN={}_{}",
            ["gh", "p"].concat(),
            "a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"
        );
        for (command, expected) in [
            (format!("{token} npm install"), "npm install"),
            ("GITHUB_TOKEN=[REDACTED:github-token] npm  install".to_owned(), "npm install"),
            ("cd /w && CI=1 time npm install --verbose 2>&1 | tail -3".to_owned(), "npm install"),
            ("GITHUB_TOKEN=abc npm install".to_owned(), "npm install"),
            ("NODE_OPTIONS=--x npm i".to_owned(), "NODE_OPTIONS=--x npm i"),
            ("sudo npm i".to_owned(), "sudo npm i"),
        ] {
            assert_eq!(essence(&command), expected, "{command}");
        }
        let secret = |password: &str| format!("curl -u jane:{password} https://a.example");
        assert_ne!(fingerprint([1, 2], &secret("one")), fingerprint([1, 2], &secret("two")));
        assert_ne!(fingerprint([1, 2], "npm i"), fingerprint([1, 3], "npm i"));
        assert_eq!(fingerprint([1, 2], "npm i"), fingerprint([1, 2], "CI=1 npm i"));
    }
}
