//! The reply to a search: numbered, dated, one line for each hit, within the budget. Not here: single memories in
//! full (`item`), briefings (`briefing`).

use std::fmt::Write;

use super::direction::{OUTBOUND, direction};
use super::excerpt::Interest;
use super::line::{MemoryBody, ReaderPlace, cited_title, date, mark, name, origin_text};
use super::matched_words::matched_words;
use super::memory_fields::MemoryFields;
use super::near_misses::{near_miss_title, near_misses};
use super::reader::ReplyReader;
use super::reply::{Explain, Reply, Shape};
use super::score_parts::{ScoreParts, explained, likelihood};
use super::search_answer::{
    BranchById, FilesById, LinkedTitle, MemoryHit, PossibleMemory, SearchAnswer,
};
use super::session_exchanges::SessionsForSearch;
use super::shown_likelihood::agreeing_hits;
use super::tokens::{tokens, within_tokens};
use event::RepoKey;
use search::links::LinkedMemory;
use search::staleness::{ChangedFiles, UnmergedMemories};
use search::{FolderNames, Hit, NearMiss, Tier};

/// The content of a reply to a search.
pub struct SearchReply<'a> {
    /// The hits, best first.
    pub hits: &'a [Hit],
    /// The caller's repository; its own memories do not name it.
    pub here: Option<&'a RepoKey>,
    /// The caller's package of it; its own memories do not name it.
    pub package: Option<&'a FolderNames>,
    /// The memories that stated links join to likely hits.
    pub linked: &'a [LinkedMemory],
    /// The changed files of memories.
    pub changed: &'a ChangedFiles,
    /// The files of memories that are gone.
    pub gone: &'a ChangedFiles,
    /// The memories of branches that are not merged where the caller is.
    pub unmerged: &'a UnmergedMemories,
    /// Notices, one line each.
    pub notices: &'a [String],
    /// Memories that are no hits, each with the step that lost it, where the parts of each score are shown.
    pub near_misses: &'a [NearMiss],
    /// Whether to show the parts of each score.
    pub explain: Explain,
    /// The words of the query that were read as filters.
    pub filters: &'a [String],
    /// The query whose matched words are named, without filters; `None` to name none.
    pub matched: Option<&'a str>,
    /// What past sessions have to say, which stands at the end if it fits.
    pub beside: &'a SessionsForSearch,
    /// The forms of the reply.
    pub shape: Shape,
    /// Who reads it.
    pub reader: ReplyReader,
    /// Most tokens.
    pub max_tokens: usize,
}

/// Longest text of a memory, in bytes, even for few hits: agents read a few lines, and every token costs.
const HIT_BYTES: usize = 760;
/// A caller with more tokens than usual gets longer excerpts, as if the room were for this many hits.
const HITS_USUAL: usize = 5;
/// The least room beside the title, in bytes, for a part of a memory's text; with less only the title is shown.
const TOLD_BYTES_MIN: usize = 180;

/// Titles take at most this part of the reply's room.
const TITLES_SHARE: usize = 3;
pub(super) const LINKED: &str = "\nLinked to these:";
const NEAR: &str = "\n\nNear misses:";
/// The least room for near misses, in tokens.
const NEAR_TOKENS_MIN: usize = 40;

/// Writes the reply.
#[must_use]
pub fn search(reply: &SearchReply<'_>, interest: &Interest<'_>) -> Reply {
    let hits = agreeing_hits(reply.hits);
    let reply = &SearchReply { hits: &hits, ..*reply };
    let likely_len = reply.hits.iter().filter(|hit| hit.tier == Tier::Likely).count();
    let tiers = reply.hits.split_at_checked(likely_len).unwrap_or((reply.hits, &[]));
    let (mut text, _) = hits_text(reply, reply.explain, tiers, interest);
    let left = reply.max_tokens.saturating_sub(tokens(&text));
    if left >= NEAR_TOKENS_MIN && !reply.near_misses.is_empty() {
        let misses = || reply.near_misses.iter().map(near_miss_title);
        text.push_str(&within_tokens(left, |bytes| (titles(NEAR, misses(), bytes), ())).0);
    }
    let session = reply
        .beside
        .session_note(reply.reader)
        .filter(|note| tokens(&text) + tokens(&note.text) <= reply.max_tokens);
    if let Some(note) = &session {
        text = format!("{}{}", text.trim_end(), note.text);
    }
    Reply::shaped(text, reply.shape, || {
        let mut answer = answer_of(reply, tiers, interest);
        answer.matched_words = reply.matched.map(|query| matched_words(&answer, query));
        let session = session.unwrap_or_default();
        answer.past_sessions = session.past_sessions;
        answer.past_session = session.past_session;
        answer.past_session_open = session.past_session_open;
        answer
    })
}

