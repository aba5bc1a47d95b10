//! Groups the searches that found nothing: similar queries are one gap in the knowledge. Pure. Not here: the log of
//! queries.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use petgraph::unionfind::UnionFind;

use event::Timestamp;

/// The least share of common words of two queries in one gap (Jaccard index).
const SHARED_MIN: f64 = 0.35;

/// A query that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedQuery {
    /// Its time.
    pub at: Timestamp,
    /// The caller's repository, if any.
    pub repo: Option<String>,
    /// Its text.
    pub query: String,
}

/// Similar queries that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeGap {
    /// The number of queries.
    pub count: usize,
    /// The latest query.
    pub query: String,
    /// Its time.
    pub last: Timestamp,
    /// The repositories of the callers.
    pub repos: BTreeSet<String>,
}

/// Groups queries, the most frequent first, then the latest.
#[must_use]
pub fn group_queries(askings: &[LoggedQuery], limit: usize) -> Vec<KnowledgeGap> {
    let words: Vec<BTreeSet<String>> = askings.iter().map(|asking| words(&asking.query)).collect();
    let mut joined: UnionFind<usize> = UnionFind::new(askings.len());
    for (at, one) in words.iter().enumerate() {
        for (other, also) in words.iter().enumerate().skip(at + 1) {
            if !joined.equiv(at, other) && shared(one, also) >= SHARED_MIN {
                joined.union(at, other);
            }
        }
    }
    let mut gaps: Vec<(usize, KnowledgeGap)> = Vec::new();
    for (place, asking) in askings.iter().enumerate() {
        let group = joined.find(place);
        let known = gaps.iter().position(|(other, _)| *other == group);
        let gap = match known.and_then(|known| gaps.get_mut(known)) {
            Some((_, gap)) => gap,
            None => {
                let gap = KnowledgeGap {
                    count: 0,
                    query: String::new(),
                    last: Timestamp::MIN,
                    repos: BTreeSet::new(),
                };
                gaps.push((group, gap));
                let Some((_, gap)) = gaps.last_mut() else { continue };
                gap
            }
        };
        gap.count += 1;
        gap.repos.extend(asking.repo.clone());
        if asking.at >= gap.last {
            (gap.last, gap.query) = (asking.at, asking.query.clone());
        }
    }
    let mut gaps: Vec<KnowledgeGap> = gaps.into_iter().map(|(_, gap)| gap).collect();
    gaps.sort_by_key(|gap| (Reverse(gap.count), Reverse(gap.last), gap.query.clone()));
    gaps.truncate(limit);
    gaps
}

fn words(query: &str) -> BTreeSet<String> {
    let words = query.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn shared(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let both = one.intersection(other).count();
    let all = one.len() + other.len() - both;
    // Words of a query: an f64 holds their number exactly.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(second: i64, repo: &str, query: &str) -> LoggedQuery {
        let at = Timestamp::from_second(second).unwrap();
        LoggedQuery { at, repo: Some(repo.to_owned()), query: query.to_owned() }
    }

    // S-ANALYZE-6
    #[test]
    fn queries_in_like_words_are_one_gap() {
        let askings = [
            asking(1, "api", "walrus build hangs"),
            asking(2, "web", "heron"),
            asking(9, "web", "Walrus build hangs on CI"),
            asking(4, "api", "why build walrus"),
            asking(5, "api", "..."),
            asking(6, "api", "!"),
        ];
        let gaps = group_queries(&askings, 9);
        let told: Vec<(usize, &str)> =
            gaps.iter().map(|gap| (gap.count, gap.query.as_str())).collect();
        assert_eq!(told, [(3, "Walrus build hangs on CI"), (1, "!"), (1, "..."), (1, "heron")]);
        assert_eq!(gaps[0].repos.len(), 2);
        assert_eq!(group_queries(&askings, 1).len(), 1);
    }
}
