//! The local provider: all-MiniLM-L6-v2 from the model directory, in 32-bit floats or with its layers in
//! bytes.
//!
//! The network itself is one of two graphs compiled into the program, some 50 kB each, without weights. They name
//! offsets: in `model.safetensors`, which is handed to ONNX Runtime as it was published, or in `model.int8`, which
//! is made from it. In bytes a question takes half the time, and its vector is nearly that in floats (cosine .9995),
//! so questions are computed in bytes if that works and is faster (`query_network`). Texts, for which nobody waits, are computed
//! as the setting says.
//!
//! Where there is no ONNX Runtime, the network is computed in Rust (`plain_network`), for texts and queries alike.
//!
//! What is not here: checking, fetching and rounding the files (`model`), loading the library (`runtime`), running the
//! network (`ort_network`, `plain_network`, `loaded_model`).

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::embedder::{Embedder, ModelId};
use super::error::EmbedError;
use super::loaded_model::{LoadedModel, TOKENS_MAX};
use super::model::pins::Pin;
use super::model::{self, ModelFiles, pins};
#[cfg(not(target_env = "musl"))]
use super::ort_network::{self, Graph};
use super::plain_network::PlainNetwork;
use super::query_network::TwoNetworkEmbedder;
use super::word_pieces::WordPieces;
use settings::EmbeddingPrecision as Precision;

/// One way of computing the network.
struct Network {
    /// The name people read, which differs with the way.
    name: &'static str,
    #[cfg_attr(target_env = "musl", expect(dead_code, reason = "ONNX Runtime alone reads it"))]
    graph: &'static [u8],
    /// What [`Self::graph`] was proved to compute with the pinned weights; a test compares. Changes with
    /// the file only.
    graph_sha256: &'static str,
    weights: Pin,
    #[cfg_attr(target_env = "musl", expect(dead_code, reason = "ONNX Runtime alone reads it"))]
    batch_texts: usize,
}

const FP32: Network = Network {
    name: "fp32",
    graph: include_bytes!("../../../assets/minilm-graph.onnx"),
    graph_sha256: "63bda966929a0dba2002490ec9b84eb157bd7826834d5df02cf43b9febf9cd8e",
    weights: pins::WEIGHTS,
    batch_texts: usize::MAX,
};
#[cfg(not(target_env = "musl"))]
const INT8: Network = Network {
    name: "int8",
    graph: include_bytes!("../../../assets/minilm-int8-graph.onnx"),
    graph_sha256: "30c4706a17ff1b3a6e215737cbd6ca29a7d8455f3e9922d11128cdd808ba742d",
    weights: pins::INT8_WEIGHTS,
    // Padding would be computed too, which costs more than a batch saves.
    batch_texts: 1,
};

impl Network {
    #[cfg(not(target_env = "musl"))]
    fn with_precision(precision: Precision) -> Self {
        match precision {
            Precision::Fp32 => FP32,
            Precision::Int8 => INT8,
        }
    }

    /// The pins were verified, so they name what the vectors depend on.
    fn model_id(&self) -> ModelId {
        let (weights, tokenizer) = (self.weights.sha256, pins::TOKENIZER.sha256);
        let mut digest = Sha256::new();
        for part in [self.graph_sha256, weights, tokenizer, "mean", self.name] {
            digest.update(part);
            digest.update([0]);
        }
        digest.update(TOKENS_MAX.to_le_bytes());
        ModelId::new(format!("all-MiniLM-L6-v2 {}", self.name), digest.finalize().into())
    }
}

pub(super) fn load(
    model_dir: &Path,
    precision: Precision,
    threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    let files = model::verify(model_dir)?;
    if let Some(in_runtime) = load_in_runtime(model_dir, &files, precision, threads)? {
        return Ok(in_runtime);
    }
    load_plain(&files)
}

