//! The table `[sync]` of the settings: where a team's lines go, which repositories are shared, and whose deeds count. Not
//! here: the other settings (`config`), sharing (crate `sync`).

use std::path::PathBuf;

use event::{RepoKey, StoreOrigin};
use toml::Table;

/// What is shared with a team, and how far the team is trusted. By default nothing is shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncPolicy {
    /// Where lines are exchanged: the address of a git repository, a folder or a stream, or `origin` for that of the code's
    /// own repository.
    pub remote: Option<String>,
    /// The file with the key for a stream (`.creds`).
    pub credentials: Option<PathBuf>,
    /// The repositories that are shared. A `*` stands for any text.
    pub share: Vec<String>,
    /// Fields that are left out of what is shared.
    pub strip: Vec<String>,
    /// Whose deeds count like our own.
    pub trust: Trust,
    /// How often a server exchanges lines by itself.
    pub every: SyncPause,
    /// The SSH key with which our trees are signed in git: a private key, or a public one whose private half an agent has.
    pub signing_key: Option<PathBuf>,
    /// Whether trees of others must be signed.
    pub signatures: SignatureRule,
    /// Whether a key or value that this version does not know holds the table: then nothing leaves and nothing is taken.
    pub is_held: bool,
}

/// Whether trees of other origins must be signed. One that signed once must go on in either case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SignatureRule {
    /// An origin may sign.
    #[default]
    Optional,
    /// Every origin must.
    Required,
}

/// How often a server exchanges lines by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncPause {
    /// In seconds; 0 for never.
    pub seconds: u32,
}

impl Default for SyncPause {
    fn default() -> Self {
        Self { seconds: 300 }
    }
}

/// Whose deeds (forget, supersede, pin and the like) count like our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Those of these origins.
    Origins(Vec<StoreOrigin>),
    /// Those of every origin.
    Full,
}

impl Default for Trust {
    fn default() -> Self {
        Self::Origins(Vec::new())
    }
}

/// The fields that can be left out of what is shared: those in which copies of one event may differ (S-READ-3).
const STRIP: [&str; 4] = ["branch", "commit", "host", "session_id"];

impl SyncPolicy {
    pub(super) fn parse(table: Table) -> Result<Self, String> {
        let mut policy = Self::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("remote", toml::Value::String(remote)) if !remote.trim().is_empty() => {
                    policy.remote = Some(remote.trim().to_owned());
                }
                ("credentials", toml::Value::String(path)) if !path.is_empty() => {
                    policy.credentials = Some(PathBuf::from(path));
                }
                ("share", value) => policy.share = patterns(texts(&key, value)?)?,
                ("strip", value) => policy.strip = fields(texts(&key, value)?)?,
                ("trust", toml::Value::String(word)) if word == "full" => {
                    policy.trust = Trust::Full;
                }
                ("trust", value @ toml::Value::Array(_)) => {
                    let named = texts(&key, value)?;
                    let is_full = named.iter().any(|name| name == "full");
                    policy.trust =
                        if is_full { Trust::Full } else { Trust::Origins(origins(&named)?) };
                }
                ("every_seconds", value) => policy.every = pause(&value)?,
                ("signing_key", value) => policy.signing_key = Some(key_file(&value)?),
                ("require_signatures", value) => policy.signatures = signature_rule(&value)?,
                (key, _) => {
                    return Err(format!(
                        "sync: {key:?} is unknown or of a wrong type; allowed are remote = \"git@host:team/memory.git\", \
                         share = [\"github.com/acme/*\"], strip = [\"branch\"], every_seconds = 300, credentials = \"/home/me/team.creds\", \
                         signing_key = \"/home/me/.ssh/id_ed25519\", require_signatures = true, and trust = \"full\" or a list of origins \
                         such as [\"laptop-3fa9c1d2e5b60718\"]"
                    ));
                }
            }
        }
        Ok(policy)
    }

    /// Takes back what allows an exchange. Whose deeds count, and which signatures are needed, stays as it was read.
    pub(super) fn hold_back(&mut self) {
        (self.is_held, self.remote) = (true, None);
        self.share.clear();
    }

    /// Tells whether lines of a repository are shared. `global` must be named as it is, and a repository without a remote
    /// (its key has a `~`) by its whole key: no pattern means them.
    #[must_use]
    pub fn shares(&self, repo: &RepoKey) -> bool {
        let key = repo.as_str();
        self.share.iter().any(|pattern| match is_own_business(key) {
            true => pattern == key,
            false => is_match(pattern, key),
        })
    }

    /// Tells whether lines of a repository are taken from others: of what is shared, and where nothing is named, of all but
    /// `global` and repositories without a remote. Nobody else decides what everybody is told everywhere.
    #[must_use]
    pub fn receives(&self, repo: &RepoKey) -> bool {
        match self.share.is_empty() {
            _ if self.is_held => false,
            true => !is_own_business(repo.as_str()),
            false => self.shares(repo),
        }
    }

    /// Tells whether the deeds of an origin count like our own.
    #[must_use]
    pub fn trusts(&self, origin: &StoreOrigin) -> bool {
        match &self.trust {
            Trust::Full => true,
            Trust::Origins(trusted) => trusted.contains(origin),
        }
    }
}

