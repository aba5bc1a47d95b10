//! The token that HTTP clients send: read, created where it is missing, compared. Only its hash is
//! kept in memory, so nothing can print it. Not here: finding it in a request (`web::request_guard`).

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

#[cfg(unix)]
use store::user;
use store::{make_private_dir, open_private};

/// The shortest token, in characters: 128 random bits as hexadecimal digits.
const CHARACTERS_MIN: usize = 32;

/// The longest token, in characters: every request carries it.
const CHARACTERS_MAX: usize = 512;

/// The longest file of one token, in bytes: there may be spaces around it.
const FILE_BYTES_MAX: usize = 2 * CHARACTERS_MAX;

/// Random bytes of a token that we create.
pub const RANDOM_BYTES: usize = 32;

/// Returns random bits; `None` where the system has none.
pub type SecretSource = fn() -> Option<[u8; RANDOM_BYTES]>;

/// The token, as a hash.
#[derive(Debug, Clone)]
pub struct Token([u8; 32]);

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The file could not be read or created.
    #[error("{action} the token in {path}: {source}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file can be read by others, or is not a file of the user.
    #[error("use the token in {path}: it {why}")]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and the remedy.
        why: &'static str,
    },
    /// The text is not a token.
    #[error(
        "use {place}: a token has {CHARACTERS_MIN} to {CHARACTERS_MAX} letters, digits and characters of -._~+/="
    )]
    Malformed {
        /// Where the text comes from.
        place: String,
    },
    /// A line of the file of named tokens is none.
    #[error(
        "use line {line} of {path}: it is no named token; remove that line, and make the token anew with agent-knowledge token create"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
    },
    /// The system names no folder for configuration.
    #[error("find the folder of the tokens: the system names no home; set AGENT_KNOWLEDGE_CONFIG")]
    NoPlace,
    /// The system has no randomness.
    #[error("make a token: the system gives no random bits")]
    NoRandomness,
}

impl Token {
    /// Makes a token of 256 random random_bits, and returns it with its text.
    ///
    /// # Errors
    /// [`TokenError::NoRandomness`].
    pub fn generate(
        random: impl FnOnce() -> Option<[u8; RANDOM_BYTES]>,
    ) -> Result<(String, Self), TokenError> {
        let bits = random().ok_or(TokenError::NoRandomness)?;
        let text = hex(&bits);
        let token = Self(hash(&text));
        Ok((text, token))
    }

