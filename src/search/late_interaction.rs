//! Late interaction: how near the tokens of the best candidates are to those of the query, each to its nearest, and
//! the weight of each token of the query. Not here: comparing two tokens (`index::late`), combining the scores
//! (`fuse`).

use std::collections::HashMap;
use std::ops::Range;

use super::candidates::Candidate;
use super::{Query, WordMatching, fuse};
use crate::snapshot::Snapshot;
use index::late::QueryToken;
use index::lexical::{PreparedQuery, quoted_spans};

/// The heaviest tokens of a query, which count: the time grows with them, and more rank no better.
const QUERY_TOKENS_MAX: usize = 32;
/// The weight of a word in backticks, relative to one outside: nearly nothing, unless there is no other. A name of
/// the caller's own code is near to any name.
const QUOTED_SHARE: f32 = 0.001;

/// The tokens of a query with their weights.
pub(super) struct QueryTokens<'a> {
    tokens: Vec<(&'a QueryToken, f32)>,
    weight: f32,
}

/// The nearness of a candidate's tokens to those of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LateScore {
    /// Computed from the tokens.
    Computed(f32),
    /// An estimate, because the tokens were not compared.
    Estimated(f32),
}

impl LateScore {
    pub(super) fn value(&self) -> f32 {
        match self {
            Self::Computed(late) | Self::Estimated(late) => *late,
        }
    }

    pub(super) fn computed(&self) -> Option<f32> {
        match self {
            Self::Computed(late) => Some(*late),
            Self::Estimated(_) => None,
        }
    }
}

impl<'a> QueryTokens<'a> {
    /// `None` where no token of the query has a weight, or words do not count.
    pub(super) fn new(query: &Query<'a>, words: &PreparedQuery<'_>) -> Option<Self> {
        if query.words == WordMatching::Off {
            return None;
        }
        let mut tokens: Vec<(&QueryToken, f32)> = weighed(query.text, query.tokens, words);
        tokens.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        tokens.truncate(QUERY_TOKENS_MAX);
        let weight: f32 = tokens.iter().map(|(_, weight)| weight).sum();
        (weight > 0.0).then_some(Self { tokens, weight })
    }

    fn nearness(&self, snapshot: &Snapshot, number: u32) -> Option<f32> {
        let note = snapshot.signs(number)?;
        let near = |(token, weight): &(&QueryToken, f32)| Some(weight * token.nearest(&note)?);
        let sum = self.tokens.iter().map(near).sum::<Option<f32>>()?;
        Some(sum / self.weight)
    }
}

/// Returns the late score of each candidate: computed where its tokens are stored, else an estimate from its fit
/// alone. `None` where the tokens of no candidate are stored.
pub(super) fn scores(
    snapshot: &Snapshot,
    query_tokens: &QueryTokens<'_>,
    candidates: &[Candidate],
) -> Option<Vec<LateScore>> {
    snapshot.expect_signs(candidates.iter().map(|candidate| candidate.number));
    let score = |candidate: &Candidate| match query_tokens.nearness(snapshot, candidate.number) {
        Some(late) => LateScore::Computed(late),
        None => LateScore::Estimated(fuse::late_estimate(fuse::fit(candidate))),
    };
    let scores: Vec<LateScore> = candidates.iter().map(score).collect();
    let is_computed = |late: &LateScore| late.computed().is_some();
    scores.iter().any(is_computed).then_some(scores)
}

/// A word of a query.
#[derive(Debug, PartialEq)]
struct QueryWord<'a> {
    text: &'a str,
    span: Range<usize>,
    is_quoted: bool,
}

