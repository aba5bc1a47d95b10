//! The measures agree with values computed by hand, and obey general laws.

use proptest::prelude::*;

use super::*;

fn answer(relevant: &[(u32, Option<usize>)]) -> QueryAnswer {
    let judged =
        |(grade, rank): &(u32, Option<usize>)| RelevantDocument { grade: *grade, rank: *rank };
    let relevant = relevant.iter().map(judged).collect();
    QueryAnswer { relevant, depth: 10, returned: 10, tokens: 100, ..QueryAnswer::default() }
}

fn near(measure: Measure, answer: &QueryAnswer, expected: f64) {
    let found = measure.value(answer).unwrap();
    assert!((found - expected).abs() < 1e-9, "{measure:?}: {found}, {expected} expected");
}

#[test]
fn numbers_agree_with_hand_computed_ones() {
    // Two relevant documents, at 2 and 7, and one not found.
    let found = answer(&[(1, Some(2)), (1, Some(7)), (1, None)]);
    near(Measure::Recall1, &found, 0.0);
    near(Measure::Recall5, &found, 1.0 / 3.0);
    near(Measure::Recall10, &found, 2.0 / 3.0);
    near(Measure::Hit1, &found, 0.0);
    near(Measure::Mrr, &found, 0.5);
    // 1/log2(3) + 1/log2(8) = 0.630930 + 0.333333; ideal 1 + 0.630930 + 0.5.
    near(Measure::Ndcg10, &found, 0.964_263_086_904_790_9 / 2.130_929_753_571_457_4);
}

#[test]
fn higher_grades_gain_more() {
    // 1/log2(2) + 3/log2(3) over 3/log2(2) + 1/log2(3).
    let found = answer(&[(1, Some(1)), (3, Some(2))]);
    near(Measure::Ndcg10, &found, 2.892_789_260_714_372 / 3.630_929_753_571_457_4);
}

#[test]
fn what_stands_after_the_tenth_place_counts_for_nothing() {
    let found = QueryAnswer { depth: 20, ..answer(&[(1, Some(11))]) };
    near(Measure::Mrr, &found, 0.0);
    near(Measure::Ndcg10, &found, 0.0);
}

#[test]
fn what_was_not_looked_at_has_no_number() {
    let shallow = QueryAnswer { depth: 5, ..answer(&[(1, Some(2))]) };
    near(Measure::Recall5, &shallow, 1.0);
    for measure in [Measure::Recall10, Measure::Mrr, Measure::Ndcg10] {
        assert_eq!(measure.value(&shallow), None);
    }
}

#[test]
fn an_unanswerable_query_only_counts_for_false_answers() {
    let nothing = answer(&[]);
    for measure in Measure::ALL {
        let expected = match measure {
            Measure::FalseAnswer => Some(1.0),
            Measure::Tokens => Some(100.0),
            _ => None,
        };
        assert_eq!(measure.value(&nothing), expected, "{measure:?}");
    }
    let silent = QueryAnswer { returned: 0, ..nothing };
    near(Measure::FalseAnswer, &silent, 0.0);
}

#[test]
fn stale_counts_only_above_what_is_right() {
    let with = |stale, right| QueryAnswer { stale: Some(stale), ..answer(&[(1, right)]) };
    near(Measure::StaleAbove, &with(Some(1), Some(2)), 1.0);
    near(Measure::StaleAbove, &with(Some(3), Some(2)), 0.0);
    near(Measure::StaleAbove, &with(Some(3), None), 1.0);
    near(Measure::StaleAbove, &with(None, None), 0.0);
    assert_eq!(Measure::StaleAbove.value(&answer(&[(1, Some(1))])), None);
}

#[test]
fn percentiles_are_times_that_were_taken() {
    let timed: Vec<QueryAnswer> =
        (1..=100).map(|ms| QueryAnswer { micros: ms * 1_000, ..QueryAnswer::default() }).collect();
    let timed: Vec<&QueryAnswer> = timed.iter().collect();
    assert!((percentile_ms(&timed, 0.5) - 50.0).abs() < 1e-9);
    assert!((percentile_ms(&timed, 0.99) - 99.0).abs() < 1e-9);
    assert!(percentile_ms(&[], 0.5).abs() < 1e-9);
}

fn answers() -> impl Strategy<Value = Vec<QueryAnswer>> {
    let judged = (1_u32..4, proptest::option::of(1_usize..15));
    let one = proptest::collection::vec(judged, 0..6).prop_map(|judged| answer(&judged));
    proptest::collection::vec(one, 1..30)
}

proptest! {
    #[test]
    fn the_order_of_queries_changes_nothing(answers in answers(), turn in 0_usize..30) {
        let mut turned = answers.clone();
        let middle = turn % turned.len();
        turned.rotate_left(middle);
        for measure in Measure::ALL {
            let means = [&answers, &turned].map(|list| measure.mean(&list.iter().collect::<Vec<_>>()));
            match means {
                [Some(one), Some(other)] => prop_assert!((one - other).abs() < 1e-9),
                [one, other] => prop_assert_eq!(one, other),
            }
        }
    }

    #[test]
    fn a_perfect_ranking_is_one_and_nothing_is_more(grades in proptest::collection::vec(1_u32..4, 1..5)) {
        let mut sorted = grades;
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let judged: Vec<_> = sorted.iter().zip(1..).map(|(grade, rank)| (*grade, Some(rank))).collect();
        let perfect = answer(&judged);
        for measure in [Measure::Recall5, Measure::Recall10, Measure::Hit1, Measure::Mrr, Measure::Ndcg10] {
            prop_assert!((measure.value(&perfect).unwrap() - 1.0).abs() < 1e-9, "{:?}", measure);
        }
    }

    #[test]
    fn shares_lie_between_nothing_and_one(answers in answers()) {
        for answer in &answers {
            let is_share = |measure: &Measure| ![Measure::Tokens, Measure::Full].contains(measure);
            for measure in Measure::ALL.into_iter().filter(is_share) {
                // No two documents share a rank, and nDCG is at most one only for distinct ranks.
                let mut ranks: Vec<_> = answer.relevant.iter().filter_map(|judged| judged.rank).collect();
                ranks.sort_unstable();
                let is_possible = ranks.windows(2).all(|pair| pair[0] != pair[1]);
                if is_possible && let Some(value) = measure.value(answer) {
                    prop_assert!((0.0..=1.0 + 1e-9).contains(&value), "{:?} {}", measure, value);
                }
            }
        }
    }
}
