//! Tells listeners which memories a work tree contradicts, as lines of the journal: each once as `stale`, again where the
//! reasons change, and as `fresh` once nothing contradicts it any more. What was told stands in the journal, so another
//! process goes on from there. Not here: the looks (`known_tree`), how listeners get the lines.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use event::{RepoKey, Timestamp, is_code};
use search::staleness::{Stale, Symbols};

use super::known_tree::{KnownTree, TreeLook};
use crate::journal::told::stamp;
use crate::journal::{Journal, kind};

/// Most memories of one work tree that are told as stale, the surest: more would drive all else out of the journal.
const TOLD_MAX: usize = 200;

/// Most files and names in one line.
const LISTED_MAX: usize = 8;

/// What differs from one telling of a memory to the next and is no news.
const NO_NEWS: [&str; 3] = ["event", "at", "first"];

/// What listeners were told of one work tree.
#[derive(Debug)]
pub struct ToldOfTree {
    /// The name of the work tree, for people.
    name: String,
    /// The place of the work tree as a number: two may have one name.
    tree: String,
    repo: RepoKey,
    /// The lines of the memories that were told as stale.
    stale: BTreeMap<String, Value>,
    /// Whether nothing was ever told.
    is_first: bool,
}

impl ToldOfTree {
    /// Reads from the journal what was told before, by this process or another one.
    #[must_use]
    pub fn read(journal: &Journal, of: &KnownTree) -> Self {
        let tree = number(of);
        let (mut stale, mut seen) = (BTreeMap::new(), BTreeSet::new());
        let lines = journal.back_from(None, &[kind::STALE, kind::FRESH, kind::TREE]);
        let of_tree = lines
            .into_iter()
            .map(|(_, line)| line)
            .filter(|line| line.get("tree").and_then(Value::as_str) == Some(&tree));
        let mut is_first = true;
        // The newest line of a memory counts.
        for line in of_tree {
            is_first = false;
            let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
            let Some(id) = text("id") else { continue };
            if seen.insert(id.clone()) && text("event").as_deref() == Some(kind::STALE) {
                stale.insert(id, news(line));
            }
        }
        Self { name: of.name(), tree, repo: of.repo().clone(), stale, is_first }
    }

    /// Tells what a look found and was not told before. Returns false if the journal could not be written.
    pub fn tell(&mut self, look: &TreeLook, journal: &Journal, now: Timestamp) -> bool {
        if !look.is_sure() {
            return true;
        }
        let found: BTreeMap<&str, &Stale> = look
            .report
            .stale
            .iter()
            .filter(|stale| !is_code(&stale.memory.id))
            .map(|stale| (stale.memory.id.as_str(), stale))
            .collect();
        let fresh: Vec<String> =
            self.stale.keys().filter(|id| !found.contains_key(id.as_str())).cloned().collect();
        for id in fresh {
            if journal.add(&self.line(kind::FRESH, &id, now), now).is_none() {
                return false;
            }
            self.stale.remove(&id);
        }
        self.tell_stale(look, journal, now) && self.note_first(journal, now)
    }

    fn tell_stale(&mut self, look: &TreeLook, journal: &Journal, now: Timestamp) -> bool {
        for stale in &look.report.stale {
            let id = stale.memory.id.as_str();
            let told = self.stale.get(id);
            if is_code(&stale.memory.id) || (told.is_none() && self.stale.len() >= TOLD_MAX) {
                continue;
            }
            let line = self.with_reasons(self.line(kind::STALE, id, now), stale);
            if told == Some(&news(line.clone())) {
                continue;
            }
            if journal.add(&line, now).is_none() {
                return false;
            }
            self.stale.insert(id.to_owned(), news(line));
        }
        true
    }

    /// Notes that a work tree was looked at, where that told nothing: what the next look finds is news.
    fn note_first(&mut self, journal: &Journal, now: Timestamp) -> bool {
        if !std::mem::replace(&mut self.is_first, false) || !self.stale.is_empty() {
            return true;
        }
        let line = json!({ "event": kind::TREE, "at": format!("{now:.0}"), "tree": self.tree });
        journal.add(&line, now).is_some()
    }

