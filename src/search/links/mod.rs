//! What hangs together: memories and places in code, by links that somebody told and by what they have in common,
//! which is found when it is asked for and stored nowhere. The only room that names `petgraph`.
//!
//! Reading order: `spot` (what can stand in the graph), `asserted` (what was told) and `known` (that, kept), `named` (what a memory names),
//! `common` (what things have in common), `walk` (from one thing to the next), `analysis` (the whole of it), `patterns`
//! (what several repositories have learned alike). Not here: what is similar to a question
//! (`search`), words for any of it (`render`).

mod analysis;
mod asserted;
mod common;
mod known;
mod named;
mod patterns;
mod spot;
mod walk;

#[cfg(test)]
mod laws;

pub use analysis::{
    About, Asking, Brief, Finding, Gap, Lone, MEMORIES_MAX, Scope, Whole, bridges, brief, clusters,
    gaps, grouped, hubs, lone,
};
pub use asserted::{Bond, Links, Said};
pub use common::{Because, Common, Shared};
pub use known::KnownLinks;
pub use named::{Thing, named};
pub use patterns::{Look, PATTERN, Suggestion, suggestions};
pub use spot::{Place, Spot};
pub use walk::{Step, Walk, Walked, Way, Why, walk};
