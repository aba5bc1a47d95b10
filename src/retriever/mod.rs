//! The reader: indexes over the log, search, and the faces that serve it.

pub mod index;