    fn line(&self, kind: &str, id: &str, now: Timestamp) -> Value {
        json!({
            "event": kind,
            "at": format!("{now:.0}"),
            "id": stamp(id),
            "repo": self.repo.as_str(),
            "agent": null,
            "session": null,
            "event_type": null,
            "work_tree": stamp(&self.name),
            "tree": self.tree,
        })
    }

    fn with_reasons(&self, mut line: Value, stale: &Stale) -> Value {
        let missing = match &stale.symbols {
            Symbols::Found { missing, .. } => missing.as_slice(),
            Symbols::NotApplicable => &[],
        };
        let listed = |all: &[String]| {
            let shown = all.iter().take(LISTED_MAX).map(|one| stamp(one));
            Value::Array(shown.collect())
        };
        let confidence = (f64::from(stale.confidence) * 100.0).round() / 100.0;
        let reasons = json!({ "confidence": confidence, "gone": listed(&stale.gone), "changed": listed(&stale.changed),
            "missing": listed(missing), "commit_gone": stale.is_commit_gone });
        if let (Some(fields), Value::Object(reasons)) = (line.as_object_mut(), reasons) {
            fields.extend(reasons);
            if self.is_first {
                fields.insert("first".to_owned(), true.into());
            }
        }
        line
    }
}

/// Returns the part of a line that differs if there is something new to tell.
fn news(line: Value) -> Value {
    let Value::Object(fields) = line else { return Value::Null };
    let kept = fields.into_iter().filter(|(name, _)| !NO_NEWS.contains(&name.as_str()));
    Value::Object(Map::from_iter(kept))
}

