//! What events add up to: a fold from events to memories, pure, idempotent and independent of order.
//! Not here: reading logs (`engine`), finding memories (`index`, `search`).

mod fold;
mod memory;

pub use fold::{Effect, Fold};
pub use memory::{Memory, Origin, Version};
