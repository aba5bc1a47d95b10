//! Tells listeners which memories a work tree contradicts, as lines of the journal: each once as `stale`, again where the
//! reasons change, and as `fresh` once nothing contradicts it any more. What was reported stands in the journal, so another
//! process goes on from there. Not here: the looks (`known_tree`), how listeners get the lines.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use event::{RepoKey, Timestamp, is_code};
use search::staleness::{StaleMemory, Symbols};

use super::known_tree::{KnownTree, TreeLook};
use crate::journal::agent_delivery::short_stamp;
use crate::journal::{Journal, kind};

/// Most memories of one work tree that are reported as stale, the surest: more would drive all else out of the journal.
const REPORTED_MAX: usize = 200;

/// Most files and names in one line.
const LISTED_MAX: usize = 8;

/// A line of the journal about a memory and a work tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct TreeLine {
    event: String,
    at: String,
    /// The memory; empty in a line about the work tree alone.
    id: String,
    repo: String,
    agent: Option<String>,
    session: Option<String>,
    event_type: Option<String>,
    work_tree: String,
    tree: String,
    /// Why the work tree contradicts it.
    #[serde(flatten)]
    reasons: Option<StaleReasons>,
    /// Whether it was so when the work tree was first looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    first: bool,
}

/// Why a work tree contradicts a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StaleReasons {
    confidence: f64,
    gone: Vec<String>,
    changed: Vec<String>,
    missing: Vec<String>,
    commit_gone: bool,
}

impl TreeLine {
    /// Returns it without what differs from one telling of a memory to the next and is no news.
    fn news(self) -> Self {
        Self { event: String::new(), at: String::new(), first: false, ..self }
    }
}

impl StaleReasons {
    fn from_stale(stale: &StaleMemory) -> Self {
        let missing = match &stale.symbols {
            Symbols::Found { missing, .. } => missing.as_slice(),
            Symbols::NotApplicable => &[],
        };
        let listed =
            |all: &[String]| all.iter().take(LISTED_MAX).map(|one| short_stamp(one)).collect();
        Self {
            confidence: (f64::from(stale.confidence) * 100.0).round() / 100.0,
            gone: listed(&stale.gone),
            changed: listed(&stale.changed),
            missing: listed(missing),
            commit_gone: stale.is_commit_gone,
        }
    }
}

/// What was reported of one work tree.
#[derive(Debug)]
pub struct ReportedTree {
    /// The name of the work tree, for people.
    name: String,
    /// The place of the work tree as a number: two may have one name.
    tree: String,
    repo: RepoKey,
    /// The lines of the memories that were reported as stale.
    stale: BTreeMap<String, TreeLine>,
    /// Whether nothing was ever reported.
    is_first: bool,
}

impl ReportedTree {
    /// Reads from the journal what was reported before, by this process or another one.
    #[must_use]
    pub fn read(journal: &Journal, of: &KnownTree) -> Self {
        let tree = number(of);
        let (mut stale, mut seen) = (BTreeMap::new(), BTreeSet::new());
        let lines = journal.read_back(None, &[kind::STALE, kind::FRESH, kind::TREE]);
        let of_tree = lines
            .into_iter()
            .filter_map(|(_, line)| TreeLine::deserialize(line).ok())
            .filter(|line| line.tree == tree);
        let mut is_first = true;
        // The newest line of a memory counts.
        for line in of_tree {
            is_first = false;
            let is_newest = !line.id.is_empty() && seen.insert(line.id.clone());
            if is_newest && line.event == kind::STALE {
                stale.insert(line.id.clone(), line.news());
            }
        }
        Self { name: of.name(), tree, repo: of.repo().clone(), stale, is_first }
    }

    /// Reports what a look found and was not reported before. Returns false if the journal could not be written.
    pub fn report(&mut self, look: &TreeLook, journal: &Journal, now: Timestamp) -> bool {
        if !look.is_sure() {
            return true;
        }
        let found: BTreeMap<&str, &StaleMemory> = look
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
        self.report_stale_memories(look, journal, now) && self.record_first_look(journal, now)
    }

    fn report_stale_memories(
        &mut self,
        look: &TreeLook,
        journal: &Journal,
        now: Timestamp,
    ) -> bool {
        for stale in &look.report.stale {
            let id = stale.memory.id.as_str();
            let reported = self.stale.get(id);
            if is_code(&stale.memory.id) || (reported.is_none() && self.stale.len() >= REPORTED_MAX)
            {
                continue;
            }
            let (reasons, first) = (Some(StaleReasons::from_stale(stale)), self.is_first);
            let line = TreeLine { reasons, first, ..self.line(kind::STALE, id, now) };
            if reported == Some(&line.clone().news()) {
                continue;
            }
            if journal.add(&line, now).is_none() {
                return false;
            }
            self.stale.insert(id.to_owned(), line.news());
        }
        true
    }

    /// Notes that a work tree was looked at, where that reported nothing: what the next look finds is news.
    fn record_first_look(&mut self, journal: &Journal, now: Timestamp) -> bool {
        if !std::mem::replace(&mut self.is_first, false) || !self.stale.is_empty() {
            return true;
        }
        let line = json!({ "event": kind::TREE, "at": format!("{now:.0}"), "tree": self.tree });
        journal.add(&line, now).is_some()
    }

    fn line(&self, kind: &str, id: &str, now: Timestamp) -> TreeLine {
        TreeLine {
            event: kind.to_owned(),
            at: format!("{now:.0}"),
            id: short_stamp(id),
            repo: self.repo.to_string(),
            work_tree: short_stamp(&self.name),
            tree: self.tree.clone(),
            ..TreeLine::default()
        }
    }
}

