//! The cost of a text in tokens. Not here: the limits (`api`).

/// Bytes taken as one token. English prose has some 4.5 characters to a token, code and paths fewer;
/// other scripts take more bytes and more tokens alike.
const BYTES_PER_TOKEN: usize = 4;

/// Estimates the tokens of a text: UTF-8 bytes / 4, rounded up. No tokenizer is shared by all
/// clients; this one rule is what every cap here means.
#[must_use]
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// The remaining room of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    bytes: usize,
}

impl Budget {
    /// Returns the room that a number of tokens gives.
    #[must_use]
    pub fn of_tokens(tokens: usize) -> Self {
        Self { bytes: tokens.saturating_mul(BYTES_PER_TOKEN) }
    }

    /// Returns the room in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Takes room for a text; false, and nothing taken, when there is not enough.
    #[must_use]
    pub fn take(&mut self, text: &str) -> bool {
        let left = self.bytes.checked_sub(text.len());
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}
