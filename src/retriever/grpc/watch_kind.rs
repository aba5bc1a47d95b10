//! What can be watched, with the fields of its messages. Not here: watching (`watch`).

use super::rpc_field::{FieldType, Unnumbered, field};

/// What can be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchKind {
    /// Memories that a work tree contradicts.
    Stale,
}

/// All kinds.
pub(super) const KINDS: &[WatchKind] = &[WatchKind::Stale];

impl WatchKind {
    /// Returns the name of the rpc.
    pub(super) fn rpc(self) -> &'static str {
        match self {
            Self::Stale => "WatchStale",
        }
    }

    /// Returns what it is for.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Stale => {
                "Tell which memories the files or git of a work tree contradict, as that changes"
            }
        }
    }

    /// Returns the fields of a request.
    pub(super) fn request_fields(self) -> Vec<Unnumbered> {
        match self {
            Self::Stale => vec![
                field(
                    "directory",
                    FieldType::Text,
                    "The work tree, as an absolute path [required]",
                ),
                field("only_new", FieldType::Switch, "Leave out what is stale already"),
            ],
        }
    }

    /// Returns the fields of an event, as [`RpcEvent`] has them.
    pub(super) fn event_fields(self) -> Vec<Unnumbered> {
        match self {
            Self::Stale => vec![
                field("id", FieldType::Text, "The memory"),
                field(
                    "event",
                    FieldType::Text,
                    "stale, or fresh once nothing contradicts it any more",
                ),
                field("json", FieldType::Object, "The memory, and what contradicts it"),
            ],
        }
    }
}
