//! A term as a number: the index of its weight in a sparse vector. Not here: what is done if two terms have the same (the exact
//! scores are computed from the records).

/// The greatest index that pgvector allows in a sparse vector, and a prime below it.
const CODES: u64 = 999_999_937;

/// Returns the code of a term, below 10^9: FNV-1a of its bytes.
pub(crate) fn code_of(term: &str) -> i32 {
    let hash = term.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    i32::try_from(hash % CODES).unwrap_or(i32::MAX)
}

/// The number of dimensions of a sparse vector.
pub(crate) const DIMENSIONS: i32 = 1_000_000_000;

/// Returns weights by codes, ascending, each code once: the weights of terms that share a code are added.
pub(crate) fn coded_weights<'term>(
    weights: impl Iterator<Item = (&'term str, f32)>,
) -> Vec<(i32, f32)> {
    let mut coded: Vec<(i32, f32)> =
        weights.map(|(term, weight)| (code_of(term), weight)).collect();
    coded.sort_unstable_by_key(|(code, _)| *code);
    coded.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_stand_once() {
        let weights = [("walrus", 1.0), ("npm", 2.0), ("walrus", 0.5)];
        let coded = coded_weights(weights.into_iter());
        assert_eq!(coded.len(), 2);
        assert!(coded[0].0 < coded[1].0);
        let walrus = coded.iter().find(|(code, _)| *code == code_of("walrus")).unwrap().1;
        assert!((walrus - 1.5).abs() < 1e-6);
        assert!((0..DIMENSIONS).contains(&code_of("")));
    }
}
