//! When two tags are one: people write `CI`, `ci` and `#ci`. A line keeps what was written. Not here: the tags of our own
//! (`own_tag`), the rules for writing one (`validate`).

/// Returns the form in which tags are compared: in lower case, without the `#` in front.
#[must_use]
pub fn tag_key(tag: &str) -> String {
    let tag = tag.trim();
    let bare = tag.trim_start_matches('#');
    // A tag of nothing but signs is itself.
    let key = if bare.is_empty() { tag } else { bare };
    key.to_lowercase()
}

/// Tells whether two tags are one.
#[must_use]
pub fn same_tag(one: &str, other: &str) -> bool {
    one == other || tag_key(one) == tag_key(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FIND-1
    #[test]
    fn case_and_the_sign_in_front_part_no_tags() {
        for (one, other, is_same) in [
            ("CI", "Ci", true),
            ("#tests", "Tests", true),
            (" ##ci ", "ci", true),
            ("Über", "ÜBER", true),
            ("#", "##", false),
            ("c#", "c", false),
            ("ci", "cd", false),
        ] {
            assert_eq!(same_tag(one, other), is_same, "{one:?} {other:?}");
        }
    }
}