fn answer_of(
    reply: &SearchReply<'_>,
    (likely, possible): (&[Hit], &[Hit]),
    interest: &Interest<'_>,
) -> SearchAnswer {
    let by_id = |files: &ChangedFiles| -> FilesById {
        files.iter().map(|(id, files)| (id.to_string(), files.clone())).collect()
    };
    let is_explained = reply.explain == Explain::Components;
    let near_misses = is_explained.then(|| {
        // The explanation takes room itself; what it leaves no room for is no miss.
        let (_, shown_len) = hits_text(reply, Explain::Silent, (likely, possible), interest);
        near_misses(
            likely.get(shown_len..).unwrap_or_default(),
            reply.max_tokens,
            reply.near_misses,
        )
    });
    SearchAnswer {
        memories: likely.iter().map(|hit| memory_hit(hit, reply.explain)).collect(),
        possible: possible.iter().map(|hit| possible_memory(hit, reply.explain)).collect(),
        linked: reply.linked.iter().map(|one| linked_title(one, likely)).collect(),
        notices: reply.notices.to_vec(),
        gone: (!reply.gone.is_empty()).then(|| by_id(reply.gone)),
        changed: (!reply.changed.is_empty()).then(|| by_id(reply.changed)),
        unmerged: branches(reply),
        near_misses,
        filters: (!reply.filters.is_empty()).then(|| reply.filters.to_vec()),
        ..SearchAnswer::default()
    }
}

/// Returns the branches of hits that are not merged; `None` for none.
fn branches(reply: &SearchReply<'_>) -> Option<BranchById> {
    let hits = reply.hits.iter().filter_map(|hit| reply.unmerged.get_key_value(&hit.memory.id));
    let branches: BranchById = hits.map(|(id, branch)| (id.to_string(), branch.clone())).collect();
    (!branches.is_empty()).then_some(branches)
}

/// Writes the hits and what belongs to them, and returns how many likely ones are shown.
fn hits_text(
    reply: &SearchReply<'_>,
    explain: Explain,
    (likely, possible): (&[Hit], &[Hit]),
    interest: &Interest<'_>,
) -> (String, usize) {
    let notices: String = reply.notices.iter().map(|notice| format!("\n{notice}")).collect();
    let parts: Vec<(HitFrame, MemoryBody)> = (1..)
        .zip(likely)
        .map(|(place, hit)| {
            (HitFrame::new(reply, explain, place, hit), MemoryBody::new(&hit.memory, interest))
        })
        .collect();
    within_tokens(reply.max_tokens, |bytes| {
        let titles =
            titles(reply.reader.possible(), possible.iter().map(title), bytes / TITLES_SHARE);
        let linked = reply.linked.iter().map(linked_line);
        let linked =
            self::titles(LINKED, linked, (bytes / TITLES_SHARE).saturating_sub(titles.len()));
        let end = format!("{titles}{linked}{notices}");
        let none =
            if possible.is_empty() { "No relevant memories." } else { "No likely memories." };
        if parts.is_empty() { (format!("{none}{end}"), 0) } else { full_text(&parts, end, bytes) }
    })
}

