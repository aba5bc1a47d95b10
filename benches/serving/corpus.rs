//! Synthetic logs of any size with realistic properties: repositories with a long tail, sessions of several
//! lessons, error texts with paths and codes, commands, tags, and words by Zipf's law. It also generates
//! questions with known answers. Every event is made from the seed and its number alone. Not here: words
//! (`words`).

use serde_json::json;

use super::chance::Chance;
use super::vocabulary;

/// A fixed seed, so that corpus and questions are always the same.
pub const SEED: u64 = 20_261_121;

/// Lessons in one session.
const SESSION_EVENTS: u64 = 8;
/// Repositories of an organisation. Half of all events come from the first 22.
const REPOS: usize = 512;
/// Named parts of programs. Among a hundred thousand events, a name occurs between once and thousands of times.
const NAMES: usize = 1 << 15;
/// 1 September 2025. A million events end in August 2026.
const BEGUN_SECOND: i64 = 1_756_700_000;
const BETWEEN_EVENTS_S: i64 = 30;

/// The values of the slots in all texts of one event.
struct Subject {
    tool: &'static str,
    nouns: [&'static str; 2],
    quality: &'static str,
    fails: &'static str,
    remedy: &'static str,
    event: &'static str,
    symbol: String,
    other: String,
    module: String,
}

/// An event, and what can be asked about it.
pub struct Event {
    pub id: String,
    pub repo: String,
    pub lesson: String,
    pub context: String,
    pub command: String,
    pub tags: [String; 3],
    /// Parts of names that few other events have.
    pub symbol: String,
    error: &'static str,
    subject: Subject,
    rest: serde_json::Value,
}

/// How a question differs from its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Some words of the lesson are left out, and others are replaced by synonyms.
    Reworded,
    /// The error text as on another machine.
    Elsewhere,
    /// Two names.
    Names,
}

pub const ASKED: [Asked; 3] = [Asked::Reworded, Asked::Elsewhere, Asked::Names];

/// A question with a known answer.
pub struct Question {
    pub asked: Asked,
    pub text: String,
    pub answer: u64,
}

/// Returns the event with this number.
pub fn event(number: u64) -> Event {
    let mut session = Chance::of(SEED ^ 0x5E55, number / SESSION_EVENTS);
    let repo_rank = session.rank(REPOS);
    let repo = format!("github.com/acme/{}-{}", name(repo_rank + 40), repo_rank);
    let agent = session.early_of(&vocabulary::AGENTS);
    let module_rank = session.rank(NAMES);
    let mut chance = Chance::of(SEED, number);
    let subject = Subject::new(&mut chance, module_rank);
    let lesson = capitalised(&subject.fill(chance.one_of(&vocabulary::LESSONS), &mut chance));
    let error = chance.one_of(&vocabulary::ERRORS);
    let seen = subject.fill(error, &mut chance);
    let context = format!(
        "{} {} {}: {seen}",
        subject.tool,
        subject.fails,
        "after ".to_owned() + subject.event
    );
    let command = subject.fill(chance.one_of(&vocabulary::COMMANDS), &mut chance);
    let tried = 1 + chance.below(12);
    let worked = tried - chance.rank(tried);
    let second = BEGUN_SECOND + BETWEEN_EVENTS_S * i64::try_from(number).unwrap_or(0);
    let timestamp = jiff::Timestamp::from_second(second).unwrap_or_default().to_string();
    let rest = json!({
        "timestamp": timestamp,
        "event_type": chance.early_of(&vocabulary::KINDS),
        "agent_id": agent,
        "session_id": format!("s{:07}", number / SESSION_EVENTS),
        "success_rate": format!("{worked}/{tried}"),
    });
    let tags = [subject.tool, subject.nouns[0], &subject.module].map(str::to_owned);
    let symbol = subject.symbol.clone();
    Event { id: id(number), repo, lesson, context, command, tags, symbol, error, subject, rest }
}

/// Returns an id that resembles no word of a text, and that replies show in full.
pub fn id(number: u64) -> String {
    format!("ev-{number:07}")
}

impl Event {
    /// Returns the line for `log-memory --json -`: 300 to 700 bytes, with its line break.
    pub fn line(&self) -> String {
        let mut line = json!({"id": self.id, "repo": self.repo});
        if let (Some(line), Some(rest)) = (line.as_object_mut(), self.rest.as_object()) {
            line.extend(rest.clone());
            for (field, text) in
                [("context", &self.context), ("command", &self.command), ("lesson", &self.lesson)]
            {
                line.insert(field.to_owned(), text.clone().into());
            }
            line.insert("tags".to_owned(), self.tags.to_vec().into());
        }
        format!("{line}\n")
    }

