//! The digest of a state: one hash that is equal for equal memories and lexical indexes. It depends
//! on the set of lines only, not on the order of reading, on repetition, on files or on restarts.
//! Not here: vectors, whose last bits depend on the processor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use event::{Event, EventId, RepoKey, StoreOrigin, clean, codec};
use index::lexical::DocId;
use memory::{LineOrigin, Memory, Version};
use search::snapshot::Snapshot;

/// The digest of a state, and some counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDigest {
    sha256: [u8; 32],
    /// The number of memories.
    pub memories: usize,
    /// The number of events about unknown memories.
    pub orphans: usize,
    /// The number of memories in the lexical index.
    pub documents: usize,
    /// The number of their terms, with repeats.
    pub terms: u64,
}

impl StateDigest {
    /// Computes the digest; `own` is the origin of the own store, if it has one. It takes time in proportion to all
    /// memories.
    #[must_use]
    pub fn compute(snapshot: &Snapshot, own: Option<&StoreOrigin>) -> Self {
        let index = snapshot.lexical();
        let fingerprints = index.fingerprints();
        let mut memories: Vec<(DocId, &Arc<Memory>)> =
            (0..).map(DocId).zip(snapshot.memories().iter()).collect();
        memories.sort_unstable_by_key(|(_, memory)| &memory.id);
        let (documents, terms) = (index.len(), index.terms_len());
        let mut sum = DigestHasher::default();
        sum.number(memories.len());
        for same_id in memories.chunk_by(|(_, one), (_, other)| one.id == other.id) {
            let mut sums: Vec<[u8; 32]> = same_id
                .iter()
                .map(|(doc, memory)| DigestHasher::of_memory(memory, fingerprints.get(doc)))
                .collect();
            if same_id.len() > 1 {
                let origins = same_id.iter().map(|(_, memory)| origins_of(memory, own));
                let named = sums
                    .iter()
                    .zip(origins)
                    .map(|(sum, names)| DigestHasher::of_names(sum, &names));
                sums = named.collect();
            }
            sums.sort_unstable();
            sums.iter().for_each(|one| sum.0.update(one));
        }
        let orphans: BTreeMap<&EventId, &[Arc<Version>]> = snapshot.early().collect();
        sum.number(orphans.len());
        for (about, versions) in orphans {
            sum.text(about.as_str());
            sum.versions(versions);
        }
        sum.number(documents);
        sum.text(&terms.to_string());
        let (memories, orphans) = (memories.len(), snapshot.health().early);
        Self { sha256: sum.0.finalize().into(), memories, orphans, documents, terms }
    }
}

impl fmt::Display for StateDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("sha256:")?;
        self.sha256.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The hash so far. Each text is preceded by its length, so that no text can pass for two.
#[derive(Default)]
struct DigestHasher(Sha256);

impl DigestHasher {
    fn number(&mut self, number: usize) {
        self.0.update(u64::try_from(number).unwrap_or(u64::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text);
    }

    fn event(&mut self, event: &Event, repo: &RepoKey) {
        self.text(codec::encode(&clean::clean(event.clone())).as_str());
        self.text(repo.as_str());
    }

    /// Adds versions, each content once, whichever origins have it.
    fn versions(&mut self, versions: &[Arc<Version>]) {
        let mut known = BTreeSet::new();
        let mut once: Vec<&Arc<Version>> = versions.iter().collect();
        once.retain(|version| known.insert((&version.event.id, version.content_digest())));
        self.number(once.len());
        for version in once {
            self.event(&version.event, &version.repo);
        }
    }

    /// The sum of one memory. Of several origins the content counts that the earliest wrote, since each of them shows its
    /// own; what is indexed of it then depends on that too, and does not count.
    fn of_memory(memory: &Memory, indexed: Option<&[u8; 32]>) -> [u8; 32] {
        let mut sum = Self::default();
        let mut indexed = indexed;
        match memory.earliest_version() {
            Some(version) => {
                sum.event(&version.event, &version.repo);
                indexed = None;
            }
            None => sum.event(&memory.line_event(), &memory.repo),
        }
        sum.versions(memory.about());
        sum.versions(memory.conflicts());
        sum.0.update(indexed.unwrap_or(&[0; 32]));
        sum.0.finalize().into()
    }

    /// The sum of a memory that is not the only one of its id: its origins tell it from the others.
    fn of_names(memory: &[u8; 32], names: &BTreeSet<&str>) -> [u8; 32] {
        let mut sum = Self::default();
        sum.0.update(memory);
        sum.number(names.len());
        names.iter().for_each(|name| sum.text(name));
        sum.0.finalize().into()
    }
}

/// Returns the origins of a memory by name.
fn origins_of<'a>(memory: &'a Memory, own: Option<&'a StoreOrigin>) -> BTreeSet<&'a str> {
    let name = |origin: &'a LineOrigin| origin.other().or(own).map_or("", StoreOrigin::as_str);
    memory.origins().map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::follow::Follower;
    use super::*;
    use memory::MemoryBound;
    use settings::{Config, TeamTrust};
    use store::Store;

    fn follower(folder: &Path, bound: MemoryBound) -> Follower {
        Follower::new(Store::at(folder), Config::default(), bound, None)
    }

    fn digest_within(folder: &Path, bound: MemoryBound) -> String {
        let mut follower = follower(folder, bound);
        follower.catch_up();
        digest_and_left_out(&follower)
    }

    /// Returns the digest and the number of memories that were left out.
    fn digest_and_left_out(follower: &Follower) -> String {
        let snapshot = follower.snapshot();
        format!("{} {}", StateDigest::compute(&snapshot, None), snapshot.memory_usage().left_out)
    }

    /// Returns the digest of a store with these logs.
    fn digest_of_logs(logs: &[(&str, Vec<&str>)]) -> String {
        digest_of_logs_within(logs, MemoryBound::NONE)
    }

    fn digest_of_logs_within(logs: &[(&str, Vec<&str>)], bound: MemoryBound) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, lines) in logs {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        digest_within(folder.path(), bound)
    }

