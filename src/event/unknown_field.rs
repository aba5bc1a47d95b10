//! An unknown field, and the known field that was probably meant. Not here: which fields exist, and whether an unknown one is
//! refused or ignored (the faces).

use super::Problem;
use guard::secrets::redacted;
use guard::text::{Layout, neutralise};

/// Characters of an unknown field's name that are compared and shown. The caller chooses the name, which may be
/// megabytes long.
const NAME_CHARS_SHOWN: usize = 40;

/// An unknown field of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownField {
    /// Its name, as far as it is shown: short, without secrets and without what could mislead.
    pub shown: String,
    /// The known field that was probably meant.
    pub meant: Option<String>,
}

impl UnknownField {
    /// Finds the field that was probably meant. `known` are the existing fields. `meant` maps names that models and people use
    /// by mistake to fields; only known fields are proposed.
    #[must_use]
    pub fn new(name: &str, known: &[&str], meant: &[(&str, &str)]) -> Self {
        // Escapes vanish, so slightly more is read than is shown.
        let name = redacted(name);
        let head: String = name.chars().take(4 * NAME_CHARS_SHOWN).collect();
        let line = neutralise(&head, Layout::Line);
        let shown: String = line.chars().take(NAME_CHARS_SHOWN).collect();
        let folded = shown.to_ascii_lowercase().replace('-', "_");
        let meant = meant.iter().filter(|(other, _)| *other == folded).map(|(_, field)| *field);
        let near = known.iter().copied().filter(|field| is_near(field, &folded));
        let meant = meant.chain(near).find(|field| known.contains(field)).map(str::to_owned);
        Self { shown, meant }
    }
}

/// Describes an unknown field. The arguments are those of [`UnknownField::new`].
#[must_use]
pub fn unknown_field(name: &str, known: &[&str], meant: &[(&str, &str)]) -> Problem {
    let UnknownField { shown, meant } = UnknownField::new(name, known, meant);
    let message = match meant {
        Some(field) => format!("unknown field {shown:?}; did you mean {field:?}?"),
        None if known.is_empty() => format!("unknown field {shown:?}; there are no fields here"),
        None => format!("unknown field {shown:?}; the fields are {}", known.join(", ")),
    };
    Problem { field: shown, message }
}

fn is_near(field: &str, given: &str) -> bool {
    let plain = |text: &str| text.replace('_', "");
    let (field, given) = (plain(field), plain(given));
    field == given || (given.len() > 2 && (field.starts_with(&given) || given.starts_with(&field)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str) -> String {
        unknown_field(name, &["query", "max_tokens"], &[("q", "query"), ("n", "limit")]).message
    }

    #[test]
    fn the_likely_field_is_proposed_and_only_one_that_exists() {
        for (name, field) in [("q", "query"), ("Query_Text", "query"), ("max-tokens", "max_tokens")]
        {
            assert!(message(name).ends_with(&format!("did you mean {field:?}?")), "{name}");
        }
        assert!(message("n").ends_with("the fields are query, max_tokens"));
    }

    #[test]
    fn a_name_is_shown_in_part_and_without_what_could_mislead() {
        let problem =
            unknown_field(&format!("\u{1B}[31mquery{}", "x".repeat(1_000_000)), &["query"], &[]);
        assert_eq!(problem.field.len(), NAME_CHARS_SHOWN);
        assert!(problem.field.starts_with("queryx"), "{}", problem.field);
    }
}
