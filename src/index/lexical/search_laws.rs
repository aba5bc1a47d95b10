//! Tests that skipping documents changes nothing: the same documents, the same bits of every score and the same
//! order as scoring everything. Not here: the right scores (`tests`).

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::tests::indexed;
use super::*;

/// Words from common to rare; the last ones are slips of others.
const WORDS: [&str; 14] = [
    "not",
    "npm",
    "install",
    "fails",
    "docker",
    "pull",
    "cache",
    "token",
    "zebra",
    "kubernetes",
    "`flag`",
    "inxstall",
    "kubernetse",
    "1.2.3",
];

/// Picks many of the first words and few of the last.
fn text(words_max: usize) -> impl Strategy<Value = String> {
    let word = (0..WORDS.len(), 0..WORDS.len()).prop_map(|(a, b)| WORDS[a.min(b)]);
    prop::collection::vec(word, 0..words_max).prop_map(|words| words.join(" "))
}

fn passage() -> impl Strategy<Value = Passage> {
    let texts = (text(9), text(4), any::<bool>());
    texts.prop_map(|(own, nearby, is_reply)| Passage { own, nearby, is_reply })
}

fn passages() -> impl Strategy<Value = Vec<Passage>> {
    prop_oneof![
        6 => passage().prop_map(|passage| vec![passage]),
        2 => prop::collection::vec(passage(), 0..5),
    ]
}

/// The bits of scores, since equality of numbers is not enough.
fn bits(found: &[ScoredDocument]) -> Vec<(u32, u32)> {
    found.iter().map(|scored| (scored.doc.0, scored.score.to_bits())).collect()
}

fn is_the_same(index: &LexicalIndex, query: &str, top_k: usize) {
    let prepared = index.prepare(query);
    for divisor in [1, 3] {
        let keep = |doc: DocId| doc.0.is_multiple_of(divisor);
        let (found, all) = (prepared.search(keep, top_k), prepared.search_everything(keep, top_k));
        assert_eq!(bits(&found), bits(&all), "{query:?} {top_k} {divisor}");
        for scored in &all {
            assert_eq!(
                prepared.score_of(scored.doc).to_bits(),
                scored.score.to_bits(),
                "{query:?}"
            );
        }
        // Chunks of a few documents, some of which the filter skips.
        let may = |doc: DocId| (doc.0 / 40).is_multiple_of(2);
        let found = prepared.search_among(may, keep, top_k);
        let all = prepared.search_everything(|doc| may(doc) && keep(doc), top_k);
        assert_eq!(bits(&found), bits(&all), "{query:?} {top_k} {divisor}, some stretches");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn skipping_finds_what_looking_at_everything_finds(
        documents in prop::collection::vec(passages(), 0..160),
        removed in prop::collection::vec(0_u32..160, 0..40),
        changed in prop::collection::vec((0_u32..160, passages()), 0..12),
        queries in prop::collection::vec(text(12), 1..4),
        top_k in 0_usize..12,
    ) {
        let mut index = LexicalIndex::new();
        let all: BTreeMap<DocId, Vec<Passage>> = (0..).map(DocId).zip(documents).collect();
        let (first, second): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|(doc, _)| doc.0 % 4 > 0);
        index.put_all(&first);
        index.put_all(&second);
        for doc in removed {
            index.remove(DocId(doc));
        }
        index.put_all(&changed.into_iter().map(|(doc, passages)| (DocId(doc), passages)).collect());
        for query in &queries {
            is_the_same(&index, query, top_k);
            is_the_same(&index, query, usize::MAX);
        }
    }

    #[test]
    fn skipping_bears_scores_that_differ_in_their_last_bits(
        lengths in prop::collection::vec(0_usize..40, 1..300), top_k in 1_usize..9,
    ) {
        // Texts of the same words and nearly the same length: rounding decides.
        let texts = lengths.iter().map(|length| format!("npm not docker {}", "pull ".repeat(length / 9)));
        let texts: Vec<String> = texts.collect();
        let index = indexed(texts.iter().map(String::as_str));
        is_the_same(&index, "pull docker npm not zebra", top_k);
        is_the_same(&index, "not npm npm docker", top_k);
    }
}
