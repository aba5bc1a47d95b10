//! The part of a long text that answers the query, as one line: what helped rather than what failed. Not here: how much
//! room there is, the parts of a note (`note_parts`).

use std::cell::OnceCell;

use super::note_parts::{NotePart, NotePiece, PieceForm, begins_item, note_pieces};

/// Returns the weight of a piece of text for the query; 0 for none.
pub type Interest<'a> = dyn Fn(&str) -> f32 + 'a;

/// Marks omitted text.
const CUT: &str = "…";

/// The beginning of a text that is searched for an excerpt, in bytes: twice the longest lesson that a save accepts.
/// Lines written by hand may have megabytes.
pub(super) const LOOK_BYTES_MAX: usize = 64 * 1024;

/// The weight of what failed, as a share of that of any other text with the same words.
const FAILED_SHARE: f64 = 0.25;
/// How much more of what was asked another start than the first must show. The beginning says what a text is about.
const GAIN_MIN: f64 = 1.2;
/// The same within what helps, which seldom has the words of a question about the problem.
const HELP_GAIN_MIN: f64 = 2.0;
/// The least weight of a piece of what helps that counts for that, as a share of the weight of the best piece.
const HELP_SHARE_MIN: f64 = 0.5;
/// With less room than this, in bytes, a text shows what helps and not also where it answers.
const TWO_PARTS_BYTES_MIN: usize = 300;

/// A text that was split and weighed once, and can be cut to any length.
pub struct Excerpt<'a> {
    pieces: Vec<NotePiece>,
    interest: &'a Interest<'a>,
    weights: OnceCell<Vec<f64>>,
}

/// Returns `text` as one neutralised line of at most `bytes_max` bytes: whole where it fits, else the sentences where most
/// words of the query stand together, and what helps.
#[must_use]
pub fn excerpt(text: &str, bytes_max: usize, interest: &Interest<'_>) -> String {
    Excerpt::new(text, interest).shown(bytes_max)
}

impl<'a> Excerpt<'a> {
    /// Prepares a text; of one longer than 64 KiB only the beginning.
    #[must_use]
    pub fn new(text: &str, interest: &'a Interest<'a>) -> Self {
        let looked_at = text.get(..text.floor_char_boundary(LOOK_BYTES_MAX)).unwrap_or_default();
        let mut pieces = note_pieces(looked_at);
        if looked_at.len() < text.len() {
            let (part, form) = (NotePart::Other, PieceForm::Sentence);
            pieces.push(NotePiece { text: CUT.to_owned(), part, form });
        }
        // Where nothing else says what helps, the way to avoid the problem does.
        if !pieces.iter().any(|piece| piece.part == NotePart::Help) {
            let prevention = |piece: &&mut NotePiece| piece.part == NotePart::Prevention;
            pieces.iter_mut().filter(prevention).for_each(|piece| piece.part = NotePart::Help);
        }
        Self { pieces, interest, weights: OnceCell::new() }
    }

