//! Which hits are of one subject, and what tells two notes of one subject apart. Not here: finding the notes of a subject
//! (`contradictions`), which of two notes is better (`better_note`).

use std::collections::{BTreeMap, BTreeSet};

use super::hit::Hit;
use super::subject_memo::SubjectNote;
use event::{Event, IMPORTED};
use memory::Memory;

/// The kind of what is to be done.
const TASK: &str = "task";

/// Which hits are of one subject: the numbers of the memories of its subject by the number of each hit that was compared.
#[derive(Debug, Default)]
pub(super) struct HitSubjects(BTreeMap<u32, Vec<u32>>);

impl HitSubjects {
    /// Adds the notes of the subject of a hit.
    pub(super) fn insert(&mut self, number: u32, notes: &[SubjectNote]) {
        self.0.insert(number, notes.iter().map(|note| note.number).collect());
    }

    fn are_of_one(&self, one: u32, other: u32) -> bool {
        let names =
            |from, to| self.0.get(&from).is_some_and(|notes: &Vec<u32>| notes.contains(&to));
        names(one, other) || names(other, one)
    }

    /// Tells whether a memory is of the subject of another hit that was compared.
    pub(super) fn has_repeated(&self, number: u32) -> bool {
        self.0.keys().any(|other| *other != number && self.are_of_one(number, *other))
    }

    /// Tells whether a hit says once more what a better one says, so that its title is enough. Notes of one session complete each
    /// other, and a note of another origin or kind, or with another cure, stands for itself.
    pub(super) fn repeats(&self, kept: &Hit, hit: &Hit) -> bool {
        let (one, other) = (&*kept.memory, &*hit.memory);
        self.are_of_one(kept.number, hit.number)
            && !is_of_one_session(one, other)
            && trust_rank(one) == trust_rank(other)
            && is_task(one) == is_task(other)
            && !is_settled(one, other)
            && advise_alike(&one.event(), &other.event())
    }
}

/// The least number of plain words that two lessons share and their contexts do not have, where they advise alike.
const SHARED_WORDS_MIN: usize = 2;
/// The least length of such a word, in characters: shorter ones are in any sentence.
const SHARED_CHARS_MIN: usize = 5;

/// Tells whether two lessons share words that their contexts do not have: a name, or some plain words. Two cures of one problem have
/// its words in common and no others.
fn advise_alike(one: &Event, other: &Event) -> bool {
    let contexts = format!("{} {}", one.context, other.context).to_lowercase();
    let known: BTreeSet<&str> = plain_words(&contexts).collect();
    let texts =
        [one, other].map(|event| format!("{} {}", event.lesson, event.command).to_lowercase());
    let [first, second] =
        texts.each_ref().map(|text| plain_words(text).collect::<BTreeSet<&str>>());
    let shared = first.intersection(&second).filter(|word| !known.contains(**word));
    let is_name = |word: &&str| !word.chars().all(char::is_alphabetic);
    let (names, plain): (Vec<&str>, Vec<&str>) = shared.copied().partition(is_name);
    let plain = plain.iter().filter(|word| word.chars().count() >= SHARED_CHARS_MIN);
    names.iter().any(|name| name.chars().any(char::is_alphabetic))
        || plain.count() >= SHARED_WORDS_MIN
}

/// Returns the words of a text without the punctuation around them.
pub(super) fn plain_words(text: &str) -> impl Iterator<Item = &str> {
    let is_outer = |character: char| !character.is_alphanumeric() && !"-_/$".contains(character);
    text.split_whitespace()
        .map(move |word| word.trim_matches(is_outer))
        .filter(|word| !word.is_empty())
}

pub(super) fn is_of_one_session(one: &Memory, other: &Memory) -> bool {
    let session = one.provenance.session_id.as_deref();
    session.is_some() && other.provenance.session_id.as_deref() == session
}

/// Tells whether a memory says what is to be done, not what holds.
pub(super) fn is_task(memory: &Memory) -> bool {
    memory.provenance.kind.as_str() == TASK
}

