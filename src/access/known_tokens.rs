//! The named tokens as a running server knows them: it looks at each request whether the file changed, so a token that was
//! revoked is refused without a restart. Not here: the file (`named_token`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::file_mark::{FileMark, file_mark};
use crate::named_token::{NamedToken, TokensFile};
use crate::token::{Token, TokenError};
use event::Timestamp;

/// The named tokens of a server.
pub struct KnownTokens {
    file: TokensFile,
    held: Mutex<HeldTokens>,
}

#[derive(Default)]
struct HeldTokens {
    mark: Option<FileMark>,
    tokens: Vec<Arc<NamedToken>>,
    problem: Option<String>,
}

impl KnownTokens {
    /// Reads the file.
    ///
    /// # Errors
    /// [`TokenError`]: a server that begins with a damaged file would refuse its clients.
    pub fn load(file: TokensFile) -> Result<Self, TokenError> {
        let mark = mark(&file);
        let tokens = file.load()?.into_iter().map(Arc::new).collect();
        Ok(Self { file, held: Mutex::new(HeldTokens { mark, tokens, problem: None }) })
    }

    /// Returns the token that a request shows, unless it has expired.
    pub fn find(&self, shown: &Token, now: Timestamp) -> Option<Arc<NamedToken>> {
        let held = self.current();
        let mut found = None;
        // All are compared, so that the time does not tell which.
        for token in &held.tokens {
            if token.hash.is_same(shown) {
                found = Some(Arc::clone(token));
            }
        }
        found.filter(|token| !token.has_expired(now))
    }

    /// Returns why the file is not used, if so.
    pub fn problem(&self) -> Option<String> {
        self.current().problem.clone()
    }

    /// Reads the file again if it changed. A file that became damaged or open to others allows nothing to anybody.
    fn current(&self) -> MutexGuard<'_, HeldTokens> {
        // No code panics while holding the lock, so the state is valid.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = mark(&self.file);
        if mark != held.mark {
            let (tokens, problem, mark) = match self.file.load() {
                Ok(tokens) => (tokens.into_iter().map(Arc::new).collect(), None, mark),
                Err(error) => {
                    // What the system refuses now it may allow at the next request.
                    let mark = mark.filter(|_| !matches!(error, TokenError::Io { .. }));
                    (Vec::new(), Some(format!("failed to {error}")), mark)
                }
            };
            *held = HeldTokens { mark, tokens, problem };
        }
        held
    }
}

fn mark(file: &TokensFile) -> Option<FileMark> {
    Some(file_mark(&file.path().symlink_metadata().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use requests::rights::Rights;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    // S-TOKEN-2
    #[test]
    fn a_revoked_token_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokensFile::at(folder.path().join("tokens"));
        let known = KnownTokens::load(file.clone()).unwrap();
        let made = file.add(("ci", Rights::Write), Some(at(60)), || Some([1; 32]), at(0)).unwrap();
        let found = |second: i64| known.find(&Token::hash_of(&made), at(second));
        assert_eq!(found(59).map(|token| token.rights), Some(Rights::Write));
        assert!(found(60).is_none(), "it has expired");
        assert!(known.find(&Token::hash_of("x"), at(0)).is_none());
        file.remove("ci").unwrap();
        assert!(found(0).is_none());
    }

    // S-TOKEN-2
    #[cfg(unix)]
    #[test]
    fn an_open_file_allows_nothing_to_anybody() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = TokensFile::at(folder.path().join("tokens"));
        let made = file.add(("ci", Rights::Write), None, || Some([1; 32]), at(0)).unwrap();
        let known = KnownTokens::load(file.clone()).unwrap();
        let found = || known.find(&Token::hash_of(&made), at(0)).is_some();
        assert!(found() && known.problem().is_none());
        let mode = |mode| std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode));
        mode(0o644).unwrap();
        assert!(!found());
        assert!(known.problem().unwrap().contains("is open to other users"));
        assert!(KnownTokens::load(file.clone()).is_err());
        mode(0o600).unwrap();
        assert!(found());
    }
}