/// Tells whether a key is that of memories for all repositories, or of a repository without a remote.
fn is_own_business(key: &str) -> bool {
    key == event::GLOBAL_REPO || key.contains('~')
}

/// Compares a key with a pattern in which `*` stands for any text, also one with slashes.
pub(super) fn is_match(pattern: &str, key: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == key };
    let Some(mut left) = key.strip_prefix(start) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return left.ends_with(piece);
        }
        match left.split_once(piece) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    true
}

/// Tells whether a text can be the key of a repository, with `*` for any text.
pub(super) fn is_pattern(text: &str) -> bool {
    let is_fine = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' | b'~' | b'+' | b'*');
    !text.is_empty() && text.bytes().all(is_fine)
}

fn patterns(texts: Vec<String>) -> Result<Vec<String>, String> {
    match texts.iter().find(|text| !is_pattern(text)) {
        None => Ok(texts),
        Some(wrong) => Err(format!(
            "sync: share takes keys of repositories in lower case, and * for any text, for example \"github.com/acme/*\"; got {wrong:?}"
        )),
    }
}

/// Longest pause between two rounds, in seconds: a day.
const PAUSE_SECONDS_MAX: u32 = 24 * 3_600;

fn pause(value: &toml::Value) -> Result<SyncPause, String> {
    let seconds = value.as_integer().and_then(|seconds| u32::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| *seconds <= PAUSE_SECONDS_MAX).ok_or_else(|| {
        format!(
            "sync: every_seconds must be a number of seconds up to {PAUSE_SECONDS_MAX}, for example 300; 0 exchanges \
             nothing by itself"
        )
    })?;
    Ok(SyncPause { seconds })
}

/// Reads the path of a key. The value is not quoted: it may be the key itself.
fn key_file(value: &toml::Value) -> Result<PathBuf, String> {
    let path = value.as_str().map(PathBuf::from);
    path.filter(|path| path.has_root()).ok_or_else(|| {
        "sync: signing_key must be the absolute path of an SSH key, for example \"/home/me/.ssh/id_ed25519\", or of its \
         .pub if ssh-agent has the key"
            .to_owned()
    })
}

fn signature_rule(value: &toml::Value) -> Result<SignatureRule, String> {
    match value.as_bool() {
        Some(true) => Ok(SignatureRule::Required),
        Some(false) => Ok(SignatureRule::Optional),
        None => Err("sync: require_signatures must be true or false, for example true".to_owned()),
    }
}

/// Reads whole origins. What is shown of one could be the beginning of several.
fn origins(texts: &[String]) -> Result<Vec<StoreOrigin>, String> {
    let read = texts.iter().map(|text| {
        StoreOrigin::parse(text.trim()).ok_or_else(|| {
            format!(
                "sync: trust takes \"full\" or whole origins, as show --json prints them, for example \
                 \"laptop-3fa9c1d2e5b60718\"; got {text:?}"
            )
        })
    });
    read.collect()
}

fn fields(texts: Vec<String>) -> Result<Vec<String>, String> {
    match texts.iter().find(|text| !STRIP.contains(&text.as_str())) {
        None => Ok(texts),
        Some(wrong) => Err(format!(
            "sync: strip takes names of fields, of {}; got {wrong:?}",
            STRIP.join(", ")
        )),
    }
}

