//! The key of a repository: the same on every machine, different for different repositories, and usable as a
//! file name. Not here: which URLs mean one repository (`forges`), and finding that of a directory (`place`).
//!
//! A key is one or more segments of `a-z 0-9 . _ -` joined by `/`, for example `github.com/acme/api`. If
//! normalisation loses more than the case of a forge that ignores case, `~` and eight hexadecimal digits of a
//! hash are added, so that no two repositories share a key.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::forges::ForgePlace;
use super::limits::REPO_KEY_BYTES_MAX;
use guard::secrets::{RedactedText, findings_in_stamp, redacted};

/// The normalised key of one repository. Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoKey(Arc<str>);

/// A key is equal to its text and sorts like it.
impl Borrow<str> for RepoKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A repository name that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "must be a name such as \"api\", \"acme/api\" or \"github.com/acme/api\", or the URL of a remote; got {given:?}: {why}"
)]
pub struct RepoKeyError {
    given: String,
    why: &'static str,
}

/// File names that Windows reserves, whatever follows the first dot.
const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

impl RepoKey {
    /// Accepts what a person or agent typed: a key, a short name, or the URL of a remote.
    ///
    /// # Errors
    /// [`RepoKeyError`] says what is wrong and what is allowed.
    pub fn parse(text: &str) -> Result<Self, RepoKeyError> {
        let refuse =
            |why| Err(RepoKeyError { given: redacted(text).chars().take(80).collect(), why });
        let trimmed = text.trim();
        if let Some(remote) = Self::from_remote(trimmed) {
            return Ok(remote);
        }
        let key = trimmed.to_ascii_lowercase();
        if key != trimmed && holds_secret(trimmed) {
            return refuse("it contains what looks like a secret");
        }
        if key.is_empty() {
            return refuse("it is empty");
        }
        if key.len() > REPO_KEY_BYTES_MAX {
            return refuse("it is longer than 200 characters");
        }
        let (name, hash) = key.split_once('~').unwrap_or((&key, "00000000"));
        if hash.len() != 8 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return refuse("\"~\" must be followed by eight hexadecimal digits");
        }
        if name.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return refuse("no segment may be empty, \".\" or \"..\"");
        }
        if !name.chars().all(|c| is_key_char(c) || c == '/') {
            return refuse("only letters, digits, \".\", \"_\", \"-\" and \"/\" are allowed");
        }
        if name.starts_with(['.', '-']) {
            return refuse("it may not begin with \".\" or \"-\"");
        }
        // A key with several segments has a file name that is not reserved. Keys of remotes have several.
        if key == name && !name.contains('/') && is_reserved(name) {
            return refuse("some systems reserve this name");
        }
        Ok(Self(key.into()))
    }

    /// Takes the repo of a line. This never fails: a text that is not a key is hashed into one.
    #[must_use]
    pub fn from_line(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self::from_hash(&RedactedText::stamp(text), text))
    }

    /// Makes the key of a repository that has only a path on this machine: the name of its folder and a hash of
    /// the whole path, so that two folders with the same name differ.
    #[must_use]
    pub fn from_place(name: &str, path: &str) -> Self {
        Self::from_hash(&RedactedText::stamp(name), path)
    }

    /// Normalises the URL of a git remote. Returns `None` for a text that other machines cannot share (a local
    /// path, a bare name).
    #[must_use]
    pub fn from_remote(url: &str) -> Option<Self> {
        ForgePlace::by_itself(url).map(|place| Self::from_forge(&place))
    }

    /// Makes the key of a repository on a server.
    #[must_use]
    pub fn from_forge(place: &ForgePlace) -> Self {
        let whole = place.to_string();
        let folded = whole.to_ascii_lowercase();
        let exact = if place.is_caseless() { folded.clone() } else { whole.clone() };
        let is_lossless = exact == folded
            && !holds_secret(&whole)
            && folded.len() <= REPO_KEY_BYTES_MAX
            && !folded.starts_with(['.', '-'])
            && folded.split('/').all(|part| !matches!(part, "" | "." | ".."))
            && folded.chars().all(|c| is_key_char(c) || c == '/');
        if is_lossless {
            Self(folded.into())
        } else {
            Self::from_hash(&RedactedText::stamp(&whole), &exact)
        }
    }

    /// Makes a key of a name that is respelled, and of a hash, which tells apart what became alike.
    fn from_hash(name: &RedactedText, identity: &str) -> Self {
        let slug: Vec<String> = name
            .to_ascii_lowercase()
            .split('/')
            .map(slug)
            .filter(|part| !part.is_empty())
            .collect();
        let mut slug = slug.join("/");
        // The slug is ASCII by construction, so any cut is a character boundary.
        slug.truncate(REPO_KEY_BYTES_MAX - 9);
        let slug = slug.trim_end_matches('/');
        let slug = if slug.is_empty() { "repo" } else { slug };
        let digest = Sha256::digest(identity.as_bytes());
        let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{slug}~{hash}").into())
    }

    /// Returns the key as written in lines.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last segment without a hash, which is what people call the repository.
    #[must_use]
    pub fn short_name(&self) -> &str {
        let last = self.0.rsplit('/').next().unwrap_or(&self.0);
        last.split('~').next().unwrap_or(last)
    }

    /// Tells whether only this machine can make the key, from a path: no other machine has the same for the same repository.
    #[must_use]
    pub fn is_of_one_machine(&self) -> bool {
        self.0.contains('~')
    }

    /// Tells whether `self` is a short form of `other`: its last segments, with or without the hash.
    #[must_use]
    pub fn abbreviates(&self, other: &RepoKey) -> bool {
        other.abbreviations().any(|short| short == self.as_str())
    }

    /// Returns all short forms, and the key itself.
    pub fn abbreviations(&self) -> impl Iterator<Item = &str> {
        let without_hash = self.0.split_once('~').map(|(name, _)| name);
        let wholes = [Some(self.as_str()), without_hash].into_iter().flatten();
        wholes.flat_map(|whole| {
            let slashes = whole.match_indices('/');
            let suffixes = slashes.filter_map(|(slash, _)| whole.get(slash + 1..));
            std::iter::once(whole).chain(suffixes)
        })
    }

    /// Returns the longer known keys that this key is a short form of.
    pub fn longer<'a>(&self, known: impl IntoIterator<Item = &'a RepoKey>) -> Vec<&'a RepoKey> {
        let mut longer: Vec<&RepoKey> =
            known.into_iter().filter(|key| *key != self && self.abbreviates(key)).collect();
        longer.sort();
        longer.dedup();
        longer
    }

    /// Returns the name of the log file. `/` becomes `+`, which no key contains. A name that Windows would take
    /// for a device (a server may be called `aux.example.org`) gets a leading `+` on every system, because a
    /// store may be moved between systems.
    #[must_use]
    pub fn file_name(&self) -> String {
        let stem = self.0.replace('/', "+");
        let guard = if is_reserved(&stem) { "+" } else { "" };
        format!("{guard}{stem}.jsonl")
    }

    /// Reads a key back from the name of a log file, whoever made the file.
    #[must_use]
    pub fn from_file_stem(stem: &str) -> Self {
        Self::from_line(&stem.strip_prefix('+').unwrap_or(stem).replace('+', "/"))
    }
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-')
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let letters = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let has_digit = letters.len() < stem.len();
    RESERVED.contains(&letters) && (has_digit == matches!(letters, "com" | "lpt"))
}

