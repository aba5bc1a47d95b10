//! What is searched of an exchange by what was said: passages of one speaker each, with what they are about nearby. Not
//! here: what was done (`scope`), how passages are weighed (`index::lexical`).

use index::lexical::Passage;

use super::scope::clipped_to;
use transcripts::exchange::{Exchange, PartKind};

/// The target size of a passage, some 350 tokens. Measured: 1,000 to 2,000 are alike; 8,000 finds four of a hundred
/// answers less.
const PASSAGE_BYTES: usize = 1_400;

/// Most bytes of a question that stand near a passage: what it is about is said first.
const NEARBY_BYTES: usize = 400;

/// Who said something.
#[derive(
    serde::Serialize, serde::Deserialize, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
)]
pub enum Speaker {
    /// The person.
    User,
    /// The agent, or a summary by the tool.
    Assistant,
}

/// What a session is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionTopic<'a> {
    /// What it is called; may be empty.
    pub title: &'a str,
    /// The first question of the session; may be empty.
    pub first_question: &'a str,
}

impl<'a> SessionTopic<'a> {
    /// Returns the topic of a session of these exchanges.
    #[must_use]
    pub fn from_exchanges(title: &'a str, exchanges: &'a [Exchange]) -> Self {
        Self { title, first_question: exchanges.iter().find_map(question_of).unwrap_or_default() }
    }
}

/// Returns the first thing that the person asked.
fn question_of(exchange: &Exchange) -> Option<&str> {
    exchange.parts.iter().find_map(|part| match &part.what {
        PartKind::Asked(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Returns the passages of one speaker. They are cut between messages where the messages are short enough.
#[must_use]
pub fn speech_passages(
    exchange: &Exchange,
    speaker: Speaker,
    topic: SessionTopic<'_>,
) -> Vec<Passage> {
    let texts = exchange.parts.iter().filter_map(|part| spoken_text(&part.what));
    let texts = texts.filter(|(who, _)| *who == speaker).map(|(_, text)| text);
    let question = question_of(exchange).unwrap_or_default();
    let is_first = exchange.ordinal == 0 || question == topic.first_question;
    let cut = cut_passages(texts);
    cut.into_iter()
        .enumerate()
        .map(|(place, own)| {
            let begins_with_question = speaker == Speaker::User && place == 0;
            let first = if is_first { "" } else { topic.first_question };
            let own_question = if begins_with_question { "" } else { question };
            let nearby = [
                topic.title,
                clipped_to(first, NEARBY_BYTES),
                clipped_to(own_question, NEARBY_BYTES),
            ];
            Passage { own, nearby: nearby.join("\n"), is_reply: false }
        })
        .collect()
}

/// Returns what a part says, and who says it.
fn spoken_text(part: &PartKind) -> Option<(Speaker, &str)> {
    match part {
        PartKind::Asked(text) | PartKind::Decided(text) => Some((Speaker::User, text)),
        PartKind::Answered(text) | PartKind::Summarised(text) | PartKind::Planned(text) => {
            Some((Speaker::Assistant, text))
        }
        _ => None,
    }
}

/// Joins short texts to passages, and cuts long ones.
pub(super) fn cut_passages<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut passages: Vec<String> = Vec::new();
    for mut text in texts {
        let fits = |last: &String| last.len() + text.len() < PASSAGE_BYTES;
        if let Some(last) = passages.last_mut().filter(|last| fits(last)) {
            last.push('\n');
            last.push_str(text);
            continue;
        }
        while !text.trim().is_empty() {
            let (piece, rest) = text.split_at(piece_end(text));
            passages.push(piece.trim().to_owned());
            text = rest;
        }
    }
    passages
}

/// Returns where the first piece of a text ends: after a line in the second half of what fits, or after a word.
fn piece_end(text: &str) -> usize {
    if text.len() <= PASSAGE_BYTES {
        return text.len();
    }
    let head = clipped_to(text, PASSAGE_BYTES);
    let late = |end: &usize| *end > PASSAGE_BYTES / 2;
    let at_line = head.rfind('\n').filter(late);
    let end = at_line.or_else(|| head.rfind(' ').filter(late)).map_or(head.len(), |end| end + 1);
    // A text of one long character is never cut to nothing.
    end.max(text.chars().next().map_or(0, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcripts::exchange::ExchangePart;

    fn exchange(ordinal: u32, parts: &[PartKind]) -> Exchange {
        let part = |what: &PartKind| ExchangePart { at_ms: None, what: what.clone() };
        Exchange { ordinal, message_id: None, parts: parts.iter().map(part).collect() }
    }

    fn asked(text: &str) -> PartKind {
        PartKind::Asked(text.to_owned())
    }

    fn answered(text: &str) -> PartKind {
        PartKind::Answered(text.to_owned())
    }

    #[test]
    fn a_passage_is_of_one_speaker_with_the_topic_nearby() {
        let exchanges = [
            exchange(0, &[asked("why is the cart slow"), answered("a lock")]),
            exchange(1, &[asked("fix it"), answered("done"), answered("tested")]),
        ];
        let topic = SessionTopic::from_exchanges("Slow cart", &exchanges);
        let of = |place: usize, speaker| speech_passages(&exchanges[place], speaker, topic);
        let [answer] = of(1, Speaker::Assistant).try_into().unwrap();
        assert_eq!(answer.own, "done\ntested");
        assert_eq!(answer.nearby, "Slow cart\nwhy is the cart slow\nfix it");
        let [question] = of(0, Speaker::User).try_into().unwrap();
        assert_eq!(
            (question.own.as_str(), question.nearby.trim()),
            ("why is the cart slow", "Slow cart")
        );
        let [answer] = of(0, Speaker::Assistant).try_into().unwrap();
        assert_eq!(
            answer.nearby.trim().split('\n').collect::<Vec<_>>(),
            ["Slow cart", "", "why is the cart slow"]
        );
    }

    #[test]
    fn long_texts_are_cut_after_lines_and_nothing_is_lost() {
        let line = "a line of words that says little\n";
        let long = line.repeat(200);
        let passages = cut_passages(["short", &long, "end"].into_iter());
        assert!(passages.len() > 4);
        assert!(passages.iter().all(|passage| passage.len() <= PASSAGE_BYTES));
        assert!(
            passages
                .iter()
                .skip(1)
                .all(|passage| passage.starts_with("a line") || passage == "end")
        );
        let words = |text: &str| text.split_whitespace().count();
        let all: usize = passages.iter().map(|passage| words(passage)).sum();
        assert_eq!(all, words(&long) + 2);
    }

    #[test]
    fn a_text_without_spaces_is_cut_at_characters() {
        let passages = cut_passages([&*"é".repeat(2_000)].into_iter());
        assert_eq!(passages.concat(), "é".repeat(2_000));
        assert!(passages.len() > 1);
    }
}
