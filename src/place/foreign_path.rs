//! Paths as clients write them: URIs, paths of another system that shares the disk, a home as `~`, and texts that a client should
//! have replaced. Not here: what is found at a path (`locate`).

use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;

use crate::machine::Machine;

/// Returns the directory that a text names; `None` where it names none: it is empty, a variable that the client did not replace,
/// a word such as `undefined`, or a page of the web.
#[must_use]
pub fn directory_of_text(text: &str, machine: &Machine) -> Option<PathBuf> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let path = match text.split_once("://") {
        Some((scheme, rest)) => path_of_uri(&scheme.to_ascii_lowercase(), rest)?,
        None => text.to_owned(),
    };
    (!is_placeholder(&path)).then(|| on_this_system(&machine.expanded(&path)))
}

/// Tells whether a path is absolute on some system, if not on this one.
#[must_use]
pub fn is_absolute_somewhere(path: &Path) -> bool {
    path.is_absolute() || is_foreign(path)
}

/// Tells whether a path can only be of another system.
pub(crate) fn is_foreign(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let is_windows = drive(&text).is_some() || text.starts_with("\\\\");
    if cfg!(windows) { text.starts_with('/') && !text.starts_with("//") } else { is_windows }
}

/// Returns the path by which this system reaches a path of another one, or the path itself.
pub(crate) fn on_this_system(path: &Path) -> PathBuf {
    let text = path.to_string_lossy().replace('\\', "/");
    let found = spellings(&text).into_iter().map(PathBuf::from).find(|path| path.exists());
    found.unwrap_or_else(|| path.to_owned())
}

/// The spellings of a path on the systems that share a disk.
fn spellings(text: &str) -> Vec<String> {
    if cfg!(windows) {
        // `/mnt/c/x` of the Subsystem for Linux, `/c/x` of Git's shell.
        let below =
            text.strip_prefix("/mnt/").or_else(|| text.strip_prefix('/')).unwrap_or_default();
        let (letter, rest) = below.split_once('/').unwrap_or((below, ""));
        let is_drive = letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_alphabetic());
        return is_drive.then(|| format!("{letter}:/{rest}")).into_iter().collect();
    }
    if let Some((letter, rest)) = drive(text) {
        let letter = letter.to_ascii_lowercase();
        let mounts = ["/mnt/", "/", "/cygdrive/", "/host_mnt/", "/run/desktop/mnt/host/"];
        return mounts.iter().map(|mount| format!("{mount}{letter}/{rest}")).collect();
    }
    let share = ["//wsl.localhost/", "//wsl$/"].iter().find_map(|start| text.strip_prefix(start));
    let below = share.and_then(|share| share.split_once('/')).map(|(_, below)| below);
    below.map(|below| format!("/{below}")).into_iter().collect()
}

/// Splits `C:/x`, and `/C:/x` of a URI.
fn drive(text: &str) -> Option<(char, &str)> {
    let text = text.strip_prefix('/').unwrap_or(text);
    let mut chars = text.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    let rest = chars.as_str().strip_prefix(':')?;
    let below = rest.strip_prefix(['/', '\\']);
    (rest.is_empty() || below.is_some()).then(|| (letter, below.unwrap_or_default()))
}

fn path_of_uri(scheme: &str, rest: &str) -> Option<String> {
    let (server, path) = rest.split_once('/').map(|(server, path)| (server, format!("/{path}")))?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
    let is_ours = matches!(server, "" | "localhost");
    match scheme {
        // `file://server/share` is a network folder of Windows.
        "file" if !is_ours => Some(format!("//{server}{path}")),
        // An editor's window on another system, in which this program then runs.
        "file" | "vscode-remote" | "vscode-local" => Some(path),
        _ => None,
    }
}

/// Tells whether a text is a variable that nobody replaced, or a word of a program without a value.
#[must_use]
pub fn is_placeholder(text: &str) -> bool {
    let word = text.trim().to_ascii_lowercase();
    let is_variable = word.contains("${") || word.starts_with(['$', '<', '{']);
    let is_windows_variable = word.len() > 2 && word.starts_with('%') && word.ends_with('%');
    let is_word = matches!(word.as_str(), "" | "undefined" | "null" | "none" | "nil" | "nan");
    is_variable || is_windows_variable || is_word
}

/// Resolves `.` and `..` by the text alone, for a path that is not there.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_clients_name_directories() {
        let mut machine = Machine::default();
        machine.home = Some(PathBuf::from("/home/ana"));
        for (text, expected) in [
            ("file:///home/ana/my%20api", Some("/home/ana/my api")),
            (" \"/srv/api\" ", Some("/srv/api")),
            ("~/api", Some("/home/ana/api")),
            ("vscode-remote://wsl%2Bubuntu/srv/api", Some("/srv/api")),
            ("https://example.org/api", None),
            ("${workspaceFolder}", None),
            ("$PWD", None),
            ("%CD%", None),
            ("undefined", None),
            ("", None),
        ] {
            assert_eq!(directory_of_text(text, &machine), expected.map(PathBuf::from), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_of_windows_are_found_below_its_mounts() {
        assert_eq!(spellings("C:/code/api").first().unwrap(), "/mnt/c/code/api");
        assert_eq!(spellings("/c:/code").first().unwrap(), "/mnt/c/code");
        assert_eq!(spellings("//wsl$/Ubuntu/srv/api"), ["/srv/api"]);
        assert!(spellings("/srv/api").is_empty());
        assert!(
            is_absolute_somewhere(Path::new("D:\\x")) && !is_absolute_somewhere(Path::new("x"))
        );
        assert_eq!(lexical(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }
}
