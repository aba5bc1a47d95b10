//! Whether a provider still has the model it had: one fixed sentence is embedded at each start, and its vector compared with the one
//! that is kept. A provider that put another model behind the same name gets a new edition, so that its vectors are made anew and
//! never compared with those of before. Not here: asking (`remote_embedder`).

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use store::{make_own_file, open_own_file, own_folder};

/// The sentence. Its vector would change with it, so it stays for ever.
pub(crate) const PROBE: &str =
    "The build failed because the cache of packages was owned by another user.";

/// The least cosine of two vectors of the sentence by one model: servers compute in 16 bits, and in another order each time.
const COSINE_MIN: f32 = 0.99;

/// The longest record: a vector of 4,096 numbers takes 90 kB.
const BYTES_MAX: u64 = 1024 * 1024;

/// What is known of a provider's model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProbeRecord {
    /// Goes up when the provider changed its model.
    pub(crate) edition: u64,
    /// The vector of [`PROBE`].
    pub(crate) vector: Vec<f32>,
}

impl ProbeRecord {
    /// Returns where the record of a model is kept.
    pub(crate) fn path(cache_dir: &Path, key: &str) -> PathBuf {
        cache_dir.join(format!("{key}.probe"))
    }

    /// Reads a record. One that is missing or damaged is none.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let file = open_own_file(path).ok()??;
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
        let json: Value = serde_json::from_str(&text).ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "written from numbers of this precision"
        )]
        let number = |value: &Value| value.as_f64().map(|number| number as f32);
        let vector: Option<Vec<f32>> = json.get("vector")?.as_array()?.iter().map(number).collect();
        Some(Self { edition: json.get("edition")?.as_u64()?, vector: vector? })
    }

    /// Writes the record. Where that fails, the next start takes the model for what it is then.
    pub(crate) fn write(&self, path: &Path) {
        let text = json!({ "edition": self.edition, "vector": self.vector }).to_string();
        let folder = path.parent().unwrap_or(Path::new(""));
        let written = own_folder(folder).and_then(|_| make_own_file(path));
        let _ = written.map(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    }

    /// Tells whether a vector is one of the same model.
    pub(crate) fn fits(&self, vector: &[f32]) -> bool {
        let cosine: f32 = self.vector.iter().zip(vector).map(|(one, other)| one * other).sum();
        self.vector.len() == vector.len() && cosine >= COSINE_MIN
    }
}
