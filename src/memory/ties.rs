//! The links of a memory, from its link and unlink events: the latest event decides each edge. It
//! is a function of the set of events, like all of the fold. Not here: the graph of edges
//! (`search::links`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Version;
use super::lifecycle::{DiscountedAuthors, LatestValue};
use super::voices::{OnlyOrigin, changes};
use event::{Link, MemoryChange, Node, Relation, RepoKey, Timestamp, is_code};

/// A link that is in force, without its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    /// Its repository; a place in code belongs to it.
    pub repo: RepoKey,
    /// When it was last declared.
    pub since: Option<Timestamp>,
    /// The link.
    pub link: Link,
}

/// The key of an edge of one source. The same place in code in two repositories is two edges.
type Edge = (Option<RepoKey>, Node, Relation);

/// Returns the edges of one memory (`of` is its only origin, if it has one) or one place in code, sorted by repository, target and relation.
/// `about` must be sorted by id. Of several contents under one id the first counts; of
/// contradicting events the latest, by time and then by id; events of discounted authors do not
/// count. With `until`, later events do not count, except for links that state the time from which they hold: these
/// tell of the past.
#[must_use]
pub fn ties(about: &[Arc<Version>], of: OnlyOrigin<'_>, until: Option<Timestamp>) -> Vec<Tie> {
    let mut edges: BTreeMap<Edge, LatestValue<'_, Option<(RepoKey, Link)>>> = BTreeMap::new();
    let mut events = changes(about, of);
    events.retain(|(version, change)| {
        let is_known = version.event.timestamp.zip(until).is_none_or(|(at, until)| at <= until);
        is_known || states_when_it_holds(change)
    });
    let discounted = DiscountedAuthors::by(&events);
    for (version, change) in events {
        let event = &version.event;
        let (target, relation, link) = match change {
            MemoryChange::Link(link) => (link.target.clone(), link.relation, Some(link)),
            MemoryChange::Unlink { target, relation } => (target, relation, None),
            _ => continue,
        };
        if discounted.voids(event) {
            continue;
        }
        let is_of_code = event.memory_id.as_ref().is_some_and(is_code);
        let repo = is_of_code.then(|| version.repo.clone());
        let link = link.map(|link| (version.repo.clone(), link));
        edges
            .entry((repo, target, relation))
            .or_default()
            .offer((event.timestamp, &event.id), link);
    }
    let latest = edges.into_values().filter_map(|latest| latest.0);
    latest
        .filter_map(|((since, _), link)| link.map(|(repo, link)| Tie { repo, since, link }))
        .collect()
}