/// Tells whether somebody settled that both hold.
pub(super) fn is_settled(one: &Memory, other: &Memory) -> bool {
    one.lifecycle().distinct.contains(&other.id) || other.lifecycle().distinct.contains(&one.id)
}

/// Orders notes by who vouches for them: what this machine's people and agents learned, what the team did, what was imported.
pub(super) fn trust_rank(memory: &Memory) -> u8 {
    match memory.is_foreign() {
        false => 2,
        true => u8::from(memory.provenance.source.as_deref() != Some(IMPORTED)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::query::Query;
    use super::super::testing::{now, snapshot};
    use super::super::{Tier, search};
    use super::advise_alike;

    const QUERY: &str = "migrations crash in CI because Postgres is not ready";

    /// Four notes about one subject, one about another that answers too, and others.
    fn lines(more: &Value) -> Vec<Value> {
        let same = [
            "migrations crash in CI while Postgres starts: poll pg_isready before the migrations",
            "Postgres is not ready when CI runs the migrations: loop over pg_isready first",
            "run pg_isready until Postgres is ready, then run the migrations in CI",
            "CI migrations need Postgres to be ready: wait with pg_isready",
        ];
        let mut lines: Vec<Value> = (0..)
            .zip(same)
            .map(|(number, lesson)| {
                let mut line = json!({ "id": format!("same{number}"), "lesson": lesson, "context": "migrations crash in CI",
                    "timestamp": format!("2026-04-10T00:0{number}:00Z") });
                line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                line
            })
            .collect();
        lines.push(json!({ "id": "other", "context": "Postgres crash in CI", "timestamp": "2026-04-10T00:00:00Z",
            "lesson": "give the container 256 MB of shared memory, or autovacuum is killed" }));
        lines.extend((0..60).map(|number| {
            json!({ "id": format!("x{number}"), "context": format!("badger {number}"), "lesson": format!("otter {number} with the badger") })
        }));
        lines
    }

    fn found(lines: &[Value], limit: usize) -> Vec<(String, Tier)> {
        let query = Query { text: QUERY, min_likelihood: 0.01, ..Query::default() };
        let hits = search(&snapshot(lines), &query, now(), limit);
        hits.iter().map(|hit| (hit.memory.id.to_string(), hit.tier)).collect()
    }

    // S-RANK-7
    #[test]
    fn paraphrases_of_one_thing_take_one_place() {
        let hits = found(&lines(&json!({})), 2);
        let likely: Vec<&str> = (hits.iter())
            .filter(|(_, tier)| *tier == Tier::Likely)
            .map(|(id, _)| id.as_str())
            .collect();
        assert!(
            likely.len() == 2 && likely[0].starts_with("same") && likely[1] == "other",
            "{hits:?}"
        );
        let titles =
            hits.iter().filter(|(id, tier)| *tier == Tier::Possible && id.starts_with("same"));
        assert_eq!(titles.count(), 3, "{hits:?}");
    }

    // S-RANK-7
    #[test]
    fn two_cures_of_one_problem_each_have_a_place() {
        let note = |lesson: &str| {
            let line = json!({ "id": "n", "context": "npm install fails with ERESOLVE for react 18", "lesson": lesson });
            snapshot(&[line]).memory(0).unwrap().event()
        };
        let flag = note("install with --legacy-peer-deps, react 18 conflicts");
        let again = note("pass --legacy-peer-deps to the installation");
        let pin = note("pin react to 17 until the date picker supports 18");
        assert!(advise_alike(&flag, &again) && !advise_alike(&flag, &pin));
    }

    // S-RANK-7
    #[test]
    fn notes_of_one_session_each_have_a_place() {
        let hits = found(&lines(&json!({ "session_id": "s" })), 5);
        assert!(hits.len() == 5 && hits.iter().all(|(_, tier)| *tier == Tier::Likely), "{hits:?}");
    }
}
