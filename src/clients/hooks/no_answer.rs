//! Why a hook gives no answer. Not here: what an answer says.

use std::sync::Arc;

use thiserror::Error;

use requests::{Api, ApiError};

/// Why a hook gives no answer. Printed only if debugging is on: for an agent, no answer is normal.
#[derive(Debug, Error)]
pub enum NoAnswer {
    /// The input could not be read.
    #[error("the input is {0}")]
    Input(String),
    /// Neither the input nor an option names an event.
    #[error("no event is named; give --event, for example --event start")]
    NoEvent,
    /// An event that is not handled.
    #[error("the event {0:?} is not handled")]
    OtherEvent(String),
    /// The user interrupted the tool.
    #[error("the user interrupted the tool")]
    Interrupted,
    /// Hooks of this kind are switched off.
    #[error("AGENT_KNOWLEDGE_HOOKS switches {0} off")]
    Off(&'static str),
    /// The memory could not be reached in time.
    #[error("{0}")]
    Unreached(String),
    /// The memory returned an error.
    #[error("{0}")]
    Api(#[from] ApiError),
    /// The hook stays silent.
    #[error("{0}")]
    Nothing(&'static str),
}

/// The memory, or why it cannot be asked.
pub type ApiConnection = Result<Arc<dyn Api>, NoAnswer>;
