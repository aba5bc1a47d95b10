//! The names of servers in SSH's configuration: which `HostName` a `Host` stands for. `Match` blocks need a running connection or
//! a program, so they are passed over. Not here: which of the two names counts (`remote`).

use std::path::{Path, PathBuf};

use crate::machine::Machine;
use crate::small_file::small_text;
use crate::wild_pattern::{Star, matches};

/// How deep files may include each other. OpenSSH allows the same.
const DEPTH_MAX: usize = 16;

/// Most files that are read, whatever includes them.
const FILES_MAX: usize = 200;

/// Returns the name of the server that SSH would connect to. `command` is the program with its options, where git has one set.
pub(crate) fn host_name(host: &str, machine: &Machine, command: Option<&str>) -> Option<String> {
    let named = command.and_then(named_file).map(|path| machine.expanded(path));
    let mut search = Search { host, machine, files: FILES_MAX };
    let own = machine.at_home(".ssh");
    let files = match named {
        // SSH reads no other file then.
        Some(named) => vec![(named, own)],
        None => {
            let system = machine.system.join("ssh");
            let own = own.map(|folder| (folder.join("config"), Some(folder)));
            own.into_iter().chain([(system.join("ssh_config"), Some(system))]).collect()
        }
    };
    files.iter().find_map(|(path, folder)| search.in_file(path, folder.as_deref(), DEPTH_MAX))
}

/// Returns the file after `-F` in a command such as `ssh -F ~/.ssh/clients`.
fn named_file(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        match word.strip_prefix("-F") {
            Some("") => return words.next().map(without_quotes),
            Some(path) => return Some(without_quotes(path)),
            None => {}
        }
    }
    None
}

fn without_quotes(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// The search for one host.
struct Search<'a> {
    host: &'a str,
    machine: &'a Machine,
    files: usize,
}

impl Search<'_> {
    /// Returns the first `HostName` that a file gives the host. Relative names of included files count from `folder`.
    fn in_file(&mut self, path: &Path, folder: Option<&Path>, depth: usize) -> Option<String> {
        self.files = self.files.checked_sub(1)?;
        let text = small_text(path)?;
        let mut is_ours = true;
        for line in text.lines() {
            let Some((keyword, value)) = keyword_and_value(line) else { continue };
            match keyword.to_ascii_lowercase().as_str() {
                "host" => is_ours = is_listed(self.host, value),
                "match" => is_ours = value.trim().eq_ignore_ascii_case("all"),
                "hostname" if is_ours => {
                    return expanded(without_quotes(value), self.host);
                }
                "include" if is_ours && depth > 0 => {
                    let found = self.in_included(value, folder, depth - 1);
                    if found.is_some() {
                        return found;
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn in_included(&mut self, value: &str, folder: Option<&Path>, depth: usize) -> Option<String> {
        let names = value.split_whitespace().map(without_quotes);
        let paths = names
            .map(|name| self.machine.expanded(name))
            .flat_map(|path| all_named(&folder.unwrap_or_else(|| Path::new("")).join(path)));
        paths.collect::<Vec<_>>().iter().find_map(|path| self.in_file(path, folder, depth))
    }
}

fn keyword_and_value(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let end =
        line.find(|c: char| c.is_whitespace() || c == '=').filter(|_| !line.starts_with('#'))?;
    let (keyword, value) = line.split_at(end);
    let value = value.trim_start();
    Some((keyword, value.strip_prefix('=').unwrap_or(value).trim()))
}

/// Tells whether a `Host` line lists a host, by a pattern that no other forbids. SSH compares in lower case.
fn is_listed(host: &str, patterns: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let mut is_listed = false;
    for pattern in patterns.split_whitespace().map(without_quotes) {
        let (is_negated, pattern) = match pattern.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        if matches(&pattern.to_ascii_lowercase(), &host, Star::Everything) {
            if is_negated {
                return false;
            }
            is_listed = true;
        }
    }
    is_listed
}

/// Replaces `%h` and `%%`. Other tokens have no meaning in a name of a server.
fn expanded(name: &str, host: &str) -> Option<String> {
    let name = name.replace("%%", "\0").replace("%h", host);
    (!name.contains('%') && !name.is_empty()).then(|| name.replace('\0', "%"))
}

/// Returns the files that a name with `*` and `?` stands for, in the order of their names.
fn all_named(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = part.as_os_str().to_string_lossy();
        if name.contains(['*', '?', '[']) {
            found = found.iter().flat_map(|folder| entries(folder, &name)).collect();
        } else {
            found.iter_mut().for_each(|path| path.push(part));
        }
    }
    found
}

fn entries(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(FILES_MAX).flatten();
    let is_meant = |name: &str| {
        name.starts_with('.') == pattern.starts_with('.') && matches(pattern, name, Star::OnePart)
    };
    let named = entries.filter(|entry| is_meant(&entry.file_name().to_string_lossy()));
    let mut paths: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_looked_up_as_ssh_does() {
        let home = tempfile::tempdir().unwrap();
        let ssh = home.path().join(".ssh");
        std::fs::create_dir_all(ssh.join("conf.d")).unwrap();
        let config = "# mine\nInclude conf.d/*.conf\nHost *-work !no-work\n  HostName=\"github.com\"\n\
                      Host plain\n  Port 2222\nMatch host plain\n  HostName wrong.example\n\
                      Host plain\n  hostname %h.corp.example\n";
        std::fs::write(ssh.join("config"), config).unwrap();
        std::fs::write(ssh.join("conf.d/a.conf"), "HOST deep\nHostName deep.example\n").unwrap();
        std::fs::write(ssh.join("other"), "Host plain\nHostName other.example\n").unwrap();
        let lookup = |name: &str| (name == "HOME").then(|| home.path().as_os_str().to_owned());
        let mut machine = Machine::from_environment(&lookup);
        machine.system = home.path().join("etc");
        let found = |host: &str| host_name(host, &machine, None);
        assert_eq!(found("github.com-work").as_deref(), Some("github.com"));
        assert_eq!(found("no-work"), None);
        assert_eq!(found("deep").as_deref(), Some("deep.example"));
        assert_eq!(found("PLAIN").as_deref(), Some("PLAIN.corp.example"));
        let named = host_name("plain", &machine, Some("ssh -i key -F ~/.ssh/other"));
        assert_eq!(named.as_deref(), Some("other.example"));
        assert_eq!(named_file("ssh -F'a'"), Some("a"));
    }
}