/// A number for a work tree, which does not tell its path.
fn number(tree: &KnownTree) -> String {
    let sum = Sha256::digest(tree.top().as_os_str().as_encoded_bytes());
    sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use event::{Decoded, codec};
    use memory::{Fold, LinePlace, Memory};
    use place::{Machine, place_by_files};
    use search::staleness::{GitError, StalenessReport};

    struct World {
        folder: tempfile::TempDir,
        journal: Journal,
        tree: KnownTree,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let journal = Journal::of(folder.path(), folder.path());
            let place = folder.path().join("secret-customer/api");
            let tree = KnownTree::new(place, RepoKey::parse("acme/api").unwrap());
            Self { folder, journal, tree }
        }

        fn told(&self) -> ToldOfTree {
            ToldOfTree::read(&self.journal, &self.tree)
        }

        /// Tells what a look found, and returns the new lines.
        fn tell(&self, told: &mut ToldOfTree, stale: Vec<Stale>) -> Vec<Value> {
            self.tell_report(told, StalenessReport { stale, ..<_>::default() })
        }

        fn tell_report(&self, told: &mut ToldOfTree, report: StalenessReport) -> Vec<Value> {
            let before = self.journal.now_at().or(self.journal.beginning());
            let place = place_by_files(self.folder.path(), &Machine::default());
            let look = TreeLook::found(place, now(), report);
            assert!(told.tell(&look, &self.journal, now()));
            let Some(from) = before.or(self.journal.beginning()) else { return Vec::new() };
            let lines = self.journal.read_on(from, 999_999).unwrap().lines;
            lines.into_iter().map(|(_, line)| line).collect()
        }
    }

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn memories(count: usize) -> Vec<Arc<Memory>> {
        let mut fold = Fold::default();
        for offset in 0..count {
            let line = json!({ "id": format!("m{offset:04}"), "lesson": "x", "repo": "acme/api" });
            let Decoded::Event(event) = codec::decode(line.to_string().as_bytes(), "api") else {
                panic!("{line}")
            };
            let (repo, offset) = (event.repo_key(), u64::try_from(offset).unwrap());
            fold.apply(*event, repo, LinePlace::own("a", offset));
        }
        fold.memories().iter().cloned().collect()
    }

    fn stale(count: usize) -> Vec<Stale> {
        let gone = vec!["src/a.rs".to_owned()];
        let of = |memory| Stale {
            memory,
            confidence: 1.0,
            gone: gone.clone(),
            changed: Vec::new(),
            symbols: Symbols::NotApplicable,
            is_commit_gone: false,
        };
        memories(count).into_iter().map(of).collect()
    }

    fn kinds(lines: &[Value]) -> Vec<String> {
        let kind = |line: &Value| {
            let text = |name: &str| line[name].as_str().unwrap_or("-").to_owned();
            format!("{} {}", text("event"), text("id"))
        };
        lines.iter().map(kind).collect()
    }

    // S-STALE-9
    #[test]
    fn each_change_is_told_once() {
        let world = World::new();
        let mut told = world.told();
        let lines = world.tell(&mut told, stale(2));
        assert_eq!(kinds(&lines), ["stale m0000", "stale m0001"]);
        assert!(lines.iter().all(|line| line["first"] == true), "{lines:?}");
        assert!(!format!("{lines:?}").contains("customer"), "no path: {lines:?}");
        assert!(world.tell(&mut told, stale(2)).is_empty());
        let mut changed = stale(2);
        changed[0].changed = vec!["src/b.rs".to_owned()];
        let lines = world.tell(&mut told, changed);
        assert_eq!(kinds(&lines), ["stale m0000"]);
        assert_eq!((&lines[0]["changed"], lines[0].get("first")), (&json!(["src/b.rs"]), None));
        let lines = world.tell(&mut told, stale(2).split_off(1));
        assert_eq!(kinds(&lines), ["fresh m0000"]);
    }

    // S-STALE-9
    #[test]
    fn another_process_goes_on_from_the_journal() {
        let world = World::new();
        let lines = world.tell(&mut world.told(), Vec::new());
        assert_eq!(kinds(&lines), ["tree -"]);
        let mut told = world.told();
        assert!(world.tell(&mut told, Vec::new()).is_empty(), "it was seen before");
        let lines = world.tell(&mut told, stale(2));
        assert!(lines.len() == 2 && lines[0].get("first").is_none(), "{lines:?}");
        let mut told = world.told();
        assert!(world.tell(&mut told, stale(2)).is_empty());
        assert_eq!(kinds(&world.tell(&mut told, stale(1))), ["fresh m0001"]);
        assert!(world.tell(&mut world.told(), stale(1)).is_empty());
        // A work tree of another place has the same name.
        let (folder, repo) = (world.folder.path().join("api"), world.tree.repo().clone());
        let other = World { tree: KnownTree::new(folder, repo), ..world };
        assert_eq!(other.tell(&mut other.told(), stale(1)).len(), 1);
    }

    // S-STALE-9
    #[test]
    fn without_an_answer_of_git_nothing_is_told() {
        let world = World::new();
        let mut told = world.told();
        world.tell(&mut told, stale(1));
        for silence in [GitError::TooLong, GitError::Failed, GitError::NoProgram] {
            let report = StalenessReport { silence: Some(silence), ..<_>::default() };
            assert!(world.tell_report(&mut told, report).is_empty(), "{silence}");
        }
        let silence = Some(GitError::NoRepository);
        let lines = world.tell_report(&mut told, StalenessReport { silence, ..<_>::default() });
        assert_eq!(kinds(&lines), ["fresh m0000"], "a folder without git is sure");
    }

    // S-STALE-9
    #[test]
    fn a_flood_of_stale_memories_is_bounded() {
        let world = World::new();
        let mut told = world.told();
        assert_eq!(world.tell(&mut told, stale(TOLD_MAX + 50)).len(), TOLD_MAX);
        assert!(world.tell(&mut told, stale(TOLD_MAX + 50)).is_empty());
        let rest = stale(TOLD_MAX + 50).split_off(1);
        let lines = world.tell(&mut told, rest);
        let expected = ["fresh m0000".to_owned(), format!("stale m{TOLD_MAX:04}")];
        assert_eq!(kinds(&lines), expected);
        let mut long = stale(1);
        long[0].gone = vec!["x".repeat(9_999); 99];
        let lines = world.tell(&mut world.told(), long);
        assert!(lines.iter().all(|line| line.to_string().len() < 4_000));
    }
}
