//! The search of past sessions: the best exchange of each session for a question, with the likelihood that it answers. Not
//! here: what is indexed (`exchange_index`), reading the text of a hit (`session_rows`).

use std::collections::BTreeMap;

use index::lexical::{DocId, Overlap, PreparedQuery};

use super::exchange_index::{ExchangeIndex, of_speech_doc, of_work_doc};
use super::scope::ExchangeScope;
use super::search_text::Speaker;

/// Documents that are looked at in an index: several of one session are folded into one hit.
const CANDIDATES_MAX: usize = 300;

/// The more was said in a session, the better its best passage fits any question: a score is divided by one plus this
/// share of the logarithm of the session's length in passages.
const LENGTH_SHARE: f32 = 0.12;

/// Bytes of a passage, the unit of that length.
const LENGTH_UNIT_BYTES: f32 = 2_000.0;

/// The weight of what was done beside what was said, where a question reads like something done, or names it.
const WORK_SHARE: f32 = 0.5;

/// A text reads like something done if one word in so many is a flag, a path or a file.
const WORDS_OF_WORK: usize = 4;

/// A sentence is looked for in what was done by its rare names alone: those whose inverse document frequency is at least
/// this share of the highest one. So a name counts that stands in fewer passages than about the square root of their
/// number: everybody names `origin/main`. Measured on 226 questions: a share of 0.45 to 0.7 makes no difference.
const RARE_SHARE: f32 = 0.5;

/// Sessions that are ordered by what they share with the question, too.
const COMPARED: usize = 30;

/// How much that counts beside the score, which is seldom above 0.5: the share of the question that is covered, and the
/// rarity of the shared words. Few and frequent words in a short text otherwise come before many rare ones. Measured on 226
/// questions: between one and three times as much makes no difference.
const COVERAGE_SHARE: f32 = 0.1;
const RARITY_SHARE: f32 = 0.003;

/// A likely answer covers more than this share of the question, and shares words of more than this rarity (the sum of their
/// inverse document frequencies, which mean the same in a collection of any size). Measured on 226 questions: 117 have such a
/// first hit, 98 of them the right one; where the sessions of the question's repository are missing, 3 of 226 have one.
const LIKELY_COVERAGE: f32 = 0.35;
const LIKELY_RARITY: f32 = 20.0;

/// A question of a few words cannot reach that sum. It has a likely answer if the passage has all its words, some of them rare,
/// or if nearly all of it is covered, and not by words alone that everybody says. Measured on the first questions of 344
/// sessions, word for word: with the rule above alone 225 have a likely hit in their repository and 257 in a collection that is one
/// session, with this 339 and 340; where the sessions of their repository are missing, 5 and 16 have one. The 226 questions have
/// the same likely hits with and without.
const EVERY_WORD: f32 = 0.98;
const EVERY_WORD_RARITY: f32 = 11.0;
const WHOLE_COVERAGE: f32 = 0.7;
const WHOLE_RARITY: f32 = 4.0;

/// A weak hit covers no more than this share of the question. Measured on 226 questions: 25 have only weak hits, and 17 of
/// them the right one among five; where the sessions of the question's repository are missing, 154 have only weak hits. With
/// 0.3 it is 52, 37 and 191.
const WEAK_COVERAGE: f32 = 0.25;

/// The scopes that say what was done.
const WORK: [ExchangeScope; 3] =
    [ExchangeScope::Errors, ExchangeScope::Tools, ExchangeScope::Files];

/// A question to past sessions.
pub struct SessionQuery<'a> {
    /// What is looked for.
    pub text: &'a str,
    /// What is looked at.
    pub scope: ExchangeScope,
    /// Whose words are looked at; `None` for anyone's. Only with [`ExchangeScope::All`].
    pub speaker: Option<Speaker>,
    /// Whether exchanges of this session at this time count, in milliseconds since 1970.
    pub keep: &'a dyn Fn(u32, Option<i64>) -> bool,
    /// Most hits.
    pub limit: usize,
}

