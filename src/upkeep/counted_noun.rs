//! Numbers with their nouns. Not here: what is counted.

use std::fmt::Display;

/// Returns a number with its noun, which takes an `s` where it is not one.
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let counts = [0_u64, 1, 2].map(|number| counted(number, "line"));
        assert_eq!(counts, ["0 lines", "1 line", "2 lines"]);
    }
}
