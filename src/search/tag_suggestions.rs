//! Tags that a memory could have, without a model: those that similar memories have, and those that it names. Pure. Not here: adding
//! them (the command `tag`).

use std::collections::{BTreeMap, BTreeSet};

use super::links::{NamedEntity, named_entities};
use super::snapshot::Snapshot;
use event::limits::TAG_BYTES_MAX;
use event::{Event, OwnTag, tag_key};
use index::lexical::DocId;
use memory::Memory;

/// Similar memories whose tags count.
const NEAR_MAX: usize = 12;

/// The least likeness of those, as a part of that of the most similar one: the rest only share a word.
const LIKENESS_MIN: f32 = 0.4;

/// What a name counts beside similar memories, each of which counts at most one.
const NAMED_WEIGHT: f32 = 1.5;

/// The memories whose tags are known by name.
const KNOWN_MAX: usize = 2_000;

/// A tag that a memory could have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedTag {
    /// The tag.
    pub tag: String,
    /// How many similar memories have it.
    pub similar: usize,
    /// Whether the memory names it.
    pub is_named: bool,
}

/// Suggests tags, the likeliest first. `number` is that of the memory in the snapshot.
#[must_use]
pub fn suggested_tags(snapshot: &Snapshot, number: u32, limit: usize) -> Vec<SuggestedTag> {
    let Some(memory) = snapshot.memory(number) else { return Vec::new() };
    let event = memory.event();
    let mut found: BTreeMap<String, (f32, SuggestedTag)> = BTreeMap::new();
    let mut add = |tag: &str, weight: f32, is_named: bool| {
        let empty = SuggestedTag { tag: tag.to_owned(), similar: 0, is_named: false };
        let (sum, suggested) = found.entry(tag.to_owned()).or_insert((0.0, empty));
        *sum += weight;
        suggested.similar += usize::from(!is_named);
        suggested.is_named |= is_named;
    };
    for (likeness, other) in near(snapshot, number, memory) {
        for tag in distinct(&other.tags) {
            add(&tag, likeness, false);
        }
    }
    for tag in names(&event, &known(snapshot)) {
        add(&tag, NAMED_WEIGHT, true);
    }
    let has = distinct(&event.tags);
    // One similar memory may have any tag; two agree.
    let is_likely = |suggested: &SuggestedTag| suggested.is_named || suggested.similar > 1;
    let mut found: Vec<_> = found
        .into_values()
        .filter(|(_, suggested)| {
            is_likely(suggested) && is_tag(&suggested.tag) && !has.contains(&suggested.tag)
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.tag.cmp(&b.1.tag)));
    found.into_iter().take(limit).map(|(_, suggested)| suggested).collect()
}

/// Returns the most similar memories by words, each with its likeness, 0 to 1.
fn near(snapshot: &Snapshot, number: u32, memory: &Memory) -> Vec<(f32, Event)> {
    let is_fine = |doc: DocId| {
        let other = snapshot.memory(doc.0).filter(|_| doc.0 != number);
        // Tags of private memories are not suggested for public ones.
        let is_told = |other: &Memory| memory.provenance.is_private || !other.provenance.is_private;
        other.is_some_and(|other| other.flagged().is_none() && is_told(other))
    };
    let found = snapshot.lexical().search(&memory.meaning_text(), is_fine, NEAR_MAX);
    let best = found.first().map_or(1.0, |best| best.score);
    let likeness = |score: f32| if best > 0.0 { score / best } else { 0.0 };
    let near = found.into_iter().map(|scored| (likeness(scored.score), scored.doc.0));
    near.filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .filter_map(|(likeness, number)| Some((likeness, snapshot.memory(number)?.event())))
        .collect()
}

/// The tags that the newest memories have, in lower case. Each stands in the text for which it is looked up.
fn known(snapshot: &Snapshot) -> BTreeSet<String> {
    let newest = snapshot.memories().iter().rev().take(KNOWN_MAX);
    newest.flat_map(|memory| distinct(&memory.event().tags)).collect()
}

/// Names in a memory that are tags: known ones as words of its texts, error codes, packages and programs.
fn names(event: &Event, known: &BTreeSet<String>) -> BTreeSet<String> {
    let texts = [&event.lesson, &event.context, &event.command].into_iter().chain(&event.symptoms);
    let words =
        texts.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))));
    let words = words.map(|word| word.trim_matches(['.', '-', '_']).to_lowercase());
    let mut names: BTreeSet<String> = words.filter(|word| known.contains(word)).collect();
    names.extend(named_entities(event).into_iter().filter_map(|thing| match thing {
        NamedEntity::ErrorCode(code) => Some(code.to_lowercase()),
        NamedEntity::Package(name) => Some(name.to_lowercase()),
        NamedEntity::Command(words) => words.split_whitespace().next().map(str::to_lowercase),
        NamedEntity::File(_)
        | NamedEntity::Symbol(_)
        | NamedEntity::Url(_)
        | NamedEntity::Port(_) => None,
    }));
    names
}