fn states_when_it_holds(change: &MemoryChange) -> bool {
    matches!(change, MemoryChange::Link(link) if link.valid_from.is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::LinePlace;
    use super::super::sample::fold;
    use super::*;
    use event::{DecodedLine, codec};

    /// The edges of a memory, and of a place in code.
    fn folded(lines: &[Value]) -> (Vec<Tie>, Vec<Tie>) {
        let frozen = fold(lines).frozen();
        let of_memory = frozen
            .memories()
            .iter()
            .flat_map(|memory| ties(memory.about(), memory.only_origin(), None));
        let of_code = frozen.orphans().flat_map(|(_, about)| ties(about, None, None));
        (of_memory.collect(), of_code.collect())
    }

    fn memory() -> Value {
        json!({"id": "m1", "repo": "api", "event_type": "error", "lesson": "x"})
    }

    fn line_about(number: usize, minute: usize, event: &Value) -> Value {
        let mut line = json!({"id": format!("e{number:02}"), "memory_id": "m1", "repo": "api",
            "timestamp": format!("2026-01-02T00:{minute:02}:00Z")});
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        line
    }

    fn link(relation: &str, target: &str, strength: f64) -> Value {
        json!({"event_type": "link", "relation": relation, "target": target, "strength": strength})
    }

    // S-LINK-3
    #[test]
    fn the_latest_event_decides_an_edge() {
        let unlink = json!({"event_type": "unlink", "relation": "related_to", "target": "m2"});
        let tied = |events: &[Value]| {
            let events = events.iter().enumerate().map(|(at, event)| line_about(at, at, event));
            let (of_memory, _) =
                folded(&std::iter::once(memory()).chain(events).collect::<Vec<_>>());
            of_memory
                .iter()
                .map(|tie| {
                    format!(
                        "{} {} {}",
                        tie.link.relation.as_str(),
                        tie.link.target,
                        tie.link.strength.share()
                    )
                })
                .collect::<Vec<_>>()
        };
        let (weak, strong) = (link("relates_to", "m2", 0.1), link("related_to", "m2", 0.9));
        assert_eq!(tied(&[weak.clone(), strong.clone()]), ["related_to m2 0.9"], "one edge");
        assert_eq!(tied(&[strong.clone(), unlink.clone()]), Vec::<String>::new());
        assert_eq!(tied(&[unlink.clone(), weak.clone()]), ["related_to m2 0.1"]);
        let others = [strong, link("calls", "m2", 0.5), link("related_to", "m3", 0.5), unlink];
        assert_eq!(tied(&others), ["calls m2 0.5", "related_to m3 0.5"].map(str::to_owned));
    }

    // S-LIFE-10
    #[test]
    fn links_of_discounted_authors_do_not_count() {
        let by = |who: &str, event: &Value| {
            let mut event = event.clone();
            event["agent_id"] = who.into();
            event
        };
        let discount = json!({"event_type": "discount", "of_agent": "mallory"});
        let events = [
            by("mallory", &link("calls", "m2", 0.5)),
            by("bob", &link("calls", "m3", 0.5)),
            by("mallory", &json!({"event_type": "unlink", "relation": "calls", "target": "m3"})),
            by("bob", &discount),
        ];
        for source in ["m1", "code:src/a.rs"] {
            let events = events.iter().enumerate().map(|(at, event)| {
                let mut line = line_about(at, at, event);
                line["memory_id"] = source.into();
                line
            });
            let lines: Vec<Value> = std::iter::once(memory()).chain(events).collect();
            let (mut left, of_code) = folded(&lines);
            left.extend(of_code);
            let targets: Vec<String> = left.iter().map(|tie| tie.link.target.to_string()).collect();
            assert_eq!(targets, ["m3"], "of {source}");
        }
    }

    // S-LINK-3
    #[test]
    fn later_events_do_not_count_before_their_time() {
        let events = [
            link("calls", "m2", 0.5),
            json!({"event_type": "unlink", "relation": "calls", "target": "m2"}),
        ];
        let lines: Vec<Value> =
            events.iter().enumerate().map(|(at, event)| line_about(at, at * 10, event)).collect();
        let versions = versions(&lines);
        let at = |text: &str| ties(&versions, None, Some(text.parse().unwrap())).len();
        assert_eq!(at("2026-01-01T23:00:00Z"), 0);
        assert_eq!(at("2026-01-02T00:05:00Z"), 1);
        assert_eq!(at("2026-01-02T00:10:00Z"), 0);
    }

    fn versions(lines: &[Value]) -> Vec<Arc<Version>> {
        lines
            .iter()
            .map(|line| match codec::decode(line.to_string().as_bytes(), "api") {
                DecodedLine::Event(event) => {
                    let repo = event.repo_key();
                    Arc::new(Version::new(*event, repo, LinePlace::own("a", 0)))
                }
                other => panic!("{other:?}"),
            })
            .collect()
    }

    // S-LINK-9
    #[test]
    fn a_link_told_later_of_an_earlier_time_counts_then() {
        let mut told = link("depends_on", "m2", 0.5);
        told["valid_from"] = "2025-12-01T00:00:00Z".into();
        told["valid_to"] = "2025-12-31T00:00:00Z".into();
        let versions = versions(&[line_about(1, 10, &told)]);
        let then: Timestamp = "2025-12-24T00:00:00Z".parse().unwrap();
        assert_eq!(ties(&versions, None, Some(then)).len(), 1);
        let of_no_time = [line_about(1, 10, &link("depends_on", "m2", 0.5))];
        assert!(ties(&self::versions(&of_no_time), None, Some(then)).is_empty());
    }

    // S-LINK-2
    #[test]
    fn the_same_path_in_two_repositories_is_two_places() {
        let mut one = link("imports", "code:src/b.rs", 0.5);
        one["memory_id"] = "code:src/a.rs".into();
        let mut other = line_about(2, 2, &one);
        other["repo"] = "web".into();
        let (_, of_code) = folded(&[line_about(1, 1, &one), other]);
        let repos: Vec<&str> = of_code.iter().map(|tie| tie.repo.as_str()).collect();
        assert_eq!(repos, ["api", "web"]);
    }

    fn any_event() -> impl Strategy<Value = Value> {
        let relation =
            prop::sample::select(vec!["related_to", "relates_to", "calls", "part_of", "adores"]);
        let target = prop::sample::select(vec!["m2", "m3", "code:src/a.rs"]);
        let source = prop::sample::select(vec!["m1", "code:src/b.rs"]);
        let kind = prop::sample::select(vec!["link", "unlink", "feedback"]);
        (relation, target, source, kind, 0_u8..3, prop::sample::select(vec!["api", "web"])).prop_map(
            |(relation, target, source, kind, strength, repo)| {
                json!({"event_type": kind, "relation": relation, "target": target, "memory_id": source,
                    "strength": f64::from(strength) / 2.0, "verdict": "worked", "repo": repo})
            },
        )
    }

    proptest! {
        // S-LINK-3
        #[test]
        fn order_repetition_and_merge_keep_the_edges(
            events in prop::collection::vec((any_event(), 0_usize..5), 0..14),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..40)
        ) {
            let events = events.iter().enumerate().map(|(number, (event, minute))| line_about(number, *minute, event));
            let lines: Vec<Value> = std::iter::once(memory()).chain(events).collect();
            let expected = folded(&lines);
            let mut mixed: Vec<Value> = order.iter().map(|place| place.get(&lines).clone()).collect();
            mixed.extend(lines.iter().skip(1).step_by(2).rev().cloned());
            mixed.extend(lines.iter().rev().cloned());
            prop_assert_eq!(folded(&mixed), expected);
        }
    }
}