/// The best exchange of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionHit {
    /// The row of the exchange.
    pub exchange: u32,
    /// The row of its session.
    pub session: u32,
    /// How well it fits, above 0; comparable within one query.
    pub score: f32,
    /// The scope whose words fit best; [`ExchangeScope::All`] for what was said.
    pub matched: ExchangeScope,
    /// What it shares with the question.
    pub overlap: Overlap,
    /// The rarity of all the words of the question.
    pub rarity_possible: f32,
    /// How many other exchanges of the session are among the candidates.
    pub others: usize,
}

/// An exchange that may be a hit.
#[derive(Debug, Clone, Copy)]
struct ExchangeCandidate {
    score: f32,
    /// The better part of its score.
    best: f32,
    doc: DocId,
    matched: ExchangeScope,
}

impl SessionHit {
    /// Tells whether it likely answers the question, so that it may be shown where nobody asked for sessions.
    #[must_use]
    pub fn is_likely(&self) -> bool {
        let Overlap { coverage, rarity } = self.overlap;
        let has_every_word = rarity > EVERY_WORD * self.rarity_possible;
        let least = if has_every_word { EVERY_WORD_RARITY } else { LIKELY_RARITY };
        coverage > LIKELY_COVERAGE && rarity > least
            || coverage > WHOLE_COVERAGE && rarity > WHOLE_RARITY
    }

    /// Tells whether it shares so little with the question that it hardly answers it. What was done is found by its names, so
    /// it is never weak.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.matched == ExchangeScope::All && self.overlap.coverage <= WEAK_COVERAGE
    }
}

impl ExchangeIndex {
    /// Finds the sessions that fit a question best, the best first. A text without words finds nothing.
    #[must_use]
    pub fn find(&self, query: &SessionQuery<'_>) -> Vec<SessionHit> {
        let speech = self.speech.prepare(query.text);
        let work = self.work.prepare(query.text);
        let mut found = BTreeMap::new();
        if query.scope == ExchangeScope::All {
            let said = self.search_speech(&speech, query);
            add(&mut found, said, 1.0);
            let named = named_work(&work, query.text);
            if query.speaker.is_none() && !named.is_empty() {
                let named = self.work.prepare(&named);
                let share = WORK_SHARE * named.utmost() / work.utmost();
                add(&mut found, self.done(&named, query, &WORK), share);
            }
        } else {
            add(&mut found, self.done(&work, query, &[query.scope]), 1.0);
        }
        let mut hits = self.folded(&found);
        hits.truncate(query.limit.max(COMPARED));
        for hit in &mut hits {
            let Some(candidate) = found.get(&hit.exchange) else { continue };
            let index = if hit.matched == ExchangeScope::All { &speech } else { &work };
            hit.overlap = index.overlap(candidate.doc);
            hit.rarity_possible = index.rarity_possible();
            hit.score += COVERAGE_SHARE * hit.overlap.coverage + RARITY_SHARE * hit.overlap.rarity;
        }
        sort(&mut hits);
        hits.truncate(query.limit);
        hits
    }

    fn keeps(&self, query: &SessionQuery<'_>, exchange: u32) -> bool {
        self.rows.get(&exchange).is_some_and(|row| (query.keep)(row.session, row.at_ms))
    }

    /// Returns the best documents of what was said, each with the share of the question that it covers.
    fn search_speech(
        &self,
        words: &PreparedQuery<'_>,
        query: &SessionQuery<'_>,
    ) -> Vec<(u32, ExchangeCandidate)> {
        let keep = |doc| {
            let (exchange, speaker) = of_speech_doc(doc);
            query.speaker.is_none_or(|wanted| wanted == speaker) && self.keeps(query, exchange)
        };
        covering(words, keep, |doc| (of_speech_doc(doc).0, ExchangeScope::All))
    }

    /// Does the same for what was done.
    fn done(
        &self,
        words: &PreparedQuery<'_>,
        query: &SessionQuery<'_>,
        scopes: &[ExchangeScope],
    ) -> Vec<(u32, ExchangeCandidate)> {
        let keep = |doc| {
            let (exchange, scope) = of_work_doc(doc);
            scopes.contains(&scope) && self.keeps(query, exchange)
        };
        covering(words, keep, of_work_doc)
    }