    /// No bound, or one that holds some of a few memories.
    fn bound() -> impl Strategy<Value = MemoryBound> {
        let bytes = prop::option::weighted(0.8, 1_000..16_000_u64);
        bytes.prop_map(|bytes| {
            bytes.map_or(MemoryBound::NONE, |bytes_max| MemoryBound { bytes_max, vector_bytes: 0 })
        })
    }

    /// Generates lines with few ids, contents, times and commits, so that they collide. Some have
    /// no id or time, some are about others.
    fn line() -> impl Strategy<Value = String> {
        let about = prop::option::weighted(0.3, 0..9_u8);
        (0..9_u8, 0..4_u8, about, 0..6_u8, 0..3_u8).prop_map(|(id, text, about, second, commit)| {
            let mut json = serde_json::json!({
                "lesson": format!("lesson {text} words{text}"), "repo": format!("repo{}", text % 2),
            });
            if second > 0 {
                json["timestamp"] = format!("2026-01-01T00:00:0{second}Z").into();
            }
            if id > 0 {
                json["id"] = format!("e{id}").into();
            }
            if let Some(about) = about {
                json["memory_id"] = format!("e{about}").into();
            }
            if commit > 0 {
                json["commit"] = format!("c{commit}").into();
            }
            json.to_string()
        })
    }

