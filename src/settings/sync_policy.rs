//! What the table `[sync]` means: which repositories are shared, what is taken from others, and whose actions count. Not here: its
//! keys (`table`), sharing (crate `sync`).

use event::{RepoKey, StoreOrigin};

use super::repo_pattern::is_match;
use super::table::SyncPolicy;
use super::team_trust::TeamTrust;

impl SyncPolicy {
    /// Takes back what allows an exchange. Whose actions count, and which signatures are needed, stays as it was read.
    pub(crate) fn hold_back(&mut self) {
        (self.is_held, self.remote) = (true, None);
        self.share.clear();
    }

    /// Tells whether lines of a repository are shared. `global` must be named as it is, and a repository without a remote
    /// (its key has a `~`) by its whole key: no pattern means them.
    #[must_use]
    pub fn shares(&self, repo: &RepoKey) -> bool {
        let key = repo.as_str();
        self.share.iter().any(|pattern| match is_own_business(repo) {
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
            true => !is_own_business(repo),
            false => self.shares(repo),
        }
    }

    /// Tells whether the actions of an origin count like our own.
    #[must_use]
    pub fn trusts(&self, origin: &StoreOrigin) -> bool {
        match &self.trust {
            TeamTrust::Full => true,
            TeamTrust::Origins(trusted) => trusted.contains(origin),
        }
    }
}

/// Tells whether a key is that of memories for all repositories, or of a repository without a remote.
fn is_own_business(repo: &RepoKey) -> bool {
    repo.as_str() == event::GLOBAL_REPO || repo.is_of_one_machine()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::Config;
    use crate::team_trust::SignatureRule;

    fn policy(text: &str) -> Result<SyncPolicy, String> {
        Config::parse_strict(&format!("[sync]\n{text}")).map(|config| config.sync)
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
            ("share = [\"GitHub.com/x\"]", "lower case"),
            ("strip = [\"lesson\"]", "branch, commit"),
            ("trust = \"some\"", "trust takes \"full\""),
            ("every_seconds = 100000", "up to 86400"),
            ("remote = \"\"", "for example git@example.com"),
            ("credentials = \"\"", "for example /home"),
            ("signing_key = \"\"", "signing_key must be the absolute path"),
            ("signing_key = \"ssh-ed25519 AAAA\"", "for example \"/home/me/.ssh/id_ed25519\""),
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
        assert_eq!(read.require_signatures, SignatureRule::Required);
        let unset = (SyncPolicy::default().signing_key, SyncPolicy::default().require_signatures);
        assert_eq!(unset, (None, SignatureRule::Optional));
        assert_eq!(policy("require_signatures = false").unwrap().require_signatures, unset.1);
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
