//! Paths as people write them where no shell expands them: `~/`, `$HOME/`, `${HOME}/` and `%USERPROFILE%\` become the home directory;
//! what would be another place in each directory, or holds another variable, is refused. Not here: which settings and variables are
//! paths (`table`, `variables`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// How people write their home directory.
const HOME_WORDS: [&str; 4] = ["~", "$HOME", "${HOME}", "%USERPROFILE%"];

/// Puts the home directory in the place of a leading `~`, `$HOME`, `${HOME}` or `%USERPROFILE%`, as a shell would.
#[must_use]
pub fn expanded(path: &OsStr) -> PathBuf {
    let written = || path.to_str().map(str::trim_ascii);
    match (written().and_then(below_home), etcetera::home_dir()) {
        (Some(""), Ok(home)) => home,
        (Some(rest), Ok(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Returns the rest of a path that begins in the home directory.
fn below_home(path: &str) -> Option<&str> {
    let below = |word: &&str| {
        let rest = path.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word));
        let rest = rest.and_then(|_| path.get(word.len()..))?;
        let inner = rest.trim_start_matches(['/', '\\']);
        (rest.is_empty() || inner.len() < rest.len()).then_some(inner)
    };
    HOME_WORDS.iter().find_map(below)
}

/// Returns a path that is the same from everywhere.
///
/// # Errors
/// What is wrong with it, as the end of a sentence: it is blank, relative, of another user's home, or has a variable that is not
/// expanded.
pub fn absolute_path(path: &OsStr) -> Result<PathBuf, String> {
    let path = checked_path(path)?;
    if path.is_absolute() {
        return Ok(path);
    }
    Err("is relative, which would be another place in each directory".to_owned())
}

/// Returns a path that a person gave, which may be relative.
///
/// # Errors
/// Those of [`absolute_path`], but that it is relative.
pub fn checked_path(path: &OsStr) -> Result<PathBuf, String> {
    if path.to_str().is_some_and(|text| text.trim().is_empty()) {
        return Err("is blank".to_owned());
    }
    let path = expanded(path);
    match unexpanded_part(&path) {
        Some(part) => Err(format!("has {part}, which nothing expands here")),
        None => Ok(path),
    }
}

/// Returns the part of a path that a shell would have expanded.
fn unexpanded_part(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
    let is_unexpanded = |(place, part): &(usize, std::borrow::Cow<'_, str>)| {
        let starts_name = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{'))
        };
        let is_variable = part.split('$').skip(1).any(starts_name);
        let is_of_windows = part.len() > 2 && part.starts_with('%') && part.ends_with('%');
        is_variable || is_of_windows || *place == 0 && part.starts_with('~')
    };
    parts.enumerate().find(is_unexpanded).map(|(_, part)| part.into_owned())
}

/// Expands each folder of a list of `tool=folder`, separated as in `PATH`.
pub(super) fn expanded_roots(roots: &OsStr) -> OsString {
    let whole = |root: PathBuf| match root.to_str().and_then(|text| text.split_once('=')) {
        Some((tool, path)) => {
            let mut root = OsString::from(format!("{tool}="));
            root.push(expanded(path.as_ref()));
            root
        }
        None => root.into_os_string(),
    };
    std::env::join_paths(std::env::split_paths(roots).map(whole))
        .unwrap_or_else(|_| roots.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STORE-1
    #[test]
    fn the_home_directory_is_expanded_however_it_is_written() {
        let home = etcetera::home_dir().unwrap();
        for text in [
            "~/a/b",
            "$HOME/a/b",
            "${HOME}/a/b",
            "%USERPROFILE%\\a/b",
            " ~/a/b\n",
            "%userprofile%/a/b",
        ] {
            assert_eq!(absolute_path(text.as_ref()), Ok(home.join("a/b")), "{text}");
        }
        for text in ["~", "~/", "$HOME", "${HOME}/", "%USERPROFILE%"] {
            assert_eq!(absolute_path(text.as_ref()), Ok(home.clone()), "{text}");
        }
        for text in ["/srv/~/a", "/srv/a~", "/srv/a$", "/srv/5$ off", "/srv/100%"] {
            assert_eq!(absolute_path(text.as_ref()), Ok(PathBuf::from(text)), "{text}");
        }
    }

    // S-STORE-1
    #[test]
    fn what_nothing_expands_is_refused_by_name() {
        for (text, part) in [
            ("$XDG_DATA_HOME/logs", "$XDG_DATA_HOME"),
            ("/srv/${USER}/logs", "${USER}"),
            ("/srv/a-$USER", "a-$USER"),
            ("~ana/logs", "~ana"),
            ("$HOMEWORK/logs", "$HOMEWORK"),
            ("%APPDATA%/logs", "%APPDATA%"),
        ] {
            let why = absolute_path(text.as_ref()).unwrap_err();
            assert!(why.contains(&format!("has {part}, ")), "{text}: {why}");
            assert!(checked_path(text.as_ref()).is_err(), "{text}");
        }
        for text in ["", " ", "\t\n"] {
            assert_eq!(checked_path(text.as_ref()), Err("is blank".to_owned()), "{text:?}");
        }
        for text in ["memory", "./logs", "../logs", "logs/~"] {
            assert!(absolute_path(text.as_ref()).unwrap_err().contains("is relative"), "{text}");
            assert_eq!(checked_path(text.as_ref()), Ok(PathBuf::from(text)));
        }
    }
}
