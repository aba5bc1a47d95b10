//! How much two names are alike, for proposing the one that was probably meant. Not here: which names there are.

/// Least likeness of two names of which one is proposed for the other: one wrong letter of four, two of seven.
const LIKE_MIN: f64 = 0.7;

/// Returns the item whose names are most like the given ones, name by name; nothing if none is like them.
pub(crate) fn most_alike<'a, T>(
    items: impl Iterator<Item = &'a T>,
    likeness: impl Fn(&T) -> f64,
) -> Option<&'a T> {
    let alike = items.map(|item| (likeness(item), item));
    let near = alike.filter(|(likeness, _)| *likeness >= LIKE_MIN);
    near.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, item)| item)
}

/// Returns how much two names are alike, from 0 to 1.
pub(crate) fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(one, other)
}

/// Returns the known name that was probably meant; nothing if none is like the given one.
#[must_use]
pub fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    most_alike(known.iter(), |name| likeness(name, given)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_with_one_slip_is_meant() {
        let known = ["embedding", "embedding.url", "logs", "model"];
        for (given, meant) in [
            ("embxdding", Some("embedding")),
            ("modl", Some("model")),
            ("log", Some("logs")),
            ("embedding.ulr", Some("embedding.url")),
            ("colour", None),
        ] {
            assert_eq!(nearest(given, &known), meant, "{given}");
        }
        assert_eq!(nearest("x", &[]), None);
    }
}
