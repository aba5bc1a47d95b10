//! The reranker that the settings name, from moment to moment: who is turned off or may not see a repository any more is not asked by the
//! next search. After it failed it rests, so that not every search waits for it in vain, and the reader is told once. Not here: when it
//! is asked (`api`), the requests (`providers`).

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::followed_config::FollowedConfig;
use crate::provider_model;
use crate::resolved_settings::ResolvedSettings;
use api::reranker::{Reranker, RerankerSource};
use engine::ModelAccess;
use guard::secrets::RedactedText;
use providers::RemoteReranker;
use reply::StateNote;
use settings::{Config, EmbeddingProvider, ProviderForm, RerankForm, RerankProvider};

/// How long a reranker that failed is not asked.
const REST: Duration = Duration::from_secs(30);

/// Returns the reranker of the settings as they are whenever it is looked for.
pub fn followed_reranker(settled: &ResolvedSettings) -> RerankerSource {
    let followed = Followed {
        variable: settled.variable,
        state: Mutex::new(FollowedState {
            config: settled.config_file.clone().map(FollowedConfig::new),
            last: Seen::open(settled.config.rerank.clone(), settled.variable),
        }),
    };
    Arc::new(move || followed.now())
}

/// Says for the doctor who gets what, and what keeps it from being asked; nothing where none is set.
pub fn doctor_note(settled: &ResolvedSettings) -> Option<StateNote> {
    let reranker = SetReranker::open(settled.config.rerank.clone()?, settled.variable);
    let warnings = reranker.asked.as_ref().err().cloned().into_iter().collect();
    Some(StateNote { says: reranker.what_is_sent(), warnings, command: None })
}

/// Says what is sent to whom; nothing where none is set.
pub fn sent_data_notice(config: &Config) -> Option<String> {
    config.rerank.as_ref().map(sent_to)
}

fn sent_to(provider: &RerankProvider) -> String {
    format!(
        "queries and the texts of likely hits are sent to {}; agent-knowledge config set rerank.provider off ends that",
        named(provider)
    )
}

fn named(provider: &RerankProvider) -> String {
    let (form, whom) = (provider.form.as_str(), provider.display_name());
    match provider.model.as_str() {
        "" => format!("{whom} ({form})"),
        model => format!("{model} of {whom} ({form})"),
    }
}

/// The settings, as they change.
struct Followed {
    variable: fn(&str) -> Option<OsString>,
    state: Mutex<FollowedState>,
}

struct FollowedState {
    /// `None` where there is no place for a file.
    config: Option<FollowedConfig>,
    last: Seen,
}

/// What the settings said.
struct Seen {
    wanted: Option<RerankProvider>,
    reranker: Option<Arc<SetReranker>>,
}

impl Seen {
    fn open(wanted: Option<RerankProvider>, variable: fn(&str) -> Option<OsString>) -> Self {
        let reranker = wanted.clone().map(|wanted| Arc::new(SetReranker::open(wanted, variable)));
        Self { wanted, reranker }
    }
}

impl Followed {
    fn now(&self) -> Option<Arc<dyn Reranker>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let FollowedState { config, last } = &mut *state;
        match config.as_mut().and_then(FollowedConfig::read_if_changed) {
            Some(Ok(config)) if config.rerank != last.wanted => {
                *last = Seen::open(config.rerank, self.variable);
            }
            // A file that cannot be read may turn it off; every other command says what is wrong.
            Some(Err(_)) => return None,
            Some(Ok(_)) | None => {}
        }
        last.reranker.clone().map(|reranker| reranker as Arc<dyn Reranker>)
    }
}

/// A reranker, and how it fared.
struct SetReranker {
    provider: RerankProvider,
    may_see: ModelAccess,
    /// What is asked, or why nobody can be.
    asked: Result<OpenReranker, String>,
    /// Until when it is not asked; kept until it answers, since the reader knows of the outage.
    resting_until: Mutex<Option<Instant>>,
}

impl SetReranker {
    fn open(provider: RerankProvider, variable: fn(&str) -> Option<OsString>) -> Self {
        let key = provider.key_env.as_deref().and_then(variable);
        let asked = open(&provider, key.and_then(|key| key.into_string().ok()));
        let may_see = may_see(&provider);
        Self { provider, may_see, asked, resting_until: Mutex::new(None) }
    }

    /// Lets it rest, and says why where that is news.
    fn failed(&self, why: &str) -> Option<String> {
        let mut resting = self.resting_until.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = resting.replace(Instant::now() + REST).is_none();
        is_news.then(|| format!("Note: order by words and meaning alone ({why})."))
    }
}

impl Reranker for SetReranker {
    fn name(&self) -> String {
        named(&self.provider)
    }

    fn what_is_sent(&self) -> String {
        sent_to(&self.provider)
    }

    fn may_see(&self) -> &ModelAccess {
        &self.may_see
    }

    fn is_resting(&self) -> bool {
        let resting = self.resting_until.lock().unwrap_or_else(PoisonError::into_inner);
        resting.is_some_and(|until| Instant::now() < until)
    }

    fn scores(
        &self,
        query: &RedactedText,
        texts: &[RedactedText],
    ) -> Result<Vec<f64>, Option<String>> {
        let asked = self.asked.as_ref().map_err(|why| self.failed(why))?;
        let scores = scores(asked, query, texts).map_err(|why| self.failed(&why))?;
        *self.resting_until.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(scores)
    }
}

type OpenReranker = RemoteReranker;

fn open(provider: &RerankProvider, key: Option<String>) -> Result<OpenReranker, String> {
    RemoteReranker::open(provider.clone(), key).map_err(|error| error.to_string())
}

fn scores(
    asked: &OpenReranker,
    query: &RedactedText,
    texts: &[RedactedText],
) -> Result<Vec<f64>, String> {
    asked.scores(query, texts).map_err(|error| error.to_string())
}

/// It may see what a model for embeddings at the same place may.
fn may_see(provider: &RerankProvider) -> ModelAccess {
    let form = match provider.form {
        RerankForm::Command => ProviderForm::Command,
        RerankForm::Cohere | RerankForm::Voyage | RerankForm::Jina => ProviderForm::OpenAi,
    };
    provider_model::may_see(EmbeddingProvider {
        url: provider.url.clone(),
        off_repos: provider.off_repos.clone(),
        ..EmbeddingProvider::with_defaults(form, "")
    })
}
