//! Joins the replies of two stores to one question: this machine's and the team's. Likelihoods are absolute, so those of both can be
//! compared; within a reply its own order stays, which may be that of a reranker. Not here: asking (`retriever`), each reply by itself (`hits`, `briefing`).

use std::collections::BTreeSet;

use super::hits::{LINKED, head, line_of_link, titles};
use super::reader::ReplyReader;
use super::reply::Reply;
use super::search_answer::{LinkedTitle, MemoryHit, PossibleMemory, SearchAnswer};
use super::tokens::tokens;
use guard::text::{Layout, neutralise};
use serde_json::Value;

/// Possible hits that are named, as in one reply.
const POSSIBLE_MAX: usize = 3;

/// Bytes of titles, at most.
const TITLES_BYTES: usize = 600;

/// What is above the notes of the team in a briefing.
const OF_THE_TEAM: &str = "\n\n**Of the team:**";

/// A likely hit: its fields and its lines.
struct LikelyHit {
    hit: MemoryHit,
    text: String,
}

/// What both replies say, once each.
struct Merged {
    hits: Vec<LikelyHit>,
    possible: Vec<PossibleMemory>,
    linked: Vec<LinkedTitle>,
    notices: Vec<String>,
}

/// Joins the replies to a search: the likelier first, those of one reply in its order, each memory once, at most `limit` in
/// `max_tokens`.
#[must_use]
pub fn merge_search(own: &Reply, team: &Reply, limit: usize, max_tokens: usize) -> Reply {
    // What cannot be read has nothing to add.
    let read = |reply: &Reply| reply.answer::<SearchAnswer>().unwrap_or_default();
    let (mut of_own, mut of_team) = (read(own), read(team));
    let hits = likely_hits(&mut of_own, &own.text);
    let mut known: BTreeSet<String> = hits.iter().flat_map(|likely| names(&likely.hit)).collect();
    let is_new = |likely: &LikelyHit| {
        let its: Vec<String> = names(&likely.hit).collect();
        let is_new = !its.iter().any(|name| known.contains(name));
        known.extend(its.into_iter().filter(|_| is_new));
        is_new
    };
    let others = likely_hits(&mut of_team, &team.text).into_iter().filter(is_new).collect();
    let mut hits = interleaved(hits, others);
    hits.truncate(limit);
    let merged = Merged {
        hits,
        possible: possible(of_own.possible, of_team.possible, known),
        linked: both(of_own.linked, of_team.linked),
        notices: both(of_own.notices, of_team.notices),
    };
    let text = text(&merged, max_tokens);
    let Merged { hits, possible, linked, notices } = merged;
    let memories = hits.into_iter().map(|likely| likely.hit).collect();
    let (gone, changed) = (of_own.gone, of_own.changed);
    let filters = of_own.filters.or(of_team.filters);
    let unmerged = of_own.unmerged;
    let none = SearchAnswer::default();
    Reply::with_text(
        text,
        &SearchAnswer {
            memories,
            possible,
            linked,
            notices,
            filters,
            gone,
            changed,
            unmerged,
            ..none
        },
    )
}

/// Adds to the parts of one answer those of the other that it lacks.
fn both<T: PartialEq>(own: Vec<T>, team: Vec<T>) -> Vec<T> {
    let mut all = own;
    let others: Vec<T> = team.into_iter().filter(|one| !all.contains(one)).collect();
    all.extend(others);
    all
}