/// Loads the model in ONNX Runtime, where there is one.
#[cfg(not(target_env = "musl"))]
fn load_in_runtime(
    model_dir: &Path,
    files: &ModelFiles,
    precision: Precision,
    threads: NonZeroUsize,
) -> Result<Option<Box<dyn Embedder>>, EmbedError> {
    let Some(runtime) = &files.runtime else { return Ok(None) };
    let environment = super::runtime::environment(runtime)?;
    let open = |precision| -> Result<Box<dyn Embedder>, EmbedError> {
        let network = Network::with_precision(precision);
        let weights = match precision {
            Precision::Fp32 => read(&files.weights)?,
            Precision::Int8 => model::int8::weights(model_dir, &files.weights)?,
        };
        let graph = Graph { bytes: network.graph, weights_name: network.weights.name, weights };
        let opened = ort_network::open(&environment, graph, threads)?;
        Ok(Box::new(LoadedModel {
            model_id: network.model_id(),
            network: Box::new(opened),
            word_pieces: word_pieces(files)?,
            batch_texts: network.batch_texts,
        }))
    };
    let texts = open(precision)?;
    Ok(Some(Box::new(TwoNetworkEmbedder::new(texts, open(Precision::Int8)))))
}

/// A static program cannot load a library.
#[cfg(target_env = "musl")]
fn load_in_runtime(
    _: &Path,
    _: &ModelFiles,
    _: Precision,
    _: NonZeroUsize,
) -> Result<Option<Box<dyn Embedder>>, EmbedError> {
    Ok(None)
}

/// Loads the model without ONNX Runtime, in floats. Its vectors can be compared with those of ONNX Runtime in floats, so it has
/// the same id.
fn load_plain(files: &ModelFiles) -> Result<Box<dyn Embedder>, EmbedError> {
    let wrong = || EmbedError::WrongChecksum { file: files.weights.clone() };
    let network = Arc::new(PlainNetwork::read(&read(&files.weights)?).ok_or_else(wrong)?);
    let open = || -> Result<Box<dyn Embedder>, EmbedError> {
        Ok(Box::new(LoadedModel {
            model_id: FP32.model_id(),
            network: Box::new(Arc::clone(&network)),
            word_pieces: word_pieces(files)?,
            batch_texts: 1,
        }))
    };
    let (texts, queries) = (open()?, open());
    Ok(Box::new(TwoNetworkEmbedder::new(texts, queries)))
}

fn word_pieces(files: &ModelFiles) -> Result<WordPieces, EmbedError> {
    let no_vocabulary = || EmbedError::WrongChecksum { file: files.tokenizer.clone() };
    WordPieces::read(&read(&files.tokenizer)?).ok_or_else(no_vocabulary)
}

