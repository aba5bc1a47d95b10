//! The program `agent-knowledge`, as its commands see it: what opens the memory. Not here: the commands, the process itself
//! (`process`), which passes in what the program needs of it.

use std::io::IsTerminal;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use requests::{Api, ApiError};
use retriever::options::{GlobalOptions, MemoryNeed};
use retriever::startup::{Retriever, Surroundings};

/// The program: the commands around the process that opens the memory.
pub struct Program<'a> {
    retriever: Retriever<'a>,
    /// What commands find open, in tests.
    #[cfg(test)]
    pub(crate) opened: Option<Arc<dyn Api>>,
    /// With which options commands have opened it, in tests.
    #[cfg(test)]
    pub(crate) openings: Vec<GlobalOptions>,
}

impl<'a> std::ops::Deref for Program<'a> {
    type Target = Retriever<'a>;

    fn deref(&self) -> &Self::Target {
        &self.retriever
    }
}

impl std::ops::DerefMut for Program<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.retriever
    }
}

impl<'a> Program<'a> {
    /// Makes the program; nothing is opened yet.
    #[must_use]
    pub fn new(surroundings: Surroundings<'a>) -> Self {
        Self {
            retriever: Retriever::new(surroundings),
            #[cfg(test)]
            opened: None,
            #[cfg(test)]
            openings: Vec::new(),
        }
    }
}

/// Returns a progress bar with the parts that `template` names, visible when a person watches.
#[must_use]
pub fn progress_bar(template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Program<'_> {
    /// Opens the memory for one command.
    ///
    /// # Errors
    /// [`ApiError::Failed`] with the exit it calls for.
    pub(crate) fn open(
        &mut self,
        settings: &GlobalOptions,
        need: MemoryNeed,
    ) -> Result<Arc<dyn Api>, ApiError> {
        #[cfg(test)]
        if let Some(opened) = &self.opened {
            self.openings.push(settings.clone());
            return Ok(Arc::clone(opened));
        }
        if let Some(as_of) = &settings.as_of {
            return Ok(Arc::new(self.as_of(settings, need, as_of)?));
        }
        let api: Arc<dyn Api> = match self.shared_client(settings, need, "command")? {
            Some(remote) => Arc::new(remote),
            None => Arc::new(self.open_local(settings, need)?),
        };
        let directory = &self.surroundings.directory;
        let is_replaced = directory.existing().is_none() || directory.notice().is_some();
        Ok(if is_replaced { self.directory_use.recording(api) } else { api })
    }

    pub(crate) fn warnings(&mut self, settings: &GlobalOptions) -> Vec<String> {
        // Settings that cannot be read are reported by the command that needs them.
        let settled = self.resolve_settings(settings).ok();
        settled.and_then(|settled| settled.config.warning()).into_iter().collect()
    }

    pub(crate) fn directory_notice(&self, settings: &GlobalOptions) -> Option<String> {
        if !self.directory_use.take_use() {
            return None;
        }
        let directory = self.surroundings.directory.clone();
        let settled = self.resolve_settings(settings).ok()?;
        match self.project_directory(&settled) {
            Some(_) => directory.in_repository().notice(),
            None => directory.notice(),
        }
    }
}
