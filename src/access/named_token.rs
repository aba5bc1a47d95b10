//! Tokens for others, each with a name and rights, in the file `tokens` beside the configuration file. The file keeps the
//! SHA-256 of a token, never the token. It is replaced as a whole, so a reader sees the old one or the new one. Not here:
//! the server's own token (`token`), comparing with what a request shows (`known_tokens`).

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::token::{SecretSource, Token, TokenError, read_private};
use event::Timestamp;
use requests::rights::Rights;
use store::{FileLock, StoreError, make_own_file, make_private_dir, open_private};

/// Most tokens: each request is compared with all. A team has one for each person and each container.
const TOKENS_MAX: usize = 256;

/// Longest name, in bytes, as of any agent.
const NAME_BYTES_MAX: usize = 64;

/// The longest file, in bytes: a line has at most 300.
const FILE_BYTES_MAX: usize = TOKENS_MAX * 512;

/// How long another `token` command is waited for, in milliseconds: it writes one small file.
const LOCK_WAIT_MS: u64 = 2_000;

/// A token with a name and rights.
#[derive(Debug, Clone)]
pub struct NamedToken {
    /// Its name, in which its actions are logged.
    pub name: String,
    /// What it allows.
    pub rights: Rights,
    /// When it was made.
    pub created: Timestamp,
    /// From when on it is refused, if ever.
    pub expires: Option<Timestamp>,
    /// The hash of the token; the token itself is not kept.
    pub hash: Token,
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct TokenLine {
    name: String,
    rights: String,
    sha256: String,
    created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
}

/// The file of named tokens.
#[derive(Debug, Clone)]
pub struct TokensFile(PathBuf);

/// Why a command about named tokens failed.
#[derive(Debug, thiserror::Error)]
pub enum NamedTokenError {
    /// The file is not what it should be.
    #[error(transparent)]
    File(#[from] TokenError),
    /// Another command holds the file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is a token with this name.
    #[error("there is a token with the name {0}; revoke it first, or choose another name")]
    Taken(String),
    /// There are as many as there may be.
    #[error("there are {TOKENS_MAX} tokens, which is the most; revoke one first")]
    Full,
    /// No token has this name. The second text names some that exist.
    #[error("there is no token with the name {0}; {1}")]
    Unknown(String, String),
}

impl NamedToken {
    /// Makes a token with a name, for tests.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn for_tests(name: &str, rights: Rights, created: Timestamp) -> Self {
        Self { name: name.to_owned(), rights, created, expires: None, hash: Token::hash_of(name) }
    }

    /// Tells whether a text may be a name.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let is_plain = |b: u8| {
            b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.' | b'@')
        };
        let begins = name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        begins && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_plain)
    }

    /// Tells whether it is refused because of its age.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn line(&self) -> TokenLine {
        TokenLine {
            name: self.name.clone(),
            rights: self.rights.to_string(),
            sha256: self.hash.as_hex(),
            created: self.created.to_string(),
            expires: self.expires.map(|expires| expires.to_string()),
        }
    }

    fn of_line(line: TokenLine) -> Option<Self> {
        let TokenLine { name, rights, sha256, created, expires } = line;
        let (rights, hash) = (Rights::parse(&rights)?, Token::from_hex(&sha256)?);
        let created = created.parse().ok()?;
        // One whose end cannot be read must not last for ever.
        let expires = expires.map(|expires| expires.parse()).transpose().ok()?;
        Self::is_name(&name).then_some(Self { name, rights, created, expires, hash })
    }
}

