//! What people told agents about how things are done: sentences with a direction that lasts, and decisions. Only about a
//! fifth of them are worth keeping, so they are offered for review and never proposed as facts. Not here: commands
//! (`candidates`).

use event::Draft;
use guard::secrets::RedactedText;
use learning::signature;

use super::candidates::{Candidate, Sighting};
use super::command_pair::CandidateClass;
use transcripts::exchange::{Exchange, PartKind};

/// Longest question that is read, in bytes. Longer ones hold pasted text, whose directions are somebody else's.
const QUESTION_BYTES_MAX: usize = 1_500;

/// Shortest and longest sentence that can be a direction, in characters.
const SENTENCE_CHARACTERS_MIN: usize = 20;
const SENTENCE_CHARACTERS_MAX: usize = 300;

/// Most remarks of one session.
const REMARKS_MAX: usize = 20;

/// Words of a direction that lasts, in lower case. Each begins and ends a word.
const DIRECTIONS: &[&str] = &[
    "always",
    "never",
    "don't use",
    "do not use",
    "dont use",
    "prefer",
    "convention",
    "we don't have",
    "on purpose",
    "from now on",
    "in general",
    "must not",
    "should not use",
    "instead of using",
    "make sure to",
    "for every",
];

/// What shows that a text was pasted from a review, a log or a tool, in lower case.
const PASTED: &[&str] =
    &["severity", "```", "===", "http://", "https://", "$ ", "|info|", "|debu|", "co-authored-by"];

/// Finds what people said in the exchanges of a session that may be worth keeping.
#[must_use]
pub fn remarks(session: &str, exchanges: &[Exchange]) -> Vec<Candidate> {
    let parts = exchanges
        .iter()
        .flat_map(|exchange| exchange.parts.iter().map(move |part| (exchange.ordinal, part)));
    let found = parts.flat_map(|(ordinal, part)| {
        let place = Sighting { session: session.to_owned(), ordinal, at_ms: part.at_ms };
        let (class, said) = match &part.what {
            PartKind::Asked(text) => (CandidateClass::Direction, directions(text)),
            PartKind::Decided(text) => (CandidateClass::Choice, whole(text)),
            _ => (CandidateClass::Choice, Vec::new()),
        };
        said.into_iter().map(move |sentence| remark(class, &sentence, place.clone()))
    });
    found.take(REMARKS_MAX).collect()
}

fn remark(class: CandidateClass, sentence: &str, place: Sighting) -> Candidate {
    let said = RedactedText::redact(sentence).line().into_string();
    let kind = if class == CandidateClass::Direction { "convention" } else { "decision" };
    let fingerprint = signature::lesson_key(&said, kind, "");
    let draft = Draft {
        event_type: Some(kind.to_owned()),
        lesson: Some(said.clone()),
        tags: vec![fingerprint.clone()],
        ..Draft::default()
    };
    Candidate {
        class,
        fingerprint,
        gates: None,
        error: String::new(),
        failed: String::new(),
        worked: vec![said],
        sightings: vec![place],
        proofs: 1,
        draft,
    }
}

/// Returns the sentences of a question that give a direction.
fn directions(question: &str) -> Vec<String> {
    let lower = question.to_lowercase();
    if question.len() > QUESTION_BYTES_MAX || PASTED.iter().any(|mark| lower.contains(mark)) {
        return Vec::new();
    }
    sentences(question).filter(|sentence| directs(sentence)).map(str::to_owned).collect()
}

fn directs(sentence: &str) -> bool {
    let characters = sentence.chars().count();
    let lower = sentence.to_lowercase();
    (SENTENCE_CHARACTERS_MIN..=SENTENCE_CHARACTERS_MAX).contains(&characters)
        && !sentence.ends_with('?')
        && DIRECTIONS.iter().any(|words| has_words(&lower, words))
}

fn has_words(text: &str, words: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(words).any(|(place, _)| {
        let before = text.get(..place).and_then(|before| before.chars().next_back());
        let after = text.get(place + words.len()..).and_then(|after| after.chars().next());
        is_end(before) && is_end(after)
    })
}

/// Splits a text at its line breaks and after full stops, question marks and exclamation marks.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.lines().flat_map(|line| line.split_inclusive(". "));
    let parts = parts.flat_map(|part| part.split_inclusive("? "));
    let parts = parts.flat_map(|part| part.split_inclusive("! "));
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn whole(decision: &str) -> Vec<String> {
    let is_fit = (SENTENCE_CHARACTERS_MIN..=SENTENCE_CHARACTERS_MAX * 2)
        .contains(&decision.trim().chars().count());
    if is_fit { vec![decision.trim().to_owned()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcripts::exchange::ExchangePart;

    fn remarks_in(parts: &[PartKind]) -> Vec<Candidate> {
        let parts = parts.iter().map(|what| ExchangePart { at_ms: Some(5), what: what.clone() });
        let exchange = Exchange { ordinal: 3, message_id: None, parts: parts.collect() };
        remarks("s", &[exchange])
    }

    fn asked(text: &str) -> PartKind {
        PartKind::Asked(text.to_owned())
    }

    #[test]
    fn a_direction_that_lasts_is_offered_for_review() {
        let text = "Fix the login. Never mock the database in tests of the cart.\nThanks!";
        let found = remarks_in(&[asked(text)]);
        let [only] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(only.worked, ["Never mock the database in tests of the cart."]);
        assert_eq!((only.class, only.sightings[0].ordinal), (CandidateClass::Direction, 3));
        assert_eq!(only.draft.event_type.as_deref(), Some("convention"));
        let again = remarks_in(&[asked("never mock the database in tests of the cart.")]);
        assert_eq!(again[0].fingerprint, only.fingerprint, "a no is remembered in any case");
    }

    #[test]
    fn questions_and_pasted_text_are_no_directions() {
        for text in [
            "Should we always run the linter before the tests?",
            "High Severity\nThis function must not use the raw session id.",
            "I was alwaysing around here without any purpose at all.",
            "never",
            "Rename the field in this one file please.",
        ] {
            assert_eq!(remarks_in(&[asked(text)]).len(), 0, "{text}");
        }
        let long = format!("Never do this at all, please. {}", "x".repeat(QUESTION_BYTES_MAX));
        assert_eq!(remarks_in(&[asked(&long)]).len(), 0);
    }

    #[test]
    fn a_decision_is_offered_whole() {
        let found =
            remarks_in(&[PartKind::Decided("Use SQLite for the archive of sessions".to_owned())]);
        assert_eq!(found[0].class, CandidateClass::Choice);
        assert_eq!(found[0].draft.event_type.as_deref(), Some("decision"));
        assert!(remarks_in(&[PartKind::Decided("yes".to_owned())]).is_empty());
        assert!(CandidateClass::OtherForm < CandidateClass::Direction, "of a lower class");
    }
}
