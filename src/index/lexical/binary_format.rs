//! The format of a saved index: arrays of numbers, each after its length, little-endian, so that reading is hardly
//! more than copying. Not here: the meaning of the arrays (each type has its own `write_to` and `read_from`),
//! checksums (the checkpoint has them).

use std::io::{self, Read as _};

/// The magic number of an index; it changes with the format.
pub(super) const FORMAT: &[u8] = b"words 3";

/// Bytes read at once. Memory is not reserved for a claimed length before its bytes have come.
const READ_BYTES: usize = 1 << 20;

/// Bytes gathered before a write.
const WRITTEN_BYTES: usize = 1 << 16;

/// Writes an array of numbers behind its length.
pub(super) fn write_numbers<const BYTES: usize>(
    out: &mut dyn io::Write,
    numbers: impl IntoIterator<Item = [u8; BYTES], IntoIter: ExactSizeIterator>,
) -> io::Result<()> {
    let numbers = numbers.into_iter();
    out.write_all(&(numbers.len() as u64).to_le_bytes())?;
    let mut bytes = Vec::new();
    for number in numbers {
        bytes.extend_from_slice(&number);
        if bytes.len() >= WRITTEN_BYTES {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// Writes some bytes behind their number.
pub(super) fn write_bytes(out: &mut dyn io::Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)
}

/// The input of a saved index.
pub(super) struct IndexInput<'reader>(&'reader mut dyn io::Read);

impl<'reader> IndexInput<'reader> {
    pub(super) fn new(reader: &'reader mut dyn io::Read) -> Self {
        Self(reader)
    }

    /// Reads one number of 64 bits.
    pub(super) fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact(&mut bytes).map_err(cut_off)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads what `write_bytes` wrote.
    pub(super) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut left = usize::try_from(self.number()?).map_err(|_| invalid())?;
        let mut bytes = Vec::new();
        while left > 0 {
            let step = left.min(READ_BYTES);
            self.append_exactly(step, &mut bytes)?;
            left -= step;
        }
        bytes.shrink_to_fit();
        Ok(bytes)
    }

    /// Reads what `write_numbers` wrote.
    pub(super) fn numbers<const BYTES: usize, T>(
        &mut self,
        number: impl Fn([u8; BYTES]) -> T,
    ) -> io::Result<Vec<T>> {
        let mut left = usize::try_from(self.number()?).map_err(|_| invalid())?;
        let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
        while left > 0 {
            let step = left.min(READ_BYTES / BYTES);
            bytes.clear();
            self.append_exactly(step * BYTES, &mut bytes)?;
            numbers.extend(bytes.as_chunks().0.iter().map(|bytes| number(*bytes)));
            left -= step;
        }
        numbers.shrink_to_fit();
        Ok(numbers)
    }

    /// Appends exactly this many bytes.
    fn append_exactly(&mut self, count: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.reserve(count);
        let taken = (&mut *self.0).take(count as u64).read_to_end(bytes)?;
        must(taken == count)
    }
}

/// The one error for input that is no index.
pub(super) fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is no saved index of words")
}

/// Reports an early end as damage.
fn cut_off(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { invalid() } else { error }
}

/// Returns the error if the condition is false.
pub(super) fn must(holds: bool) -> io::Result<()> {
    if holds { Ok(()) } else { Err(invalid()) }
}