/// Bytes and digits that a name with a secret has at least. Few names have them, and keys are read with every line.
const SECRET_BYTES_MIN: usize = 16;
const SECRET_DIGITS_MIN: usize = 1;

/// Tells whether a name that is to be respelled holds a secret: in small letters no rule knows it any more.
fn holds_secret(name: &str) -> bool {
    let own = name.split_once('~').map_or(name, |(own, _)| own);
    let digits = own.bytes().filter(u8::is_ascii_digit).count();
    own.len() >= SECRET_BYTES_MIN
        && digits >= SECRET_DIGITS_MIN
        && !findings_in_stamp(name).is_empty()
}

fn slug(part: &str) -> String {
    let kept: String = part.chars().map(|c| if is_key_char(c) { c } else { '-' }).collect();
    kept.trim_matches(['-', '.']).to_owned()
}

impl fmt::Display for RepoKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod path_rules;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn remote(url: &str) -> String {
        RepoKey::from_remote(url).unwrap().to_string()
    }

    // S-REPO-2
    #[test]
    fn every_way_of_writing_a_remote_gives_one_key() {
        for url in [
            "https://github.com/Acme/API.git",
            "https://github.com/acme/api/",
            "https://user:token@github.com/acme/api.git",
            "git@github.com:acme/api.git",
            "github.com:acme/api",
            "ssh://git@github.com/acme/api.git",
            "ssh://git@ssh.github.com:443/acme/api.git",
            "git://www.github.com/acme/api",
            "https://github.com:443//acme/api.git",
        ] {
            assert_eq!(remote(url), "github.com/acme/api", "{url}");
        }
        let https = "https://org@dev.azure.com/org/Proj/_git/repo";
        assert_eq!(remote(https), remote("git@ssh.dev.azure.com:v3/org/Proj/repo"));
    }

    // S-WRITE-8
    #[test]
    fn no_key_holds_a_secret_in_small_letters() {
        let token = ["ghp", "_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        let access = ["AKIA", "YHZ2NARTBNLZGCJN"].concat();
        for name in [token, access] {
            let keys = ["/a", "/b"].map(|path| RepoKey::from_place(&name, path));
            assert!(keys[0] != keys[1] && RepoKey::parse(keys[0].as_str()).is_ok());
            let given = [format!("acme/{name}"), format!("https://github.com/acme/{name}.git")];
            let lines = given.each_ref().map(|given| RepoKey::from_line(given));
            let remote = RepoKey::from_remote(&given[1]).unwrap();
            assert_eq!(remote, lines[1], "every way to it is one");
            for key in keys.iter().chain(&lines) {
                assert!(!key.as_str().contains(&name.to_ascii_lowercase()), "{key}");
                assert_eq!(RepoKey::parse(key.as_str()).as_ref(), Ok(key));
            }
            let refused = RepoKey::parse(&given[0]).unwrap_err().to_string();
            assert!(refused.contains("a secret") && !refused.contains(&name), "{refused}");
        }
    }

    // S-REPO-2
    #[test]
    fn where_case_matters_it_is_part_of_the_key() {
        let (big, small) = (remote("git@git.corp.io:team/Api"), remote("git@git.corp.io:team/api"));
        assert_ne!(big, small);
        assert!(big.starts_with("git.corp.io/team/api~"), "{big}");
    }

    #[test]
    fn an_address_in_brackets_is_kept_whole() {
        assert_eq!(remote("ssh://git@[fe80::1]/a/b"), remote("ssh://git@[fe80::1]:22/a/b"));
        assert_ne!(remote("ssh://[fe80::1]/a/b"), remote("ssh://[fe80::2]/a/b"));
    }

    #[test]
    fn different_servers_on_one_host_differ() {
        assert_ne!(remote("http://localhost:3000/a/b"), remote("http://localhost:4000/a/b"));
    }

    #[test]
    fn paths_are_not_remotes() {
        for path in [
            "/srv/git/api.git",
            "../api",
            "C:\\src\\api",
            "file:///srv/git/api.git",
            "api",
            "./a:b",
        ] {
            assert_eq!(RepoKey::from_remote(path), None, "{path}");
        }
    }

    // S-REPO-4
    #[test]
    fn a_text_with_a_colon_is_no_remote() {
        for text in
            ["note: fix this", "note:", "a+b:c", "see https://github.com/acme/api", "x:///y"]
        {
            assert_eq!(RepoKey::from_remote(text), None, "{text}");
            assert!(RepoKey::parse(text).is_err(), "{text}");
        }
        for url in ["ssh://git@[::1]:22/acme/api", "git@my_host-1.lan:api"] {
            assert!(RepoKey::from_remote(url).is_some(), "{url}");
        }
    }

    // S-REPO-3
    #[test]
    fn two_folders_of_one_name_differ() {
        assert_ne!(RepoKey::from_place("api", "/a/api"), RepoKey::from_place("api", "/b/api"));
        assert_eq!(RepoKey::from_place("api", "/a/api").short_name(), "api");
        assert!(RepoKey::from_place("api", "/a/api").is_of_one_machine());
        assert!(!RepoKey::parse("github.com/acme/api").unwrap().is_of_one_machine());
    }

    // S-REPO-1
    #[test]
    fn a_name_that_could_leave_the_store_is_refused() {
        for bad in [
            "",
            " ",
            "..",
            "../../etc",
            "/etc/passwd",
            "a//b",
            "a/../b",
            "a b",
            "a\0b",
            "nul",
            "com1",
            "a~zz",
        ] {
            assert!(RepoKey::parse(bad).is_err(), "{bad:?}");
        }
        let error = RepoKey::parse("../../etc").unwrap_err().to_string();
        assert!(error.contains("github.com/acme/api"), "{error}");
    }

    #[test]
    fn a_short_name_abbreviates_a_long_key() {
        let whole = RepoKey::parse("github.com/acme/api").unwrap();
        for short in ["api", "acme/api", "github.com/acme/api"] {
            assert!(RepoKey::parse(short).unwrap().abbreviates(&whole), "{short}");
        }
        assert!(!RepoKey::parse("pi").unwrap().abbreviates(&whole));
        assert!(RepoKey::parse("api").unwrap().abbreviates(&RepoKey::from_place("api", "/a/api")));
        let whole = RepoKey::parse("a/b~0123abcd").unwrap();
        assert!(whole.abbreviations().eq(["a/b~0123abcd", "b~0123abcd", "a/b", "b"]));
    }

    proptest! {
        #[test]
        fn every_key_is_one_plain_file_name(text in any::<String>()) {
            let name = RepoKey::from_line(&text).file_name();
            prop_assert!(name.len() <= 210 && !name.starts_with('.'));
            prop_assert!(name.chars().all(|c| is_key_char(c) || matches!(c, '+' | '~')), "{name}");
        }

        #[test]
        fn a_key_is_found_again_from_its_file(text in "[a-zA-Z0-9._/~-]{1,40}") {
            let key = RepoKey::from_line(&text);
            let name = key.file_name();
            let stem = name.strip_suffix(".jsonl").unwrap();
            prop_assert_eq!(RepoKey::from_file_stem(stem), key);
        }
    }
}
