//! The binary encoding of checkpoints: numbers and texts, one after another. Reading accepts any
//! bytes: it returns a value or nothing, and allocates no more than the input can hold. Not here:
//! which values in which order (`event_record`, `engine::checkpoint`).

use std::io::{self, Write};

use event::Timestamp;

/// An encoder.
#[derive(Debug, Default)]
pub struct BinaryEncoder(Vec<u8>);

/// A decoder.
#[derive(Debug, Clone, Copy)]
pub struct BinaryDecoder<'a>(&'a [u8]);

impl BinaryEncoder {
    /// Returns the encoded bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Writes the buffered bytes to `out`, if they are more than `over_bytes`.
    ///
    /// # Errors
    /// An error of `out`.
    pub fn flush_over(&mut self, out: &mut dyn Write, over_bytes: usize) -> io::Result<()> {
        if self.0.len() > over_bytes {
            out.write_all(&self.0)?;
            self.0.clear();
        }
        Ok(())
    }

    /// Writes a number as LEB128: seven bits in each byte, the least significant first.
    pub fn number(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.0.push(low & 0x7F);
            }
            self.0.push(low | 0x80);
        }
    }

    /// Writes a length or an index.
    pub fn size(&mut self, size: usize) {
        self.number(u64::try_from(size).unwrap_or(u64::MAX));
    }

    /// Writes bytes whose length the reader knows.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes bytes with their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        self.raw(bytes);
    }

    /// Writes a text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes an optional text.
    pub fn optional_text(&mut self, text: Option<&str>) {
        self.number(text.is_some().into());
        text.into_iter().for_each(|text| self.text(text));
    }

    /// Writes an optional instant to the nanosecond.
    pub fn instant(&mut self, instant: Option<Timestamp>) {
        self.number(instant.is_some().into());
        if let Some(instant) = instant {
            self.raw(&instant.as_second().to_le_bytes());
            self.raw(&instant.subsec_nanosecond().to_le_bytes());
        }
    }
}

impl<'a> BinaryDecoder<'a> {
    /// Makes a decoder of these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Tells whether everything was read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads `length` bytes.
    pub fn raw(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// Reads an array of bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.raw(N)?.try_into().ok()
    }

    /// Reads a number.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let part = u64::from(byte & 0x7F);
            // The tenth byte holds one bit only.
            if part << shift >> shift != part {
                return None;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a length or an index.
    pub fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// Reads the number of entries that follow. Each takes at least a byte, so a number above the
    /// remaining bytes is refused.
    pub fn count(&mut self) -> Option<usize> {
        self.size().filter(|count| *count <= self.0.len())
    }

    /// Reads bytes with their length.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.size()?;
        self.raw(length)
    }

    /// Reads a text.
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Reads whether a value follows.
    fn is_there(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Reads an optional text.
    pub fn optional_text(&mut self) -> Option<Option<&'a str>> {
        if self.is_there()? { self.text().map(Some) } else { Some(None) }
    }

    /// Reads an optional instant.
    pub fn instant(&mut self) -> Option<Option<Timestamp>> {
        if !self.is_there()? {
            return Some(None);
        }
        let second = i64::from_le_bytes(self.array()?);
        let nanosecond = i32::from_le_bytes(self.array()?);
        Timestamp::new(second, nanosecond).ok().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_round_trip(
            number in any::<u64>(), text in ".*", maybe in prop::option::of(".*"),
            second in prop::option::of(-9_000_000_000_i64..9_000_000_000), nano in 0..1_000_000_000_i32,
        ) {
            let instant = second.map(|second| Timestamp::new(second, nano).unwrap());
            let mut packing = BinaryEncoder::default();
            packing.number(number);
            packing.text(&text);
            packing.optional_text(maybe.as_deref());
            packing.instant(instant);
            let bytes = packing.into_bytes();
            let mut packed = BinaryDecoder::new(&bytes);
            prop_assert_eq!(packed.number(), Some(number));
            prop_assert_eq!(packed.text(), Some(text.as_str()));
            prop_assert_eq!(packed.optional_text(), Some(maybe.as_deref()));
            prop_assert_eq!(packed.instant(), Some(instant));
            prop_assert!(packed.is_at_end());
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let packed = BinaryDecoder::new(&bytes);
            let _ = (packed.clone().number(), packed.clone().text(), packed.clone().optional_text());
            let _ = (packed.clone().count(), packed.clone().instant());
        }
    }

    #[test]
    fn a_number_of_too_many_bits_is_refused() {
        let eleven = [0xFF_u8; 10].iter().copied().chain([1]).collect::<Vec<_>>();
        assert_eq!(BinaryDecoder::new(&eleven).number(), None);
        let tenth = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2];
        assert_eq!(BinaryDecoder::new(&tenth).number(), None);
    }
}