/// A number for a work tree, which does not tell its path.
fn number(tree: &KnownTree) -> String {
    let sum = Sha256::digest(tree.top().as_os_str().as_encoded_bytes());
    sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;

    use super::*;
    use event::{DecodedLine, codec};
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
            let journal = Journal::for_store(folder.path(), folder.path());
            let place = folder.path().join("secret-customer/api");
            let tree = KnownTree::new(place, RepoKey::parse("acme/api").unwrap());
            Self { folder, journal, tree }
        }

        fn reported_tree(&self) -> ReportedTree {
            ReportedTree::read(&self.journal, &self.tree)
        }

        /// Tells what a look found, and returns the new lines.
        fn report_stale(&self, reported: &mut ReportedTree, stale: Vec<StaleMemory>) -> Vec<Value> {
            self.report_look(reported, StalenessReport { stale, ..<_>::default() })
        }

        fn report_look(&self, reported: &mut ReportedTree, report: StalenessReport) -> Vec<Value> {
            let before = self.journal.end_sequence().or(self.journal.start_sequence());
            let place = place_by_files(self.folder.path(), &Machine::default());
            let look = TreeLook::for_tests(place, now(), report);
            assert!(reported.report(&look, &self.journal, now()));
            let Some(from) = before.or(self.journal.start_sequence()) else { return Vec::new() };
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
            let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "api")
            else {
                panic!("{line}")
            };
            let (repo, offset) = (event.repo_key(), u64::try_from(offset).unwrap());
            fold.apply(*event, repo, LinePlace::own("a", offset));
        }
        fold.memories().iter().cloned().collect()
    }

    fn stale(count: usize) -> Vec<StaleMemory> {
        let gone = vec!["src/a.rs".to_owned()];
        let of = |memory| StaleMemory {
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
        let mut reported = world.reported_tree();
        let lines = world.report_stale(&mut reported, stale(2));
        assert_eq!(kinds(&lines), ["stale m0000", "stale m0001"]);
        assert!(lines.iter().all(|line| line["first"] == true), "{lines:?}");
        assert!(!format!("{lines:?}").contains("customer"), "no path: {lines:?}");
        assert!(world.report_stale(&mut reported, stale(2)).is_empty());
        let mut changed = stale(2);
        changed[0].changed = vec!["src/b.rs".to_owned()];
        let lines = world.report_stale(&mut reported, changed);
        assert_eq!(kinds(&lines), ["stale m0000"]);
        assert_eq!((&lines[0]["changed"], lines[0].get("first")), (&json!(["src/b.rs"]), None));
        let lines = world.report_stale(&mut reported, stale(2).split_off(1));
        assert_eq!(kinds(&lines), ["fresh m0000"]);
    }

    // S-STALE-9
    #[test]
    fn another_process_goes_on_from_the_journal() {
        let world = World::new();
        let lines = world.report_stale(&mut world.reported_tree(), Vec::new());
        assert_eq!(kinds(&lines), ["tree -"]);
        let mut reported = world.reported_tree();
        assert!(world.report_stale(&mut reported, Vec::new()).is_empty(), "it was seen before");
        let lines = world.report_stale(&mut reported, stale(2));
        assert!(lines.len() == 2 && lines[0].get("first").is_none(), "{lines:?}");
        let mut reported = world.reported_tree();
        assert!(world.report_stale(&mut reported, stale(2)).is_empty());
        assert_eq!(kinds(&world.report_stale(&mut reported, stale(1))), ["fresh m0001"]);
        assert!(world.report_stale(&mut world.reported_tree(), stale(1)).is_empty());
        // A work tree of another place has the same name.
        let (folder, repo) = (world.folder.path().join("api"), world.tree.repo().clone());
        let other = World { tree: KnownTree::new(folder, repo), ..world };
        assert_eq!(other.report_stale(&mut other.reported_tree(), stale(1)).len(), 1);
    }

    // S-STALE-9
    #[test]
    fn without_an_answer_of_git_nothing_is_told() {
        let world = World::new();
        let mut reported = world.reported_tree();
        world.report_stale(&mut reported, stale(1));
        for silence in [GitError::TooLong, GitError::Failed, GitError::NoProgram] {
            let report = StalenessReport { git_error: Some(silence), ..<_>::default() };
            assert!(world.report_look(&mut reported, report).is_empty(), "{silence}");
        }
        let silence = Some(GitError::NoRepository);
        let lines = world
            .report_look(&mut reported, StalenessReport { git_error: silence, ..<_>::default() });
        assert_eq!(kinds(&lines), ["fresh m0000"], "a folder without git is sure");
    }

    // S-STALE-9
    #[test]
    fn a_flood_of_stale_memories_is_bounded() {
        let world = World::new();
        let mut reported = world.reported_tree();
        assert_eq!(world.report_stale(&mut reported, stale(REPORTED_MAX + 50)).len(), REPORTED_MAX);
        assert!(world.report_stale(&mut reported, stale(REPORTED_MAX + 50)).is_empty());
        let rest = stale(REPORTED_MAX + 50).split_off(1);
        let lines = world.report_stale(&mut reported, rest);
        let expected = ["fresh m0000".to_owned(), format!("stale m{REPORTED_MAX:04}")];
        assert_eq!(kinds(&lines), expected);
        let mut long = stale(1);
        long[0].gone = vec!["x".repeat(9_999); 99];
        let lines = world.report_stale(&mut world.reported_tree(), long);
        assert!(lines.iter().all(|line| line.to_string().len() < 4_000));
    }
}
