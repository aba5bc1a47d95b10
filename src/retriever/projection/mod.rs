//! What events add up to: a fold from events to memories, pure, idempotent and independent of order.
//! Not here: reading logs (`engine`), finding memories (`index`, `search`).

mod bound;
mod chunked;
mod course;
mod fold;
mod links;
mod memory;
pub mod packed;
mod passages;
pub mod record;
mod saved;
mod session;
mod setting;
mod size;
mod standing;
pub mod texts;
mod version;

pub use bound::{Bound, Census};
pub use chunked::Chunked;
pub use course::{Course, Life};
pub use fold::{Effect, Fold, Frozen, Gone};
pub use links::{Tie, ties};
pub use memory::{Memory, Origin};
pub use saved::Shelf;
pub use session::{NEAR_MAX, Near, Sessions};
pub use setting::{Setting, Settings};
pub use standing::{CANDIDATE_SECONDS_MAX, Maturity, PROVEN_MIN, Standing};
pub use version::Version;
