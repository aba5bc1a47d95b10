//! The fence around the text of a hook. It tells a reader that these are notes, and it tells us, when we meet the
//! text again, that we wrote it: hooks never learn from text inside a fence. Not here: the text.

/// The first line of what a hook says.
pub const BEGIN: &str = "<agent-knowledge>";
/// The last line.
pub const END: &str = "</agent-knowledge>";

/// What stands in the place of the first character of a fence that a note brings with it: it reads alike and fences
/// nothing.
const HARMLESS: char = '‹';

/// What both have in them.
const NAME: &str = "agent-knowledge";

/// Bytes that the fence takes, its line breaks included.
pub const FENCE_BYTES: usize = BEGIN.len() + END.len() + 2;

/// Puts a fence around a text, in which there is none afterwards.
#[must_use]
pub fn fenced(text: &str) -> String {
    let text = text.trim();
    let mut harmless = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        harmless.push_str(before);
        harmless.push(if names_us(after) { HARMLESS } else { '<' });
        rest = after;
    }
    format!("{BEGIN}\n{harmless}{rest}\n{END}")
}

/// Tells whether what follows a `<` would read as a fence, in whatever case and with whatever spaces.
fn names_us(after: &str) -> bool {
    let is_between = |c: char| c == '/' || c.is_whitespace();
    let name = after.trim_start_matches(is_between);
    name.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// Takes out of a text what stands in fences; an open one reaches to the end.
#[must_use]
pub fn unfenced(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(BEGIN) {
        kept.push_str(before);
        rest = inside.split_once(END).map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // S-HOOK-8
    #[test]
    fn what_was_said_by_us_is_taken_out_and_the_rest_stays() {
        let ours = fenced("1. do this");
        assert_eq!(unfenced(&format!("a{ours}b")), "ab");
        assert_eq!(unfenced(&format!("a{ours}b{ours}")), "ab");
        assert_eq!(unfenced(&format!("a{BEGIN}never closed")), "a");
        assert_eq!(unfenced("plain"), "plain");
    }

    proptest! {
        // S-HOOK-8
        #[test]
        fn no_note_can_end_its_fence(parts in prop::collection::vec("(</?agent-knowledge>|x|\\n|<)", 0..12)) {
            let text = fenced(&parts.concat());
            prop_assert_eq!(text.matches(BEGIN).count(), 1);
            prop_assert_eq!(text.matches(END).count(), 1);
            let spaceless: String = text.to_lowercase().split_whitespace().collect();
            prop_assert_eq!(spaceless.matches(BEGIN).count() + spaceless.matches(END).count(), 2);
            prop_assert_eq!(unfenced(&text), "");
        }
    }
}
