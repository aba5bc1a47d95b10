//! What can go wrong between a text and its vector, each with the remedy in its one line.
//!
//! What is not here: errors of the cache (`cache::CacheError`) and of fetching
//! (`model::FetchError`).

use std::path::{Path, PathBuf};

/// Why there is no vector. Search goes on with words alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model directory, or a file in it, is not there.
    #[error("no embedding model in {}: run `agent-knowledge model fetch`", .0.display())]
    NotInstalled(PathBuf),
    /// A file is not the one that this program was built for.
    #[error("{} has the wrong checksum: run `agent-knowledge model fetch` to replace it", file.display())]
    WrongChecksum {
        /// The file.
        file: PathBuf,
    },
    /// A file could not be read.
    #[error("cannot read {}: {why}; if it is damaged, `agent-knowledge model fetch` replaces it", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The message of the operating system, as one line.
        why: String,
    },
    /// Another user could have put a file there, and it would run here.
    #[error("no model from {}: {why}; `agent-knowledge model fetch` with --model installs one elsewhere", dir.display())]
    Untrusted {
        /// The model directory.
        dir: PathBuf,
        /// Which file is open to others, and the remedy, as one line.
        why: String,
    },
    /// The ONNX Runtime library did not load, is too old, or refused the model.
    #[error(
        "ONNX Runtime does not work here: {why}; `agent-knowledge model fetch` installs a tested one"
    )]
    Runtime {
        /// Its message, as one line.
        why: String,
    },
    /// The model was loaded and could not run.
    #[error(
        "the embedding model failed: {why}; if this stays, run `agent-knowledge model fetch` and restart"
    )]
    Inference {
        /// Its message, as one line.
        why: String,
    },
    /// An external model could not be asked now, and may be later.
    #[error("{why}")]
    ProviderAway {
        /// The provider and the failure, as one line.
        why: String,
    },
    /// An external model refused these texts, or its answer held no vectors.
    #[error("{why}")]
    ProviderRefused {
        /// The provider and the failure, as one line.
        why: String,
    },
    /// Another model answers under the same name, so that earlier vectors cannot be compared with its vectors.
    #[error("{provider} has another model under the same name; all vectors are made anew")]
    ProviderChanged {
        /// The provider and the name of the model.
        provider: String,
    },
}

impl EmbedError {
    /// Tells whether the same request may succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::ProviderAway { .. })
    }

    pub(super) fn unreadable(file: &Path, why: &std::io::Error) -> Self {
        Self::Unreadable { file: file.to_path_buf(), why: one_line(why) }
    }
}

/// Foreign messages run over several lines; ours are one each.
pub(super) fn one_line(message: &dyn std::fmt::Display) -> String {
    message.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_one_line_with_a_remedy() {
        let why = one_line(&"first\n   second\tthird");
        assert_eq!(why, "first second third");
        let file = PathBuf::from("model.safetensors");
        let all = [
            EmbedError::NotInstalled(PathBuf::from("model")),
            EmbedError::WrongChecksum { file: file.clone() },
            EmbedError::unreadable(&file, &std::io::Error::other("bad\nblock")),
            EmbedError::Untrusted { dir: PathBuf::from("model"), why: why.clone() },
            EmbedError::Runtime { why: why.clone() },
            EmbedError::Inference { why },
        ];
        for error in all {
            let line = error.to_string();
            assert!(
                line.contains("`agent-knowledge model fetch`") && !line.contains('\n'),
                "{line}"
            );
        }
    }
}
