//! Comparisons with the `bm25` crate: however documents came in, were cut into segments, replaced and removed, every
//! score equals the crate's score over the living documents.

use std::collections::BTreeMap;

use bm25::{EmbedderBuilder, Scorer, TokenEmbedder, Tokenizer};
use proptest::prelude::*;

use super::analysis::{Tokenizers, WordCache};
use super::index::{DEAD_SHARE, LARGE, MERGED_TOGETHER};
use super::live_segment::LiveSegment;
use super::tokenize::{DOCUMENT_TERMS_MAX, terms_of};
use super::weight::{B, K1};
use super::*;

/// Our analysis as the crate's tokenizer.
struct Ours(Tokenizers);

impl Tokenizer for Ours {
    fn tokenize(&self, text: &str) -> Vec<String> {
        let terms = terms_of(text, DOCUMENT_TERMS_MAX, &self.0, &mut WordCache::default());
        terms.iter().map(String::from).collect()
    }
}

/// Terms as themselves: the crate's own hash of 32 bits can collide.
struct Exact;

impl TokenEmbedder for Exact {
    type EmbeddingSpace = String;
    fn embed(token: &str) -> String {
        token.to_owned()
    }
}

/// The crate's results for `query`, by document.
fn crate_scores(living: &BTreeMap<u32, String>, query: &str) -> BTreeMap<u32, f32> {
    let corpus: Vec<&str> = living.values().map(String::as_str).collect();
    let ours = Ours(Tokenizers::new());
    let builder = EmbedderBuilder::<Exact, _>::with_tokenizer_and_fit_to_corpus(ours, &corpus);
    let embedder = builder.k1(K1).b(B).build();
    let mut scorer = Scorer::<u32, String>::new();
    for (doc, text) in living {
        scorer.upsert(doc, embedder.embed(text));
    }
    let matches = scorer.matches(&embedder.embed(query)).into_iter();
    matches.map(|scored| (scored.id, scored.score)).collect()
}

pub(super) fn all(index: &LexicalIndex, query: &str) -> Vec<ScoredDocument> {
    index.search(query, |_| true, usize::MAX)
}

/// Expects the same documents in order, with the same scores except for the rounding of 32-bit sums.
fn agrees(index: &LexicalIndex, living: &BTreeMap<u32, String>, query: &str) {
    let (found, expected) = (all(index, query), crate_scores(living, query));
    assert_eq!(found.len(), expected.len(), "{query}");
    for scored in &found {
        let crate_score = expected[&scored.doc.0];
        let tolerance = 1e-5 * crate_score.max(1.0);
        assert!((scored.score - crate_score).abs() <= tolerance, "{scored:?} {crate_score}");
        let shares = index.prepare(query).matched_terms(scored.doc);
        let sum: f32 = shares.iter().map(|matched| matched.score).sum();
        assert!((sum - scored.score).abs() <= tolerance);
    }
    let sorted = |pair: &[ScoredDocument]| {
        pair[0].score > pair[1].score
            || (pair[0].score.total_cmp(&pair[1].score).is_eq() && pair[0].doc < pair[1].doc)
    };
    assert!(found.windows(2).all(sorted));
}

#[derive(Clone, Debug)]
enum Change {
    Insert(String),
    Remove(prop::sample::Index),
    Replace(prop::sample::Index, String),
    Put(String),
    PutAll(Vec<(prop::sample::Index, Option<String>)>),
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "npm",
        "install",
        "fails",
        "failing",
        "EACCES",
        "the",
        "not",
        "getUserById",
        "user",
        "src/foo/bar.rs",
        "bar.rs",
        "--no-verify",
        "1.2.3",
        "E0277",
        "データ",
        "`for`",
        "café",
    ]);
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

/// Terms in backticks weigh less in a query, and slips get stand-ins; the crate knows neither. So no word of `text`
/// is a slip of another.
fn query() -> impl Strategy<Value = String> {
    text().prop_map(|text| text.replace('`', ""))
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => text().prop_map(Change::Insert),
        1 => any::<prop::sample::Index>().prop_map(Change::Remove),
        1 => (any::<prop::sample::Index>(), text()).prop_map(|(at, text)| Change::Replace(at, text)),
        1 => text().prop_map(Change::Put),
        1 => prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(text())), 0..12)
            .prop_map(Change::PutAll),
    ]
}

pub(super) fn put_passages(index: &mut LexicalIndex, doc: u32, passages: Vec<Passage>) {
    index.put_all(&BTreeMap::from([(DocId(doc), passages)]));
}

