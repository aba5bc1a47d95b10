//! Patterns with `*` and `?`, as git's `includeIf` and SSH's `Host` have them. Not here: which of them count.

/// Whether a star also matches `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Star {
    /// Everything: the names of hosts.
    Everything,
    /// One part of a path; two stars match several.
    OnePart,
}

/// Most steps of one comparison, so that a hostile pattern cannot take long.
const STEPS_MAX: usize = 100_000;

/// Tells whether a text has a pattern's form. `[abc]` and `[!a-c]` are understood.
pub(crate) fn matches(pattern: &str, text: &str, star: Star) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let mut steps = STEPS_MAX;
    matches_from(&pattern, &text, star, &mut steps)
}

fn matches_from(pattern: &[char], text: &[char], star: Star, steps: &mut usize) -> bool {
    *steps = steps.saturating_sub(1);
    if *steps == 0 {
        return false;
    }
    match (pattern, text) {
        ([], _) => text.is_empty(),
        // `**/` matches no folder as well.
        (['*', '*', '/', rest @ ..], _)
            if star == Star::OnePart && matches_from(rest, text, star, steps) =>
        {
            true
        }
        (['*', '*', rest @ ..], _) if star == Star::OnePart => {
            (0..=text.len()).any(|end| after(text, end, rest, star, steps))
        }
        (['*', rest @ ..], _) => {
            let part = text.iter().take_while(|c| star == Star::Everything || **c != '/').count();
            (0..=part).any(|end| after(text, end, rest, star, steps))
        }
        (['[', rest @ ..], [first, text @ ..]) => match class(rest, *first) {
            Some((is_in, rest)) => is_in && matches_from(rest, text, star, steps),
            None => *first == '[' && matches_from(rest, text, star, steps),
        },
        (['?', rest @ ..], [first, text @ ..]) => {
            (star == Star::Everything || *first != '/') && matches_from(rest, text, star, steps)
        }
        (['\\', escaped, rest @ ..], [first, text @ ..]) => {
            escaped == first && matches_from(rest, text, star, steps)
        }
        ([own, rest @ ..], [first, text @ ..]) => {
            own == first && matches_from(rest, text, star, steps)
        }
        (_, []) => false,
    }
}

fn after(text: &[char], end: usize, rest: &[char], star: Star, steps: &mut usize) -> bool {
    text.get(end..).is_some_and(|text| matches_from(rest, text, star, steps))
}

/// Reads a class after its `[`: whether the character is in it, and the pattern behind it.
fn class(pattern: &[char], c: char) -> Option<(bool, &[char])> {
    let end = pattern.iter().skip(1).position(|c| *c == ']')? + 1;
    let (members, rest) = (pattern.get(..end)?, pattern.get(end + 1..)?);
    let (is_negated, members) = match members {
        ['!' | '^', members @ ..] => (true, members),
        members => (false, members),
    };
    let ranges = members
        .windows(3)
        .any(|three| matches!(three, [from, '-', to] if (*from..=*to).contains(&c)));
    Some(((members.contains(&c) || ranges) != is_negated, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_as_in_git_and_in_ssh() {
        for (pattern, text, expected) in [
            ("/home/ana/code/**", "/home/ana/code/api/.git", true),
            ("**/code/**", "/home/ana/code/api/.git", true),
            ("/home/*/api/.git", "/home/ana/api/.git", true),
            ("/home/*/.git", "/home/ana/api/.git", false),
            ("feature/[a-c]*", "feature/cart", true),
            ("feature/[!a-c]*", "feature/cart", false),
            ("a?c", "a/c", false),
        ] {
            assert_eq!(matches(pattern, text, Star::OnePart), expected, "{pattern}");
        }
        for (pattern, text, expected) in [
            ("*.corp", "git.eu.corp", true),
            ("git-?", "git-1", true),
            ("*", "", true),
            ("a", "b", false),
        ] {
            assert_eq!(matches(pattern, text, Star::Everything), expected, "{pattern}");
        }
        // A hostile pattern ends as well.
        assert!(!matches(&"*a".repeat(40), &"a".repeat(200).replace("aa", "ab"), Star::OnePart));
    }
}
