//! The manifest of a checkpoint: what it is of, and which files belong to it with their checksums. It is
//! written last, so a checkpoint is there as a whole or not at all. Not here: the files (`files`).

use super::CheckpointError;
use super::checked_file::FileSum;
use memory::packed::{Packed, Packing};

/// The first bytes of a manifest.
const MAGIC: &[u8; 8] = b"akcheck\n";

/// The form of all files of a checkpoint. Whoever changes one of them raises it.
const FORM: u64 = 4;

/// What a checkpoint is of: with any difference it is of no use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckpointKey {
    /// The program and its version: others may read lines or cut words in another way.
    pub program: String,
    /// The directory of the logs.
    pub store: String,
    /// What else decides what is made of the logs: aliases, and how much may be kept.
    pub settings: String,
}

/// The index of meanings, and the model that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meanings {
    pub(super) model: String,
    pub(super) sum: FileSum,
}

/// What belongs to a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) key: CheckpointKey,
    /// Which files: each checkpoint of a folder has another number.
    pub(super) number: u64,
    pub(super) heads: FileSum,
    pub(super) words: FileSum,
    pub(super) meanings: Option<Meanings>,
    /// The number of the file of records, older where it was only added to, and how long it is.
    pub(super) texts_number: u64,
    pub(super) texts_bytes: u64,
}

impl Manifest {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut packing = Packing::default();
        packing.raw(MAGIC);
        packing.number(FORM);
        for text in [&self.key.program, &self.key.store, &self.key.settings] {
            packing.text(text);
        }
        packing.number(self.number);
        write_sum(self.heads, &mut packing);
        write_sum(self.words, &mut packing);
        packing.maybe(self.meanings.as_ref().map(|meanings| meanings.model.as_str()));
        self.meanings.iter().for_each(|meanings| write_sum(meanings.sum, &mut packing));
        packing.number(self.texts_number);
        packing.number(self.texts_bytes);
        let mut bytes = packing.done();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(CheckpointError::Damaged("manifest"))?;
        // Before the checksum: another form may have another one.
        if Packed::of(rest).number() != Some(FORM) {
            return Err(CheckpointError::Foreign("of another version"));
        }
        Self::of_bytes(bytes).ok_or(CheckpointError::Damaged("manifest"))
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (said, checksum) = bytes.split_last_chunk()?;
        if crc32fast::hash(said) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut from = Packed::of(said.get(MAGIC.len()..)?);
        let from = &mut from;
        from.number()?;
        let mut text = || from.text().map(str::to_owned);
        let key = CheckpointKey { program: text()?, store: text()?, settings: text()? };
        let number = from.number()?;
        let (heads, words) = (sum(from)?, sum(from)?);
        let meanings = match from.maybe()? {
            Some(model) => Some(Meanings { model: model.to_owned(), sum: sum(from)? }),
            None => None,
        };
        let (texts_number, texts_bytes) = (from.number()?, from.number()?);
        let manifest = Self { key, number, heads, words, meanings, texts_number, texts_bytes };
        from.is_done().then_some(manifest)
    }
}

fn write_sum(sum: FileSum, to: &mut Packing) {
    to.number(sum.length_bytes);
    to.number(sum.checksum.into());
}

fn sum(from: &mut Packed<'_>) -> Option<FileSum> {
    Some(FileSum { length_bytes: from.number()?, checksum: u32::try_from(from.number()?).ok()? })
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
        let meanings = Some(Meanings { model: "m".to_owned(), sum });
        let (heads, words) = (sum, FileSum::default());
        Manifest { key, number: 3, heads, words, meanings, texts_number: 2, texts_bytes: 300 }
    }

    #[test]
    fn a_manifest_comes_back_and_any_other_byte_or_end_is_none() {
        let bytes = manifest().to_bytes();
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
}