    fn shuffled<'a>(lines: &[&'a str], seed: u64) -> Vec<&'a str> {
        use std::hash::{Hash, Hasher};
        let mut lines: Vec<(usize, &str)> = lines.iter().copied().enumerate().collect();
        lines.sort_by_cached_key(|place| {
            let mut hasher = std::hash::DefaultHasher::new();
            (seed, place).hash(&mut hasher);
            hasher.finish()
        });
        lines.into_iter().map(|(_, line)| line).collect()
    }

    proptest! {
        // Each case writes files, and orders in which a bound matters are rare.
        #![proptest_config(ProptestConfig::with_cases(64))]

        // S-DIGEST-1, S-BOUND-2
        #[test]
        fn order_repetition_and_files_do_not_matter(
            lines in prop::collection::vec(line(), 0..24), seed in any::<u64>(), cut in 0..24_usize,
            bound in bound(),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let once = digest_of_logs_within(&[("a.jsonl", lines.clone())], bound);
            let thrice = shuffled(&[lines.clone(), lines.clone(), lines].concat(), seed);
            let (one, other) = thrice.split_at(cut.min(thrice.len()));
            let parted = [("z.jsonl", one.to_vec()), ("b.jsonl", other.to_vec())];
            let parted = digest_of_logs_within(&parted, bound);
            prop_assert_eq!(once, parted);
        }

        // S-DIGEST-1, S-BOUND-2
        #[test]
        fn an_index_grown_by_line_equals_a_cold_start(
            lines in prop::collection::vec(line(), 0..24), stops in any::<u32>(), bound in bound(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let log = folder.path().join("a.jsonl");
            let mut follower = follower(folder.path(), bound);
            let mut text = String::new();
            for (place, line) in lines.iter().enumerate() {
                text.push_str(line);
                text.push('\n');
                std::fs::write(&log, &text).unwrap();
                if stops >> (place % 32) & 1 == 1 {
                    follower.catch_up();
                }
            }
            follower.catch_up();
            prop_assert_eq!(digest_and_left_out(&follower), digest_within(folder.path(), bound));
        }

        // S-DIGEST-1
        #[test]
        fn a_new_line_changes_the_digest(lines in prop::collection::vec(line(), 0..12)) {
            let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let before = digest_of_logs(&[("a.jsonl", lines.clone())]);
            lines.push(r#"{"id":"new","lesson":"never written before"}"#);
            prop_assert_ne!(before, digest_of_logs(&[("a.jsonl", lines)]));
        }
    }

    /// The stores of a team: each has its own lines in its log, and those of the others in mirrors.
    fn digests_of_a_team(
        lines: &[(String, usize)],
        stores: usize,
        trust: &TeamTrust,
    ) -> Vec<String> {
        let origins: Vec<StoreOrigin> =
            (0..stores).map(|number| StoreOrigin::mint("host", number as u64)).collect();
        let text = |of: usize| -> String {
            let lines = lines.iter().filter(|(_, by)| *by == of);
            lines.map(|(line, _)| format!("{line}\n")).collect()
        };
        let digest = |here: usize| {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path());
            store.ensure().unwrap();
            std::fs::write(folder.path().join(".origin"), origins[here].as_str()).unwrap();
            for (number, origin) in origins.iter().enumerate() {
                let log = match number == here {
                    true => folder.path().join("r.jsonl"),
                    false => store.mirror_of(origin, "r.jsonl"),
                };
                store::make_private_dir(log.parent().unwrap()).unwrap();
                std::fs::write(&log, text(number)).unwrap();
            }
            let sync = settings::SyncPolicy { trust: trust.clone(), ..Default::default() };
            let config = Config { sync, ..Config::default() };
            let mut follower = Follower::new(store.clone(), config, MemoryBound::NONE, None);
            follower.catch_up();
            StateDigest::compute(&follower.snapshot(), store.origin().unwrap().as_ref()).to_string()
        };
        (0..stores).map(digest).collect()
    }

    /// Generates lines of one repository, with few ids and contents, by one of three stores.
    fn shared_line() -> impl Strategy<Value = (String, usize)> {
        let about = prop::option::weighted(0.3, 0..3_u8);
        (0..4_u8, 0..3_u8, about, 0..4_u8, 0..3_usize).prop_map(|(id, text, about, second, by)| {
            let mut json = serde_json::json!({"id": format!("m{id}"), "lesson": format!("lesson {text}"),
                "timestamp": format!("2026-01-01T00:00:0{second}Z"), "repo": "r", "source": "human",
                "session_id": format!("s{}", second % 2)});
            if let Some(about) = about {
                json["id"] = format!("e{id}").into();
                json["memory_id"] = format!("m{about}").into();
                json["event_type"] = "retract".into();
            }
            (json.to_string(), by)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        // S-DIGEST-1, S-ORIGIN-3
        #[test]
        fn all_stores_of_a_team_have_one_digest(
            lines in prop::collection::vec(shared_line(), 0..16), is_full in any::<bool>(),
        ) {
            let trust = if is_full { TeamTrust::Full } else { TeamTrust::default() };
            let digests = digests_of_a_team(&lines, 3, &trust);
            prop_assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
        }
    }

    // S-DIGEST-1, S-ORIGIN-3
    #[test]
    fn whose_content_it_is_changes_the_digest() {
        let line =
            |lesson: &str| format!("{{\"id\":\"m\",\"repo\":\"r\",\"lesson\":\"{lesson}\"}}");
        let of = |one: &str, other: &str| {
            digests_of_a_team(&[(line(one), 0), (line(other), 1)], 2, &TeamTrust::Full).remove(0)
        };
        assert_ne!(of("a", "b"), of("b", "a"));
        assert_ne!(of("a", "b"), of("a", "a"));
    }

    // S-DIGEST-1
    #[test]
    fn every_part_of_the_state_changes_the_digest() {
        let memory = r#"{"id":"a","lesson":"one","repo":"r"}"#;
        let about = r#"{"id":"b","memory_id":"a","event_type":"feedback","repo":"r"}"#;
        let states: Vec<Vec<&str>> = vec![
            vec![],
            vec![memory],
            vec![memory, about],
            vec![about],
            vec![memory, r#"{"id":"a","lesson":"two","repo":"r"}"#],
            vec![r#"{"id":"a","lesson":"one","repo":"other"}"#],
            vec![r#"{"id":"c","lesson":"one","repo":"r"}"#],
            vec![r#"{"id":"a","lesson":"one","repo":"r","commit":"abc"}"#],
            vec![r#"{"id":"a","lesson":"one","repo":"r","unknown":[1,2]}"#],
        ];
        let digests: BTreeSet<String> =
            states.iter().map(|lines| digest_of_logs(&[("x.jsonl", lines.clone())])).collect();
        assert_eq!(digests.len(), states.len());
        assert!(digests.iter().all(|digest| digest.len() == "sha256:".len() + 64 + " 0".len()));
    }
}
