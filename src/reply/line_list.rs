//! A list of short lines within a budget: long lines use what short ones leave, and lines without room are counted.
//! Not here: the text of the lines (`related`, `analysis`).

use super::line::MemoryBody;
use super::tokens::within_tokens;

/// Longest text of a memory, in bytes: many short lines say more here than few long ones.
const BODY_BYTES: usize = 240;
/// The least room for a memory's text, in bytes; with less it is left out.
const BODY_BYTES_MIN: usize = 60;

/// One line.
pub(super) struct Line<'a> {
    pub before: String,
    /// The text of the memory, if the line is about one.
    pub body: Option<MemoryBody<'a>>,
    pub after: String,
}

impl Line<'_> {
    fn frame_bytes(&self) -> usize {
        self.before.len() + self.after.len()
    }

    fn body_bytes(&self) -> usize {
        self.body.as_ref().map_or(0, MemoryBody::bytes)
    }
}

/// Writes a head with the number of lines, as many lines as have room, and an end.
pub(super) fn within(
    head: impl Fn(usize) -> String,
    lines: &[Line<'_>],
    end: &str,
    max_tokens: usize,
) -> String {
    within_tokens(max_tokens, |bytes| (within_bytes(&head, lines, end, bytes), ())).0
}

fn within_bytes(
    head: &impl Fn(usize) -> String,
    lines: &[Line<'_>],
    end: &str,
    room: usize,
) -> String {
    // The number of lines left out is known only at the end, so room for the longest hint is reserved.
    let free = room.saturating_sub(head(lines.len()).len() + hint(lines.len()).len() + end.len());
    let shown = lines.get(..fitting(lines, free)).unwrap_or_default();
    let frames: usize = shown.iter().map(Line::frame_bytes).sum();
    let wants: Vec<usize> = shown.iter().map(|line| line.body_bytes().min(BODY_BYTES)).collect();
    let shares = share_out(&wants, free.saturating_sub(frames));
    let mut text = head(shown.len());
    for (line, share) in shown.iter().zip(shares) {
        text.push_str(&line.before);
        text.push_str(&line.body.as_ref().map_or_else(String::new, |body| body.shown(share)));
        text.push_str(&line.after);
    }
    text.push_str(&hint(lines.len() - shown.len()));
    text.push_str(end);
    text.truncate(text.floor_char_boundary(room));
    text
}

fn hint(more: usize) -> String {
    if more == 0 { String::new() } else { format!("\n({more} more: raise max_tokens)") }
}

/// Counts the lines with room for enough of their text; at least one.
fn fitting(lines: &[Line<'_>], room: usize) -> usize {
    let needed = lines.iter().scan(0, |sum, line| {
        *sum += line.frame_bytes() + line.body_bytes().min(BODY_BYTES_MIN);
        Some(*sum)
    });
    needed.take_while(|sum| *sum <= room).count().min(lines.len()).max(1)
}

/// Gives each demand its room, or an equal share of the rest where the demands exceed the room.
fn share_out(wants: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wants.len()).collect();
    order.sort_by_key(|place| wants.get(*place).copied());
    let mut shares = vec![0; wants.len()];
    let (mut room, mut left) = (room, wants.len());
    for place in order {
        let want = wants.get(place).copied().unwrap_or(0);
        let share = want.min(room / left.max(1));
        if let Some(slot) = shares.get_mut(place) {
            *slot = share;
        }
        room -= share;
        left -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{test_memories, tokens};
    use super::*;

    #[test]
    fn long_lines_share_what_short_ones_leave() {
        assert_eq!(share_out(&[10, 100, 100], 90), [10, 40, 40]);
        assert_eq!(share_out(&[5, 5], 90), [5, 5]);
    }

    proptest! {
        // S-LINK-9, S-ANALYZE-1
        #[test]
        fn no_list_exceeds_its_tokens_and_the_rest_is_counted(
            lessons in prop::collection::vec("[a-zäß ]{0,400}", 1..12), max_tokens in 60_usize..900
        ) {
            let memories: Vec<_> =
                lessons.iter().map(|lesson| test_memories::memory(&json!({ "lesson": format!("x{lesson}") }))).collect();
            let lines: Vec<Line<'_>> = (1..)
                .zip(&memories)
                .map(|(place, memory)| Line {
                    before: format!("\n{place}. "),
                    body: Some(MemoryBody::new(memory, &|_| 0.0)),
                    after: " · m1".to_owned(),
                })
                .collect();
            let text = within(|count| format!("**SearchReply ({count}):**\n"), &lines, "", max_tokens);
            prop_assert!(tokens(&text) <= max_tokens, "{text}");
            let shown = text.matches(" · m1").count();
            prop_assert!(text.starts_with(&format!("**SearchReply ({shown}):**")), "{text}");
            let hint = format!("({} more: raise", lessons.len() - shown);
            prop_assert_eq!(text.contains(&hint), shown < lessons.len(), "{}", text);
        }
    }
}
