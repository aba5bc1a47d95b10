//! The mean state of MiniLM's tokens. All tokens share this direction, which carries no information and hides the
//! rest. Made once by `cargo bench --bench encoder -- --mean FILE` over the documents of `benches/lessons`. Not
//! here: its use (`rotation`).

/// 384 floats, little-endian. A change alters the signs, so the version of their file goes up with it.
pub static MEAN: &[u8] = include_bytes!("../../../assets/minilm-mean.f32");

/// The mean, number by number.
pub(super) fn numbers() -> impl Iterator<Item = f32> {
    let (numbers, _) = MEAN.as_chunks::<{ size_of::<f32>() }>();
    numbers.iter().map(|number| f32::from_le_bytes(*number))
}
