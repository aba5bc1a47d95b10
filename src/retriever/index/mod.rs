//! Indexes over memories. Each can be thrown away and rebuilt from the log with the same answers.

pub mod lexical;
