//! The part of a long text that answers the query, as one line. Not here: how much room there is.

use crate::event::{Layout, neutralise};

/// Tells how much a piece of text has to do with what was asked; 0 for nothing.
pub type Interest<'a> = dyn Fn(&str) -> f32 + 'a;

/// What stands where something was left out.
const CUT: &str = "…";

/// Returns `text` as one harmless line of at most `bytes_max` bytes: whole where it fits, else from
/// the sentence on where most of what was asked stands together.
#[must_use]
pub fn excerpt(text: &str, bytes_max: usize, interest: &Interest<'_>) -> String {
    let pieces = pieces(text);
    let whole = pieces.join(" ");
    if whole.len() <= bytes_max {
        return whole;
    }
    let start = best_start(&pieces, bytes_max, interest);
    let lead = if start > 0 { CUT } else { "" };
    let chosen = pieces.get(start..).unwrap_or_default().join(" ");
    let Some(room) = bytes_max.checked_sub(lead.len()) else { return String::new() };
    format!("{lead}{}", cut(&chosen, room))
}

/// Cuts a line to at most `bytes_max` bytes, at a space where one is near.
fn cut(line: &str, bytes_max: usize) -> String {
    if line.len() <= bytes_max {
        return line.to_owned();
    }
    let Some(room) = bytes_max.checked_sub(CUT.len()) else { return String::new() };
    let kept = line.get(..line.floor_char_boundary(room)).unwrap_or_default();
    // A long word is cut in the middle rather than losing most of the room.
    let at_space = kept.rfind(' ').filter(|place| *place > room / 2);
    let kept = at_space.and_then(|place| kept.get(..place)).unwrap_or(kept);
    format!("{}{CUT}", kept.trim_end())
}

/// Splits a text into sentences and lines, each neutralised and without Markdown's line prefixes.
fn pieces(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("```"))
        .flat_map(sentences)
        .map(|piece| neutralise(piece.trim_start_matches(['#', ' ', '\t', '>']), Layout::Line))
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// Splits a line after `. `, `! ` and `? `; abbreviations cost nothing but a shorter piece.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive(|_| false).flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            let end = [". ", "! ", "? "].iter().filter_map(|mark| rest.find(mark)).min();
            let (piece, left) = match end {
                Some(end) => rest.split_at_checked(end + 2)?,
                None => (rest, ""),
            };
            rest = left;
            (!piece.is_empty()).then_some(piece)
        })
    })
}

/// Finds the piece from which on the room holds most of what was asked; the first of equals, so
/// that without any a text begins at its beginning.
fn best_start(pieces: &[String], bytes_max: usize, interest: &Interest<'_>) -> usize {
    let interests: Vec<f32> = pieces.iter().map(|piece| interest(piece)).collect();
    let (mut best, mut best_sum) = (0, 0.0);
    // An excerpt begins at the beginning, or at something that was asked.
    let starts = (0..pieces.len())
        .filter(|start| *start == 0 || interests.get(*start).is_some_and(|i| *i > 0.0));
    for start in starts {
        let mut room = bytes_max;
        let mut sum = 0.0;
        for (piece, interest) in pieces.iter().zip(&interests).skip(start) {
            // A piece that is cut still shows its beginning.
            sum += interest;
            match room.checked_sub(piece.len() + 1) {
                Some(left) => room = left,
                None => break,
            }
        }
        // The beginning says what a lesson is about: another start must be clearly better.
        let needed = if best == 0 { best_sum * 1.2 } else { best_sum };
        if sum > needed {
            (best, best_sum) = (start, sum);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn none(_: &str) -> f32 {
        0.0
    }

    fn about(word: &'static str) -> impl Fn(&str) -> f32 {
        move |piece| if piece.contains(word) { 1.0 } else { 0.0 }
    }

    #[test]
    fn a_short_text_is_shown_whole_as_one_line() {
        assert_eq!(excerpt("## Fix\n\n```sh\nnpm ci\n```\nDone.", 100, &none), "Fix npm ci Done.");
    }

    // S-REPLY-2
    #[test]
    fn a_long_text_begins_where_the_answer_is() {
        let text = format!(
            "{} The socket was closed early. Set keepalive. {}",
            "Filler words. ".repeat(20),
            "More. ".repeat(50)
        );
        let shown = excerpt(&text, 60, &about("socket"));
        assert!(shown.starts_with("…The socket was closed early. Set keepalive."), "{shown}");
        assert!(shown.ends_with('…') && shown.len() <= 60, "{shown}");
    }

    #[test]
    fn without_anything_asked_a_text_begins_at_its_beginning() {
        assert_eq!(excerpt(&"word ".repeat(50), 14, &none), "word word…");
    }

    proptest! {
        #[test]
        fn the_room_is_never_exceeded(text in any::<String>(), bytes_max in 0_usize..80) {
            let shown = excerpt(&text, bytes_max, &about("a"));
            prop_assert!(shown.len() <= bytes_max);
            prop_assert!(!shown.contains('\n') && !shown.chars().any(crate::event::is_unsafe));
        }
    }
}
