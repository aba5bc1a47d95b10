//! Cuts a long text into passages that can each answer a query: a dialogue at its turns, any other
//! text at blank lines. A single score for a whole long text would hide a part that answers. Not
//! here: scoring.

use std::collections::BTreeMap;

/// Texts up to this many bytes are one passage. Notes of agents are that short, and their parts
/// belong together.
const WHOLE_BYTES_MAX: usize = 3_000;

/// The target size of a passage made of paragraphs, in bytes.
const PACKED_BYTES: usize = 1_200;

/// Passages of one text, which cover 64 kB of it. The last one holds the rest.
const PASSAGES_MAX: usize = 64;

/// The longest name of a speaker, in bytes.
const SPEAKER_BYTES_MAX: usize = 32;

/// The roles of people in chat transcripts.
const PEOPLE: [&str; 2] = ["user", "human"];
/// The roles of programs in chat transcripts.
const PROGRAMS: [&str; 5] = ["assistant", "system", "ai", "agent", "tool"];

/// A passage of a memory's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its text.
    pub text: String,
    /// Whether it is the turn of a program in a dialogue with a person.
    pub is_reply: bool,
}

/// Cuts a long text. All text is kept in order.
pub(super) fn passages(text: &str) -> Vec<Passage> {
    let passage = |is_reply| move |text: &str| Passage { text: text.to_owned(), is_reply };
    if text.len() <= WHOLE_BYTES_MAX {
        return vec![passage(false)(text)];
    }
    let turns = turns_of(text, is_role);
    if turns.is_empty() {
        let turns = turns_of(text, is_name);
        let cuts = if turns.is_empty() { packed_at(text) } else { turns };
        return cut(text, &cuts).into_iter().map(passage(false)).collect();
    }
    let is_reply = |text: &str| speaker(text).is_some_and(|name| PROGRAMS.contains(&name));
    cut(text, &turns).into_iter().map(|text| passage(is_reply(text))(text)).collect()
}

/// Tells whether this is a role of a chat transcript, in which a line such as `Pros: …` is not a turn.
fn is_role(name: &str) -> bool {
    PEOPLE.contains(&name) || PROGRAMS.contains(&name)
}

/// Returns the offsets of lines whose speaker `may_speak` accepts, if at least two speakers speak
/// twice.
fn turns_of(text: &str, may_speak: impl Fn(&str) -> bool) -> Vec<usize> {
    let spoken: Vec<(usize, &str)> = lines_at(text)
        .filter_map(|(at, line)| Some((at, speaker(line).filter(|name| may_speak(name))?)))
        .collect();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    spoken.iter().for_each(|(_, name)| *times.entry(name).or_default() += 1);
    times.retain(|_, times| *times > 1);
    let turns = spoken.into_iter().filter(|(_, name)| times.contains_key(name));
    if times.len() > 1 { turns.map(|(at, _)| at).collect() } else { Vec::new() }
}

/// `user: How do I …` -> user.
fn speaker(line: &str) -> Option<&str> {
    let head = line.get(..line.floor_char_boundary(SPEAKER_BYTES_MAX + 2)).unwrap_or(line);
    head.split_once(": ").map(|(name, _)| name)
}

/// Tells whether this can be a person's name: `and then: …` is not.
fn is_name(name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || " _-.".contains(character);
    name.starts_with(char::is_uppercase) && name.chars().all(is_part)
}

/// Returns the offsets that cut paragraphs into passages of about the target size.
fn packed_at(text: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut begun_at = 0;
    let mut was_blank = false;
    for (at, line) in lines_at(text) {
        let is_blank = line.trim().is_empty();
        let is_enough = at - begun_at >= PACKED_BYTES;
        if (was_blank && !is_blank && is_enough) || at - begun_at >= 2 * PACKED_BYTES {
            cuts.push(at);
            begun_at = at;
        }
        was_blank = is_blank;
    }
    cuts
}

fn lines_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let begins_at = at;
        at += line.len();
        (begins_at, line)
    })
}

fn cut<'text>(text: &'text str, cuts: &[usize]) -> Vec<&'text str> {
    let mut pieces = Vec::new();
    let (mut rest, mut rest_at) = (text, 0);
    for at in cuts.iter().take(PASSAGES_MAX - 1) {
        if let Some((piece, tail)) =
            at.checked_sub(rest_at).and_then(|at| rest.split_at_checked(at))
        {
            pieces.push(piece);
            (rest, rest_at) = (tail, *at);
        }
    }
    pieces.push(rest);
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_dialogue_is_cut_at_its_turns() {
        let turn = |who: &str| format!("{who}: {}\nand more: of it\n", "words ".repeat(150));
        let text = [turn("user"), turn("assistant"), turn("user"), turn("assistant")].concat();
        let found = passages(&text);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|passage| passage.text.contains("and more: of it")));
        let replies: Vec<bool> = found.iter().map(|passage| passage.is_reply).collect();
        assert_eq!(replies, [false, true, false, true]);
        let short = "user: a\nassistant: b\nuser: c\nassistant: d\n";
        assert_eq!(passages(short), [Passage { text: short.to_owned(), is_reply: false }]);
    }

    #[test]
    fn other_long_texts_are_cut_at_blank_lines() {
        let paragraph = format!("{}\n\n", "note: words and words ".repeat(40));
        let text = paragraph.repeat(6);
        let found = passages(&text);
        assert_eq!(
            found.len(),
            3,
            "{:?}",
            found.iter().map(|piece| piece.text.len()).collect::<Vec<_>>()
        );
        assert!(found.iter().all(|passage| passage.text.starts_with("note:")));
    }

    proptest! {
        #[test]
        fn passages_keep_all_text_and_stay_few(
            lines in prop::collection::vec("(A: |user: |)[a-zé ]{0,60}", 0..400),
        ) {
            let text = lines.join("\n");
            let found = passages(&text);
            prop_assert!(found.len() <= PASSAGES_MAX);
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            let together: String = found.iter().map(|passage| &*passage.text).collect();
            prop_assert_eq!(solid(&together), solid(&text));
        }
    }
}
