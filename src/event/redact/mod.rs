//! The last step before a log: only this room makes a [`CleanEvent`], and only a `CleanEvent` can be
//! appended. Today it guarantees that no unsafe character passes; recognising secrets arrives with
//! the safety issue, at this same place.

mod secret;

use std::borrow::Cow;

pub use secret::{Finding, findings, redacted};

use super::{Event, text};

/// An event that may be written to disk.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanEvent(Event);

/// Makes an event fit for the disk: what is unsafe or shows nothing is dropped from every text. Events
/// that came through `validate` have none; those of importers may.
#[must_use]
pub fn clean(mut event: Event) -> CleanEvent {
    event.texts_mut(|text| {
        if let Cow::Owned(visible) = text::visible(text) {
            *text = visible;
        }
        if text.chars().any(text::is_unsafe) {
            *text = text::neutralise(text, text::Layout::Block);
        }
    });
    CleanEvent(event)
}

impl CleanEvent {
    /// Returns the event.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.0
    }
}