/// Applies one change to the index and to the plain map beside it.
fn apply(index: &mut LexicalIndex, living: &mut BTreeMap<u32, String>, at: u32, change: &Change) {
    let ids: Vec<u32> = living.keys().copied().collect();
    match change {
        Change::Insert(text) => {
            index.insert(DocId(at * 3), text).unwrap();
            living.insert(at * 3, text.clone());
        }
        Change::Remove(which) if !ids.is_empty() => {
            let doc = *which.get(&ids);
            assert!(index.remove(DocId(doc)) && !index.remove(DocId(doc)));
            living.remove(&doc);
        }
        Change::Replace(which, text) if !ids.is_empty() => {
            let doc = *which.get(&ids);
            assert!(index.replace(DocId(doc), text));
            living.insert(doc, text.clone());
        }
        // Between the ids of others, most of which are in use by now.
        Change::Put(text) => {
            let doc = (at / 2) * 3 + 2;
            put_passages(index, doc, vec![Passage::from_text(text)]);
            living.insert(doc, text.clone());
        }
        Change::PutAll(texts) => {
            // One more than there are, so that some are new.
            let ids: Vec<u32> = ids.iter().copied().chain([(at / 2) * 3 + 1]).collect();
            let texts = texts.iter().map(|(which, text)| (DocId(*which.get(&ids)), text.clone()));
            let texts: BTreeMap<DocId, Option<String>> = texts.collect();
            let passages = texts
                .iter()
                .map(|(doc, text)| (*doc, text.iter().map(Passage::from_text).collect()));
            index.put_all(&passages.collect());
            for (doc, text) in texts {
                match text {
                    Some(text) => living.insert(doc.0, text),
                    None => living.remove(&doc.0),
                };
            }
        }
        Change::Remove(_) | Change::Replace(..) => {
            assert!(!index.remove(DocId(1)) && !index.replace(DocId(1), "x"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // S-RANK-1
    #[test]
    fn scores_equal_the_bm25_crates_after_any_history(
        changes in prop::collection::vec(change(), 0..90),
        query in query(),
        snapshot_at in 0_usize..90,
    ) {
        let (mut index, mut living) = (LexicalIndex::new(), BTreeMap::new());
        let mut snapshot = None;
        for (at, change) in changes.iter().enumerate() {
            if at == snapshot_at {
                snapshot = Some((index.clone(), living.clone()));
            }
            apply(&mut index, &mut living, u32::try_from(at).unwrap(), change);
        }
        agrees(&index, &living, &query);
        prop_assert_eq!(index.len(), living.len());
        if let Some((index, living)) = snapshot {
            agrees(&index, &living, &query);
        }
    }

    // S-FIND-4
    #[test]
    fn a_query_whose_terms_all_occur_is_answered_by_them_alone(
        texts in prop::collection::vec(text(), 1..30),
        slips in prop::collection::vec("[a-z]{5,9}", 0..30),
        query in query(),
    ) {
        // All words of the query occur. Other words near to them must not count.
        let all_texts = texts.iter().map(String::as_str).chain([query.as_str()]);
        let living: BTreeMap<u32, String> =
            (0..).zip(all_texts.chain(slips.iter().map(String::as_str)).map(str::to_owned)).collect();
        let index = indexed(living.values().map(String::as_str));
        agrees(&index, &living, &query);
    }

    // S-FIND-4
    #[test]
    fn no_score_reaches_the_utmost_whatever_stands_in(
        texts in prop::collection::vec("(pand[a-f] ?){1,6}", 1..20), query in "(pand[a-h] ?){1,3}",
    ) {
        let index = indexed(texts.iter().map(String::as_str));
        let utmost = index.prepare(&query).utmost();
        for scored in all(&index, &query) {
            prop_assert!(scored.score > 0.0 && scored.score < utmost, "{} {utmost}", scored.score);
        }
    }

    #[test]
    fn a_filter_and_a_limit_only_select(
        texts in prop::collection::vec(text(), 0..40),
        query in text(),
        top_k in 0_usize..10,
    ) {
        let index = indexed(texts.iter().map(String::as_str));
        let even = |doc: DocId| doc.0.is_multiple_of(2);
        let mut expected = all(&index, &query);
        expected.retain(|scored| even(scored.doc));
        expected.truncate(top_k);
        prop_assert_eq!(index.search(&query, even, top_k), expected);
    }
}

pub(super) fn indexed<'text>(texts: impl IntoIterator<Item = &'text str>) -> LexicalIndex {
    let mut index = LexicalIndex::new();
    for (doc, text) in (0..).zip(texts) {
        index.insert(DocId(doc), text).unwrap();
    }
    index
}

pub(super) fn found(index: &LexicalIndex, query: &str) -> Vec<u32> {
    all(index, query).into_iter().map(|scored| scored.doc.0).collect()
}

#[test]
fn what_agents_paste_finds_the_memory_it_came_from() {
    let texts = [
        "listen ECONNREFUSED 127.0.0.1:5432 when the pool starts",
        "run git commit --no-verify to skip the hook",
        "error[E0277]: the trait bound is not satisfied",
        "the handler lives in src/api/userHandler.ts and calls getUserById",
        "データベース接続がタイムアウトする",
        "설치가 실패했습니다",
        "node --max-old-space-size=4096 for the build",
    ];
    let queries = [
        ("ECONNREFUSED", 0),
        ("127.0.0.1", 0),
        ("--no-verify", 1),
        ("no-verify", 1),
        ("E0277", 2),
        ("src/api/userHandler.ts", 3),
        ("userHandler.ts", 3),
        ("user handler", 3),
        ("get_user_by_id", 3),
        ("データベース", 4),
        ("실패", 5),
        ("MAX_OLD_SPACE_SIZE", 6),
    ];
    let index = indexed(texts);
    for (query, doc) in queries {
        assert_eq!(found(&index, query).first(), Some(&doc), "{query}");
    }
    assert!(found(&index, "kubernetes the of").is_empty());
}

// S-FIND-4
#[test]
fn a_slip_finds_what_was_meant_and_counts_less() {
    let index = indexed(["kubernetes evicts the pod", "connection refused", "nothing of it"]);
    assert_eq!(found(&index, "kuberntes"), [0]);
    assert_eq!(found(&index, "kubenretes pods"), [0]);
    assert_eq!(found(&index, "conection"), [1]);
    assert_eq!(found(&index, "xonnection"), [0_u32; 0]);
    let score = |query: &str| all(&index, query)[0].score;
    assert!((score("conection") - 0.7 * score("connection")).abs() < 1e-6);
    let matched = index.prepare("conection refused").matched_terms(DocId(1));
    assert_eq!(matched.len(), 2, "{matched:?}");
    assert!(index.interest("conection").weigh("the connection") > 0.0);
    assert_eq!(index.prepare("conection").terms().next().unwrap().documents, 0);
}

#[test]
fn a_snapshot_does_not_see_what_comes_after_it() {
    let mut index = indexed(["first lesson", "second lesson"]);
    let snapshot = index.clone();
    let before = all(&snapshot, "lesson");
    for doc in 2..40 {
        index.insert(DocId(doc), "another lesson").unwrap();
    }
    assert!(index.remove(DocId(0)) && index.replace(DocId(1), "something else"));
    assert_eq!(all(&snapshot, "lesson"), before);
    assert_eq!(found(&index, "second"), [0_u32; 0]);
    assert_eq!(found(&index, "something"), [1]);
}

#[test]
fn equal_scores_come_in_the_order_of_their_ids() {
    let mut index = indexed(["same text"; 23]);
    assert_eq!(found(&index, "text"), (0..23).collect::<Vec<_>>());
    assert!(index.replace(DocId(3), "same text"));
    assert_eq!(found(&index, "text"), (0..23).collect::<Vec<_>>());
}

#[test]
fn documents_out_of_order_are_refused_and_change_nothing() {
    let mut index = indexed(["one", "two"]);
    let refused = index.insert(DocId(1), "three");
    assert_eq!(refused, Err(LexicalError::OutOfOrder { doc: DocId(1), last: DocId(1) }));
    assert_eq!((index.len(), found(&index, "three").len()), (2, 0));
}

#[test]
fn segments_stay_few_and_the_dead_are_swept() {
    let mut index = indexed((0..3_000).map(|_| "a lesson about merging"));
    let per_level = MERGED_TOGETHER - 1;
    assert!(index.parts.len() <= per_level * 7, "{}", index.parts.len());
    for doc in 0..2_900 {
        assert!(index.remove(DocId(doc)));
    }
    let dead: usize = index.parts.iter().map(LiveSegment::dead_len).sum();
    assert!(index.len() == 100 && dead <= 100 / (DEAD_SHARE - 1) + 1, "{dead}");
}

fn put_each(index: &mut LexicalIndex, docs: std::ops::Range<u32>) {
    let passages = |doc| vec![Passage::from_text(format!("lesson {} of {}", doc % 7, doc % 1_000))];
    index.put_all(&docs.map(|doc| (DocId(doc), passages(doc))).collect());
}

#[test]
fn documents_that_come_together_are_indexed_as_one_by_one() {
    let (mut together, mut single) = (LexicalIndex::new(), LexicalIndex::new());
    put_each(&mut together, 0..300);
    (0..300).for_each(|doc| put_each(&mut single, doc..doc + 1));
    put_each(&mut together, 100..290);
    (100..290).for_each(|doc| put_each(&mut single, doc..doc + 1));
    assert_eq!(together.fingerprints(), single.fingerprints());
    assert_eq!(all(&together, "lesson 3"), all(&single, "lesson 3"));
}

// S-READ-8
#[test]
fn large_segments_are_merged_when_there_is_time() {
    let mut index = LexicalIndex::new();
    let large = u32::try_from(MERGED_TOGETHER).unwrap().pow(LARGE);
    put_each(&mut index, 0..5 * large);
    let (frozen, parts) = (index.clone(), index.parts.len());
    assert!(parts >= 5 && index.parts.iter().all(|part| part.len() < 4 * large as usize));
    let mut merges = 0;
    while index.settle() {
        merges += 1;
    }
    assert_eq!((merges, parts - index.parts.len()), (1, MERGED_TOGETHER - 1));
    assert_eq!(all(&index, "lesson 999"), all(&frozen, "lesson 999"));
    assert_eq!(index.len(), frozen.len());
}

#[test]
fn query_terms_say_how_rare_they_are() {
    let index = indexed(["alpha beta", "alpha gamma"]);
    let expected = [("alpha", 2), ("delta", 0), ("gamma", 1)]
        .map(|(term, documents)| QueryTerm { term: term.into(), documents });
    assert_eq!(index.prepare("alpha delta gamma alpha").terms().collect::<Vec<_>>(), expected);
}