fn distinct(tags: &[String]) -> BTreeSet<String> {
    tags.iter().map(|tag| tag_key(tag)).collect()
}

/// Tells whether it may be a tag; marks of programs are none that a person would choose.
fn is_tag(tag: &str) -> bool {
    let is_plain = tag.chars().all(|c| c.is_alphanumeric() || "-_./@+#".contains(c));
    is_plain
        && tag.chars().count() > 1
        && tag.len() <= TAG_BYTES_MAX
        && OwnTag::parse(tag).is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::snapshot;

    // S-TAG-1
    #[test]
    fn tags_come_from_similar_memories_and_from_names() {
        let line = |id: &str, lesson: &str, tags: &[&str]| json!({ "id": id, "event_type": "error", "lesson": lesson, "tags": tags });
        let lines = [
            line("m1", "run the database migrations before the tests", &["Db", "ci"]),
            line("m2", "database migrations need a lock before tests", &["db", "odd"]),
            line("m3", "the tests of the database run migrations twice", &["db", "ci"]),
            line("m4", "a walrus has tusks", &["animals"]),
            json!({ "id": "m5", "event_type": "error", "lesson": "run the migrations of the database; npm fails with EACCES",
                "command": "npm ci", "tags": ["ci"] }),
            line("m6", "npm is slow", &["npm"]),
        ];
        let snapshot = snapshot(&lines);
        let number =
            (0..).find(|number| snapshot.memory(*number).unwrap().id.as_str() == "m5").unwrap();
        let found = suggested_tags(&snapshot, number, 9);
        let suggestion = |tag: &str| found.iter().find(|one| one.tag == tag);
        assert!(suggestion("db").is_some_and(|one| one.similar >= 2 && !one.is_named), "{found:?}");
        assert!(suggestion("eacces").is_some_and(|one| one.is_named), "{found:?}");
        assert!(suggestion("npm").is_some_and(|one| one.is_named), "{found:?}");
        for no in ["ci", "odd", "animals"] {
            assert_eq!(suggestion(no), None, "{no}");
        }
        assert_eq!(suggested_tags(&snapshot, number, 1).len(), 1);
        assert!(suggested_tags(&snapshot, 99, 9).is_empty());
    }

    // S-TAG-1
    #[test]
    fn private_memories_suggest_no_tags() {
        let line = |id: &str, is_private: bool, tags: &[&str]| {
            let lesson = "the database migrations need a lock";
            json!({ "id": id, "event_type": "error", "lesson": lesson, "tags": tags, "private": is_private })
        };
        let tags = |is_private: bool| {
            let falcon = ["falcon"];
            let lines =
                [line("m1", true, &falcon), line("m2", true, &falcon), line("m3", is_private, &[])];
            let snapshot = snapshot(&lines);
            let id = |number: &u32| snapshot.memory(*number).unwrap().id.as_str() == "m3";
            let found = suggested_tags(&snapshot, (0..).find(id).unwrap(), 9);
            found.into_iter().map(|one| one.tag).collect::<Vec<String>>()
        };
        assert_eq!((tags(false), tags(true)), (Vec::new(), vec!["falcon".to_owned()]));
    }

    // S-TAG-1
    #[test]
    fn keys_of_learnt_lessons_are_not_suggested() {
        let (key, mark) = ("fix0123456789abcdef", "sig0123456789abcdef");
        let line = |id: &str, tags: &[&str]| {
            let lesson = "npm ci worked where npm install had failed";
            json!({ "id": id, "event_type": "error", "lesson": lesson, "tags": tags })
        };
        let all = [key, mark, event::AGENT_FILE, "fixtures", "signature-algorithm"];
        let snapshot = snapshot(&[line("m1", &all), line("m2", &all), line("m3", &[])]);
        let number =
            (0..).find(|number| snapshot.memory(*number).unwrap().id.as_str() == "m3").unwrap();
        let found = suggested_tags(&snapshot, number, 9);
        let tags: Vec<&str> = found.iter().map(|one| one.tag.as_str()).collect();
        assert_eq!(tags, ["fixtures", "signature-algorithm"]);
    }
}
