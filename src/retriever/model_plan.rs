//! Which model makes vectors: the one of this machine, or one of others that the settings name; and, after a change, which one
//! answers until the new one has a vector of every memory. Not here: the providers (`provider_model`), the change itself (`engine`).

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::provider_model;
use crate::provider_model::model_name;
use crate::resolved_settings::ResolvedSettings;
use engine::checkpoint::Checkpoints;
use engine::{CacheLock, DenseSetup, SwitchCallback};
use index::embed::worker::IdleUnload;
use index::embed::{self, model};
use index::vector::VECTOR_BYTES;
use memory::MemoryBound;
use search::CosineScale;
use settings::{Config, EmbeddingProvider};
use store::write_private;

/// Threads of one inference: a background program leaves the machine to the work.
const THREADS: NonZeroUsize = NonZeroUsize::MIN;

/// Numbers per vector that a provider is taken to return where the settings do not say.
const DIMENSIONS_USUAL: u64 = 1_024;
/// Numbers per vector of the model of this machine.
const DIMENSIONS_LOCAL: u64 = 384;

/// The models to begin with.
pub struct ModelPlan {
    /// The one that answers.
    pub present: DenseSetup,
    /// The one that answers once it has a vector of every memory.
    pub next: Option<(DenseSetup, SwitchCallback)>,
}

/// What the models of a process share.
#[derive(Clone)]
pub struct ModelPlaces {
    model_dir: PathBuf,
    cache_dir: PathBuf,
    config_file: Option<PathBuf>,
    precision: settings::EmbeddingPrecision,
    /// How long a model of this machine that nobody uses stays in memory.
    idle: Duration,
    /// Says which model answers, between runs.
    state: PathBuf,
    variable: fn(&str) -> Option<std::ffi::OsString>,
}

impl ModelPlaces {
    /// Reads them from the settings.
    pub fn from_settings(settled: &ResolvedSettings) -> Self {
        let store = settled.store.root();
        let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
        let name = short_hash(store.as_os_str().as_encoded_bytes());
        Self {
            model_dir: settled.model_dir.clone(),
            cache_dir: settled.cache_dir.clone(),
            config_file: settled.config_file.clone(),
            precision: settled.config.general.embedding,
            idle: Duration::from_secs(u64::from(settled.config.general.model_idle_minutes) * 60),
            state: settled.cache_dir.join(format!("{name}.embedding")),
            variable: settled.variable,
        }
    }

    /// Returns what opens a model; `None` is the one of this machine.
    pub fn dense(&self, provider: Option<&EmbeddingProvider>) -> DenseSetup {
        let cache_dir = self.cache_dir.clone();
        let lock = Arc::new(CacheLock::in_dir(&cache_dir));
        let name = self.name(provider);
        let Some(wanted) = provider else {
            let (place, precision) = (self.model_dir.clone(), self.precision);
            let open = move || embed::load(precision, &place, THREADS);
            let idle = IdleUnload { after: self.idle, load: Box::new(open.clone()) };
            let (load, idle, scale) = (Box::new(open), Some(idle), CosineScale::default());
            return DenseSetup { load, idle, cache_dir, lock, name, may_see: None, scale };
        };
        let config_file = self.config_file.clone();
        let load = provider_model::model_loader(
            wanted.clone(),
            self.variable,
            cache_dir.clone(),
            config_file,
        );
        let may_see = Some(provider_model::may_see(wanted.clone()));
        let scale = self.scale(&name);
        DenseSetup { load, idle: None, cache_dir, lock, name, may_see, scale }
    }

    /// Returns where the scale of a model is kept.
    pub fn scale_file(&self, name: &str) -> PathBuf {
        self.cache_dir.join(format!("{}.scale", short_hash(name.as_bytes())))
    }

    /// Returns the scale of a model, as `model calibrate` found it.
    pub fn scale(&self, name: &str) -> CosineScale {
        let text = std::fs::read_to_string(self.scale_file(name)).unwrap_or_default();
        let mut numbers = text.split_whitespace().map_while(|number| number.parse::<f32>().ok());
        let line = numbers.next().zip(numbers.next());
        line.and_then(|(offset, factor)| CosineScale::new(offset, factor)).unwrap_or_default()
    }

    /// Returns the name under which the vectors of a model are kept.
    pub fn name(&self, provider: Option<&EmbeddingProvider>) -> String {
        match provider {
            None => format!("all-MiniLM-L6-v2 {:?}", self.precision),
            Some(provider) => model_name(provider, &self.cache_dir),
        }
    }

