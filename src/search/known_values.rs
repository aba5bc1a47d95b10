//! What memories have that a filter can name. A filter by anything else is a word of somebody's text. Not here: the
//! form of a filter (`syntax`), which repository a name means (`api`), which memories a filter lets through (`filter`).

use super::asked_file::AskedFile;
use super::snapshot::Snapshot;
use super::syntax::FilterWord;
use event::{same_tag, tag_key};
use index::lexical::DocId;
use memory::Memory;

/// Tells whether some memory has what a filter names. A time is always known; a repository and a folder are
/// nobody's to know here.
#[must_use]
pub fn is_known_value(snapshot: &Snapshot, filter: &FilterWord) -> bool {
    let same = |one: &str, other: &str| one.trim().eq_ignore_ascii_case(other.trim());
    let any = |has: &dyn Fn(&Memory) -> bool| snapshot.memories().iter().any(|memory| has(memory));
    match filter {
        FilterWord::Kind(kind) => any(&|memory| same(memory.provenance.kind.as_str(), kind)),
        FilterWord::Agent(agent) => any(&|memory| same(&memory.provenance.agent_id, agent)),
        FilterWord::Branch(branch) => {
            any(&|memory| memory.event().branch.as_deref() == Some(branch.as_str()))
        }
        FilterWord::Tag(tag) => any_with_words(snapshot, &tag_key(tag), &|memory| {
            memory.event().tags.iter().any(|other| same_tag(other, tag))
        }),
        FilterWord::File(file) => {
            let asked = AskedFile::from(file.as_str());
            any_with_words(snapshot, file, &|memory| {
                asked.is_known_to(&memory.event(), &memory.repo)
            })
        }
        FilterWord::Repo(_) | FilterWord::Folder(_) => false,
        FilterWord::Since(_) | FilterWord::Until(_) => true,
    }
}

/// Tells whether a memory with one of these words has something. Tags and files are indexed, so that few records
/// are read; all are, where the text has no word.
fn any_with_words(snapshot: &Snapshot, words: &str, has: &dyn Fn(&Memory) -> bool) -> bool {
    let of_number = |DocId(number)| snapshot.memory(number).is_some_and(|memory| has(memory));
    let prepared = snapshot.lexical().prepare(words);
    // `it` and `do` are no terms, and a tag may be called so.
    let may_be_stop_word = words.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_wordless = !words.contains(char::is_alphanumeric);
    if is_wordless || (may_be_stop_word && prepared.terms().len() == 0) {
        return snapshot.memories().iter().any(|memory| has(memory));
    }
    !prepared.search(of_number, 1).is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::snapshot;
    use crate::time_point::TimePoint;

    // S-FIND-2
    #[test]
    fn a_value_is_known_if_a_memory_has_it() {
        let snapshot = snapshot(&[
            json!({ "id": "m1", "event_type": "Incident", "agent_id": "Codex", "branch": "fix/a", "lesson": "see lib/b.rs",
                "tags": ["#CI", "c++", "==", "it"], "files": ["src/a.rs"], "symptoms": ["npm error of file:../ui-kit"] }),
        ]);
        let known = |filter| is_known_value(&snapshot, &filter);
        let text = str::to_owned;
        for (filter, expected) in [
            (FilterWord::Kind(text("incident")), true),
            (FilterWord::Kind(text("Deployment")), false),
            (FilterWord::Agent(text("CODEX")), true),
            (FilterWord::Agent(text("latest")), false),
            (FilterWord::Branch(text("fix/a")), true),
            (FilterWord::Branch(text("main")), false),
            (FilterWord::Tag(text("ci")), true),
            (FilterWord::Tag(text("C++")), true),
            (FilterWord::Tag(text("==")), true),
            (FilterWord::Tag(text("it")), true),
            (FilterWord::Tag(text("v1.2")), false),
            (FilterWord::Tag(text("see")), false),
            (FilterWord::File(text("a.rs")), true),
            (FilterWord::File(text("/repo/src/a.rs")), true),
            (FilterWord::File(text("lib/b.rs")), true),
            (FilterWord::File(text("../ui-kit")), false),
            (FilterWord::File(text("../ui")), false),
            (FilterWord::File(text("../web-kit")), false),
            (FilterWord::Since(TimePoint::parse("30d").unwrap()), true),
        ] {
            assert_eq!(known(filter.clone()), expected, "{filter:?}");
        }
    }
}
