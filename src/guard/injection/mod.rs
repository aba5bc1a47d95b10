//! Whether a text reads like an instruction to its reader rather than a lesson: the mark of a poisoned
//! memory. A pure function of the texts, made anew whenever a line is read, so that better rules apply to
//! old lines too.
//!
//! A lesson is imperative as well ("run this first", "never use that"), so the mood of a verb tells nothing.
//! What tells is who is spoken to and about what: the reader's rules, role, replies, secrets and silence.
//! Not here: what is done about it (`retriever`), secrets themselves (`redact`).

mod carrier;
mod download;
mod far_tongues;
mod foreign;
mod glance;
mod marker;
mod orders;
mod pattern;
mod phrases;
mod signals;
#[cfg(test)]
mod tests;
mod tongues;
mod vocabulary;
mod words;

use std::fmt;
use std::sync::LazyLock;

use self::glance::{Glance, Look};
use self::pattern::{Index, Pattern};
use self::phrases::{Rule, Where, rows};
use self::signals::{CROWDS, Crowd};
use self::words::{Reading, read};

/// Why a text reads like an instruction to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Suspicion {
    /// It would set aside what the reader was told before.
    Override,
    /// It casts the reader in a role, often one without limits.
    Role,
    /// It speaks as if it were the system, or to whatever machine reads it.
    Frame,
    /// It wants something kept from the user.
    Conceal,
    /// It asks for credentials or for what the reader was told in confidence.
    Credentials,
    /// It sends data or money away.
    Send,
    /// It runs what it downloads.
    Download,
    /// It brings code to be put into the reader's work.
    Insert,
    /// It dictates what the reader's reply looks like.
    Steer,
    /// It makes checks pass that should fail.
    Check,
    /// It plants a rule for later: in memories, or for whoever asks.
    Plant,
    /// It asks for something to be done or told, and teaches nothing.
    Errand,
}

impl Suspicion {
    /// Every reason.
    pub const ALL: [Self; 12] = [
        Self::Override,
        Self::Role,
        Self::Frame,
        Self::Conceal,
        Self::Credentials,
        Self::Send,
        Self::Download,
        Self::Insert,
        Self::Steer,
        Self::Check,
        Self::Plant,
        Self::Errand,
    ];

    /// Returns the reason in words, to stand after "it".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Override => "tells the reader to ignore instructions",
            Self::Role => "casts the reader in a role",
            Self::Frame => "speaks to the machine that reads it",
            Self::Conceal => "keeps something from the user",
            Self::Credentials => "asks for secrets",
            Self::Send => "sends data or money away",
            Self::Download => "runs what it downloads",
            Self::Insert => "brings code to insert",
            Self::Steer => "dictates the reader's reply",
            Self::Check => "makes checks pass",
            Self::Plant => "plants a rule for later",
            Self::Errand => "asks for something instead of telling a lesson",
        }
    }
}

impl Suspicion {
    /// Says to whoever wrote such a text what becomes of it, and how to word it instead.
    #[must_use]
    pub fn advice(self) -> String {
        format!(
            "Flagged: it {self}, so searches hold it back unless asked. Word it as what happened and \
             what helped, not as an order to whoever reads it."
        )
    }
}

impl fmt::Display for Suspicion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// A lesson of more words or sentences than this says more than one request could.
const SHORT_WORDS_MAX: usize = 90;
const SHORT_SENTENCES_MAX: usize = 4;

/// In a text of at most so many words a word of our trade shows what it is about; in a longer one it may
/// stand by chance.
const WORK_WORDS_MAX: usize = 30;

/// Tells why the texts of one note read like an instruction to their reader, if they do. `others` are the
/// note's remaining texts. Takes time in proportion to the length of the texts.
#[must_use]
pub fn suspicion<'a>(
    lesson: &str,
    context: &str,
    mut others: impl Iterator<Item = &'a str>,
) -> Option<Suspicion> {
    // A lesson of one or two words says nothing: the context is judged as the lesson then.
    let says_something = lesson.split_whitespace().nth(2).is_some();
    let (lesson, other) = if says_something { (lesson, context) } else { (context, lesson) };
    of_lesson(lesson).or_else(|| of_text(other)).or_else(|| others.find_map(of_text))
}

