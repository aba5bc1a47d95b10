//! What events add up to: a fold from events to memories, pure, idempotent and independent of order.
//! Not here: reading logs (`engine`), finding memories (`index`, `search`).

mod bound;
mod fold;
mod memory;
mod passages;
mod session;
mod size;

pub use bound::{Bound, Census};
pub use fold::{Effect, Fold, Gone};
pub use memory::{Memory, Origin, Version};
pub use session::{NEAR_MAX, Near, Sessions};
