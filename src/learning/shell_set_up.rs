//! What of a command line sets up the shell for the rest of it: `nvm use`, `source .venv/bin/activate`, `export X=1`, a variable in
//! front of a command. Not here: commands that change the machine (`command_effects`).

use crate::same_command::changes_nothing;
use crate::shell_line::{Connector, segments};

/// Commands that change the shell itself.
const SHELL: [&str; 6] = [".", "source", "export", "eval", "set", "module"];

/// Programs with the words by which they choose a version or an environment.
const CHOOSERS: [(&str, &[&str]); 14] = [
    ("nvm", &["use", "install"]),
    ("fnm", &["use", "install"]),
    ("n", &[]),
    ("volta", &["pin"]),
    ("corepack", &["enable", "prepare", "use"]),
    ("asdf", &["local", "shell", "global", "set", "install"]),
    ("mise", &["use", "install", "activate", "trust"]),
    ("pyenv", &["local", "shell", "global"]),
    ("rbenv", &["local", "shell", "global"]),
    ("conda", &["activate"]),
    ("mamba", &["activate"]),
    ("rustup", &["default", "override"]),
    ("sdk", &["use", "default", "env"]),
    ("direnv", &["allow", "reload"]),
];

/// Returns the parts of a line that set up the shell for its last command, in order: commands, variables in front of it, and the version
/// of its program (`cargo +nightly`). Variables that change nothing, or whose value is a secret, are left out.
#[must_use]
pub fn set_up_parts(command: &str) -> Vec<String> {
    let all = segments(command);
    let mut parts = Vec::new();
    for (place, segment) in all.iter().enumerate() {
        let is_before =
            place + 1 < all.len() && matches!(segment.joint, Connector::And | Connector::Then);
        if is_before && sets_up_shell(&segment.text) {
            parts.push(segment.text.clone());
        }
    }
    if let Some(last) = all.last() {
        let variables = last.text.split(' ').take_while(|word| is_variable(word));
        parts.extend(variables.filter(|word| !changes_nothing(word)).map(str::to_owned));
        parts.extend(last.text.split(' ').filter(|word| is_version(word)).map(str::to_owned));
    }
    parts
}

/// Returns what sets up the shell in a line that worked and not in the one that failed.
#[must_use]
pub fn new_set_up(failed: &str, worked: &str) -> Vec<String> {
    let known = set_up_parts(failed);
    set_up_parts(worked).into_iter().filter(|part| !known.contains(part)).collect()
}

/// Returns the last command of a line without what sets it up.
#[must_use]
pub fn without_set_up(command: &str) -> String {
    let last = segments(command).pop().map(|last| last.text).unwrap_or_default();
    let words = last.split(' ').skip_while(|word| is_variable(word));
    words.filter(|word| !is_version(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a line that worked with what sets up its shell, but without a change of directory.
#[must_use]
pub fn with_set_up(command: &str, core: &str) -> String {
    let all = set_up_parts(command).into_iter();
    let mut parts: Vec<String> = all.filter(|part| !core.contains(part.as_str())).collect();
    parts.push(core.to_owned());
    parts.join(" && ")
}

/// Tells whether a word chooses the version of a program: `+nightly`, `+1.80`.
fn is_version(word: &str) -> bool {
    word.strip_prefix('+').is_some_and(|version| version.starts_with(char::is_alphanumeric))
}

fn sets_up_shell(segment: &str) -> bool {
    let mut words = segment.split(' ');
    let Some(program) = words.next() else { return false };
    let asked = CHOOSERS.iter().find(|(name, _)| *name == program).map(|(_, asked)| *asked);
    let is_only_harmless = program == "export" && words.clone().all(changes_nothing);
    (SHELL.contains(&program) && !is_only_harmless)
        || asked.is_some_and(|asked| {
            asked.is_empty() || words.next().is_some_and(|word| asked.contains(&word))
        })
        || (is_variable(program) && words.next().is_none() && !changes_nothing(program))
}

fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sets_up_the_shell_is_told_from_the_command() {
        for (line, expected) in [
            (". nvm.sh && nvm use && pnpm test", vec![". nvm.sh", "nvm use"]),
            ("source .venv/bin/activate && pytest -q", vec!["source .venv/bin/activate"]),
            ("export GOFLAGS=-mod=mod && make y", vec!["export GOFLAGS=-mod=mod"]),
            ("GOCACHE=/t/gc go test ./...", vec!["GOCACHE=/t/gc"]),
            ("eval \"$(ssh-agent)\" && git push", vec!["eval \"$(ssh-agent)\""]),
            ("cargo +nightly test", vec!["+nightly"]),
            ("cd web && npm ci", vec![]),
            ("CI=1 npm test", vec![]),
            ("npm ci && npm test", vec![]),
        ] {
            assert_eq!(set_up_parts(line), expected, "{line}");
        }
        assert_eq!(
            new_set_up("CI=1 go test ./...", "GOCACHE=/t/gc CI=1 go test ./..."),
            ["GOCACHE=/t/gc"]
        );
        assert!(new_set_up("nvm use && npm test", "nvm use && npm test").is_empty());
        let secret =
            format!("GITHUB_TOKEN=gh{}_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3 npm test", "p");
        assert!(set_up_parts(&secret).is_empty());
    }
}