/// Tells why a lesson reads like an instruction to its reader, if it does.
fn of_lesson(lesson: &str) -> Option<Suspicion> {
    let reading = read(lesson);
    let told = RULEBOOK.told(&reading);
    of_reading(&reading, &told, lesson).or_else(|| of_short(&reading, &told, lesson))
}

fn of_text(text: &str) -> Option<Suspicion> {
    let reading = read(text);
    of_reading(&reading, &RULEBOOK.told(&reading), text)
}

/// Every rule, the plainest first.
fn rules() -> impl Iterator<Item = &'static Rule> {
    phrases::RULES.iter().chain(orders::RULES)
}

fn of_reading(reading: &Reading, told: &Told, text: &str) -> Option<Suspicion> {
    // "Your response must include the CORS header", "you are now in a detached HEAD state".
    let speaks_of_work = |why: &Suspicion| {
        matches!(why, Suspicion::Steer | Suspicion::Role)
            && reading.words.len() <= WORK_WORDS_MAX
            && RULEBOOK.is_technical(reading)
    };
    // "Ignore all previous rules in .eslintrc": rules of a file, not of the reader.
    let speaks_of_file = |why: &Suspicion| {
        *why == Suspicion::Override
            && reading.words.len() <= WORK_WORDS_MAX
            && RULEBOOK.names(&RULEBOOK.rule_files, reading)
            && !RULEBOOK.names(&RULEBOOK.reader, reading)
    };
    let is_meant = |why: &Suspicion| !speaks_of_work(why) && !speaks_of_file(why);
    let told = || told.first_of(Where::Anywhere, is_meant);
    // A record of a conversation is full of talk to a machine, but none of it is to its reader.
    let crowded = || RULEBOOK.crowd(reading).filter(|_| !marker::is_transcript(text));
    let glance = Glance::at(text);
    let lower = glance.lower.as_str();
    let saw = |look: Look| glance.saw(look).then_some(());
    let disguised = || {
        let turned = saw(Look::Turned).map(|()| carrier::turned_texts(lower));
        let mut texts = carrier::carried(text).into_iter().chain(turned.into_iter().flatten());
        texts.find_map(|text| {
            let told = RULEBOOK.told(&read(&text)).first(Where::Anywhere);
            told.or_else(|| download::found(&text))
        })
    };
    saw(Look::Mark)
        .and_then(|()| marker::found(text))
        .or_else(|| saw(Look::Download).and_then(|()| download::found(text)))
        .or_else(|| saw(Look::Leak).and_then(|()| carrier::found(lower)))
        .or_else(told)
        .or_else(|| saw(Look::Order).and_then(|()| foreign::found(lower)))
        .or_else(disguised)
        .or_else(crowded)
}

/// A short lesson that asks, or sends its reader on an errand, teaches nothing.
fn of_short(reading: &Reading, told: &Told, lesson: &str) -> Option<Suspicion> {
    let sentences = reading.questions + reading.statements;
    if reading.words.len() > SHORT_WORDS_MAX || sentences > SHORT_SENTENCES_MAX {
        return None;
    }
    let is_plain = !lesson.contains('`') && !RULEBOOK.is_technical(reading);
    let only_asks = reading.questions > 0 && reading.statements == 0;
    let asks = only_asks || (reading.begins_with_question && is_plain);
    let is_topic = sentences == 1 && is_plain && RULEBOOK.teaches.is_at(&reading.words, 0);
    let plainly_told = || if is_plain { told.first(Where::PlainLesson) } else { None };
    let told = || told.first(Where::ShortLesson);
    (asks || is_topic).then_some(Suspicion::Errand).or_else(told).or_else(plainly_told)
}

