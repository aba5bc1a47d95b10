//! The hashes of the complete lines of a file, in bounded memory however long the lines are. Not here: what follows from
//! them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::ChainHash;

/// How much is read at a time, in bytes.
const BLOCK_BYTES: usize = 256 * 1024;

/// Passes the hash and the place of each complete line of a part of a file to
/// `each`.
pub(super) fn hash_lines(
    mut file: &File,
    part: Range<u64>,
    mut each: impl FnMut(ChainHash, Range<u64>),
) -> io::Result<()> {
    file.seek(SeekFrom::Start(part.start))?;
    let bytes = part.end.saturating_sub(part.start);
    let block = usize::try_from(bytes).unwrap_or(BLOCK_BYTES).clamp(1, BLOCK_BYTES);
    let mut source = BufReader::with_capacity(block, file.take(bytes));
    let (mut hash, mut begin, mut end) = (Sha256::new(), part.start, part.start);
    loop {
        let block = source.fill_buf()?;
        if block.is_empty() {
            return Ok(());
        }
        let line_break = block.iter().position(|byte| *byte == b'\n');
        let count = line_break.map_or(block.len(), |at| at + 1);
        hash.update(block.get(..count).unwrap_or_default());
        source.consume(count);
        end += u64::try_from(count).unwrap_or(0);
        if line_break.is_some() {
            each(ChainHash::from(hash.finalize_reset()), begin..end);
            begin = end;
        }
    }
}
