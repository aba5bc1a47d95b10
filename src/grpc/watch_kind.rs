//! What can be watched, with the fields of its messages. Not here: watching (`watch_stream`).

use crate::rpc_field::{FieldType, UnnumberedField, unnumbered_field};
use requests::rights::Rights;

/// What can be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchKind {
    /// What happens to memories.
    Memories,
    /// Memories that a work tree contradicts.
    Stale,
}

/// All kinds.
pub const KINDS: &[WatchKind] = &[WatchKind::Memories, WatchKind::Stale];

impl WatchKind {
    /// Returns the name of the rpc.
    pub fn rpc(self) -> &'static str {
        match self {
            Self::Memories => "WatchMemories",
            Self::Stale => "WatchStale",
        }
    }

    /// Returns the right that it needs: a work tree is a place on the machine of the server, named by the caller.
    pub fn rights(self) -> Rights {
        match self {
            Self::Memories => Rights::Read,
            Self::Stale => Rights::Admin,
        }
    }

    /// Returns what it is for.
    pub fn about(self) -> &'static str {
        match self {
            Self::Memories => {
                "Tell what happens to memories, and what agents are shown, while it happens"
            }
            Self::Stale => {
                "Tell which memories the files or git of a work tree contradict, as that changes"
            }
        }
    }

    /// Returns the fields of a request.
    pub fn request_fields(self) -> Vec<UnnumberedField> {
        match self {
            Self::Memories => vec![
                unnumbered_field(
                    "after",
                    FieldType::Text,
                    "Go on after the event with this sequence [default: from now on]",
                ),
                unnumbered_field(
                    "events",
                    FieldType::Texts,
                    "Only these: added, changed, feedback, injected, indexed, stale, fresh",
                ),
            ],
            Self::Stale => vec![
                unnumbered_field(
                    "directory",
                    FieldType::Text,
                    "The work tree, as an absolute path [required]",
                ),
                unnumbered_field("only_new", FieldType::Switch, "Leave out what is stale already"),
            ],
        }
    }

    /// Returns the fields of an event, as `RpcEvent` has them.
    pub fn event_fields(self) -> Vec<UnnumberedField> {
        match self {
            Self::Memories => vec![
                unnumbered_field(
                    "sequence",
                    FieldType::Text,
                    "Where the stream goes on after this event",
                ),
                unnumbered_field(
                    "event",
                    FieldType::Text,
                    "begun, added, changed, feedback, injected, indexed, stale, fresh, or lost where some cannot be told any more",
                ),
                unnumbered_field("json", FieldType::Object, "The event, as REST tells it"),
            ],
            Self::Stale => vec![
                unnumbered_field("id", FieldType::Text, "The memory"),
                unnumbered_field(
                    "event",
                    FieldType::Text,
                    "stale, or fresh once nothing contradicts it any more",
                ),
                unnumbered_field("json", FieldType::Object, "The memory, and what contradicts it"),
            ],
        }
    }
}