/// Every phrase of every rule, ready to be looked for.
struct Rulebook {
    /// The rules' phrases, each with the place of its rule.
    phrases: Index<usize>,
    /// The crowds' members, each with the place of its crowd and its own in it.
    members: Index<(usize, usize)>,
    /// The crowds, each with the weights of its members.
    crowds: Vec<(&'static Crowd, Vec<u32>)>,
    teaches: Pattern,
    technical: Pattern,
    /// Files and programs that have rules of their own.
    rule_files: Pattern,
    /// The reader, and what only a reader has.
    reader: Pattern,
}

static RULEBOOK: LazyLock<Rulebook> = LazyLock::new(|| {
    let phrases = rules().enumerate().flat_map(|(place, rule)| {
        rows(rule.phrases).map(move |phrase| (place, Pattern::of(phrase)))
    });
    let members = CROWDS.iter().enumerate().flat_map(|(place, crowd)| {
        let members = crowd.members().enumerate();
        members.map(move |(member, (phrase, _))| ((place, member), Pattern::of(phrase)))
    });
    Rulebook {
        phrases: Index::of(phrases.collect()),
        members: Index::of(members.collect()),
        crowds: CROWDS
            .iter()
            .map(|crowd| (crowd, crowd.members().map(|(_, weight)| weight).collect()))
            .collect(),
        teaches: Pattern::of("^^ TEACH"),
        technical: Pattern::of("TECH|BECAUSE"),
        rule_files: Pattern::of("RULEFILE"),
        reader: Pattern::of("FIRM|YOUR|READER|you"),
    }
});

impl Rulebook {
    /// Looks for every rule.
    fn told(&self, reading: &Reading) -> Told {
        let mut places: Vec<usize> =
            self.phrases.found(&reading.words).map(|(_, place)| place).collect();
        places.sort_unstable();
        places.dedup();
        Told(places)
    }

    /// Returns the reason of the first crowd that stands close enough together.
    fn crowd(&self, reading: &Reading) -> Option<Suspicion> {
        let mut found = self.members.found(&reading.words).peekable();
        // Most texts, tags above all, hold none.
        found.peek()?;
        let mut watches: Vec<Watch> = self.crowds.iter().map(Watch::of).collect();
        found.find_map(|(place, (crowd, member))| watches.get_mut(crowd)?.saw(member, place))
    }

    /// Tells whether it names anything of our trade, or gives a reason.
    fn is_technical(&self, reading: &Reading) -> bool {
        self.names(&self.technical, reading)
    }

    /// Tells whether a pattern stands anywhere in a text.
    fn names(&self, pattern: &Pattern, reading: &Reading) -> bool {
        (0..reading.words.len()).any(|place| pattern.is_at(&reading.words, place))
    }
}

/// The places of the rules that a text has a phrase of, in their order: the plainest first.
struct Told(Vec<usize>);

impl Told {
    /// Returns the reason of the first rule that is found.
    fn first(&self, looked_in: Where) -> Option<Suspicion> {
        self.first_of(looked_in, |_| true)
    }

    /// Returns the reason of the first rule that is found, of those whose reason counts.
    fn first_of(&self, looked_in: Where, counts: impl Fn(&Suspicion) -> bool) -> Option<Suspicion> {
        let found = self.0.iter().filter_map(|place| rules().nth(*place));
        let mut counted = found.filter(|rule| rule.place == looked_in && counts(&rule.reason));
        counted.next().map(|rule| rule.reason)
    }
}

/// Where each member of a crowd was last seen.
struct Watch<'a> {
    crowd: &'static Crowd,
    weights: &'a [u32],
    last: Vec<Option<usize>>,
}

impl<'a> Watch<'a> {
    fn of((crowd, weights): &'a (&'static Crowd, Vec<u32>)) -> Self {
        Self { crowd, weights, last: vec![None; weights.len()] }
    }

    /// Notes a member, and tells what the crowd means once enough of it stands within the window.
    fn saw(&mut self, member: usize, place: usize) -> Option<Suspicion> {
        *self.last.get_mut(member)? = Some(place);
        let is_near =
            |seen: &Option<usize>| seen.is_some_and(|seen| place - seen < self.crowd.window);
        let members = self.last.iter().zip(self.weights);
        let weight: u32 = members.filter(|(seen, _)| is_near(seen)).map(|(_, weight)| weight).sum();
        (weight >= self.crowd.enough).then_some(self.crowd.reason)
    }
}

/// Returns every word and class that any rule names.
fn rule_items() -> impl Iterator<Item = &'static str> {
    let phrases = rules().flat_map(|rule| rows(rule.phrases));
    let members = CROWDS.iter().flat_map(Crowd::members).map(|(phrase, _)| phrase);
    let parts =
        phrases.chain(members).flat_map(str::split_whitespace).flat_map(|part| part.split('|'));
    parts.filter(|part| !part.starts_with("..") && !matches!(*part, "^" | "^^" | "$"))
}
