//! The local provider: all-MiniLM-L6-v2 in fp32, from the model directory, through fastembed.
//!
//! The network itself is `assets/minilm-graph.onnx`, 40 kB compiled into the program, without
//! weights. It names offsets in `model.safetensors`, which is handed to ONNX Runtime as it was
//! published.
//!
//! What is not here: checking and fetching the files (`model`), loading the library (`runtime`).

use std::num::NonZeroUsize;
use std::path::Path;

use fastembed::{
    InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};
use sha2::{Digest, Sha256};

use super::error::one_line;
use super::model::{self, ModelFiles, pins};
use super::runtime::{self, Model, TOKENS_MAX};
use super::{EmbedError, Embedder, ModelId};

const GRAPH: &[u8] = include_bytes!("../../../../assets/minilm-graph.onnx");
/// What [`GRAPH`] was proved to compute with the pinned weights; a test compares. Changes with the
/// file only.
const GRAPH_SHA256: &str = "63bda966929a0dba2002490ec9b84eb157bd7826834d5df02cf43b9febf9cd8e";

pub(super) fn load(
    model_dir: &Path,
    threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    let files = model::verify(model_dir)?;
    let environment = runtime::environment(&files.runtime)?;
    let options = InitOptionsUserDefined::new()
        .with_environment(environment)
        .with_max_length(TOKENS_MAX)
        .with_intra_threads(threads.get());
    let text_embedding = TextEmbedding::try_new_from_user_defined(definition(&files)?, options)
        .map_err(|error| EmbedError::Runtime { why: one_line(&error) })?;
    Ok(Box::new(Model { model_id: model_id(), text_embedding }))
}

fn definition(files: &ModelFiles) -> Result<UserDefinedEmbeddingModel, EmbedError> {
    let read =
        |file: &Path| std::fs::read(file).map_err(|error| EmbedError::unreadable(file, &error));
    let tokenizer = TokenizerFiles {
        tokenizer_file: read(&files.tokenizer)?,
        config_file: read(&files.config)?,
        special_tokens_map_file: read(&files.special_tokens_map)?,
        tokenizer_config_file: read(&files.tokenizer_config)?,
    };
    Ok(UserDefinedEmbeddingModel::new(GRAPH.to_vec(), tokenizer)
        .with_pooling(Pooling::Mean)
        .with_external_initializer(pins::WEIGHTS.name.to_owned(), read(&files.weights)?))
}

/// The pins are what was verified, so they say what the vectors depend on.
fn model_id() -> ModelId {
    let mut digest = Sha256::new();
    for part in [GRAPH_SHA256, pins::WEIGHTS.sha256, pins::TOKENIZER.sha256, "mean", "fp32"] {
        digest.update(part);
        digest.update([0]);
    }
    digest.update(TOKENS_MAX.to_le_bytes());
    ModelId::new("all-MiniLM-L6-v2 fp32", digest.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::var_os;
    use std::path::PathBuf;

    /// PyTorch agrees with these; see the module about the graph.
    const HELLO_WORLD: [f32; 4] = [-0.034_477_25, 0.031_023_17, 0.006_734_97, 0.026_108_98];

    fn model_dir() -> PathBuf {
        if let Some(dir) = var_os("AGENT_KNOWLEDGE_MODEL_DIR") {
            return PathBuf::from(dir);
        }
        let home = PathBuf::from(var_os("HOME").unwrap_or_default());
        let data = var_os("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from);
        let mac = home.join("Library/Application Support");
        let base = if std::env::consts::OS == "macos" { mac } else { data };
        base.join("agent-knowledge").join("model")
    }

    /// The real model, or `None` where it is not installed. Where CI=true its absence is a failure.
    fn real_model() -> Option<Box<dyn Embedder>> {
        match load(&model_dir(), NonZeroUsize::MIN) {
            Ok(embedder) => Some(embedder),
            Err(EmbedError::NotInstalled(dir)) if var_os("CI").is_none_or(|ci| ci != "true") => {
                eprintln!(
                    "SKIPPED: no model in {}; scripts/fetch-model installs it",
                    dir.display()
                );
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn cosine(left: &[f32], right: &[f32]) -> f32 {
        left.iter().zip(right).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn the_graph_in_the_program_is_the_pinned_one() {
        assert_eq!(format!("{:x}", Sha256::digest(GRAPH)), GRAPH_SHA256);
    }

    // S-RANK-2
    #[test]
    fn the_model_gives_the_reference_vector() {
        let Some(mut embedder) = real_model() else { return };
        let vector = embedder.embed(&["hello world"]).unwrap().remove(0);
        assert_eq!(vector.len(), embedder.dims());
        for (ours, expected) in vector.iter().zip(HELLO_WORLD) {
            assert!((ours - expected).abs() < 1e-5, "{ours} instead of {expected}");
        }
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn other_words_for_the_same_trouble_are_nearest() {
        let Some(mut embedder) = real_model() else { return };
        let texts = [
            "package installation was refused because the directory is owned by root",
            "npm install failed with EACCES permission denied",
            "the database migration left a lock behind",
            "use tabs in the Makefile",
        ];
        let vectors = embedder.embed(&texts).unwrap();
        let [query, same, migration, tabs] = vectors.as_slice() else { panic!("four vectors") };
        assert!(cosine(query, same) > cosine(query, migration) + 0.1);
        assert!(cosine(query, same) > cosine(query, tabs) + 0.1);
    }

    #[test]
    fn a_text_gets_the_same_vector_alone_and_among_others() {
        let Some(mut embedder) = real_model() else { return };
        let long = "a longer text that pads its neighbours ".repeat(40);
        let texts = ["short", "", long.as_str(), "ünïcode \u{1f980} and\nlines"];
        let together = embedder.embed(&texts).unwrap();
        for (text, among_others) in texts.iter().zip(&together) {
            let alone = embedder.embed(&[text]).unwrap().remove(0);
            let apart =
                alone.iter().zip(among_others).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart < 1e-5, "{text:?} differs by {apart}");
        }
        assert!(embedder.embed(&[]).unwrap().is_empty());
    }

    #[test]
    fn without_files_the_error_names_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let error = load(dir.path(), NonZeroUsize::MIN).err();
        assert_eq!(error, Some(EmbedError::NotInstalled(dir.path().to_path_buf())));
    }

    #[test]
    fn a_runtime_that_is_no_library_is_an_error_not_a_panic() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libonnxruntime.so");
        assert!(matches!(runtime::environment(&library), Err(EmbedError::Unreadable { .. })));
        std::fs::write(&library, "not a library").unwrap();
        assert!(matches!(runtime::environment(&library), Err(EmbedError::Runtime { .. })));
    }
}
