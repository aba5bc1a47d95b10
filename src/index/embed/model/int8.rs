//! The weights in eight bits, made from the published ones and kept beside them.
//!
//! Every matrix of a layer and the table of words is rounded: each 64 numbers that are multiplied with the same
//! 64 inputs, and each word, have a scale of their own, by which the largest number becomes 127.
//!
//! ```text
//! floats   by name: scales of what is rounded, row by row; all else as published
//! bytes    by name: what is rounded, row by row; those of layers have 128 for nought
//! ```
//!
//! `scripts/build_minilm_graph.py` repeats this layout for the graph that reads it. Each step is one that
//! IEEE 754 defines to the bit, so the file is the same everywhere and its sum is pinned like those of the
//! files that are fetched.
//!
//! What is not here: the graph, and loading it (`minilm`).

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::atomic_write;
use super::checksum_cache::ChecksumCache;
use super::pins::{self, Pin};
use crate::embed::EmbedError;

/// The largest number among those that share a scale.
const CODE_MAX: f32 = 127.0;
/// Numbers of a layer that share one.
const BLOCK: usize = 64;
/// Nought in the bytes of a layer.
const NOUGHT: i8 = i8::MIN;
/// The one rounded table whose rows are looked up instead of multiplied.
const WORDS: &str = "embeddings.word_embeddings.weight";

/// Returns the rounded weights: those kept in `dir`, else made now from `published` and kept, if `dir` may
/// be written to. Making them took some .4 s of a first start (x86_64, 2 cores, others beside, 22 November 2026).
///
/// # Errors
/// `published` cannot be read, or is not the pinned file.
pub(crate) fn weights(dir: &Path, published: &Path) -> Result<Vec<u8>, EmbedError> {
    let kept = dir.join(pins::INT8_WEIGHTS.name);
    if is_sound(dir, &kept)
        && let Ok(bytes) = std::fs::read(&kept)
        && is_size(&bytes, &pins::INT8_WEIGHTS)
    {
        return Ok(bytes);
    }
    let bytes =
        std::fs::read(published).map_err(|error| EmbedError::unreadable(published, &error))?;
    let rounded =
        round_weights(&bytes).filter(|rounded| sum_of(rounded) == pins::INT8_WEIGHTS.sha256);
    let wrong = || EmbedError::WrongChecksum { file: published.to_path_buf() };
    let rounded = rounded.ok_or_else(wrong)?;
    // A directory we may not write to is fine: they are made again next time.
    let _ = atomic_write::write(dir, pins::INT8_WEIGHTS.name, &rounded);
    Ok(rounded)
}

fn is_sound(dir: &Path, kept: &Path) -> bool {
    let mut checksums = ChecksumCache::read(dir);
    let sum = checksums.sha256_of(kept, &pins::INT8_WEIGHTS);
    checksums.save(dir);
    sum.is_ok_and(|sum| sum == pins::INT8_WEIGHTS.sha256)
}

fn is_size(bytes: &[u8], pin: &Pin) -> bool {
    u64::try_from(bytes.len()).is_ok_and(|length| length == pin.bytes)
}

fn sum_of(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// A tensor of the published file.
struct Tensor<'a> {
    shape: Vec<usize>,
    bytes: &'a [u8],
}

/// Rounds a safetensors file: a length of 64 bits, a header in JSON, then the numbers. `None` where it is
/// another file than expected.
fn round_weights(published: &[u8]) -> Option<Vec<u8>> {
    let mut floats = Vec::new();
    let mut bytes = Vec::new();
    for (name, tensor) in tensors(published)? {
        let is_layer = name.starts_with("encoder.") && tensor.shape.len() == 2;
        if is_layer || name == WORDS {
            let together = if is_layer { BLOCK } else { *tensor.shape.get(1)? };
            let (scales, codes) = round(tensor.bytes, together)?;
            floats.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
            let nought = if is_layer { NOUGHT } else { 0 };
            bytes.extend(codes.iter().map(|code| code.wrapping_add(nought).cast_unsigned()));
        } else {
            floats.extend_from_slice(tensor.bytes);
        }
    }
    floats.append(&mut bytes);
    Some(floats)
}

