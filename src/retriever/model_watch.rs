//! Follows the settings of the embedding while a shared retriever runs: a model that was changed by `model use` is prepared and
//! then answers, in the same process and for all its clients at once; one that could not be opened, or was not installed, is tried again. Not here: what
//! a change means (`engine`), writing the settings (`model_use`).

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::followed_config::FollowedConfig;
use crate::model_plan::ModelPlaces;
use crate::resolved_settings::ResolvedSettings;
use api::local::Core;
use engine::InterimSearch;
use index::embed::EmbedError;
use index::embed::worker::{Progress, WorkerState};
use settings::EmbeddingProvider;

/// The pause between two looks at the settings.
const LOOK: Duration = Duration::from_secs(1);
/// The pause before a model that could not be opened is tried again.
const RETRY: Duration = Duration::from_secs(15);

/// What the thread knows.
struct ModelWatch {
    core: Weak<Core>,
    places: ModelPlaces,
    config: FollowedConfig,
    wanted: Option<EmbeddingProvider>,
    retries: Retries,
}

/// Decides when a model that could not be opened is opened again.
struct Retries {
    /// When one was opened last, for whatever reason.
    tried: Instant,
    /// When one was opened last because the provider had changed it.
    changed: Option<Instant>,
}

impl Retries {
    fn new(now: Instant) -> Self {
        Self { tried: now, changed: None }
    }

    /// Tells what answers while it is opened again; `None` where it is not opened now.
    fn meanwhile(&mut self, error: &EmbedError, now: Instant) -> Option<InterimSearch> {
        let is_due = |since: Instant| now.saturating_duration_since(since) >= RETRY;
        let meanwhile = match error {
            // Its new vectors cannot be compared with the old ones, which nobody can ask any more. A provider that changes it again and
            // again is not asked each second.
            EmbedError::ProviderChanged { .. } if self.changed.is_none_or(is_due) => {
                self.changed = Some(now);
                InterimSearch::WordsAlone
            }
            EmbedError::NotInstalled(_) | EmbedError::ProviderAway { .. } if is_due(self.tried) => {
                InterimSearch::PresentModel
            }
            _ => return None,
        };
        self.tried = now;
        Some(meanwhile)
    }
}

/// Starts the thread. It ends with the retriever.
pub fn start(core: &Arc<Core>, settled: &ResolvedSettings, config_file: Option<PathBuf>) {
    let Some(config_file) = config_file else { return };
    let mut watch = ModelWatch {
        core: Arc::downgrade(core),
        places: ModelPlaces::from_settings(settled),
        config: FollowedConfig::new(config_file),
        wanted: settled.config.provider.clone(),
        retries: Retries::new(Instant::now()),
    };
    // Without a thread a change counts from the next start on.
    let _ = std::thread::Builder::new().name("model".to_owned()).spawn(move || {
        while watch.look().is_some() {
            std::thread::park_timeout(LOOK);
        }
    });
}

impl ModelWatch {
    /// Looks once. `None` when the retriever has ended.
    fn look(&mut self) -> Option<()> {
        let core = self.core.upgrade()?;
        // A file that cannot be read changes nothing; every other command says so.
        if let Some(Ok(config)) = self.config.read_if_changed()
            && config.provider != self.wanted
        {
            self.wanted = config.provider;
            self.change(&core);
            return Some(());
        }
        core.engine.set_scale(|name| self.places.scale(name));
        self.try_again(&core);
        Some(())
    }

    /// Prepares the model that is wanted now. Whoever is wanted no more and had been asked over the network is asked until the
    /// next one is whole, unless nobody else is to be asked at all; it sees nothing that the next one may not.
    fn change(&mut self, core: &Core) {
        self.retries.tried = Instant::now();
        let wanted = self.wanted.as_ref();
        if let Some(present) = wanted.and_then(|it| self.places.present_that_sees_less(it)) {
            let (dense, on_whole) =
                (self.places.dense(Some(&present)), self.places.completion_hook(Some(&present)));
            let _ = core.engine.switch(dense, on_whole, InterimSearch::PresentModel);
        }
        // Whoever is turned off is not asked again, whatever becomes of the next model.
        if wanted.is_none() {
            self.places.completion_hook(None)();
        }
        let meanwhile =
            if wanted.is_none() { InterimSearch::WordsAlone } else { InterimSearch::PresentModel };
        // Without a thread the next look tries again.
        let _ = core.engine.switch(
            self.places.dense(wanted),
            self.places.completion_hook(wanted),
            meanwhile,
        );
    }

    fn try_again(&mut self, core: &Core) {
        let failed = |progress: Option<Progress>| match progress.map(|progress| progress.state) {
            Some(WorkerState::Failed(error)) => Some(error),
            _ => None,
        };
        // One that is being prepared goes on, whatever the present one does.
        let error = match core.engine.next_embedding() {
            Some(next) => failed(Some(next)),
            None => failed(core.engine.embedding()),
        };
        let Some(error) = error else { return };
        let Some(meanwhile) = self.retries.meanwhile(&error, Instant::now()) else { return };
        if matches!(error, EmbedError::NotInstalled(_)) && !self.places.is_installed() {
            return;
        }
        let wanted = self.wanted.as_ref();
        let _ = core.engine.switch(
            self.places.dense(wanted),
            self.places.completion_hook(wanted),
            meanwhile,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PROVIDER-6
    #[test]
    fn a_model_is_opened_again_sometimes() {
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        let away = EmbedError::ProviderAway { why: "away".to_owned() };
        let missing = EmbedError::NotInstalled(PathBuf::from("model"));
        for error in [away, missing] {
            let mut retries = Retries::new(start);
            assert_eq!(retries.meanwhile(&error, after(14)), None, "{error}");
            assert_eq!(retries.meanwhile(&error, after(15)), Some(InterimSearch::PresentModel));
            assert_eq!(retries.meanwhile(&error, after(29)), None, "{error}");
            assert_eq!(retries.meanwhile(&error, after(30)), Some(InterimSearch::PresentModel));
        }
        let refused = EmbedError::ProviderRefused { why: "no".to_owned() };
        assert_eq!(Retries::new(start).meanwhile(&refused, after(99)), None);
    }

    // S-PROVIDER-5
    #[test]
    fn a_changed_model_is_opened_at_once() {
        let start = Instant::now();
        let changed = EmbedError::ProviderChanged { provider: "p".to_owned() };
        let mut retries = Retries::new(start);
        let mut opened = Vec::new();
        for second in 0..40 {
            if retries.meanwhile(&changed, start + Duration::from_secs(second)).is_some() {
                opened.push(second);
            }
        }
        assert_eq!(opened, [0, 15, 30]);
    }
}
