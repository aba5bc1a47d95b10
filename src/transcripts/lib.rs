//! The transcripts that coding agents already left on this disk: found, read, and cut into exchanges. The files of other
//! tools are only ever opened for reading.
//!
//! In reading order: [`transcript`] (what a reader reports), [`source`] (what a reader is), [`records`] (files as records),
//! [`database`], [`table_rows`] and `session_tables` (files as tables), [`readers`] (one file per tool, and the table of them),
//! [`prompt_text`] (what a person typed, without what tools put around it), [`exchange`] (a question with all that followed
//! it). Not here: what is kept of them, and how it is found (`sessions`).

pub mod database;
pub mod exchange;
pub mod prompt_text;
pub mod readers;
#[cfg(any(test, feature = "testing"))]
pub mod real_files;
pub mod records;
mod session_tables;
pub mod source;
pub mod table_rows;
pub mod transcript;
