//! The fence around the text of a hook. It shows a reader that these are notes, and it shows us later that we wrote
//! the text: hooks never learn from text inside a fence. Not here: the text.

/// The first line of a hook's text.
pub const BEGIN: &str = "<agent-knowledge>";
/// The last line.
pub const END: &str = "</agent-knowledge>";

/// Replaces the first character of a fence inside a note: it looks similar and is no fence.
const HARMLESS: char = '‹';

/// The text that both lines contain.
const NAME: &str = "agent-knowledge";

/// The length of the fence with its line breaks, in bytes.
pub const FENCE_BYTES: usize = BEGIN.len() + END.len() + 2;

/// Puts a fence around a text, and disables fences inside it.
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

/// Tells whether the text after a `<` reads as a fence, in any case and with any spaces.
fn names_us(after: &str) -> bool {
    let is_between = |c: char| c == '/' || c.is_whitespace();
    let name = after.trim_start_matches(is_between);
    name.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// Removes fenced text; an open fence reaches to the end.
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
    fn our_own_text_is_removed_and_the_rest_stays() {
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
