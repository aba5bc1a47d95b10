//! The tokens of a text, by the real tokenizers. Not here: the count that replies keep to (`reply`), which is higher.

use std::sync::LazyLock;

use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

/// Their vocabularies are part of the program, so loading them does not fail.
static TOKENIZERS: LazyLock<Vec<CoreBPE>> =
    LazyLock::new(|| [o200k_base(), cl100k_base()].into_iter().flatten().collect());

/// Counts the tokens of a text by whichever of `o200k_base` and `cl100k_base` needs more.
#[must_use]
pub fn tokens(text: &str) -> usize {
    let counts = TOKENIZERS.iter().map(|tokenizer| tokenizer.encode_ordinary(text).len());
    counts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tokenizers_are_there_and_the_higher_count_is_taken() {
        assert_eq!(TOKENIZERS.len(), 2);
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("Run it again"), 3);
        assert!(tokens("联机调试") > 2);
    }
}
