//! The manifest of a checkpoint: what the checkpoint belongs to, and its files with their checksums.
//! One header line with the format and a checksum, then JSON. It is written last, so a checkpoint is
//! there as a whole or not at all. Not here: the files (`checked_file`, `read`, `write`).

use serde::{Deserialize, Serialize};

use super::CheckpointError;
use super::checked_file::FileSum;

/// How a manifest begins, with the format of all files of a checkpoint. A change of any of them needs
/// another number.
const MAGIC: &str = "akcheck 7 ";

/// The store that a checkpoint belongs to. With any difference the checkpoint cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckpointKey {
    /// The program and its version: others may read lines or cut words in another way.
    pub program: String,
    /// The directory of the logs.
    pub store: String,
    /// Settings that change what is made of the logs: aliases, the memory bound, our origin, and whom we trust.
    pub settings: String,
}

/// The vector index, and the model that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VectorsEntry {
    pub(super) model: String,
    pub(super) sum: FileSum,
}

/// The parts of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) key: CheckpointKey,
    /// The number in the names of its files: each checkpoint of a folder has another.
    pub(super) number: u64,
    pub(super) heads: FileSum,
    pub(super) words: FileSum,
    pub(super) meanings: Option<VectorsEntry>,
    /// The number of the file of records, which is older where records were only appended, and its
    /// length.
    pub(super) texts_number: u64,
    pub(super) texts_bytes: u64,
}

impl Manifest {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::from)?;
        Ok([header(&json).into_bytes(), json].concat())
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let damaged = || CheckpointError::Damaged("manifest");
        if !bytes.starts_with(MAGIC.as_bytes()) {
            return Err(CheckpointError::Foreign("of another version"));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let (found, json) = bytes.split_at_checked(end + 1).ok_or_else(damaged)?;
        let manifest = (found == header(json).as_bytes()).then(|| serde_json::from_slice(json));
        manifest.and_then(Result::ok).ok_or_else(damaged)
    }
}

fn header(json: &[u8]) -> String {
    format!("{MAGIC}{:08x}\n", crc32fast::hash(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let key = CheckpointKey {
            program: "1".to_owned(),
            store: "s".to_owned(),
            settings: "x".to_owned(),
        };
        let sum = FileSum { length_bytes: 9, checksum: u32::MAX };
        let meanings = Some(VectorsEntry { model: "m".to_owned(), sum });
        let (heads, words) = (sum, FileSum::default());
        Manifest { key, number: 3, heads, words, meanings, texts_number: 2, texts_bytes: 300 }
    }

    #[test]
    fn a_manifest_round_trips_and_any_change_is_refused() {
        let bytes = manifest().to_bytes().unwrap();
        assert_eq!(Manifest::from_bytes(&bytes).unwrap(), manifest());
        for place in 0..bytes.len() {
            assert!(Manifest::from_bytes(&bytes[..place]).is_err());
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[place] ^= 1 << bit;
                assert!(Manifest::from_bytes(&bytes).is_err(), "{place}");
            }
        }
    }

    #[test]
    fn a_manifest_of_another_format_is_foreign() {
        for bytes in [&b"akcheck\n\x04"[..], b"akcheck 8 00000000\n{}"] {
            let refused = Manifest::from_bytes(bytes);
            assert!(matches!(refused, Err(CheckpointError::Foreign("of another version"))));
        }
    }
}