fn read(file: &Path) -> Result<Vec<u8>, EmbedError> {
    std::fs::read(file).map_err(|error| EmbedError::unreadable(file, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::{Embedding, runtime};
    use crate::late::Token;
    use serde_json::json;
    use std::env::var_os;
    use std::path::PathBuf;

    /// Vectors (their first numbers) and tokens of fastembed 7.5 with tokenizers 0.23, which made them until November 2026.
    const RECORDED: &str = include_str!("../../../tests/fixtures/embedding/minilm.jsonl");

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
    fn real_model(precision: Precision) -> Option<Box<dyn Embedder>> {
        match load(&model_dir(), precision, NonZeroUsize::MIN) {
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
    fn the_graphs_in_the_program_are_the_pinned_ones() {
        for network in [FP32, INT8] {
            assert_eq!(format!("{:x}", Sha256::digest(network.graph)), network.graph_sha256);
        }
    }

    // S-RANK-2
    #[test]
    fn the_model_gives_the_reference_vector() {
        let Some(mut embedder) = real_model(Precision::Fp32) else { return };
        let vector = embedder.embed(&["hello world"]).unwrap().remove(0).vector;
        assert_eq!(vector.len(), embedder.dims());
        for (ours, expected) in vector.iter().zip(HELLO_WORLD) {
            assert!((ours - expected).abs() < 1e-5, "{ours} instead of {expected}");
        }
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
    }

    // S-RANK-2
    #[test]
    fn int8_vectors_are_nearly_equal_and_have_another_model_id() {
        let Some(mut exact) = real_model(Precision::Fp32) else { return };
        let mut rounded = real_model(Precision::Int8).unwrap();
        assert_ne!(exact.model_id(), rounded.model_id());
        let texts = ["hello world", "npm install failed with EACCES permission denied", "a b c"];
        let pairs = exact.embed(&texts).unwrap().into_iter().zip(rounded.embed(&texts).unwrap());
        for (left, right) in pairs.map(|(left, right)| (left.vector, right.vector)) {
            assert!(cosine(&left, &right) > 0.998, "{}", cosine(&left, &right));
            assert!((cosine(&right, &right) - 1.0).abs() < 1e-5);
        }
        let kept = model_dir().join(pins::INT8_WEIGHTS.name);
        assert_eq!(std::fs::metadata(kept).unwrap().len(), pins::INT8_WEIGHTS.bytes);
    }

    // S-RANK-2
    #[test]
    fn queries_use_int8_only_where_that_is_faster() {
        let Some(mut exact) = real_model(Precision::Fp32) else { return };
        let mut rounded = real_model(Precision::Int8).unwrap();
        let question = "why was the package installation refused";
        let asked = exact.embed_query(question).unwrap();
        let as_text = exact.embed(&[question]).unwrap().remove(0);
        // Either may be faster on a busy machine.
        match exact.description().as_str() {
            "all-MiniLM-L6-v2 fp32" => {
                assert_eq!(asked, rounded.embed_query(question).unwrap());
                assert_ne!(asked, as_text);
            }
            message => {
                assert!(message.contains("slower here"), "{message}");
                assert_eq!(asked, as_text);
            }
        }
    }

    // S-RANK-2
    #[test]
    fn model_in_rust_alone_gives_the_same_vectors() {
        let Some(mut exact) = real_model(Precision::Fp32) else { return };
        let mut plain = load_plain(&model::verify(&model_dir()).unwrap()).unwrap();
        assert_eq!(plain.model_id(), exact.model_id());
        let long = "npm install failed with EACCES permission denied; ".repeat(3);
        let texts = ["hello world", "the tokenizer cut the text", &long, ""];
        let pairs = exact.embed(&texts).unwrap().into_iter().zip(plain.embed(&texts).unwrap());
        for (left, right) in pairs {
            let cosine = cosine(&left.vector, &right.vector);
            assert!((cosine - 1.0).abs() < 1e-5, "{cosine}");
            assert_eq!(left.tokens.len(), right.tokens.len());
        }
        let mut queries = plain.split_off_queries().unwrap();
        let asked = queries.embed_query("hello world").unwrap().vector;
        assert!(
            asked.iter().zip(HELLO_WORLD).all(|(ours, expected)| (ours - expected).abs() < 1e-5)
        );
    }

    /// Links the files into a new directory, without the int8 weights.
    #[cfg(unix)]
    fn model_dir_of_its_own() -> tempfile::TempDir {
        let own = tempfile::tempdir().unwrap();
        let files = model::verify(&model_dir()).unwrap();
        for file in
            [Some(files.weights), Some(files.tokenizer), files.runtime].into_iter().flatten()
        {
            let file = file.canonicalize().unwrap();
            std::os::unix::fs::symlink(&file, own.path().join(file.file_name().unwrap())).unwrap();
        }
        own
    }

    #[cfg(unix)]
    #[test]
    fn int8_weights_that_cannot_be_stored_cost_no_answer() {
        if real_model(Precision::Fp32).is_none() {
            return;
        }
        let own = model_dir_of_its_own();
        std::fs::create_dir(own.path().join(pins::INT8_WEIGHTS.name)).unwrap();
        let mut embedder = load(own.path(), Precision::Fp32, NonZeroUsize::MIN).unwrap();
        let question = "why was the package installation refused";
        let asked = embedder.embed_query(question).unwrap().vector;
        assert!(cosine(&asked, &embedder.embed(&[question]).unwrap().remove(0).vector) > 0.99);
    }

    #[test]
    fn other_words_for_the_same_trouble_are_nearest() {
        for precision in [Precision::Fp32, Precision::Int8] {
            let Some(mut embedder) = real_model(precision) else { return };
            let texts = [
                "package installation was refused because the directory is owned by root",
                "npm install failed with EACCES permission denied",
                "the database migration left a lock behind",
                "use tabs in the Makefile",
            ];
            let embeddings = embedder.embed(&texts).unwrap();
            let vectors: Vec<Vec<f32>> = embeddings.into_iter().map(|all| all.vector).collect();
            let [query, same, migration, tabs] = vectors.as_slice() else { panic!("four vectors") };
            assert!(cosine(query, same) > cosine(query, migration) + 0.1);
            assert!(cosine(query, same) > cosine(query, tabs) + 0.1);
        }
    }

    #[test]
    fn a_text_gets_the_same_vector_alone_and_among_others() {
        for precision in [Precision::Fp32, Precision::Int8] {
            let Some(mut embedder) = real_model(precision) else { return };
            let long = "a longer text that pads its neighbours ".repeat(40);
            let texts = ["short", "", long.as_str(), "ünïcode \u{1f980} and\nlines"];
            let together = embedder.embed(&texts).unwrap();
            for (text, among_others) in texts.iter().zip(&together) {
                let alone = embedder.embed(&[text]).unwrap().remove(0);
                let apart = |left: &[f32], right: &[f32]| {
                    left.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
                };
                let of_text = apart(&alone.vector, &among_others.vector);
                assert!(of_text < 1e-5, "{text:?} differs by {of_text}");
                assert_eq!(alone.tokens.len(), among_others.tokens.len(), "{text:?}");
                for (alone, among_others) in alone.tokens.iter().zip(&among_others.tokens) {
                    assert_eq!(alone.span, among_others.span);
                    let of_token = apart(&alone.state, &among_others.state);
                    assert!(of_token < 1e-4, "{text:?}: {of_token}");
                }
            }
            assert!(embedder.embed(&[]).unwrap().is_empty());
        }
    }

    // S-RANK-2
    #[test]
    fn vectors_and_tokens_are_those_that_caches_hold() {
        let Some(mut embedder) = real_model(Precision::Fp32) else { return };
        for line in RECORDED.lines() {
            let recorded: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = recorded["text"].as_str().unwrap();
            let Embedding { vector, tokens } = embedder.embed(&[text]).unwrap().remove(0);
            for (ours, expected) in vector.iter().zip(recorded["vector"].as_array().unwrap()) {
                let apart = (f64::from(*ours) - expected.as_f64().unwrap()).abs();
                assert!(apart < 1e-6, "{text:?}: {ours} instead of {expected}");
            }
            let token = |token: Token| json!([token.piece, token.span.start, token.span.end]);
            assert_eq!(
                tokens.into_iter().map(token).collect::<serde_json::Value>(),
                recorded["tokens"]
            );
        }
    }

    // S-RANK-8
    #[test]
    fn each_token_has_its_span_and_punctuation_is_skipped() {
        for precision in [Precision::Fp32, Precision::Int8] {
            let Some(mut embedder) = real_model(precision) else { return };
            let text = "the borrow `checker` — ünïcode, unfathomableness!";
            let tokens = embedder.embed(&[text]).unwrap().remove(0).tokens;
            let parts: Vec<&str> =
                tokens.iter().map(|token| text.get(token.span.clone()).unwrap()).collect();
            // Rare words have several pieces.
            assert_eq!(parts[..2], ["the", "borrow"]);
            assert_eq!(parts[2..].concat(), "checkerünïcodeunfathomableness");
            assert!(tokens.iter().all(|token| token.state.len() == embedder.dims()));
            assert!(tokens[0].rarity < 0.1 && tokens[1].rarity > tokens[0].rarity);
            assert!(tokens.iter().all(|token| (0.0..=1.0).contains(&token.rarity)));
        }
    }

    #[test]
    fn without_files_the_error_names_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let error = load(dir.path(), Precision::Int8, NonZeroUsize::MIN).err();
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
