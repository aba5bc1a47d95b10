//! The hashes of a chain. Each can be made with `sha256sum`. Not here: which lines are hashed.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256, kept as its 64 hexadecimal digits, because those are read, written and hashed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash([u8; 64]);

impl ChainHash {
    /// What stands where nothing precedes: 64 zeros.
    pub const NONE: Self = Self([b'0'; 64]);

    /// Hashes bytes.
    #[must_use]
    pub fn digest(bytes: &[u8]) -> Self {
        Self::from(Sha256::digest(bytes))
    }

    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; 64] = text.as_bytes().try_into().ok()?;
        digits
            .iter()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
            .then_some(Self(digits))
    }

    /// Returns the hash after a line: of the digits of this one and those of the line's own hash.
    #[must_use]
    pub fn after(self, line: Self) -> Self {
        Self::digest([self.0, line.0].as_flattened())
    }

    /// Returns the digits.
    #[must_use]
    pub fn digits(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the first eight digits.
    #[must_use]
    pub fn short(&self) -> &str {
        self.digits().get(..8).unwrap_or_default()
    }

    /// Returns the first eight digits as a number.
    #[must_use]
    pub fn number(&self) -> u32 {
        u32::from_str_radix(self.short(), 16).unwrap_or_default()
    }
}

impl From<sha2::digest::Output<Sha256>> for ChainHash {
    fn from(digest: sha2::digest::Output<Sha256>) -> Self {
        let mut digits = [0; 64];
        for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(digest) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        Self(digits)
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.digits())
    }
}

const fn digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}
