//! From ranked memories to the words an agent reads: founding text form for agents and people, JSON
//! for programs, both saying the same. Everything shown is one neutralised line per memory, within a
//! budget of tokens. Not here: which memories (`search`).

mod allot;
mod briefing;
mod completions;
mod course;
mod excerpt;
mod exported;
mod harmless;
mod hits;
mod item;
mod line;
mod reply;
#[cfg(test)]
mod sample;
mod stale;
mod status;
mod tokens;
mod whoami;

pub use briefing::{Briefing, briefing};
pub use completions::completions;
pub use excerpt::{Excerpt, Interest, excerpt};
pub use exported::exported;
pub use hits::{Found, found};
pub use item::{items, list};
pub use reply::{Explain, Reply};
pub use stale::{Checked, stale};
pub use status::{Model, status};
pub use tokens::{Budget, tokens};
pub use whoami::{Whoami, whoami};
