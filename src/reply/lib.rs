//! From ranked memories to the words an agent reads: founding text form for agents and people, JSON
//! for programs, both saying the same. Everything shown is one neutralised line per memory, within a
//! budget of tokens. Not here: which memories (`search`).

mod allot;
mod analysis;
mod brief;
mod briefing;
mod completions;
mod excerpt;
mod exported;
pub mod fence;
mod harmless;
mod hits;
mod item;
mod lifecycle;
mod line;
mod lines;
mod related;
mod reply;
mod review;
#[cfg(test)]
mod sample;
mod spot;
mod stale;
mod status;
mod swept;
mod tokens;
mod whoami;

pub use analysis::{Findings, findings, patterns, searches};
pub use brief::{brief, reflect};
pub use briefing::{Briefing, briefing};
pub use completions::completions;
pub use excerpt::{Excerpt, Interest, excerpt};
pub use exported::exported;
pub use hits::{Found, found};
pub use item::{items, list};
pub use line::operands;
pub use related::{Related, related};
pub use reply::{Explain, Reply, Shape};
pub use review::{kin, kin_json, review};
pub use spot::spot_words;
pub use stale::{Checked, stale};
pub use status::{Model, status};
pub use swept::{Subject, swept};
pub use tokens::{Budget, tokens};
pub use whoami::{Whoami, whoami};