    /// Makes a token from a text; `place` names its source.
    ///
    /// # Errors
    /// [`TokenError::Malformed`], which does not repeat the text.
    pub fn parse(text: &str, place: &str) -> Result<Self, TokenError> {
        let is_token = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b));
        if is_token && (CHARACTERS_MIN..=CHARACTERS_MAX).contains(&text.len()) {
            return Ok(Self(hash(text)));
        }
        Err(TokenError::Malformed { place: place.to_owned() })
    }

    /// Reads the token from a file that only the user can read. A missing file is created, with its folder and
    /// a token of 256 random bits.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn read_or_create(
        path: &Path,
        random: impl FnOnce() -> Option<[u8; RANDOM_BYTES]>,
    ) -> Result<Self, TokenError> {
        let io = |action, source| TokenError::Io { action, path: path.to_owned(), source };
        let text = match open_private(OpenOptions::new().read(true), path) {
            Ok(file) => read_private(&file, path, FILE_BYTES_MAX)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (text, _) = Self::generate(random)?;
                if let Some(folder) = path.parent() {
                    make_private_dir(folder).map_err(|error| io("make the folder of", error))?;
                }
                let file = open_private(OpenOptions::new().write(true).create_new(true), path);
                let written = file.and_then(|mut file| {
                    file.write_all(format!("{text}\n").as_bytes())?;
                    file.sync_all()
                });
                written.map_err(|error| io("write", error))?;
                text
            }
            Err(error) => return Err(io("read", error)),
        };
        Self::parse(text.trim(), &path.display().to_string())
    }

    /// Returns the text of the token in a file that only the user can read, for a client of the server.
    ///
    /// # Errors
    /// [`TokenError`]; the file is not made.
    pub fn read_text(path: &Path) -> Result<String, TokenError> {
        let file = open_private(OpenOptions::new().read(true), path)
            .map_err(|source| TokenError::Io { action: "read", path: path.to_owned(), source })?;
        let text = read_private(&file, path, FILE_BYTES_MAX)?;
        Self::parse(text.trim(), &path.display().to_string())?;
        Ok(text.trim().to_owned())
    }

    /// Returns the hash of a text that a request shows as a token, to compare it with many tokens.
    pub fn hash_of(text: &str) -> Self {
        Self(hash(text))
    }

    /// Compares a text with the token, in constant time.
    #[must_use]
    pub fn matches(&self, shown: &str) -> bool {
        self.is_same(&Self::hash_of(shown))
    }

    /// Compares two tokens, in constant time.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }

    /// Returns the hash in hexadecimal digits.
    pub fn as_hex(&self) -> String {
        hex(&self.0)
    }

    /// Reads a hash in hexadecimal digits.
    pub fn from_hex(digits: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// Reads a file of tokens that belongs to the user alone.
pub fn read_private(file: &File, path: &Path, bytes_max: usize) -> Result<String, TokenError> {
    let io = |source| TokenError::Io { action: "read", path: path.to_owned(), source };
    let untrusted = |why| Err(TokenError::Untrusted { path: path.to_owned(), why });
    let found = file.metadata().map_err(io)?;
    if !found.is_file() {
        return untrusted("is no plain file; name another");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if found.uid().to_string() != user() && !store::is_home_owner(found.uid()) {
            return untrusted("belongs to another user; name one of your own");
        }
        if found.mode() & 0o077 != 0 {
            return untrusted(
                "is open to other users; take that away with chmod 600, and make a new one, since they may have read it",
            );
        }
        if found.nlink() != 1 {
            return untrusted("has another name as well; name a file of its own");
        }
    }
    let mut text = String::new();
    let bytes_max = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    file.take(bytes_max).read_to_string(&mut text).map_err(io)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_bits() -> Option<[u8; RANDOM_BYTES]> {
        Some([0xA5; RANDOM_BYTES])
    }

    // S-HTTP-4
    #[test]
    fn a_token_is_created_once_and_then_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not yet/there/token");
        let token = Token::read_or_create(&path, random_bits).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{}\n", "a5".repeat(RANDOM_BYTES)));
        assert!(token.matches(text.trim()) && !token.matches("") && !token.matches(&text));
        let again = Token::read_or_create(&path, || panic!("there is one")).unwrap();
        assert!(again.matches(text.trim()));
        assert_eq!(Token::read_text(&path).unwrap(), text.trim());
        assert!(!format!("{again:?}").contains("a5a5"), "only its hash is kept");
    }

    #[test]
    fn an_invalid_token_is_refused_and_not_repeated() {
        for text in
            ["", "short", &"x".repeat(513), &format!("{} y", "x".repeat(40)), &"ä".repeat(40)]
        {
            let error = Token::parse(text, "X").unwrap_err().to_string();
            assert!(error.starts_with("use X: a token has 32 to 512 "), "{error}");
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(matches!(
            Token::read_or_create(&folder.path().join("file/token"), random_bits),
            Err(TokenError::Io { .. })
        ));
        let none = Token::read_or_create(&folder.path().join("token"), || None);
        assert!(matches!(none, Err(TokenError::NoRandomness)));
    }

    #[cfg(unix)]
    // S-HTTP-4
    #[test]
    fn a_file_that_others_can_read_or_a_link_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        Token::read_or_create(&path, random_bits).unwrap();
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(Token::read_or_create(&link, random_bits).is_err());
        let hard = folder.path().join("hard");
        std::fs::hard_link(&path, &hard).unwrap();
        assert!(matches!(
            Token::read_or_create(&path, random_bits),
            Err(TokenError::Untrusted { .. })
        ));
        std::fs::remove_file(hard).unwrap();
        for open in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(open)).unwrap();
            let refused = Token::read_or_create(&path, random_bits).unwrap_err().to_string();
            assert!(refused.contains("is open to other users"), "{refused}");
        }
        assert!(Token::read_or_create(folder.path(), random_bits).is_err());
    }
}