    /// Returns all words of the event as one text, for systems without fields.
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n{}", self.lesson, self.context, self.command, self.tags.join(" "))
    }

    fn reworded(&self, chance: &mut Chance) -> String {
        let words = self.lesson.split_whitespace().filter_map(|word| {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_lowercase();
            let other = vocabulary::SYNONYMS
                .iter()
                .find(|(one, _)| *one == bare)
                .map(|(_, other)| (*other).to_owned());
            // Names are what a question most often lacks.
            let is_name = [&self.subject.symbol, &self.subject.other]
                .iter()
                .any(|name| name.to_lowercase() == bare);
            let dropped = chance.below(100) < if is_name { 50 } else { 25 };
            other.or_else(|| {
                (!dropped).then(|| word.trim_end_matches([';', ':', ',', '.']).to_owned())
            })
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Returns questions about events below `size`, each kind equally often.
pub fn questions(size: u64, count: usize) -> Vec<Question> {
    let mut chance = Chance::of(SEED ^ 0xA5C, size);
    let ask = |asked: &Asked| {
        let answer = chance.next() % size.max(1);
        let event = event(answer);
        let text = match asked {
            Asked::Reworded => event.reworded(&mut chance),
            Asked::Elsewhere => event.subject.fill(event.error, &mut chance),
            Asked::Names => format!("{} {}", event.symbol, event.subject.module),
        };
        Question { asked: *asked, text, answer }
    };
    ASKED.iter().cycle().take(count).map(ask).collect()
}

impl Subject {
    fn new(chance: &mut Chance, module_rank: usize) -> Self {
        let style = chance.below(3);
        let symbol = compound(chance, style);
        Self {
            tool: chance.early_of(&vocabulary::TOOLS),
            nouns: [chance.early_of(&vocabulary::NOUNS), chance.early_of(&vocabulary::NOUNS)],
            quality: chance.early_of(&vocabulary::QUALITIES),
            fails: chance.early_of(&vocabulary::FAILS),
            remedy: chance.early_of(&vocabulary::REMEDIES),
            event: chance.early_of(&vocabulary::EVENTS),
            other: compound(chance, style),
            module: name(module_rank),
            symbol,
        }
    }

    /// Fills the slots of a sentence. Slots of the machine get new values each time.
    fn fill(&self, sentence: &str, machine: &mut Chance) -> String {
        let mut filled = String::new();
        for piece in sentence.split('{') {
            let Some((slot, after)) = piece.split_once('}') else {
                filled.push_str(piece);
                continue;
            };
            match slot {
                "tool" => filled.push_str(self.tool),
                "noun" => filled.push_str(self.nouns[0]),
                "noun2" => filled.push_str(self.nouns[1]),
                "quality" => filled.push_str(self.quality),
                "fails" => filled.push_str(self.fails),
                "remedy" => filled.push_str(self.remedy),
                "event" => filled.push_str(self.event),
                "symbol" => filled.push_str(&self.symbol),
                "other" => filled.push_str(&self.other),
                "module" => filled.push_str(&self.module),
                "place" => filled.push_str(&format!(
                    "{}/{}",
                    machine.one_of(&vocabulary::PLACES),
                    name(machine.below(NAMES))
                )),
                "line" => filled.push_str(&(1 + machine.below(900)).to_string()),
                "port" => filled.push_str(&(1024 + machine.below(60_000)).to_string()),
                _ => filled.push_str(&format!("{:08x}", machine.next() >> 32)),
            }
            filled.push_str(after);
        }
        filled
    }
}

/// Returns a name of two parts, in one of three naming styles.
fn compound(chance: &mut Chance, style: usize) -> String {
    let (first, second) = (name(chance.rank(NAMES)), name(chance.rank(NAMES)));
    match style {
        0 => format!("{first}_{second}"),
        1 => format!("{first}{}", capitalised(&second)),
        _ => format!("{}_{}", first.to_uppercase(), second.to_uppercase()),
    }
}

/// Returns the name of this rank. Common names are short.
fn name(rank: usize) -> String {
    let mut rest = rank + vocabulary::SYLLABLES.len();
    let mut spelled = String::new();
    while rest > 0 {
        spelled.push_str(
            vocabulary::SYLLABLES
                .get(rest % vocabulary::SYLLABLES.len())
                .copied()
                .unwrap_or_default(),
        );
        rest /= vocabulary::SYLLABLES.len();
    }
    spelled
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}