    /// Returns the length of the whole line, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.len() + 1).sum::<usize>().saturating_sub(1)
    }

    /// Returns the line in at most `bytes_max` bytes, as [`excerpt`] does.
    #[must_use]
    pub fn shown(&self, bytes_max: usize) -> String {
        if self.bytes() <= bytes_max {
            return self.joined();
        }
        let asked = best_start(&self.pieces, self.weights(), bytes_max, GAIN_MIN, |_| true);
        if self.is_help(asked) {
            return self.from(asked, bytes_max);
        }
        let (answering, room) = self.answering_sentence(bytes_max);
        match (answering, self.help_start(room)) {
            (_, None) => self.from(asked, bytes_max),
            (Some(at), Some(help)) if at < help => {
                let sentence = self.piece_in(at, bytes_max.saturating_sub(room));
                let joint = if at + 1 == help { "" } else { CUT };
                let room = bytes_max.saturating_sub(sentence.len() + 1 + joint.len());
                format!("{sentence} {joint}{}", self.help_in(help, room))
            }
            (_, Some(help)) => self.marked_help(help, bytes_max),
        }
    }

    /// Tells whether a piece can be understood without the one before it: the first below a heading, or an item of a list.
    fn begins_statement(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.pieces.get(before));
        let is_first = before.is_none_or(|before| {
            matches!(before.form, PieceForm::Label | PieceForm::Heading) || !is_help(before)
        });
        self.pieces.get(at).is_some_and(|piece| match piece.form {
            PieceForm::Code => false,
            PieceForm::Label | PieceForm::Heading => true,
            PieceForm::Sentence => is_first || begins_item(&piece.text),
        })
    }

    /// Returns the piece that begins to tell what helps; `None` where none does.
    fn help_start(&self, bytes_max: usize) -> Option<usize> {
        let is_told = |at: usize| self.is_help(at) && self.begins_statement(at);
        let is_any_told = (0..self.pieces.len()).any(is_told);
        self.pieces.iter().any(is_help).then(|| {
            let is_start = |at: usize| if is_any_told { is_told(at) } else { self.is_help(at) };
            let pieces = self.pieces.iter().zip(self.weights());
            // Few words of a question about a problem stand in what helps: what has hardly any is no better start.
            let least = self.weights().iter().copied().fold(0.0, f64::max) * HELP_SHARE_MIN;
            let weigh = |(piece, weight): (&NotePiece, &f64)| {
                if is_help(piece) && *weight >= least { *weight } else { 0.0 }
            };
            let weights: Vec<f64> = pieces.map(weigh).collect();
            best_start(&self.pieces, &weights, bytes_max, HELP_GAIN_MIN, is_start)
        })
    }

    /// Returns the beginning of the line, in at most `bytes_max` bytes.
    pub(super) fn beginning(&self, bytes_max: usize) -> String {
        self.from(0, bytes_max)
    }

    /// Returns the place of the sentence before what helps that has most of what was asked, if there is room for both, and
    /// the room that it leaves.
    fn answering_sentence(&self, bytes_max: usize) -> (Option<usize>, usize) {
        let part = bytes_max / 3;
        if bytes_max < TWO_PARTS_BYTES_MIN {
            return (None, bytes_max);
        }
        let sentences = self.pieces.iter().zip(self.weights()).enumerate();
        let asked = sentences
            .map(|(at, (piece, weight))| (at, piece, weight * form_share(piece)))
            .filter(|(_, piece, weight)| *weight > 0.0 && !is_help(piece))
            .max_by(|(a, _, first), (b, _, second)| first.total_cmp(second).then(b.cmp(a)));
        (asked.map(|(at, ..)| at), bytes_max - part)
    }

    /// Returns one piece in at most `bytes_max` bytes, marked as a part of the text.
    fn piece_in(&self, at: usize, bytes_max: usize) -> String {
        let text = self.pieces.get(at).map_or("", |piece| &piece.text);
        let lead = if at > 0 { CUT } else { "" };
        format!("{lead}{}", cut(text, bytes_max.saturating_sub(lead.len())))
    }

    /// Returns the text from a piece on, in at most `bytes_max` bytes.
    fn from(&self, start: usize, bytes_max: usize) -> String {
        let lead = if start > 0 { CUT } else { "" };
        let Some(room) = bytes_max.checked_sub(lead.len()) else { return String::new() };
        format!("{lead}{}", joined_in(self.pieces.iter().skip(start), room))
    }

    /// Returns what helps from a piece on, marked as a part of the text.
    fn marked_help(&self, start: usize, bytes_max: usize) -> String {
        let lead = if start > 0 { CUT } else { "" };
        let Some(room) = bytes_max.checked_sub(lead.len()) else { return String::new() };
        format!("{lead}{}", self.help_in(start, room))
    }

    /// Returns what helps from a piece on, without what failed between, in at most `bytes_max` bytes.
    fn help_in(&self, start: usize, bytes_max: usize) -> String {
        let rest = self.pieces.iter().skip(start);
        let help = rest.take_while(|piece| !is_end_of_help(piece));
        joined_in(help.filter(|piece| piece.part != NotePart::Failed), bytes_max)
    }

    fn joined(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn is_help(&self, at: usize) -> bool {
        self.pieces.get(at).is_some_and(is_help)
    }

    fn weights(&self) -> &[f64] {
        let weigh = |piece: &NotePiece| {
            let share = if piece.part == NotePart::Failed { FAILED_SHARE } else { 1.0 };
            share * f64::from((self.interest)(&piece.text))
        };
        self.weights.get_or_init(|| self.pieces.iter().map(weigh).collect())
    }
}

