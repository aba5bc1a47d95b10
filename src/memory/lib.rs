//! What events add up to: a fold from events to memories, pure, idempotent and independent of order.
//! Not here: reading logs (`engine`), finding memories (`index`, `search`).

mod bound;
mod chunked;
mod course;
mod fading;
mod fold;
mod frozen;
mod links;
mod lookup;
mod memory;
mod near;
pub mod packed;
mod passages;
pub mod record;
mod restored;
#[cfg(test)]
mod sample;
mod saved;
mod session;
mod setting;
mod size;
mod standing;
pub mod texts;
mod version;

pub use bound::{Bound, Census};
pub use chunked::{Chunked, Stretches};
pub use course::{Course, Life, is_one_voice};
pub use fading::{BURIED_AFTER_DAYS, FADED_BELOW, Fate};
pub use fold::{Effect, Fold, Gone};
pub use frozen::{Frozen, Mark};
pub use links::{Tie, ties};
pub use lookup::Lookup;
pub use memory::{Memory, Origin};
pub use near::{NEAR_MAX, Near, read_near, write_near};
pub use restored::{Restoring, Section};
pub use saved::Shelf;
pub use session::Sessions;
pub use setting::{Setting, Settings};
pub use standing::{CANDIDATE_SECONDS_MAX, Maturity, PROVEN_MIN, Standing};
pub use version::Version;
