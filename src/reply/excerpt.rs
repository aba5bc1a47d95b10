//! The part of a long text that answers the query, as one line. Not here: how much room there is.

use std::cell::OnceCell;

use super::inert;

/// Returns the weight of a piece of text for the query; 0 for none.
pub type Interest<'a> = dyn Fn(&str) -> f32 + 'a;

/// Marks omitted text.
const CUT: &str = "…";

/// The beginning of a text that is searched for an excerpt, in bytes: twice the longest lesson that a save accepts.
/// Lines written by hand may have megabytes.
pub(super) const LOOK_BYTES_MAX: usize = 64 * 1024;

/// A text that was split and weighed once, and can be cut to any length.
pub struct Excerpt<'a> {
    pieces: Vec<String>,
    interest: &'a Interest<'a>,
    weights: OnceCell<Vec<f64>>,
}

/// Returns `text` as one neutralised line of at most `bytes_max` bytes: whole where it fits, else from the sentence
/// where most words of the query stand together.
#[must_use]
pub fn excerpt(text: &str, bytes_max: usize, interest: &Interest<'_>) -> String {
    Excerpt::new(text, interest).shown(bytes_max)
}

impl<'a> Excerpt<'a> {
    /// Prepares a text; of one longer than 64 KiB only the beginning.
    #[must_use]
    pub fn new(text: &str, interest: &'a Interest<'a>) -> Self {
        let looked_at = text.get(..text.floor_char_boundary(LOOK_BYTES_MAX)).unwrap_or_default();
        let mut pieces = pieces(looked_at);
        if looked_at.len() < text.len() {
            pieces.push(CUT.to_owned());
        }
        Self { pieces, interest, weights: OnceCell::new() }
    }

    /// Returns the length of the whole line, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len() + 1).sum::<usize>().saturating_sub(1)
    }

    /// Returns the line in at most `bytes_max` bytes, as [`excerpt`] does.
    #[must_use]
    pub fn shown(&self, bytes_max: usize) -> String {
        if self.bytes() <= bytes_max {
            return self.pieces.join(" ");
        }
        let start = best_start(&self.pieces, self.weights(), bytes_max);
        let lead = if start > 0 { CUT } else { "" };
        let Some(room) = bytes_max.checked_sub(lead.len()) else { return String::new() };
        let mut chosen = String::new();
        for piece in self.pieces.iter().skip(start) {
            if chosen.len() > room {
                break;
            }
            if !chosen.is_empty() {
                chosen.push(' ');
            }
            chosen.push_str(piece);
        }
        format!("{lead}{}", cut(&chosen, room))
    }

    fn weights(&self) -> &[f64] {
        let weigh = || self.pieces.iter().map(|piece| f64::from((self.interest)(piece))).collect();
        self.weights.get_or_init(weigh)
    }
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
        .map(|piece| inert::text(piece.trim_start_matches(['#', ' ', '\t', '>'])))
        .filter(|piece| !piece.is_empty())
        .collect()
}

/// Splits a line after `. `, `! ` and `? `; abbreviations cost nothing but a shorter piece.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut is_after_mark = false;
    line.split_inclusive(move |c| {
        let ends = is_after_mark && c == ' ';
        is_after_mark = matches!(c, '.' | '!' | '?');
        ends
    })
}

/// Finds the piece from which on the room holds most of what was asked; the first of equals, so
/// that without any a text begins at its beginning. One window slides over the pieces.
fn best_start(pieces: &[String], weights: &[f64], bytes_max: usize) -> usize {
    let mut ahead = pieces.iter().zip(weights);
    // The bytes and the weight of the window from `start` on.
    let (mut bytes, mut sum) = (0, 0.0);
    let (mut best, mut best_sum) = (0, 0.0);
    for (start, (piece, weight)) in pieces.iter().zip(weights).enumerate() {
        // A piece that is cut still shows its beginning.
        while bytes <= bytes_max
            && let Some((next, next_weight)) = ahead.next()
        {
            bytes += next.len() + 1;
            sum += next_weight;
        }
        // The beginning says what a lesson is about: another start must be clearly better. An excerpt
        // begins at the beginning, or at something that was asked.
        let needed = if best == 0 { best_sum * 1.2 } else { best_sum };
        if (start == 0 || *weight > 0.0) && sum > needed {
            (best, best_sum) = (start, sum);
        }
        bytes -= piece.len() + 1;
        sum -= weight;
    }
    best
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

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
    fn without_a_query_an_excerpt_begins_at_the_beginning() {
        assert_eq!(excerpt(&"word ".repeat(50), 14, &none), "word word…");
    }

    #[test]
    fn each_piece_is_weighed_once_however_often_the_text_is_shown() {
        let weighed = Cell::new(0);
        let count = |piece: &str| {
            weighed.set(weighed.get() + 1);
            none(piece)
        };
        let text = format!("zebra {}", "a. ".repeat(10_000));
        let excerpt = Excerpt::new(&text, &count);
        for bytes_max in [9, 100, 640, 5_000] {
            assert!(excerpt.shown(bytes_max).len() <= bytes_max);
        }
        assert_eq!(weighed.get(), 10_000);
    }

    #[test]
    fn only_the_beginning_of_an_endless_text_is_read() {
        let weighed = Cell::new(0);
        let count = |piece: &str| {
            weighed.set(weighed.get() + piece.len() + 1);
            none(piece)
        };
        let text = "a. ".repeat(600_000);
        let excerpt = Excerpt::new(&text, &count);
        assert!(excerpt.bytes() <= LOOK_BYTES_MAX + CUT.len() + 1);
        assert!(excerpt.shown(640).ends_with('…'));
        assert!(weighed.get() <= LOOK_BYTES_MAX + 2 * CUT.len(), "{}", weighed.get());
        // An omission mark alone differs from an empty text.
        assert_eq!(Excerpt::new(&" ".repeat(LOOK_BYTES_MAX + 1), &none).shown(10), "…");
    }

    /// The expected result of [`best_start`], by comparing all pairs of pieces.
    fn best_start_slowly(pieces: &[String], weights: &[f64], bytes_max: usize) -> usize {
        let (mut best, mut best_sum) = (0, 0.0);
        for start in 0..pieces.len() {
            let (mut bytes, mut sum) = (0, 0.0);
            for (piece, weight) in pieces.iter().zip(weights).skip(start) {
                sum += weight;
                bytes += piece.len() + 1;
                if bytes > bytes_max {
                    break;
                }
            }
            let needed = if best == 0 { best_sum * 1.2 } else { best_sum };
            if (start == 0 || weights[start] > 0.0) && sum > needed {
                (best, best_sum) = (start, sum);
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_sliding_window_equals_trying_every_start(
            given in prop::collection::vec(("[a-z]{1,9}", 0_u8..4), 0..30), bytes_max in 0_usize..80
        ) {
            let (pieces, weights): (Vec<String>, Vec<f64>) =
                given.into_iter().map(|(piece, weight)| (piece, f64::from(weight))).unzip();
            let slowly = best_start_slowly(&pieces, &weights, bytes_max);
            prop_assert_eq!(best_start(&pieces, &weights, bytes_max), slowly);
        }

        #[test]
        fn the_budget_is_never_exceeded(text in any::<String>(), bytes_max in 0_usize..80) {
            let shown = excerpt(&text, bytes_max, &about("a"));
            prop_assert!(shown.len() <= bytes_max);
            prop_assert!(!shown.contains('\n') && !shown.chars().any(guard::text::is_unsafe));
        }
    }
}
