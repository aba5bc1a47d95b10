//! What the whole of it looks like: what much hangs on, what ties parts together, what stands alone, what is there
//! several times, and what was looked for in vain. Pure, and bounded: of a large store the newest memories are looked
//! at. Not here: words for it (`render`).

mod between;
mod brief;
mod clusters;
mod found;
mod lone;
mod searches;
mod whole;

#[cfg(test)]
mod tests;

pub use brief::{Brief, brief};
pub use clusters::clusters;
pub use found::{About, Finding, bridges, gaps, hubs};
pub use lone::{Lone, lone};
pub use searches::{Asking, Gap, grouped};
pub use whole::{MEMORIES_MAX, Scope, Whole};