/// Returns each token with its weight: the rarity of its word, spread evenly over all tokens of that word in the
/// query.
fn weighed<'a>(
    text: &str,
    tokens: &'a [QueryToken],
    words: &PreparedQuery<'_>,
) -> Vec<(&'a QueryToken, f32)> {
    let words_in_text = words_of(text);
    let word_of = |token: &QueryToken| {
        let after = words_in_text.partition_point(|word| word.span.start <= token.span.start);
        words_in_text.get(after.checked_sub(1)?).filter(|word| token.span.start < word.span.end)
    };
    let of_words: Vec<(&QueryToken, &QueryWord<'_>)> =
        tokens.iter().filter_map(|token| Some((token, word_of(token)?))).collect();
    let mut counts: HashMap<&str, f32> = HashMap::new();
    let mut outside: HashMap<&str, bool> = HashMap::new();
    for (_, word) in &of_words {
        *counts.entry(word.text).or_default() += 1.0;
        *outside.entry(word.text).or_default() |= !word.is_quoted;
    }
    let weights: HashMap<&str, f32> = counts
        .into_iter()
        .map(|(text, count)| {
            let is_outside = outside.get(text).copied().unwrap_or(true);
            let share = if is_outside { 1.0 } else { QUOTED_SHARE };
            (text, share * words.rarity(text) / count)
        })
        .collect();
    let weigh = |(token, word): (&'a QueryToken, &QueryWord<'_>)| {
        (token, weights.get(word.text).copied().unwrap_or(0.0))
    };
    of_words.into_iter().map(weigh).collect()
}

/// Returns the words of a query: the text between spaces and backticks.
fn words_of(text: &str) -> Vec<QueryWord<'_>> {
    let quoted = quoted_spans(text);
    let mut words = Vec::new();
    let mut start = 0;
    for piece in text.split_inclusive(|c: char| c.is_whitespace() || c == '`') {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || c == '`');
        if !word.is_empty() {
            let span = start..start + word.len();
            let is_quoted = quoted.iter().any(|quoted| quoted.contains(&start));
            words.push(QueryWord { text: word, span, is_quoted });
        }
        start += piece.len();
    }
    words
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{Hit, Query, search, tests};
    use event::Timestamp;
    use index::late::test_tokens::tokens_of;
    use index::late::{SignLocation, SignState, SignStore, TokenSigns};

    /// A store in memory that lacks the signs of some texts. It returns only signs that were announced.
    struct MemoryShelf(BTreeMap<u32, TokenSigns>, Mutex<BTreeSet<u32>>);

    impl SignStore for MemoryShelf {
        fn expect(&self, places: &[SignLocation]) {
            let mut expected = self.1.lock().unwrap();
            *expected = places.iter().map(|place| place.row).collect();
        }

        fn signs(&self, place: SignLocation) -> Option<TokenSigns> {
            assert!(self.1.lock().unwrap().contains(&place.row), "{place:?} was not expected");
            self.0.get(&place.row).cloned()
        }
    }

    /// Lessons, and the text whose tokens are stored for each.
    fn snapshot(lessons: &[(&str, Option<&str>)]) -> Snapshot {
        let line = |(number, (lesson, _)): (usize, &(&str, _))| json!({"id": format!("m{number:02}"), "lesson": lesson, "timestamp": "2026-01-01T00:00:00Z"});
        let lines: Vec<_> = lessons.iter().enumerate().map(line).collect();
        let mut snapshot = tests::snapshot(&lines);
        let mut held = BTreeMap::new();
        for (number, (_, seen)) in (0..).zip(lessons) {
            let Some(seen) = seen else { continue };
            held.insert(number, TokenSigns::from_tokens(&tokens_of(seen)));
            snapshot
                .sign_locations
                .set(number, SignState::At(SignLocation { row: number, check: 0 }));
        }
        snapshot.with_sign_store(Some(Arc::new(MemoryShelf(held, Mutex::default()))))
    }

    fn asked(text: &str) -> Vec<QueryToken> {
        tokens_of(text).iter().filter_map(QueryToken::from_token).collect()
    }

    fn found(snapshot: &Snapshot, text: &str, tokens: &[QueryToken]) -> Vec<Hit> {
        let query = Query { text, tokens, ..Query::default() };
        search(snapshot, &query, Timestamp::UNIX_EPOCH, 100)
    }

    fn numbers(hits: &[Hit]) -> Vec<u32> {
        hits.iter().map(|hit| hit.number).collect()
    }

    // S-RANK-3, S-RANK-8
    #[test]
    fn of_equal_words_the_nearest_tokens_are_first() {
        let snapshot = snapshot(&[
            ("walrus in the pond", Some("otter heron badger")),
            ("walrus at the shore", Some("walrus and heron")),
            ("walrus on the beach", Some("stoat vole")),
        ]);
        let tokens = asked("walrus");
        let hits = found(&snapshot, "walrus", &tokens);
        assert_eq!(numbers(&hits).first(), Some(&1));
        assert!(hits[0].score.late.unwrap() > hits[1].score.late.unwrap() + 0.3);
        assert!(found(&snapshot, "walrus", &[]).iter().all(|hit| hit.score.late.is_none()));
    }

    // S-RANK-8
    #[test]
    fn unknown_tokens_neither_lift_nor_sink_a_memory() {
        let lessons =
            ["heron walrus pond", "walrus shore heron reed", "walrus beach", "walrus badger stoat"];
        let seen = |known: &[usize]| {
            let lesson = |(at, lesson): (usize, &&'static str)| {
                (*lesson, known.contains(&at).then_some("walrus heron"))
            };
            lessons.iter().enumerate().map(lesson).collect::<Vec<_>>()
        };
        let tokens = asked("walrus heron");
        let order =
            |known: &[usize]| numbers(&found(&snapshot(&seen(known)), "walrus heron", &tokens));
        let today = numbers(&found(&snapshot(&seen(&[])), "walrus heron", &[]));
        assert_eq!(order(&[]), today, "nothing is known: as without tokens");
        let rest = |order: Vec<u32>| order.into_iter().filter(|at| *at != 2).collect::<Vec<_>>();
        assert_eq!(rest(order(&[2])), rest(today), "among the others the order stays");
    }

    // S-RANK-8
    #[test]
    fn missing_signs_are_reported_as_lost() {
        let mut snapshot = snapshot(&[("walrus pond", Some("walrus")), ("walrus shore", None)]);
        snapshot.sign_locations.set(1, SignState::At(SignLocation { row: 9, check: 0 }));
        let hits = found(&snapshot, "walrus", &asked("walrus"));
        let late = |number| hits.iter().find(|hit| hit.number == number).unwrap().score.late;
        assert!(late(0).is_some() && late(1).is_none());
        assert_eq!(snapshot.sign_locations.take_lost().into_iter().collect::<Vec<_>>(), [1]);
    }

    // S-RANK-8
    #[test]
    fn a_word_weighs_its_rarity_however_often_it_occurs() {
        let snapshot =
            snapshot(&[("common rare", None), ("common", None), ("common `name`", None)]);
        let weights = |text: &str| -> BTreeMap<String, f32> {
            let words = snapshot.lexical().prepare(text);
            let tokens = asked(text);
            let mut weights = BTreeMap::new();
            for (token, weight) in weighed(text, &tokens, &words) {
                *weights.entry(text.get(token.span.clone()).unwrap().to_owned()).or_default() +=
                    weight;
            }
            weights
        };
        let once = weights("common rare the");
        assert!(once["rare"] > once["common"] && once["common"] > 0.0);
        assert!(once["the"].abs() < 1e-6, "{once:?}");
        let often = weights("rare common common common the");
        assert!((often["common"] - once["common"]).abs() < 1e-6, "{often:?}");
    }

    // S-RANK-8
    #[test]
    fn words_end_at_spaces_and_backticks() {
        let parts = |text| -> Vec<(&str, bool)> {
            words_of(text).into_iter().map(|word| (word.text, word.is_quoted)).collect()
        };
        assert_eq!(
            parts("no method `get it` on\n`Foo`, ü ` x"),
            [
                ("no", false),
                ("method", false),
                ("get", true),
                ("it", true),
                ("on", false),
                ("Foo", true),
                (",", false),
                ("ü", false),
                ("x", false),
            ]
        );
        for word in words_of("no `Foo`  ü x ") {
            assert_eq!("no `Foo`  ü x ".get(word.span.clone()).unwrap(), word.text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        // S-RANK-3, S-RANK-6
        #[test]
        fn tokens_change_the_order_and_never_the_hits(
            lessons in prop::collection::vec(("[a-d]( [a-f]){0,5}", prop::option::of("[a-f]( [a-f]){0,5}")), 1..70),
            text in "[a-f]( [a-f]){0,4}",
        ) {
            let lessons: Vec<(&str, Option<&str>)> =
                lessons.iter().map(|(said, seen)| (said.as_str(), seen.as_deref())).collect();
            let snapshot = snapshot(&lessons);
            let sorted = |hits: Vec<Hit>| {
                let mut ids: Vec<u32> = hits
                    .iter()
                    .flat_map(|hit| std::iter::once(&hit.memory).chain(&hit.duplicates))
                    .map(|memory| memory.id.as_str().trim_start_matches('m').parse().unwrap())
                    .collect();
                ids.sort_unstable();
                ids
            };
            let with = found(&snapshot, &text, &asked(&text));
            prop_assert!(with.iter().all(|hit| (0.0..=1.0).contains(&hit.score.fit)));
            prop_assert_eq!(sorted(with), sorted(found(&snapshot, &text, &[])));
        }
    }
}
