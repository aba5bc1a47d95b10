//! The steps by which a place was found, for `whoami --explain`. Nothing is written down where nobody asks. Not here: the steps
//! themselves, which each file names.

/// The steps so far.
#[derive(Debug, Default)]
pub struct Steps {
    taken: Option<Vec<String>>,
}

impl Steps {
    /// Writes nothing down.
    #[must_use]
    pub fn disabled() -> Self {
        Self::default()
    }

    /// Writes every step down.
    #[must_use]
    pub fn enabled() -> Self {
        Self { taken: Some(Vec::new()) }
    }

    /// Adds a step.
    pub(crate) fn add(&mut self, step: impl FnOnce() -> String) {
        if let Some(taken) = &mut self.taken {
            taken.push(step());
        }
    }

    /// Returns the steps in their order.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        self.taken.as_deref().unwrap_or_default()
    }
}
