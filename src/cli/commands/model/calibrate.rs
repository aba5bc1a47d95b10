//! `model calibrate`: finds the line that maps the cosines of the user's provider to those of the model of this machine, on which the
//! likelihoods were fitted, from pairs of the user's own memories. Not here: the line (`search::CosineScale`), using it (`engine`).

use serde_json::json;

use crate::program::Program;
use index::embed::Embedder;
use requests::{ApiError, Reply};
use retriever::failure::refuse_unknown_keys;
use retriever::model_plan::ModelPlaces;
use retriever::options::{GlobalOptions, MemoryNeed};
use search::CosineScale;
use settings::ConfigTable;
use store::write_private;
use writer::exit::Exit;

/// Memories whose pairs are compared: 4,950 pairs, and one request or a few.
const TEXTS_MAX: usize = 100;

impl Program<'_> {
    /// Calibrates the likelihoods for the provider of the settings.
    pub(crate) fn calibrate(&self, settings: &GlobalOptions) -> Result<Reply, ApiError> {
        let settled = self.resolve_settings(settings)?;
        refuse_unknown_keys(&settled.config, ConfigTable::Embedding)?;
        let Some(provider) = settled.config.provider.clone() else {
            let message = "the model of this machine needs no calibration; agent-knowledge model use names another one";
            return Err(unavailable(message.to_owned()));
        };
        let places = ModelPlaces::from_settings(&settled);
        let (theirs, ours) = (places.dense(Some(&provider)), places.dense(None));
        let snapshot = self.open_local(settings, MemoryNeed::Words)?.engine().snapshot_for_upkeep();
        let snapshot = snapshot.map_err(|error| unavailable(error.to_string()))?;
        let may_see = theirs.may_see.as_ref();
        let seen = |memory: &&std::sync::Arc<memory::Memory>| {
            may_see.is_none_or(|may_see| may_see(engine::ModelInput::Memory(memory)))
        };
        let all: Vec<String> =
            snapshot.memories().iter().filter(seen).map(|memory| memory.meaning_text()).collect();
        let texts: Vec<&str> =
            all.iter().step_by(all.len().div_ceil(TEXTS_MAX).max(1)).map(String::as_str).collect();
        let cosines = |load: retriever::provider_model::ModelLoader| -> Result<Vec<f32>, ApiError> {
            let mut embedder = load().map_err(|error| unavailable(error.to_string()))?;
            cosines_of_pairs(&mut *embedder, &texts)
        };
        // Ours first: what cannot be compared is not sent.
        let wanted = cosines(ours.load)?;
        let of_model = cosines(theirs.load)?;
        let Some(scale) = CosineScale::fitted(&of_model, &wanted) else {
            let message = format!(
                "{} texts are too few, or one of the models does not tell them apart; nothing is changed",
                texts.len()
            );
            return Err(unavailable(message));
        };
        let (offset, factor) = scale.parts();
        let file = places.scale_file(&theirs.name);
        write_private(&file, &format!("{offset} {factor}\n"))
            .map_err(|error| unavailable(format!("failed to write {}: {error}", file.display())))?;
        let text = format!(
            "compared  {} pairs of {} texts, which were sent once more\nscale     {factor:.3} x cosine {offset:+.3}, to that of all-MiniLM-L6-v2",
            of_model.len(),
            texts.len()
        );
        let json = json!({ "pairs": of_model.len(), "texts": texts.len(), "offset": offset, "factor": factor });
        Ok(Reply::new(text, json))
    }
}

/// Returns the cosine of each pair of texts.
fn cosines_of_pairs(embedder: &mut dyn Embedder, texts: &[&str]) -> Result<Vec<f32>, ApiError> {
    let embeddings = embedder.embed(texts).map_err(|error| unavailable(error.to_string()))?;
    let mut cosines = Vec::new();
    for (at, one) in embeddings.iter().enumerate() {
        for other in embeddings.iter().skip(at + 1) {
            cosines.push(one.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum());
        }
    }
    Ok(cosines)
}

fn unavailable(message: String) -> ApiError {
    ApiError::Failed { exit: Exit::Unavailable, message }
}
