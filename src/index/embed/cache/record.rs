//! The bytes of the vector cache: its header and its records. Pure, no files.
//!
//! What is not here: where the bytes go and come from (`cache`).

use sha2::{Digest, Sha256};

use crate::embed::ModelId;

pub(super) const MAGIC: &[u8; 8] = b"AKVECTOR";
/// Goes up when the layout changes; it is in the file name too, so versions never fight over a
/// file.
const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 56;
pub(super) const KEY_BYTES: usize = 16;
pub(super) const CHECKSUM_BYTES: usize = 8;
/// Which text a vector belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextKey([u8; KEY_BYTES]);

impl TextKey {
    /// The key of exactly this text.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(prefix(&Sha256::digest(text)))
    }

    /// A part of it, to tell texts apart where the whole would take too much room.
    pub(super) fn check(self) -> u32 {
        u32::from_le_bytes(prefix(&self.0))
    }
}

/// Bytes of one record of `dims` numbers.
pub(super) fn record_bytes(dims: usize) -> usize {
    KEY_BYTES + dims * size_of::<f32>() + CHECKSUM_BYTES
}

/// The header of a file of this model.
pub(super) fn header(model: &ModelId, dims: usize) -> [u8; HEADER_BYTES] {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(dims).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(model.hash());
    bytes.extend_from_slice(&checksum(&bytes));
    prefix(&bytes)
}

/// The file's name; `attempt` counts those taken by foreign files.
pub(super) fn file_name(model: &ModelId, attempt: u32) -> String {
    let short: String = model.hash().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    match attempt {
        0 => format!("{short}.v{VERSION}.vectors"),
        _ => format!("{short}.v{VERSION}-{attempt}.vectors"),
    }
}

/// Appends one record.
pub(super) fn encode(key: TextKey, vector: &[f32], bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend_from_slice(&key.0);
    for number in vector {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let sum = checksum(bytes.get(start..).unwrap_or_default());
    bytes.extend_from_slice(&sum);
}

/// Key and numbers of a record, unless it does not add up.
pub(super) fn decode(record: &[u8]) -> Option<(TextKey, Vec<f32>)> {
    let (content, sum) = record.split_last_chunk::<CHECKSUM_BYTES>()?;
    let (key, numbers) = content.split_first_chunk::<KEY_BYTES>()?;
    if checksum(content) != *sum {
        return None;
    }
    let (words, _) = numbers.as_chunks::<{ size_of::<f32>() }>();
    Some((TextKey(*key), words.iter().map(|word| f32::from_le_bytes(*word)).collect()))
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    prefix(&Sha256::digest(bytes))
}

/// The first `N` bytes; zeros after the end, which no caller reaches.
pub(super) fn prefix<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk::<N>().copied().unwrap_or([0; N])
}
