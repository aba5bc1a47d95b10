//! Indexes over memories: words ([`lexical`]), meanings ([`vector`], made by [`embed`]) and meanings token
//! by token ([`late`]). Each can be thrown away and rebuilt from the logs with the same answers. Not here: putting them together
//! (`search`).

pub mod embed;
pub mod late;
pub mod lexical;
mod processor;
pub mod vector;