fn texts(key: &str, value: toml::Value) -> Result<Vec<String>, String> {
    let texts: Result<Vec<String>, _> = value.try_into();
    texts.map_err(|_| {
        format!("sync: {key} must be a list of texts, for example [\"github.com/acme/*\"]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Result<SyncPolicy, String> {
        SyncPolicy::parse(text.parse().unwrap())
    }

    fn shares(pattern: &str, repo: &str) -> bool {
        let policy = policy(&format!("share = [{pattern:?}]")).unwrap();
        policy.shares(&RepoKey::parse(repo).unwrap())
    }

    // S-SYNC-1
    #[test]
    fn nothing_is_shared_unless_it_is_named() {
        let repo = RepoKey::parse("github.com/acme/api").unwrap();
        assert!(!SyncPolicy::default().shares(&repo));
        for (pattern, is_shared) in [
            ("github.com/acme/*", true),
            ("github.com/acme/api", true),
            ("*", true),
            ("*/api", true),
            ("github.com/*/api", true),
            ("github.com/acme/web", false),
            ("github.com/acme", false),
            ("github.com/acme/a", false),
            ("*/web", false),
            ("github.com/acme/api*x", false),
        ] {
            assert_eq!(shares(pattern, "github.com/acme/api"), is_shared, "{pattern}");
        }
    }

    // S-SYNC-1
    #[test]
    fn no_pattern_means_what_is_ones_own() {
        assert!(!shares("*", "global") && shares("global", "global"));
        assert!(!shares("*", "api~0123abcd") && shares("api~0123abcd", "api~0123abcd"));
        assert!(!shares("api*", "api~0123abcd"));
    }

    // S-SYNC-6
    #[test]
    fn what_is_shared_is_received() {
        let receives =
            |text: &str, repo: &str| policy(text).unwrap().receives(&RepoKey::parse(repo).unwrap());
        assert!(receives("", "github.com/acme/api") && !receives("", "global"));
        assert!(!receives("", "api~0123abcd"));
        let some = "share = [\"github.com/acme/*\"]";
        assert!(receives(some, "github.com/acme/api") && !receives(some, "github.com/me/api"));
        assert!(!receives(some, "global") && receives("share = [\"global\"]", "global"));
    }

    // S-SYNC-1
    #[test]
    fn a_wrong_setting_is_refused_with_what_is_allowed() {
        for (text, hint) in [
            ("shares = []", "allowed are remote"),
            ("share = \"x\"", "list of texts"),
            ("share = [\"GitHub.com/x\"]", "lower case"),
            ("strip = [\"lesson\"]", "branch, commit"),
            ("trust = \"some\"", "trust = \"full\""),
            ("every_seconds = 100000", "up to 86400"),
            ("remote = \"\"", "allowed are remote"),
            ("credentials = \"\"", "credentials = \"/home"),
            ("signing_key = \"\"", "signing_key must be the absolute path"),
            ("signing_key = \"ssh-ed25519 AAAA\"", "for example \"/home/me/.ssh/id_ed25519\""),
            ("signing_key = true", "or of its .pub"),
            ("require_signatures = \"yes\"", "true or false, for example true"),
        ] {
            let why = policy(text).unwrap_err();
            assert!(why.starts_with("sync: ") && why.contains(hint), "{text}: {why}");
            assert!(!why.contains("AAAA"), "a key is quoted: {why}");
        }
    }

    // S-SYNC-12
    #[test]
    fn a_key_signs_and_signatures_may_be_required() {
        let text = "signing_key = \"/home/me/.ssh/id.pub\"\nrequire_signatures = true";
        let read = policy(text).unwrap();
        assert_eq!(read.signing_key, Some(PathBuf::from("/home/me/.ssh/id.pub")));
        assert_eq!(read.signatures, SignatureRule::Required);
        let unset = (SyncPolicy::default().signing_key, SyncPolicy::default().signatures);
        assert_eq!(unset, (None, SignatureRule::Optional));
        assert_eq!(policy("require_signatures = false").unwrap().signatures, unset.1);
    }

    // S-ORIGIN-4
    #[test]
    fn trust_names_origins_or_all() {
        let origin = StoreOrigin::mint("laptop", 0x3fa9_c1d2_0000_0001);
        assert!(!SyncPolicy::default().trusts(&origin));
        assert!(policy("trust = \"full\"").unwrap().trusts(&origin));
        assert!(policy("trust = [\"laptop-3fa9c1d200000001\"]").unwrap().trusts(&origin));
        assert!(!policy("trust = [\"laptop-3fa9c1d200000002\"]").unwrap().trusts(&origin));
        let short = policy("trust = [\"laptop-3fa9c1d2\"]").unwrap_err();
        assert!(short.contains("whole origins"), "{short}");
    }
}
