//! A file that is followed: which lines of it count, and of which origin they are (SPEC S-ORIGIN-2, S-ORIGIN-5). Not
//! here: reading it (`follow`).

use std::path::Path;
use std::sync::Arc;

use event::{Event, GLOBAL_REPO, MemoryScope, RepoKey};
use memory::{LineOrigin, LogFile};
use settings::Config;
use store::{Store, Tail, origin_of};

use super::log_kind::LogKind;

/// A file that is followed.
pub(super) struct FollowedFile {
    pub(super) tail: Tail,
    /// What its memories share.
    pub(super) file: Arc<LogFile>,
    pub(super) kind: LogKind,
}

impl FollowedFile {
    pub(super) fn from_tail(tail: Tail, config: &Config) -> Self {
        let (file, kind) = (log_file(tail.log(), config), LogKind::from_path(tail.log()));
        Self { tail, file, kind }
    }
}

/// Returns what the memories of a file share.
pub(super) fn log_file(path: &Path, config: &Config) -> Arc<LogFile> {
    let origin = match origin_of(path).or_else(|| config.member.clone()) {
        None => LineOrigin::Own,
        Some(origin) if config.sync.trusts(&origin) => LineOrigin::Trusted(origin),
        Some(origin) => LineOrigin::Voice(origin),
    };
    Arc::new(LogFile { path: path.to_owned(), origin })
}

/// Returns the repository that the lines of a file must be of: the name of a mirror binds them, so that somebody who may write
/// to one repository of the team cannot plant lines in another, or in all. `None` for a file of the own store.
pub(super) fn bound_to(file: &LogFile) -> Option<RepoKey> {
    file.origin.other().map(|_| Store::repo_of(file.path()))
}

/// Tells whether a line may stand in a file whose lines are bound to a repository.
pub(super) fn may_stand(event: &Event, bound_to: Option<&RepoKey>) -> bool {
    bound_to.is_none_or(|repo| {
        let is_global = repo.as_str() == GLOBAL_REPO;
        event.repo_key() == *repo && (is_global || event.applies() == MemoryScope::Repo)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use event::StoreOrigin;
    use memory::MemoryBound;
    use settings::{SyncPolicy, TeamTrust};

    use super::super::Follower;
    use super::*;

    struct World {
        folder: tempfile::TempDir,
        store: Store,
        other: StoreOrigin,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path().join("logs"));
            store.ensure().unwrap();
            Self { folder, store, other: StoreOrigin::mint("other", 7) }
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.store.mirror_of(&self.other, name);
            store::make_private_dir(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        }

        fn follower(&self, trust: TeamTrust) -> Follower {
            let sync = SyncPolicy { trust, ..SyncPolicy::default() };
            let config = Config { sync, ..Config::default() };
            Follower::new(self.store.clone(), config, MemoryBound::NONE, None).with_change_queue()
        }
    }

    fn line(id: &str, repo: &str, more: &str) -> String {
        format!("{{\"id\":\"{id}\",\"lesson\":\"about {id}\",\"repo\":\"{repo}\"{more}}}\n")
    }

    fn known(follower: &mut Follower) -> BTreeSet<String> {
        follower.catch_up();
        follower.snapshot().memories().iter().map(|memory| memory.id.to_string()).collect()
    }

    // S-ORIGIN-2
    #[test]
    fn a_mirror_is_read_grows_and_goes() {
        let world = World::new();
        std::fs::write(world.store.root().join("api.jsonl"), line("own", "api", "")).unwrap();
        let mut follower = world.follower(TeamTrust::default());
        assert_eq!(known(&mut follower), BTreeSet::from(["own".to_owned()]));
        let mirror = world.write("api.jsonl", &line("a", "api", ""));
        assert_eq!(known(&mut follower).len(), 2);
        world.write("api.jsonl", &format!("{}{}", line("a", "api", ""), line("b", "api", "")));
        assert_eq!(known(&mut follower).len(), 3);
        let event = follower.snapshot().find_cited("a");
        let search::snapshot::CitedMemory::One(memory) = event else { panic!() };
        assert!(memory.is_foreign() && memory.event().source.as_deref() == Some("team"));
        std::fs::remove_file(mirror).unwrap();
        assert_eq!(known(&mut follower), BTreeSet::from(["own".to_owned()]));
        assert!(world.folder.path().exists());
    }

    // S-ORIGIN-2
    #[test]
    fn the_own_mirror_is_not_read() {
        let world = World::new();
        std::fs::write(world.store.root().join(".origin"), world.other.as_str()).unwrap();
        world.write("api.jsonl", &line("a", "api", ""));
        assert!(known(&mut world.follower(TeamTrust::default())).is_empty());
    }

    // S-ORIGIN-5
    #[test]
    fn lines_of_other_repositories_are_skipped() {
        let world = World::new();
        let everywhere = ",\"scope\":\"global\"";
        let lines = [
            line("a", "api", ""),
            line("b", "web", ""),
            line("c", "global", everywhere),
            line("d", "api", everywhere),
        ];
        world.write("api.jsonl", &lines.concat());
        world.write("global.jsonl", &line("e", "global", everywhere));
        let mut follower = world.follower(TeamTrust::Full);
        assert_eq!(known(&mut follower), BTreeSet::from(["a", "e"].map(str::to_owned)));
        let health = follower.snapshot().health().clone();
        assert_eq!(health.skipped, 3);
        assert!(health.skips[0].reason.to_string().contains("another repository"));
    }

    // S-ORIGIN-4
    #[test]
    fn trust_of_the_settings_decides_over_deeds() {
        let world = World::new();
        std::fs::write(world.store.root().join("api.jsonl"), line("own", "api", "")).unwrap();
        let deed = ",\"memory_id\":\"own\",\"event_type\":\"retract\"";
        world.write("api.jsonl", &line("deed", "api", deed));
        let is_out = |trust: TeamTrust| {
            let mut follower = world.follower(trust);
            follower.catch_up();
            let memory = follower.snapshot().memories().iter().next().unwrap().clone();
            memory.is_inactive(event::Timestamp::UNIX_EPOCH)
        };
        assert!(!is_out(TeamTrust::default()));
        assert!(!is_out(TeamTrust::Origins(vec![StoreOrigin::mint("other", 8)])));
        assert!(is_out(TeamTrust::Origins(vec![world.other.clone()])));
        assert!(is_out(TeamTrust::Full));
    }
}
