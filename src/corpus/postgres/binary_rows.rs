//! Rows in the binary form of COPY, which PostgreSQL reads several times faster than text. Not here: what is in them
//! (`writing`).

/// The first bytes: a signature, no flags, no further header.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// The number of columns that means the end.
const END: i16 = -1;
/// The types of the elements of arrays.
const TEXT: u32 = 25;
const INTEGER: u32 = 23;

/// Rows for COPY.
pub(super) struct BinaryRows(Vec<u8>);

impl BinaryRows {
    pub(super) fn new() -> Self {
        Self(HEADER.to_vec())
    }

    pub(super) fn begin_row(&mut self, columns: i16) {
        self.0.extend(columns.to_be_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend(bytes);
    }

    pub(super) fn null(&mut self) {
        self.0.extend((-1_i32).to_be_bytes());
    }

    pub(super) fn small(&mut self, number: i16) {
        self.bytes(&number.to_be_bytes());
    }

    pub(super) fn large(&mut self, number: i64) {
        self.bytes(&number.to_be_bytes());
    }

    pub(super) fn boolean(&mut self, value: bool) {
        self.bytes(&[value.into()]);
    }

    pub(super) fn texts(&mut self, texts: &[String]) {
        self.array(TEXT, texts.iter().map(String::as_bytes));
    }

    pub(super) fn integers(&mut self, numbers: impl Iterator<Item = i32>) {
        let numbers: Vec<[u8; 4]> = numbers.map(i32::to_be_bytes).collect();
        self.array(INTEGER, numbers.iter().map(<[u8; 4]>::as_slice));
    }

    /// Adds a `sparsevec`: dimensions, length, nothing, indexes, values.
    pub(super) fn sparse(&mut self, dimensions: i32, weights: &[(i32, f32)]) {
        self.bytes(&sparse(dimensions, weights));
    }

    /// Adds a `halfvec` of whole numbers from -127 to 127, which halves hold exactly.
    pub(super) fn halves(&mut self, codes: &[i8]) {
        let mut bytes = i16::try_from(codes.len()).unwrap_or(i16::MAX).to_be_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(codes.iter().flat_map(|code| half_of(*code).to_be_bytes()));
        self.bytes(&bytes);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.0.extend(END.to_be_bytes());
        self.0
    }

    fn array<'a>(&mut self, of: u32, elements: impl ExactSizeIterator<Item = &'a [u8]>) {
        let mut bytes = Vec::new();
        // One dimension, none where it is empty; no nulls; the first index is 1.
        bytes.extend(i32::from(elements.len() > 0).to_be_bytes());
        bytes.extend(0_i32.to_be_bytes());
        bytes.extend(of.to_be_bytes());
        if elements.len() > 0 {
            bytes.extend(i32::try_from(elements.len()).unwrap_or(i32::MAX).to_be_bytes());
            bytes.extend(1_i32.to_be_bytes());
        }
        for element in elements {
            bytes.extend(i32::try_from(element.len()).unwrap_or(i32::MAX).to_be_bytes());
            bytes.extend(element);
        }
        self.bytes(&bytes);
    }

    fn length(&mut self, length: usize) {
        self.0.extend(i32::try_from(length).unwrap_or(i32::MAX).to_be_bytes());
    }
}

/// A sparse vector as the server sends and reads it.
pub(super) fn sparse(dimensions: i32, weights: &[(i32, f32)]) -> Vec<u8> {
    let length = i32::try_from(weights.len()).unwrap_or(i32::MAX);
    let mut bytes: Vec<u8> =
        [dimensions, length, 0].into_iter().flat_map(i32::to_be_bytes).collect();
    bytes.extend(weights.iter().flat_map(|(code, _)| code.to_be_bytes()));
    bytes.extend(weights.iter().flat_map(|(_, weight)| weight.to_be_bytes()));
    bytes
}

/// A sparse vector as text, which counts from 1.
pub(super) fn sparse_text(dimensions: i32, weights: &[(i32, f32)]) -> String {
    let weights: Vec<String> =
        weights.iter().map(|(code, weight)| format!("{}:{weight}", code + 1)).collect();
    format!("{{{}}}/{dimensions}", weights.join(","))
}

/// Returns a small whole number as a 16-bit float.
fn half_of(code: i8) -> u16 {
    let sign = if code < 0 { 0x8000 } else { 0 };
    let size = u16::from(code.unsigned_abs());
    if size == 0 {
        return sign;
    }
    let exponent = size.ilog2();
    // At most 128, so the exponent is at most 7 and the shift at least 3.
    let mantissa = (size << (10 - exponent)) & 0x03ff;
    sign | u16::try_from(15 + exponent).unwrap_or(15) << 10 | mantissa
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_hold_whole_numbers_exactly() {
        for code in i8::MIN..=i8::MAX {
            let half = half_of(code);
            let (sign, exponent, mantissa) = (half >> 15, half >> 10 & 0x1f, half & 0x3ff);
            let size = match exponent {
                0 => 0.0,
                _ => (1.0 + f32::from(mantissa) / 1024.0) * 2_f32.powi(i32::from(exponent) - 15),
            };
            let value = if sign == 1 { -size } else { size };
            assert!((value - f32::from(code)).abs() < f32::EPSILON, "{code}");
        }
    }
}