impl TokensFile {
    /// Returns the file at a path, which need not exist.
    #[must_use]
    /// Returns the file of tokens at a path.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns all tokens, also those that have expired. Without a file there are none.
    ///
    /// # Errors
    /// [`TokenError`], also for a file that others can read or that somebody damaged.
    pub fn load(&self) -> Result<Vec<NamedToken>, TokenError> {
        let path = &self.0;
        let text = match open_private(OpenOptions::new().read(true), path) {
            Ok(file) => read_private(&file, path, FILE_BYTES_MAX)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(TokenError::Io { action: "read", path: path.clone(), source });
            }
        };
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let tokens = lines.map(|(number, line)| {
            let line = serde_json::from_str(line).ok();
            line.and_then(NamedToken::of_line)
                .ok_or_else(|| TokenError::Damaged { path: path.clone(), line: number + 1 })
        });
        tokens.collect()
    }

    /// Adds a token, and returns its text, which is kept nowhere.
    ///
    /// # Errors
    /// [`NamedTokenError`].
    pub fn add(
        &self,
        name: &str,
        rights: Rights,
        expires: Option<Timestamp>,
        secret: SecretSource,
        now: Timestamp,
    ) -> Result<String, NamedTokenError> {
        let _lock = self.lock()?;
        let mut tokens = self.load()?;
        // One that has expired makes room for another of its name.
        tokens.retain(|token| token.name != name || !token.has_expired(now));
        if tokens.iter().any(|token| token.name == name) {
            return Err(NamedTokenError::Taken(name.to_owned()));
        }
        if tokens.len() >= TOKENS_MAX {
            return Err(NamedTokenError::Full);
        }
        let (text, hash) = Token::generate(secret)?;
        tokens.push(NamedToken { name: name.to_owned(), rights, created: now, expires, hash });
        self.write(&tokens)?;
        Ok(text)
    }

    /// Removes a token.
    ///
    /// # Errors
    /// [`NamedTokenError`].
    pub fn remove(&self, name: &str) -> Result<NamedToken, NamedTokenError> {
        let _lock = self.lock()?;
        let mut tokens = self.load()?;
        let Some(place) = tokens.iter().position(|token| token.name == name) else {
            return Err(NamedTokenError::Unknown(name.to_owned(), near_names_text(name, &tokens)));
        };
        let removed = tokens.remove(place);
        self.write(&tokens)?;
        Ok(removed)
    }

    fn lock(&self) -> Result<FileLock, NamedTokenError> {
        if let Some(folder) = self.0.parent() {
            make_private_dir(folder).map_err(|error| self.failed("make the folder of", error))?;
        }
        Ok(FileLock::acquire(&self.0.with_file_name("tokens.lock"), LOCK_WAIT_MS)?)
    }

    fn write(&self, tokens: &[NamedToken]) -> Result<(), NamedTokenError> {
        let mut text = String::new();
        for token in tokens {
            let line = serde_json::to_string(&token.line()).map_err(io::Error::other);
            let _ = writeln!(text, "{}", line.map_err(|error| self.failed("write", error))?);
        }
        let new = self.0.with_file_name("tokens.new");
        let mut file = make_own_file(&new)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| std::fs::rename(&new, &self.0));
        Ok(placed.map_err(|error| self.failed("write", error))?)
    }

    fn failed(&self, action: &'static str, source: io::Error) -> TokenError {
        TokenError::Io { action, path: self.0.clone(), source }
    }
}