    /// Decides which model answers and which one is to answer next.
    pub fn plan(&self, wanted: Option<&EmbeddingProvider>) -> ModelPlan {
        let Some(wanted) = wanted else {
            // Whoever was asked before is asked no more.
            let _ = std::fs::remove_file(&self.state);
            return ModelPlan { present: self.dense(None), next: None };
        };
        let now = match self.answering_provider() {
            Some(known) if self.is_same(&known, wanted) => {
                if known != *wanted {
                    self.completion_hook(Some(wanted))();
                }
                return ModelPlan { present: self.dense(Some(wanted)), next: None };
            }
            Some(known) => self.dense(Some(&restricted_provider(known, wanted))),
            None if self.is_installed() => self.dense(None),
            None => {
                self.completion_hook(Some(wanted))();
                return ModelPlan { present: self.dense(Some(wanted)), next: None };
            }
        };
        ModelPlan {
            present: now,
            next: Some((self.dense(Some(wanted)), self.completion_hook(Some(wanted)))),
        }
    }

    /// Returns the provider that answers until `wanted` does, where it sees something now that `wanted` may not.
    pub fn present_that_sees_less(&self, wanted: &EmbeddingProvider) -> Option<EmbeddingProvider> {
        let known = self.answering_provider().filter(|known| !self.is_same(known, wanted))?;
        let less = restricted_provider(known.clone(), wanted);
        (less != known).then_some(less)
    }

    /// Tells whether the vectors of two providers can be compared.
    fn is_same(&self, one: &EmbeddingProvider, other: &EmbeddingProvider) -> bool {
        self.name(Some(one)) == self.name(Some(other))
    }

    /// Tells whether the model of this machine is there.
    pub fn is_installed(&self) -> bool {
        model::status(&self.model_dir).is_ready()
    }

    /// Tells whether an external model is asked, or was until lately.
    pub fn asks_others(&self, config: &Config) -> bool {
        config.provider.is_some() || self.state.exists()
    }

    /// Returns the provider whose vectors answered last; `None` for the model of this machine.
    fn answering_provider(&self) -> Option<EmbeddingProvider> {
        let text = std::fs::read_to_string(&self.state).ok()?;
        Config::parse(&text).ok()?.provider
    }

    /// Returns what notes that a model answers.
    pub fn completion_hook(&self, provider: Option<&EmbeddingProvider>) -> SwitchCallback {
        let (state, text) = (self.state.clone(), provider.map(EmbeddingProvider::to_toml));
        Box::new(move || {
            // Without the note the next start makes the change again, from vectors that are kept.
            let _ = match text {
                Some(text) => write_private(&state, &text),
                None => std::fs::remove_file(&state),
            };
        })
    }
}

/// Returns a provider that sees nothing which either of two may not: who leaves out a repository for the next model means the present one too.
fn restricted_provider(
    mut known: EmbeddingProvider,
    wanted: &EmbeddingProvider,
) -> EmbeddingProvider {
    for pattern in &wanted.off_repos {
        if !known.off_repos.contains(pattern) {
            known.off_repos.push(pattern.clone());
        }
    }
    known
}

/// Names a file after something that may be long.
fn short_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bound with the vectors of the provider, which may be wider than those of this machine.
pub fn bound_with_vectors(bound: MemoryBound, config: &Config) -> MemoryBound {
    let Some(provider) = &config.provider else { return bound };
    let dims = provider.dimensions.map_or(DIMENSIONS_USUAL, u64::from).max(DIMENSIONS_LOCAL);
    MemoryBound { vector_bytes: VECTOR_BYTES * dims / DIMENSIONS_LOCAL, ..bound }
}

/// Says what is sent to whom; nothing where no external model is set.
pub fn sent_data_notice(config: &Config) -> Option<String> {
    let EmbeddingProvider { form, url, command, .. } = config.provider.as_ref()?;
    let whom = command.first().unwrap_or(url);
    Some(format!(
        "texts of memories and queries are sent to {whom} ({}); agent-knowledge model use local ends that",
        form.as_str()
    ))
}

/// Returns where checkpoints are kept. Vectors of another model do not count.
pub fn checkpoints(folder: PathBuf, program: &str, settled: &ResolvedSettings) -> Checkpoints {
    let has_model = settled.bound.vector_bytes > 0;
    let model = ModelPlaces::from_settings(settled).name(None);
    Checkpoints::at(folder, program, has_model.then_some(model.as_str()))
}