/// The tensors the network needs, by name; the pooler is one that nobody asks.
fn tensors(published: &[u8]) -> Option<BTreeMap<String, Tensor<'_>>> {
    let (length, rest) = published.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (header, data) = rest.split_at_checked(length)?;
    let header: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(header).ok()?;
    let is_needed = |name: &str| name.starts_with("embeddings.") || name.starts_with("encoder.");
    let numbers = |value: &serde_json::Value| -> Option<Vec<usize>> {
        value.as_array()?.iter().map(|number| usize::try_from(number.as_u64()?).ok()).collect()
    };
    let mut tensors = BTreeMap::new();
    for (name, entry) in header.into_iter().filter(|(name, _)| is_needed(name)) {
        // Numbers of positions are counted, not learned.
        if entry.get("dtype")?.as_str()? != "F32" {
            continue;
        }
        let shape = numbers(entry.get("shape")?)?;
        let place = numbers(entry.get("data_offsets")?)?;
        let bytes = data.get(*place.first()?..*place.get(1)?)?;
        tensors.insert(name, Tensor { shape, bytes });
    }
    Some(tensors)
}

/// Scales and rounded numbers of a matrix, `together` of which share a scale; `None` where they do not come out even.
fn round(matrix: &[u8], together: usize) -> Option<(Vec<f32>, Vec<i8>)> {
    let (words, _) = matrix.as_chunks::<4>();
    if together == 0 || !words.len().is_multiple_of(together) {
        return None;
    }
    let numbers: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    let mut scales = Vec::with_capacity(numbers.len() / together);
    let mut codes = Vec::with_capacity(numbers.len());
    for some in numbers.chunks_exact(together) {
        let largest = some.iter().map(|number| number.abs()).fold(0.0, f32::max);
        let scale = largest / CODE_MAX;
        // Noughts have no scale; nought by nought becomes a zero again.
        #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127 by the scale")]
        codes.extend(some.iter().map(|number| (number / scale).round() as i8));
        scales.push(scale);
    }
    Some((scales, codes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safetensors(tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        for (name, shape, numbers) in tensors {
            let start = data.len();
            data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            let entry = serde_json::json!({
                "dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]
            });
            header.insert((*name).to_owned(), entry);
        }
        let header = serde_json::to_vec(&header).unwrap();
        [&u64::try_from(header.len()).unwrap().to_le_bytes()[..], &header, &data].concat()
    }

    #[test]
    fn layers_are_rounded_by_blocks_and_words_one_by_one() {
        let mut layer = [0.0; 2 * BLOCK];
        (layer[0], layer[1], layer[2]) = (127.0, -1.4, -127.0);
        (layer[BLOCK], layer[2 * BLOCK - 1]) = (0.5, -2.0);
        let file = safetensors(&[
            ("pooler.dense.weight", &[1, 1], &[9.0]),
            ("encoder.layer.0.dense.weight", &[1, 2 * BLOCK], &layer),
            ("encoder.layer.0.dense.bias", &[2], &[7.0, 8.0]),
            (WORDS, &[2, 2], &[0.0, 0.0, -254.0, 62.0]),
        ]);
        let floats: Vec<u8> = [0.0_f32, 2.0, 7.0, 8.0, 1.0, 2.0 / 127.0]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        let mut codes =
            vec![0, 0, i8::MIN + 1, 31].into_iter().map(i8::cast_unsigned).collect::<Vec<u8>>();
        let mut of_layer = [128_u8; 2 * BLOCK];
        (of_layer[0], of_layer[1], of_layer[2]) = (255, 127, 1);
        (of_layer[BLOCK], of_layer[2 * BLOCK - 1]) = (160, 1);
        codes.extend(of_layer);
        assert_eq!(round_weights(&file), Some([floats, codes].concat()));
    }

    #[test]
    fn a_layer_that_does_not_come_in_blocks_is_refused() {
        let file = safetensors(&[("encoder.layer.0.dense.weight", &[1, 65], &[1.0; 65])]);
        assert_eq!(round_weights(&file), None);
    }

    #[test]
    fn another_file_is_refused_and_nothing_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let published = dir.path().join(pins::WEIGHTS.name);
        assert!(matches!(weights(dir.path(), &published), Err(EmbedError::Unreadable { .. })));
        let sound = safetensors(&[(WORDS, &[1, 1], &[1.0])]);
        for bytes in [sound.clone(), sound[..sound.len() - 1].to_vec(), vec![0xff; 40], vec![]] {
            std::fs::write(&published, bytes).unwrap();
            let refused = Err(EmbedError::WrongChecksum { file: published.clone() });
            assert_eq!(weights(dir.path(), &published), refused);
            assert!(!dir.path().join(pins::INT8_WEIGHTS.name).exists());
        }
    }
}
