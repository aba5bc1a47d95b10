//! Hints that a log may have changed. A hint carries no data and may be missing: the engine also
//! polls, and before every answer it asks the change queue ([`changes`]) or looks at every log. Not
//! here: reading (`store::tail`).

mod changes;
mod folders;

use std::path::Path;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

pub use changes::{ChangeQueue, Changes};
pub use folders::{FolderHint, FolderWatch};

/// How hints arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchMode {
    /// From the system, and by polling.
    System,
    /// By polling only, for tests and for file systems that report no changes.
    PollOnly,
}

/// A running watcher. Hints stop when it is dropped.
#[derive(Debug)]
pub struct Watch {
    _watcher: Option<RecommendedWatcher>,
    trouble: Option<String>,
}

impl Watch {
    /// Watches a directory and calls `hint` on its changes. When the system cannot watch it, there
    /// are no hints, only [`Watch::trouble`].
    pub fn over(directory: &Path, watching: WatchMode, hint: impl Fn() + Send + 'static) -> Self {
        if watching == WatchMode::PollOnly {
            return Self { _watcher: None, trouble: Some("no hints asked for".to_owned()) };
        }
        let on_event = move |event: notify::Result<Event>| {
            // An error may mean that events were dropped. So may an overflow, which arrives as an
            // event that asks for a rescan. Both count as hints.
            if event.as_ref().map_or(true, |event| event.need_rescan() || matters(event.kind)) {
                hint();
            }
        };
        let watcher = notify::recommended_watcher(on_event).and_then(|mut watcher| {
            watcher.watch(directory, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        match watcher {
            Ok(watcher) => Self { _watcher: Some(watcher), trouble: None },
            Err(error) => Self { _watcher: None, trouble: Some(error.to_string()) },
        }
    }

    /// Returns why there are no hints, when there are none.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

fn matters(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(_))
}
