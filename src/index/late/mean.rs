//! What MiniLM says of tokens on average: all of them share a direction, which says nothing and hides the
//! rest. Made once by `cargo bench --bench encoder -- --mean FILE` over the documents of `benches/lessons`. Not here:
//! what is done with it (`turn`).

/// 384 floats, little-endian. Changes what signs mean, so the form of their file goes up with it.
pub static MEAN: &[u8] = include_bytes!("../../../assets/minilm-mean.f32");

/// The mean, number by number.
pub(super) fn numbers() -> impl Iterator<Item = f32> {
    let (numbers, _) = MEAN.as_chunks::<{ size_of::<f32>() }>();
    numbers.iter().map(|number| f32::from_le_bytes(*number))
}
