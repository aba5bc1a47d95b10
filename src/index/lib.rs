//! Indexes over memories: words ([`lexical`]), vectors of texts ([`vector`], made by [`embed`]) and vectors of
//! tokens ([`late`]). Each can be deleted and rebuilt from the logs with the same answers. Not here: combining them
//! (`search`).

pub mod embed;
pub mod late;
pub mod lexical;
mod processor;
pub mod vector;