/// Refuses ends that do not ascend, or whose last is not the number of bytes.
pub(super) fn are_ends(ends: &[u32], bytes: usize) -> io::Result<()> {
    must(ends.is_sorted() && ends.last().copied().unwrap_or(0) as usize == bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::hint::black_box;

    use proptest::prelude::*;

    use super::super::tests::{all, indexed};
    use super::super::{DocId, LexicalIndex, Passage};
    use super::*;

    const QUERIES: [&str; 5] =
        ["npm", "npm instal `fails`", "docker pull", "zebra", "npm install docker pull fails not"];

    fn saved(index: &LexicalIndex) -> Vec<u8> {
        let mut bytes = Vec::new();
        index.write_to(&mut bytes).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> io::Result<LexicalIndex> {
        LexicalIndex::read_from(&mut &*bytes)
    }

    fn text() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec!["npm", "install", "fails", "docker", "pull", "not"]);
        prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "))
    }

    /// Returns an index in which some documents were removed and some have new passages.
    fn index_of(texts: &[String], removed: &[usize], put: &[usize]) -> LexicalIndex {
        let mut index = indexed(texts.iter().map(String::as_str));
        let id = |number: &usize| DocId(u32::try_from(*number).unwrap());
        for number in removed {
            index.remove(id(number));
        }
        let passages = || ["docker", "pull fails"].map(Passage::from_text).to_vec();
        index.put_all(&put.iter().map(|number| (id(number), passages())).collect());
        index
    }

    /// Searches and changes an index in all ways; any result is right.
    fn use_all(mut index: LexicalIndex) {
        for query in QUERIES {
            let prepared = index.prepare(query);
            for scored in prepared.search(|_| true, usize::MAX) {
                black_box((prepared.matched_terms(scored.doc), prepared.overlap(scored.doc)));
            }
            black_box(prepared.search(|_| true, 1));
            black_box(prepared.interest().weigh("npm"));
        }
        black_box(index.fingerprints());
        index.remove(DocId(1));
        index.replace(DocId(2), "npm");
        let anew = (0..40).map(|number| (DocId(number * 3), vec![Passage::from_text("npm pull")]));
        index.put_all(&anew.collect::<BTreeMap<_, _>>());
        black_box(index.fingerprints());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn what_is_read_back_answers_and_goes_on_alike(
            texts in prop::collection::vec(text(), 0..40),
            removed in prop::collection::vec(0_usize..40, 0..9),
            put in prop::collection::vec(0_usize..50, 0..9),
        ) {
            let mut index = index_of(&texts, &removed, &put);
            let bytes = saved(&index);
            let mut back = read(&bytes).unwrap();
            prop_assert_eq!(&saved(&back), &bytes);
            for _ in 0..2 {
                prop_assert_eq!(back.fingerprints(), index.fingerprints());
                prop_assert_eq!((back.len(), back.terms_len()), (index.len(), index.terms_len()));
                for query in QUERIES {
                    prop_assert_eq!(all(&back, query), all(&index, query));
                }
                prop_assert_eq!(back.insert(DocId(45), "npm"), index.insert(DocId(45), "npm"));
                prop_assert_eq!(back.remove(DocId(3)), index.remove(DocId(3)));
            }
        }

        #[test]
        fn any_bytes_in_place_of_some_are_refused_or_borne(
            texts in prop::collection::vec(text(), 1..200),
            removed in prop::collection::vec(0_usize..40, 0..4),
            at in any::<prop::sample::Index>(),
            junk in prop::collection::vec(any::<u8>(), 1..9),
        ) {
            let mut bytes = saved(&index_of(&texts, &removed, &[]));
            let at = at.index(bytes.len());
            for (byte, junk) in bytes[at..].iter_mut().zip(&junk) {
                *byte = *junk;
            }
            match read(&bytes) {
                Ok(index) => use_all(index),
                Err(error) => prop_assert_eq!(error.kind(), io::ErrorKind::InvalidData),
            }
        }
    }

    #[test]
    fn a_byte_flipped_or_an_end_cut_off_is_refused_or_borne() {
        let texts: Vec<String> = (0..150)
            .map(|n| format!("npm {}", if n % 3 > 0 { "docker" } else { "pull" }))
            .collect();
        let whole = saved(&index_of(&texts, &[4, 5], &[7]));
        for at in 0..whole.len() {
            let cut = read(&whole[..at]).unwrap_err();
            assert_eq!(cut.kind(), io::ErrorKind::InvalidData, "{at}");
        }
        // Each index is used in all ways, which takes time; this step still changes bytes of every kind.
        for at in (0..whole.len()).step_by(13) {
            let mut bytes = whole.clone();
            bytes[at] ^= if at % 2 == 0 { 1 } else { 0x80 };
            if let Ok(index) = read(&bytes) {
                use_all(index);
            }
        }
    }

    #[test]
    fn an_index_of_another_layout_is_refused() {
        let mut bytes = saved(&index_of(&["npm install fails".into()], &[], &[]));
        assert!(read(&bytes).is_ok());
        let at = bytes.windows(FORMAT.len()).position(|bytes| bytes == FORMAT).unwrap();
        bytes[at..at + FORMAT.len()].copy_from_slice(b"words 1");
        assert_eq!(read(&bytes).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_length_that_is_only_claimed_reserves_nothing() {
        for claimed in [u64::MAX, u64::MAX / 8, 1 << 40] {
            let bytes = claimed.to_le_bytes();
            assert!(IndexInput::new(&mut &bytes[..]).bytes().is_err());
            assert!(IndexInput::new(&mut &bytes[..]).numbers(u32::from_le_bytes).is_err());
        }
    }
}