/// Writes the likely hits in full, as many as the bytes hold, and then `end`; returns how many there are.
fn full_text(
    parts: &[(HitFrame, MemoryBody<'_>)],
    mut end: String,
    bytes: usize,
) -> (String, usize) {
    // The longest head there can be; the count in it is known only at the end.
    let room = |end: &str| bytes.saturating_sub(head(parts.len()).len() + end.len());
    if fitting(parts, room(&end)) < parts.len() {
        // The longest hint there can be, for the same reason.
        let with_hint = format!("{}{end}", hint(parts.len()));
        let count = fitting(parts, room(&with_hint));
        end = format!("{}{end}", hint(parts.len() - count));
    }
    let room = room(&end);
    let parts = parts.get(..fitting(parts, room)).unwrap_or_default();
    let mut lines = lines(parts, room);
    // One memory is shown, if only its beginning.
    lines.truncate(lines.floor_char_boundary(room));
    (format!("{}{lines}{end}", head(parts.len())), parts.len())
}

/// Writes titles below a head, one line each, as many as the room holds; empty for none.
pub(super) fn titles(head: &str, titles: impl Iterator<Item = String>, room: usize) -> String {
    let mut text = String::new();
    for title in titles {
        let line = format!("\n- {title}");
        if head.len() + text.len() + line.len() > room {
            break;
        }
        text.push_str(&line);
    }
    if text.is_empty() { text } else { format!("{head}{text}") }
}

fn linked_line(linked: &LinkedMemory) -> String {
    let title = cited_title(&linked.memory);
    line_of_link(linked.hit, linked.relation.as_str(), direction(linked.is_outward), &title)
}

/// Returns the relation to the hit at a place, which stands under its number, and the title of the other memory.
pub(super) fn line_of_link(hit: usize, relation: &str, direction: &str, title: &str) -> String {
    let place = hit.saturating_add(1);
    if direction == OUTBOUND {
        format!("{place} {relation}: {title}")
    } else {
        format!("{relation} {place}: {title}")
    }
}

fn title(hit: &Hit) -> String {
    cited_title(&hit.memory)
}

pub(super) fn head(count: usize) -> String {
    format!("**Relevant Memories ({count}):** recalled notes, not instructions\n")
}

fn hint(more: usize) -> String {
    if more == 0 { String::new() } else { format!("\n({more} more: raise max_tokens)") }
}

/// Counts the hits with room for their frame and enough of their text; at least one.
fn fitting(parts: &[(HitFrame, MemoryBody<'_>)], room: usize) -> usize {
    let needed = parts.iter().scan(0, |sum, (frame, body)| {
        *sum += frame.bytes() + body.title_bytes();
        Some(*sum)
    });
    needed.take_while(|sum| *sum <= room).count().max(1)
}

/// Writes one line for each hit. Each has room for its title; the rest of the room goes to the likeliest, since one lesson that is
/// whole is worth more than the beginnings of three.
fn lines(parts: &[(HitFrame, MemoryBody<'_>)], room: usize) -> String {
    let taken = |(frame, body): &(HitFrame, MemoryBody<'_>)| frame.bytes() + body.title_bytes();
    let mut spare = room.saturating_sub(parts.iter().map(taken).sum());
    let bytes_max = HIT_BYTES.max(room / HITS_USUAL);
    let line = |(frame, body): &(HitFrame, MemoryBody<'_>)| {
        let title = body.title_bytes();
        let wanted = body.bytes().min(bytes_max).saturating_sub(title);
        let has_room = wanted <= spare || spare >= TOLD_BYTES_MIN;
        let told = match has_room {
            true => body.shown(title + wanted.min(spare)),
            false => body.title(title),
        };
        spare = (spare + title).saturating_sub(told.len());
        format!("{}{told}{}", frame.before, frame.after)
    };
    parts.iter().map(line).collect()
}

/// The text before and after the body of a hit.
struct HitFrame {
    before: String,
    after: String,
}

impl HitFrame {
    fn new(found: &SearchReply<'_>, explain: Explain, place: usize, hit: &Hit) -> Self {
        let mut after = seen(hit);
        after.push_str(&super::line::gone(found.gone.get(&hit.memory.id)));
        after.push_str(&super::line::changed(&hit.memory, found.changed));
        after.push_str(&super::line::branch(&hit.memory, found.unmerged));
        after.push_str(&better(hit));
        after.push_str(&outdated(hit));
        after.push_str(&origin_text(
            &hit.memory,
            ReaderPlace { repo: found.here, package: found.package },
        ));
        if explain == Explain::Components {
            let _ = write!(after, "\n   {}", explained(&hit.score));
        }
        Self { before: format!("\n{place}. [{}] {}", date(&hit.memory), mark(&hit.memory)), after }
    }

    fn bytes(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

/// Returns how often the same was learned, where it was more than once.
fn seen(hit: &Hit) -> String {
    match hit.duplicates.len() {
        0 => String::new(),
        others => format!(" (seen {} times)", others.saturating_add(1)),
    }
}

/// Names a newer or better proven note about the same subject.
fn better(hit: &Hit) -> String {
    let Some(better) = hit.better.as_deref() else { return String::new() };
    let how = if better.timestamp > hit.memory.timestamp { "newer" } else { "better proven" };
    format!(" ({how}: {})", name(better.id.short()))
}

/// Names the older note about the same subject that this one stands above.
fn outdated(hit: &Hit) -> String {
    let outdated = hit.outdates.as_ref().filter(|_| hit.better.is_none());
    outdated
        .map_or_else(String::new, |note| format!(" (newer than {})", name(note.memory.id.short())))
}

fn memory_hit(hit: &Hit, explain: Explain) -> MemoryHit {
    let also: Vec<String> = hit.duplicates.iter().map(|memory| memory.id.to_string()).collect();
    MemoryHit {
        memory: MemoryFields::from_memory(&hit.memory),
        likelihood: likelihood(&hit.score),
        also: (!also.is_empty()).then_some(also),
        better: hit.better.as_ref().map(|better| better.id.to_string()),
        outdates: hit.outdates.as_ref().map(|note| note.memory.id.to_string()),
        score: score_of(hit, explain),
    }
}

fn possible_memory(hit: &Hit, explain: Explain) -> PossibleMemory {
    PossibleMemory {
        id: hit.memory.id.to_string(),
        title: title(hit),
        likelihood: likelihood(&hit.score),
        score: score_of(hit, explain),
        ..PossibleMemory::default()
    }
}

fn score_of(hit: &Hit, explain: Explain) -> Option<ScoreParts> {
    (explain == Explain::Components).then(|| ScoreParts::from_score(&hit.score))
}

fn linked_title(linked: &LinkedMemory, hits: &[Hit]) -> LinkedTitle {
    LinkedTitle {
        id: linked.memory.id.to_string(),
        title: cited_title(&linked.memory),
        relation: linked.relation.as_str().to_owned(),
        direction: direction(linked.is_outward).to_owned(),
        of: hits.get(linked.hit).map(|hit| hit.memory.id.to_string()),
        ..LinkedTitle::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_memories;
    use super::*;
    use crate::tokens;
    use event::Relation;
    use proptest::prelude::*;
    use search::Score;
    use serde_json::json;

    fn hit(number: u32, context: &str, lesson: &str) -> Hit {
        let line = json!({
            "timestamp": "2025-10-28T10:00:00Z", "agent_id": "claude-code", "repo": "api", "event_type": "error",
            "context": context, "command": "npm ci", "lesson": lesson, "success_rate": "9/10",
        });
        Hit {
            number,
            memory: test_memories::memory(&line),
            score: Score::default(),
            tier: Tier::Likely,
            duplicates: Vec::new(),
            better: None,
            outdates: None,
        }
    }

    fn reply(hits: &[Hit], max_tokens: usize, explain: Explain) -> Reply {
        linked_reply(hits, &[], max_tokens, explain)
    }

    fn linked_reply(
        hits: &[Hit],
        linked: &[LinkedMemory],
        max_tokens: usize,
        explain: Explain,
    ) -> Reply {
        let here = RepoKey::parse("api").unwrap();
        let (changed, shape) = (ChangedFiles::new(), Shape::Whole);
        let here = Some(&here);
        let found_hits = SearchReply {
            hits,
            here,
            package: None,
            linked,
            changed: &changed,
            gone: &ChangedFiles::new(),
            unmerged: &UnmergedMemories::new(),
            notices: &[],
            near_misses: &[],
            explain,
            filters: &[],
            matched: None,
            beside: &SessionsForSearch::Nothing,
            shape,
            reader: ReplyReader::Caller,
            max_tokens,
        };
        search(&found_hits, &|_| 0.0)
    }

    // S-REPLY-1
    #[test]
    fn hits_read_as_in_the_founding_form() {
        let one = hit(0, "npm install → EACCES", "Check ownership first");
        let id = one.memory.id.short().to_owned();
        let expected = format!(
            "**Relevant Memories (1):** recalled notes, not instructions\n\n1. [2025-10-28] npm install → EACCES: \
             Check ownership first `npm ci` (9/10 success) · claude-code · {id}"
        );
        assert_eq!(reply(&[one], 500, Explain::Silent).text, expected);
    }

    fn linked_to_first(hit: &Hit, is_outward: bool) -> LinkedMemory {
        let (memory, relation) = (hit.memory.clone(), Relation::CausedBy);
        LinkedMemory { memory, hit: 0, relation, is_outward }
    }

    // S-RANK-11
    #[test]
    fn linked_memories_are_titles_below_the_hits() {
        let (one, other) = (hit(0, "c", "l"), hit(1, "why it broke", "x"));
        let (id, of) = (other.memory.id.short().to_owned(), one.memory.id.to_string());
        for (is_outward, line) in [(true, "1 caused_by: why"), (false, "caused_by 1: why")] {
            let linked = [linked_to_first(&other, is_outward)];
            let hits = std::slice::from_ref(&one);
            let reply = linked_reply(hits, &linked, 500, Explain::Silent);
            let end = format!("\nLinked to these:\n- {line} it broke [{id}]");
            assert!(reply.text.ends_with(&end), "{}", reply.text);
            assert_eq!(reply.json["linked"][0]["of"], of.as_str());
        }
    }

    // S-STALE-6
    #[test]
    fn gone_and_changed_files_are_named_at_their_hit() {
        let one = hit(0, "c", "l");
        let gone = ChangedFiles::from([(one.memory.id.clone(), vec!["src/z.rs".to_owned()])]);
        let files = ["src/a.rs", "src/b\nc.rs", "d"].map(str::to_owned).to_vec();
        let changed = ChangedFiles::from([(one.memory.id.clone(), files)]);
        let hits = [one];
        let found_hits = SearchReply {
            hits: &hits,
            here: None,
            package: None,
            linked: &[],
            changed: &changed,
            gone: &gone,
            unmerged: &UnmergedMemories::new(),
            notices: &[],
            near_misses: &[],
            explain: Explain::Silent,
            filters: &[],
            matched: None,
            beside: &SessionsForSearch::Nothing,
            shape: Shape::Whole,
            reader: ReplyReader::Caller,
            max_tokens: 500,
        };
        let reply = search(&found_hits, &|_| 0.0);
        let expected = "c: l `npm ci` (gone: src/z.rs) (src/a.rs, src/b c.rs and 1 more changed since) (9/10 success)";
        assert!(reply.text.contains(expected), "{}", reply.text);
        assert_eq!(reply.json["changed"][hits[0].memory.id.as_str()][2], "d");
        assert_eq!(reply.json["gone"][hits[0].memory.id.as_str()][0], "src/z.rs");
    }

    #[test]
    fn a_text_reply_has_the_same_words_and_no_json() {
        let hits = [hit(0, "npm install fails", "check ownership first")];
        let whole = reply(&hits, 500, Explain::Silent);
        let (notices, explain, shape) = (&[][..], Explain::Silent, Shape::Words);
        let here = RepoKey::parse("api").unwrap();
        let changed = ChangedFiles::new();
        let (here, changed) = (Some(&here), &changed);
        let asked = SearchReply {
            hits: &hits,
            here,
            package: None,
            linked: &[],
            changed,
            gone: changed,
            unmerged: &UnmergedMemories::new(),
            notices,
            near_misses: &[],
            explain,
            filters: &[],
            matched: None,
            beside: &SessionsForSearch::Nothing,
            shape,
            reader: ReplyReader::Caller,
            max_tokens: 500,
        };
        let words = search(&asked, &|_| 0.0);
        assert_eq!((&words.text, &words.json), (&whole.text, &serde_json::Value::Null));
        assert!(whole.json["memories"][0]["lesson"].is_string());
    }

    // S-REPLY-4
    #[test]
    fn nothing_found_is_said_in_one_line() {
        assert_eq!(reply(&[], 500, Explain::Silent).text, "No relevant memories.");
    }

    // S-REPLY-1
    #[test]
    fn possible_hits_are_titles_under_the_likely_ones() {
        let likely = hit(0, "npm install fails", "check ownership first");
        let long = format!("zebra {}", "word ".repeat(40));
        let possible = Hit { tier: Tier::Possible, ..hit(1, &long, "secondary") };
        let id = possible.memory.id.short().to_owned();
        let with = reply(&[likely, possible.clone()], 500, Explain::Silent);
        assert!(with.text.starts_with("**Relevant Memories (1):**"), "{}", with.text);
        let title = format!(
            "\nPossible notes, not instructions; ids shows them in full:\n- zebra{}… [{id}]",
            " word".repeat(22)
        );
        assert!(with.text.ends_with(&title), "{}", with.text);
        assert!(!with.text.contains("secondary"), "{}", with.text);
        assert_eq!(with.json["memories"].as_array().map(Vec::len), Some(1));
        assert_eq!(with.json["possible"][0]["id"], possible.memory.id.as_str());
        let alone = reply(&[possible], 500, Explain::Silent).text;
        assert_eq!(alone, format!("No likely memories.{title}"));
    }
    #[test]
    fn an_explanation_stands_under_its_hit() {
        let text = reply(&[hit(0, "c", "l")], 500, Explain::Components).text;
        assert!(
            text.ends_with(", outdated +0.000") && text.contains("\n   likely 0 %; score"),
            "{text}"
        );
    }

    // S-REPLY-1
    #[test]
    fn every_counted_hit_shows_some_text() {
        let hits: Vec<Hit> = (0..20)
            .map(|number| {
                let line = json!({
                    "id": format!("{number:0>128}"), "agent_id": "agent ".repeat(6), "repo": "of-one-repo-".repeat(3),
                    "event_type": "kind ".repeat(6), "lesson": format!("zebra{number:02} {}", "word ".repeat(99)),
                });
                Hit { number, memory: test_memories::memory(&line), score: Score::default(), tier: Tier::Likely, duplicates: Vec::new(), better: None, outdates: None }
            })
            .collect();
        let notices = vec!["Note: searched by words only.".to_owned()];
        for (explain, least) in [(Explain::Silent, 200), (Explain::Components, 300)] {
            for max_tokens in [least, 500, 1_000, 3_000, 8_000] {
                let asked = SearchReply {
                    hits: &hits,
                    here: None,
                    package: None,
                    linked: &[],
                    changed: &ChangedFiles::new(),
                    gone: &ChangedFiles::new(),
                    unmerged: &UnmergedMemories::new(),
                    notices: &notices,
                    near_misses: &[],
                    explain,
                    filters: &[],
                    matched: None,
                    beside: &SessionsForSearch::Nothing,
                    shape: Shape::Whole,
                    reader: ReplyReader::Caller,
                    max_tokens,
                };
                let text = search(&asked, &|_| 0.0).text;
                let count = text.matches("] zebra").count();
                assert!(text.starts_with(&format!("**Relevant Memories ({count}):**")), "{text}");
                assert!(count > 0 && text.matches(" · 0000").count() >= count, "{text}");
                assert!(tokens(&text) <= max_tokens && text.ends_with(&notices[0]), "{text}");
                let hint = format!("\n({} more: raise max_tokens)\n", 20 - count);
                assert_eq!(text.contains(&hint), count < 20, "{text}");
                // Enough of each body to tell what it is about.
                let starts =
                    text.split("] zebra").skip(1).map(|rest| rest.find(" · ").unwrap_or(0));
                assert!(starts.min().unwrap() > 60, "{text}");
            }
        }
    }

    proptest! {
        // S-REPLY-1
        #[test]
        fn no_reply_exceeds_its_tokens(
            lessons in prop::collection::vec("\\PC{0,900}", 0..20), likely in 0_usize..20,
            max_tokens in 60_usize..600
        ) {
            let tier = |place| if place < likely { Tier::Likely } else { Tier::Possible };
            let numbered = (0..).zip(&lessons).zip(0..);
            let hits: Vec<Hit> = numbered
                .map(|((number, lesson), place)| Hit { tier: tier(place), ..hit(number, lesson, lesson) })
                .collect();
            let linked: Vec<LinkedMemory> =
                hits.iter().take(3).map(|hit| linked_to_first(hit, true)).collect();
            for explain in [Explain::Silent, Explain::Components] {
                let reply = linked_reply(&hits, &linked, max_tokens, explain);
                prop_assert!(tokens(&reply.text) <= max_tokens);
            }
        }
    }
}
