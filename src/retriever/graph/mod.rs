//! What hangs together: memories and places in code, by links that somebody told and by what they have in common,
//! which is found when it is asked for and stored nowhere. The only room that names `petgraph`.
//!
//! Reading order: `spot` (what can stand in the graph), `links` (what was told). Not here: what is similar to a question
//! (`search`), words for any of it (`render`).

mod links;
mod spot;

pub use links::{Bond, Links, Said};
pub use spot::{Place, Spot, same_file};