/// Says which token was probably meant, or which there are.
fn near_names_text(name: &str, tokens: &[NamedToken]) -> String {
    let names: Vec<&str> = tokens.iter().map(|token| token.name.as_str()).collect();
    let is_near = |other: &&&str| {
        let (given, other) = (name.to_ascii_lowercase(), other.to_ascii_lowercase());
        given.len() > 1 && (other.starts_with(&given) || given.starts_with(&other))
    };
    match names.iter().find(is_near) {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => "there are none".to_owned(),
        None => format!("the tokens are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn file() -> (tempfile::TempDir, TokensFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = TokensFile::at(folder.path().join("not yet/tokens"));
        (folder, file)
    }

    fn secret() -> Option<[u8; 32]> {
        Some([0xA5; 32])
    }

    // S-TOKEN-1
    #[test]
    fn only_the_hash_of_a_token_is_kept() {
        let (_folder, file) = file();
        assert!(file.load().unwrap().is_empty());
        let text = file.add("ci", Rights::Read, Some(at(60)), secret, at(0)).unwrap();
        let kept = std::fs::read_to_string(file.path()).unwrap();
        assert!(!kept.contains(&text) && kept.lines().count() == 1, "{kept}");
        let tokens = file.load().unwrap();
        let token = &tokens[0];
        assert_eq!((token.name.as_str(), token.rights), ("ci", Rights::Read));
        assert!(token.hash.matches(&text) && !token.hash.matches("other"));
        assert!(!token.has_expired(at(59)) && token.has_expired(at(60)));
    }

    // S-TOKEN-1
    #[test]
    fn a_name_stands_for_one_token() {
        let (_folder, file) = file();
        file.add("ci", Rights::Read, None, secret, at(0)).unwrap();
        let twice = file.add("ci", Rights::Admin, None, secret, at(0));
        assert!(matches!(twice, Err(NamedTokenError::Taken(_))), "{twice:?}");
        file.add("anna", Rights::Write, Some(at(9)), secret, at(0)).unwrap();
        file.add("anna", Rights::Read, None, secret, at(10)).unwrap();
        assert_eq!(file.load().unwrap().len(), 2, "one that has expired gives way");
        let refusal = |name: &str| file.remove(name).unwrap_err().to_string();
        assert!(refusal("ann").ends_with("did you mean anna?"), "{}", refusal("ann"));
        assert!(refusal("x").ends_with("the tokens are ci, anna"), "{}", refusal("x"));
        assert_eq!(file.remove("ci").unwrap().name, "ci");
        assert_eq!(file.load().unwrap().len(), 1);
    }

    // S-TOKEN-1
    #[test]
    fn names_are_those_of_agents_and_short() {
        for name in ["ci", "a", "7", "anna@laptop", "build-1.x_y", &"x".repeat(64)] {
            assert!(NamedToken::is_name(name), "{name}");
            assert_eq!(crate::agent_name::agent_name(name).as_deref(), Some(name));
        }
        for name in ["", "-a", ".", "Anna", "a b", "ä", "a/b", "a\n", &"x".repeat(65)] {
            assert!(!NamedToken::is_name(name), "{name}");
        }
    }

    #[test]
    fn there_are_at_most_so_many() {
        let (_folder, file) = file();
        file.add("first", Rights::Read, None, secret, at(0)).unwrap();
        let called =
            |number: usize| NamedToken::for_tests(&format!("t{number}"), Rights::Read, at(0));
        file.write(&(0..TOKENS_MAX).map(called).collect::<Vec<_>>()).unwrap();
        let full = file.add("more", Rights::Read, None, secret, at(0));
        assert!(matches!(full, Err(NamedTokenError::Full)), "{full:?}");
        file.remove("t7").unwrap();
        file.add("more", Rights::Read, None, secret, at(0)).unwrap();
    }

    // S-TOKEN-1
    #[cfg(unix)]
    #[test]
    fn a_damaged_or_open_file_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, file) = file();
        file.add("ci", Rights::Read, None, secret, at(0)).unwrap();
        let mode = file.path().metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        let text = std::fs::read_to_string(file.path()).unwrap();
        for wrong in [text.replace("read", "root"), text.replace("ci", "C I"), "{}".to_owned()] {
            std::fs::write(file.path(), format!("{text}{wrong}")).unwrap();
            let refusal = file.load().unwrap_err().to_string();
            assert!(refusal.contains("line 2"), "{refusal}");
        }
        std::fs::write(file.path(), text).unwrap();
        std::fs::set_permissions(file.path(), PermissionsExt::from_mode(0o640)).unwrap();
        assert!(matches!(file.load(), Err(TokenError::Untrusted { .. })));
    }
}