    /// Returns the best exchange of each session.
    fn folded(&self, found: &BTreeMap<u32, ExchangeCandidate>) -> Vec<SessionHit> {
        let mut best: BTreeMap<u32, SessionHit> = BTreeMap::new();
        for (exchange, candidate) in found {
            let Some(row) = self.rows.get(exchange) else { continue };
            let score = candidate.score / self.length_factor(row.session);
            let hit = SessionHit {
                exchange: *exchange,
                session: row.session,
                score,
                matched: candidate.matched,
                overlap: Overlap::default(),
                rarity_possible: 0.0,
                others: 0,
            };
            let of_session = best.entry(row.session).or_insert(hit);
            let others = of_session.others + usize::from(of_session.exchange != *exchange);
            if score > of_session.score {
                *of_session = hit;
            }
            of_session.others = others;
        }
        let mut hits: Vec<SessionHit> = best.into_values().collect();
        sort(&mut hits);
        hits
    }

    #[expect(clippy::cast_precision_loss, reason = "a length need not be exact")]
    fn length_factor(&self, session: u32) -> f32 {
        let units = self.bytes_of_session(session) as f32 / LENGTH_UNIT_BYTES;
        1.0 + LENGTH_SHARE * units.ln_1p()
    }
}

/// Puts the best first; of equal ones that of the lower row.
fn sort(hits: &mut [SessionHit]) {
    hits.sort_by(|one, other| {
        other.score.total_cmp(&one.score).then(one.session.cmp(&other.session))
    });
}

/// Returns the best documents, each with its exchange, its scope, and the share of the question that it covers.
fn covering(
    words: &PreparedQuery<'_>,
    keep: impl Fn(DocId) -> bool,
    place: impl Fn(DocId) -> (u32, ExchangeScope),
) -> Vec<(u32, ExchangeCandidate)> {
    let utmost = words.utmost();
    let candidate = |scored: index::lexical::ScoredDocument| {
        let (exchange, matched) = place(scored.doc);
        let score = scored.score / utmost;
        (exchange, ExchangeCandidate { score, best: score, doc: scored.doc, matched })
    };
    words.search(keep, CANDIDATES_MAX).into_iter().map(candidate).collect()
}

/// Adds the documents of one index: of each exchange the best, weighted by `share`.
fn add(
    to: &mut BTreeMap<u32, ExchangeCandidate>,
    documents: Vec<(u32, ExchangeCandidate)>,
    share: f32,
) {
    let mut best: BTreeMap<u32, ExchangeCandidate> = BTreeMap::new();
    for (exchange, document) in documents {
        let known = best.entry(exchange).or_insert(document);
        if document.score > known.score {
            *known = document;
        }
    }
    for (exchange, document) in best {
        let weighted = share * document.score;
        match to.get_mut(&exchange) {
            None => {
                to.insert(
                    exchange,
                    ExchangeCandidate { score: weighted, best: weighted, ..document },
                );
            }
            Some(known) => {
                known.score += weighted;
                if weighted > known.best {
                    (known.best, known.doc, known.matched) =
                        (weighted, document.doc, document.matched);
                }
            }
        }
    }
}

/// Returns what of a question is looked for in what was done: the whole of a command, an error or a path, and the rare
/// names in a sentence. Empty for a sentence without any.
fn named_work(words: &PreparedQuery<'_>, text: &str) -> String {
    if reads_like_work(text) {
        return text.to_owned();
    }
    let is_rare = |word: &str| words.rarity(word) >= RARE_SHARE * words.rarity_max();
    let names = text.split_whitespace().filter(|word| is_work_word(word) && is_rare(word));
    names.collect::<Vec<_>>().join(" ")
}

/// Tells whether a question reads like a command, an error or a path rather than a sentence.
fn reads_like_work(text: &str) -> bool {
    const ERRORS: &[&str] =
        &["error:", "fatal:", "panic:", "panicked", "exception:", "exit code", "warning:"];
    let lower = text.to_lowercase();
    let names = text.split_whitespace().filter(|word| is_work_word(word)).count();
    ERRORS.iter().any(|mark| lower.contains(mark))
        || names > 0 && names * WORDS_OF_WORK >= text.split_whitespace().count()
}

