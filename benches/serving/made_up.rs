//! Synthetic vectors, put into the cache where the retriever expects those of a model. They show the cost of a
//! search by meaning at any size without hours of embedding. Each is the real vector of one of a few events,
//! moved by seeded noise, so that as many are near a question as with real vectors. The signs of that event's
//! tokens are stored with it. What such a search finds has no meaning. Not here: measuring.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use engine::CacheLock;
use index::embed::cache::{TextKey, VectorCache};
use index::embed::load;
use index::late::TokenSigns;
use settings::EmbeddingPrecision;

use super::Outcome;
use super::chance::Chance;
use super::corpus::{self, SEED};

/// Events whose real vectors are used.
const TURNED: u64 = 256;
/// The length of the noise, relative to a unit vector. The result has a cosine of .6 with the original.
const NOISE: f32 = 1.333;
/// Vectors written at a time.
const BATCH: u64 = 4_096;

/// Stores a vector for each of the first events of the corpus in a cache.
pub fn fill(model: &Path, cache: &Path, events: u64) -> Outcome<()> {
    let mut embedder = load(EmbeddingPrecision::default(), model, NonZeroUsize::MIN)?;
    let texts: Vec<String> = (0..TURNED).map(meaning).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let real = embedder.embed(&texts)?;
    let signs: Vec<TokenSigns> =
        real.iter().map(|one| TokenSigns::from_tokens(&one.tokens)).collect();
    let lock = Arc::new(CacheLock::in_dir(cache));
    let mut cache = VectorCache::open(cache, embedder.model_id(), embedder.dims(), lock)?;
    for first in (0..events).step_by(usize::try_from(BATCH)?) {
        let (mut vectors, mut tokens) = (Vec::new(), Vec::new());
        for number in first..events.min(first + BATCH) {
            let mut chance = Chance::of(SEED ^ 0x7EC, number);
            let at = chance.below(real.len());
            let (real, signs) = real.get(at).zip(signs.get(at)).ok_or("too few vectors came")?;
            let key = TextKey::from_text(&meaning(number));
            vectors.push((key, turned(&real.vector, &mut chance)));
            tokens.push((key, signs.clone()));
        }
        cache.append(&vectors)?;
        // Without the signs, the retriever would ask the model for each event.
        cache.keep_signs(&tokens)?;
    }
    Ok(())
}

/// Returns the text of an event that is embedded, as the retriever composes it.
fn meaning(number: u64) -> String {
    let event = corpus::event(number);
    [event.context, event.lesson, event.command].join("\n")
}

/// Returns a unit vector at a distance from another.
fn turned(real: &[f32], chance: &mut Chance) -> Vec<f32> {
    // Each number has a variance of one twelfth.
    let scale = NOISE * (12.0 / real.len() as f32).sqrt();
    let noise = |chance: &mut Chance| (chance.next() >> 40) as f32 / (1_u32 << 24) as f32 - 0.5;
    let sum: Vec<f32> = real.iter().map(|number| number + scale * noise(chance)).collect();
    let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    sum.into_iter().map(|number| number / length).collect()
}
