//! Indexes over memories: words ([`lexical`]) and meanings ([`vector`], made by [`embed`]). Each can
//! be thrown away and rebuilt from the logs with the same answers. Not here: putting them together
//! (`search`).

pub mod embed;
pub mod lexical;
pub mod vector;