/// A flag, a path, or the name of a file.
fn is_work_word(word: &str) -> bool {
    let word = word.trim_matches(|edge: char| !edge.is_alphanumeric() && !"-/.~\\".contains(edge));
    let word = word.trim_end_matches(['.', ',', ':', ';']);
    let is_flag = word
        .strip_prefix("--")
        .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_alphabetic()));
    let is_path = word.len() > 3 && word.contains(['/', '\\']) && !word.contains("//");
    let is_file = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.chars().all(|next| next.is_ascii_lowercase())
    });
    is_flag || is_path || is_file
}

#[cfg(test)]
mod tests {
    use super::super::exchange_index::IndexedExchange;
    use super::super::search_text::SessionTopic;
    use super::*;
    use transcripts::exchange::{Exchange, ExchangePart, PartKind};
    use transcripts::transcript::Outcome;

    /// What is said and done in an exchange that is the only one of its session.
    fn exchange(asked: &str, command: &str, path: &str) -> Exchange {
        let (outcome, excerpt) = (Outcome::Succeeded, String::new());
        let ran = PartKind::Ran {
            command: command.to_owned(),
            outcome: outcome.clone(),
            excerpt: excerpt.clone(),
        };
        let edited = PartKind::Edited { path: path.to_owned(), outcome, excerpt };
        let parts = [PartKind::Asked(asked.to_owned()), ran, edited];
        let parts = parts.map(|what| ExchangePart { at_ms: None, what });
        Exchange { ordinal: 0, message_id: None, parts: parts.into() }
    }

    /// Thirty sessions about other things, of which every third merges `origin/main`; then those of `told`, from number 30 on.
    fn index(told: &[Exchange]) -> ExchangeIndex {
        let other = |number: u32| {
            let asked = format!("please look at task {number} of the backlog");
            let command =
                if number.is_multiple_of(3) { "git merge origin/main" } else { "cargo check" };
            exchange(&asked, command, &format!("src/task_{number}.rs"))
        };
        let exchanges: Vec<Exchange> = (0..30).map(other).chain(told.iter().cloned()).collect();
        let indexed: Vec<IndexedExchange<'_>> = (0..)
            .zip(&exchanges)
            .map(|(row, exchange)| IndexedExchange {
                row,
                session: row,
                topic: SessionTopic::default(),
                exchange,
            })
            .collect();
        let mut index = ExchangeIndex::default();
        index.insert_all(&indexed).unwrap();
        index
    }

    fn first(index: &ExchangeIndex, text: &str) -> Option<(u32, ExchangeScope)> {
        let (scope, keep) = (ExchangeScope::All, &|_, _| true);
        let query = SessionQuery { text, scope, speaker: None, keep, limit: 1 };
        index.find(&query).first().map(|hit| (hit.session, hit.matched))
    }

    #[test]
    fn a_rare_name_finds_what_was_done() {
        let index = index(&[exchange("go on", "make", "shop/cart_lock.rs")]);
        for question in [
            "cart_lock.rs",
            "when did we change shop/cart_lock.rs",
            "who wanted the code in shop/cart_lock.rs to look like this, and for what reason?",
        ] {
            assert_eq!(first(&index, question), Some((30, ExchangeScope::Files)), "{question}");
        }
    }

    #[test]
    fn a_name_of_many_sessions_says_nothing() {
        let index = index(&[
            exchange("why did the merge of origin/main stop", "make", "a.rs"),
            exchange(
                "look at the backlog, and then why the merge of origin/main did stop",
                "git merge origin/main",
                "b.rs",
            ),
        ]);
        let question = "the merge of origin/main had to stop halfway, with errors of the compiler";
        assert_eq!(first(&index, question), Some((30, ExchangeScope::All)));
    }

    #[test]
    fn commands_and_errors_are_looked_for_as_a_whole() {
        let index = index(&[
            exchange("go on", "docker compose up --detach", "a.rs"),
            exchange("go on", "ssh deploy@host 'fatal: no space left on the disk'", "b.rs"),
        ]);
        for (question, session) in [
            ("docker compose up --detach", 30),
            ("what was that about, fatal: no space left on the disk of some machine", 31),
        ] {
            assert_eq!(
                first(&index, question),
                Some((session, ExchangeScope::Tools)),
                "{question}"
            );
        }
    }
}