/// Joins pieces to one line of at most `bytes_max` bytes; it ends with a sentence where one ends late enough.
fn joined_in<'a>(pieces: impl Iterator<Item = &'a NotePiece>, bytes_max: usize) -> String {
    let mut chosen = String::new();
    let mut end_of_sentence = 0;
    for piece in pieces {
        if chosen.len() > bytes_max {
            break;
        }
        if !chosen.is_empty() {
            chosen.push(' ');
        }
        chosen.push_str(&piece.text);
        let is_end = matches!(piece.form, PieceForm::Sentence | PieceForm::Code);
        if is_end && chosen.len() + 1 + CUT.len() <= bytes_max {
            end_of_sentence = chosen.len();
        }
    }
    if chosen.len() > bytes_max && end_of_sentence > bytes_max / 3 * 2 {
        chosen.truncate(end_of_sentence);
        return format!("{chosen} {CUT}");
    }
    cut(&chosen, bytes_max)
}

/// Cuts a line to at most `bytes_max` bytes, at a space where one is near.
pub(super) fn cut(line: &str, bytes_max: usize) -> String {
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

/// Finds the first of the best pieces from which on the room holds most of what was asked; without any, the first that may be a
/// start. One window slides over the pieces.
fn best_start(
    pieces: &[NotePiece],
    weights: &[f64],
    bytes_max: usize,
    gain_min: f64,
    may_start: impl Fn(usize) -> bool,
) -> usize {
    let mut ahead = pieces.iter().zip(weights).peekable();
    // The bytes and the weight of the window from `start` on.
    let (mut bytes, mut sum) = (0, 0.0);
    let mut best: Option<(usize, f64)> = None;
    let mut is_first = true;
    for (start, (piece, weight)) in pieces.iter().zip(weights).enumerate() {
        // A first piece that is cut still shows its beginning.
        while let Some((next, next_weight)) =
            ahead.next_if(|(next, _)| bytes == 0 || bytes + next.text.len() <= bytes_max)
        {
            bytes += next.text.len() + 1;
            sum += next_weight;
        }
        if may_start(start) {
            // An excerpt begins at the first piece that may be a start, or at something that was asked.
            let is_better = match best {
                None => true,
                Some((_, least)) => {
                    *weight > 0.0 && sum > if is_first { least * gain_min } else { least }
                }
            };
            if is_better {
                is_first = best.is_none();
                best = Some((start, sum));
            }
        }
        bytes -= piece.text.len() + 1;
        sum -= weight;
    }
    best.map_or(0, |(start, _)| start)
}

fn is_help(piece: &NotePiece) -> bool {
    piece.part == NotePart::Help && piece.form != PieceForm::Label
}

/// Tells whether a piece is neither of what helps nor of what failed beside it.
fn is_end_of_help(piece: &NotePiece) -> bool {
    !matches!(piece.part, NotePart::Help | NotePart::Failed)
}

/// The weight of a piece as the one sentence that shows that a note is about the question.
fn form_share(piece: &NotePiece) -> f64 {
    match piece.form {
        PieceForm::Sentence => 1.0,
        PieceForm::Code => 0.5,
        PieceForm::Label | PieceForm::Heading => 0.0,
    }
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
        assert_eq!(
            excerpt("## Fix\n\n```sh\nnpm ci\n```\nDone.", 100, &none),
            "Fix: `npm ci` Done."
        );
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
        let text = format!("zebra {}", "aa. ".repeat(10_000));
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
        let text = "aa. ".repeat(600_000);
        let excerpt = Excerpt::new(&text, &count);
        assert!(excerpt.bytes() <= LOOK_BYTES_MAX + CUT.len() + 1);
        assert!(excerpt.shown(640).ends_with('…'));
        assert!(weighed.get() <= LOOK_BYTES_MAX + 2 * CUT.len(), "{}", weighed.get());
        // An omission mark alone differs from an empty text.
        assert_eq!(Excerpt::new(&" ".repeat(LOOK_BYTES_MAX + 1), &none).shown(10), "…");
    }

    // S-REPLY-2
    #[test]
    fn an_excerpt_shows_what_helped_and_not_what_failed() {
        let text = format!(
            "## Problem\nThe upload hangs at the proxy.\n## What Didn't Work\n**Attempted Solution 1:** A longer timeout at the \
             proxy. {}\n## Solution\nDisable buffering with `proxy_request_buffering off`. {}",
            "The upload hangs with it too. ".repeat(8),
            "Reload afterwards. ".repeat(20)
        );
        for bytes_max in [120, 200, 320, 500] {
            let shown = excerpt(&text, bytes_max, &about("upload"));
            assert!(shown.contains("`proxy_request_buffering off`"), "{bytes_max}: {shown}");
            assert!(!shown.contains("longer timeout"), "{bytes_max}: {shown}");
        }
        let shown = excerpt(&text, 320, &about("upload"));
        assert!(shown.starts_with("…The upload hangs at the proxy. …Disable buffering"), "{shown}");
        // Without a query too.
        assert!(
            excerpt(&text, 200, &none).starts_with("…Disable buffering"),
            "{}",
            excerpt(&text, 200, &none)
        );
    }

    // S-REPLY-2
    #[test]
    fn an_excerpt_begins_and_ends_with_sentences() {
        let text = "The proxy closes a connection after sixty seconds of\nsilence on purpose. Set the keepalive of the \
                    client to thirty seconds. Then restart the client and look at its log again and again.";
        let shown = excerpt(text, 76, &about("keepalive"));
        assert_eq!(shown, "…Set the keepalive of the client to thirty seconds. …");
    }

    /// The expected result of [`best_start`], by comparing all pairs of pieces.
    fn best_start_slowly(pieces: &[NotePiece], weights: &[f64], bytes_max: usize) -> usize {
        let (mut best, mut best_sum) = (0, 0.0);
        for start in 0..pieces.len() {
            let (mut bytes, mut sum) = (0, 0.0);
            for (piece, weight) in pieces.iter().zip(weights).skip(start) {
                if bytes > 0 && bytes + piece.text.len() > bytes_max {
                    break;
                }
                sum += weight;
                bytes += piece.text.len() + 1;
            }
            let needed = if best == 0 { best_sum * 1.2 } else { best_sum };
            if (start == 0 || weights[start] > 0.0) && sum > needed {
                (best, best_sum) = (start, sum);
            }
        }
        best
    }

    fn piece((text, weight): (String, u8)) -> (NotePiece, f64) {
        (NotePiece { text, part: NotePart::Other, form: PieceForm::Sentence }, f64::from(weight))
    }

    proptest! {
        #[test]
        fn the_sliding_window_equals_trying_every_start(
            given in prop::collection::vec(("[a-z]{1,9}", 0_u8..4), 0..30), bytes_max in 0_usize..80
        ) {
            let (pieces, weights): (Vec<NotePiece>, Vec<f64>) = given.into_iter().map(piece).unzip();
            let slowly = best_start_slowly(&pieces, &weights, bytes_max);
            prop_assert_eq!(best_start(&pieces, &weights, bytes_max, GAIN_MIN, |_| true), slowly);
        }

        #[test]
        fn the_budget_is_never_exceeded(text in "(\\PC{0,9}|## Fix\n|Tried: |a[.] ){0,30}", bytes_max in 0_usize..80) {
            let shown = excerpt(&text, bytes_max, &about("a"));
            prop_assert!(shown.len() <= bytes_max);
            prop_assert!(!shown.contains('\n') && !shown.chars().any(guard::text::is_unsafe));
        }
    }
}