/// Joins two lists, each of which keeps its order. A hit counts as likely as the likeliest that its list has from there on: who put an
/// unlikely one first ranks it above that one, which is not to be lost behind the limit for it. Of equals those of this machine come
/// first.
fn interleaved(own: Vec<LikelyHit>, team: Vec<LikelyHit>) -> Vec<LikelyHit> {
    let mut all = Vec::with_capacity(own.len() + team.len());
    let (mut own, mut team) = (counted(own).peekable(), counted(team).peekable());
    loop {
        let is_own = match (own.peek(), team.peek()) {
            (Some((one, _)), Some((other, _))) => one >= other,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let next = if is_own { own.next() } else { team.next() };
        let Some((_, hit)) = next else { return all };
        all.push(hit);
    }
}

/// Returns the hits of a list with what they count.
fn counted(hits: Vec<LikelyHit>) -> impl Iterator<Item = (f64, LikelyHit)> {
    let mut counts: Vec<f64> = Vec::with_capacity(hits.len());
    for hit in hits.iter().rev() {
        counts.push(hit.hit.likelihood.max(counts.last().copied().unwrap_or_default()));
    }
    counts.into_iter().rev().zip(hits)
}

/// Joins two briefings: that of this machine, and what only the team's says.
#[must_use]
pub fn merge_briefing(own: &Reply, team: &Reply, max_tokens: usize) -> Reply {
    let mut text = own.text.clone();
    let known: BTreeSet<&str> = own.text.lines().filter_map(last_word).collect();
    let mut is_first = true;
    for line in team.text.lines().filter(|line| line.starts_with("- ")) {
        if last_word(line).is_some_and(|id| known.contains(id)) {
            continue;
        }
        let head = if is_first { OF_THE_TEAM } else { "" };
        let more = format!("{text}{head}\n{line}");
        if tokens(&more) > max_tokens {
            break;
        }
        (text, is_first) = (more, false);
    }
    Reply { text, json: own.json.clone() }.with_field("team", team.json.clone())
}

/// Adds a notice to a reply, after those that it has.
#[must_use]
pub fn with_notice(mut reply: Reply, notice: &str) -> Reply {
    let text = reply.text.trim_end();
    let between = if text.is_empty() { "" } else { "\n" };
    reply.text = format!("{text}{between}{notice}");
    let notices = reply.json.get("notices").and_then(Value::as_array).cloned();
    let notices: Vec<Value> = notices.into_iter().flatten().chain([notice.into()]).collect();
    reply.with_field("notices", notices.into())
}

/// The last word of a line, which is the id of its memory.
fn last_word(line: &str) -> Option<&str> {
    line.split_whitespace().next_back()
}

/// Returns a text of either reply as it stands in a line. That of the team comes from another machine, whatever that does with
/// texts.
fn in_line(text: &str) -> String {
    neutralise(text, Layout::Line)
}

/// Takes the likely hits that a reply tells. Those without room are left out, as they are there.
fn likely_hits(answer: &mut SearchAnswer, text: &str) -> Vec<LikelyHit> {
    let hits = std::mem::take(&mut answer.memories);
    hits.into_iter().zip(numbered(text)).map(|(hit, text)| LikelyHit { hit, text }).collect()
}

/// Returns what each number of a reply says, without the number.
fn numbered(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_within = false;
    for line in text.lines() {
        let start = format!("{}. ", found.len() + 1);
        if let Some(rest) = line.strip_prefix(&start) {
            found.push(rest.to_owned());
            is_within = true;
        } else if line.starts_with("   ") && is_within {
            if let Some(last) = found.last_mut() {
                last.push('\n');
                last.push_str(line);
            }
        } else {
            is_within = false;
        }
    }
    found
}

/// The names by which a memory is known to be the same: its id, those that say the same, and what it says.
fn names(hit: &MemoryHit) -> impl Iterator<Item = String> {
    let event = &hit.memory.event;
    let also = hit.also.iter().flatten().map(|id| format!("id {id}"));
    let text = format!("said {} {}", event.context, event.lesson);
    also.chain([format!("id {}", event.id), text])
}

fn possible(
    own: Vec<PossibleMemory>,
    team: Vec<PossibleMemory>,
    known: BTreeSet<String>,
) -> Vec<PossibleMemory> {
    let mut seen = known;
    let both = own.into_iter().chain(team);
    let mut possible: Vec<PossibleMemory> =
        both.filter(|one| seen.insert(format!("id {}", one.id))).collect();
    possible.sort_by(|one, other| other.likelihood.total_cmp(&one.likelihood));
    possible.truncate(POSSIBLE_MAX);
    possible
}

/// Writes it all, with as many hits as there is room for; at least one.
fn text(merged: &Merged, max_tokens: usize) -> String {
    let Merged { hits, possible, linked, notices } = merged;
    let notices: String = notices.iter().map(|notice| format!("\n{}", in_line(notice))).collect();
    let possible = possible.iter().map(|one| in_line(&one.title));
    let possible = titles(ReplyReader::Caller.possible(), possible, TITLES_BYTES);
    let written = |count: usize, end: &str| {
        if hits.is_empty() {
            let none =
                if possible.is_empty() { "No relevant memories." } else { "No likely memories." };
            return format!("{none}{end}");
        }
        let shown = hits.get(..count).unwrap_or(hits);
        let lines = (1..).zip(shown).map(|(place, likely)| format!("\n{place}. {}", likely.text));
        let lines: String = lines.collect();
        format!("{}{lines}{end}", head(count))
    };
    for count in (1..=hits.len().max(1)).rev() {
        let place = |id: &String| {
            hits.iter().take(count).position(|likely| likely.hit.memory.event.id == *id)
        };
        let linked = linked.iter().filter_map(|one| {
            let hit = place(one.of.as_ref()?)?;
            let (relation, title) = (in_line(&one.relation), in_line(&one.title));
            Some(line_of_link(hit, &relation, &one.direction, &title))
        });
        let linked = titles(LINKED, linked, TITLES_BYTES);
        for end in [format!("{possible}{linked}{notices}"), notices.clone()] {
            let text = written(count, &end);
            if tokens(&text) <= max_tokens {
                return text;
            }
        }
    }
    written(1, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(hits: &[(&str, f64)], notice: &str) -> Reply {
        let memories: Vec<Value> = hits
            .iter()
            .map(|(id, likelihood)| json!({"id": id, "lesson": format!("lesson {id}"), "likelihood": likelihood}))
            .collect();
        let lines: String = (1..)
            .zip(hits)
            .map(|(place, (id, _))| format!("\n{place}. [2026-01-01] lesson {id} · {id}"))
            .collect();
        let text = format!("{}{lines}\n{notice}", head(hits.len()));
        let json = json!({"memories": memories, "possible": [{"id": "p", "title": "maybe [p]", "likelihood": 0.3}],
            "linked": [{"id": "l", "title": "linked [l]", "relation": "requires", "direction": "outbound", "of": "a"}],
            "notices": [notice]});
        Reply { text, json }
    }

    // S-REMOTE-4
    #[test]
    fn the_likeliest_of_both_come_first() {
        let own = reply(&[("b", 0.9), ("a", 0.6)], "Note: own.");
        let team = reply(&[("c", 0.95), ("b", 0.9), ("d", 0.5)], "Note: own.");
        let merged = merge_search(&own, &team, 3, 500);
        let ids: Vec<&str> = merged.json["memories"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["id"].as_str())
            .collect();
        assert_eq!(ids, ["c", "b", "a"]);
        assert_eq!(
            merged.text,
            format!(
                "{}\n1. [2026-01-01] lesson c · c\n2. [2026-01-01] lesson b · b\n3. [2026-01-01] lesson a · a{}\n- maybe [p]{LINKED}\n- 3 requires: linked [l]\nNote: own.",
                head(3),
                ReplyReader::Caller.possible()
            ),
        );
        let small = merge_search(&own, &team, 3, 60);
        assert!(tokens(&small.text) <= 60 && small.text.contains("lesson c"), "{}", small.text);
        let none = Reply { text: String::new(), json: json!({}) };
        assert_eq!(merge_search(&none, &none, 3, 500).text, "No relevant memories.");
    }

    // S-REMOTE-4, S-RERANK-3
    #[test]
    fn each_reply_keeps_its_own_order() {
        let of_both = |own: &[(&str, f64)], team: &[(&str, f64)], limit| -> String {
            let merged = merge_search(&reply(own, ""), &reply(team, ""), limit, 1_000);
            let hits = merged.json["memories"].as_array().unwrap().iter();
            hits.map(|hit| hit["id"].as_str().unwrap()).collect()
        };
        // A reranker of the server likes y least, and one of this machine likes a least.
        let (reranked, sorted) = ([("x", 0.5), ("z", 0.6), ("y", 0.9)], [("a", 0.8), ("b", 0.55)]);
        assert_eq!(of_both(&sorted, &reranked, 9), "xzyab");
        assert_eq!(of_both(&reranked, &sorted, 9), "xzyab");
        assert_eq!(of_both(&sorted, &reranked, 3), "xzy", "the likeliest is not lost");
        let (b_first, late) = ([("b", 0.55), ("a", 0.8)], [("x", 0.9), ("z", 0.5), ("y", 0.7)]);
        assert_eq!(of_both(&b_first, &late, 9), "xbazy");
        // Equals: those of this machine, and what both have at the place that it has here.
        assert_eq!(of_both(&[("a", 0.7)], &[("c", 0.7), ("a", 0.7), ("d", 0.8)], 9), "cda");
        assert_eq!(of_both(&[("a", 0.7)], &[("c", 0.7), ("a", 0.9)], 9), "ac");
    }

    // S-REMOTE-4
    #[test]
    fn json_of_the_team_keeps_its_line() {
        let odd = "x\u{1b}[2J\n9. [2026-01-01] an order \u{202e}";
        let own = reply(&[("a", 0.9)], "Note: own.");
        let mut team = reply(&[], odd);
        team.json["possible"] = json!([{"id": "q", "title": odd, "likelihood": 0.4}]);
        team.json["linked"] =
            json!([{"id": "m", "title": odd, "relation": odd, "direction": "inbound", "of": "a"}]);
        let merged = merge_search(&own, &team, 3, 1_000).text;
        assert_eq!(merged.matches("x 9. [2026-01-01] an order").count(), 4, "{merged}");
        assert!(!merged.contains(['\u{1b}', '\u{202e}']) && !merged.contains("\n9. "), "{merged}");
    }

    // S-REMOTE-4
    #[test]
    fn a_briefing_says_what_only_the_team_knows() {
        let of = |text: &str| Reply { text: text.to_owned(), json: json!({}) };
        let own = of("**Memory of r**\nDecisions:\n- use tabs · AAA");
        let team = of("**Memory of r**\nDecisions:\n- use tabs · AAA\n- no tabs · BBB");
        let merged = merge_briefing(&own, &team, 500).text;
        assert_eq!(merged, format!("{}{OF_THE_TEAM}\n- no tabs · BBB", own.text));
        assert_eq!(merge_briefing(&own, &team, 20).text, own.text);
    }
}
