//! The transcripts that coding agents already left on this disk: read, cut into exchanges, kept and searched, so that
//! the memory is not empty on its first day. Everything here is local; nothing of it enters a shared log by itself.
//!
//! In reading order: [`transcript`] (what a reader reports), [`source`] (what a reader is), [`records`] and
//! [`database`] (files as records and as tables), [`readers`] (one file per tool), [`prompt_text`] (what a person typed,
//! without what tools put around it), [`exchange`] (a question with all that followed it). Nothing is written to the
//! files of other tools. Not here: the commands and tools that ask (`retriever`), how to tell a lesson from chance
//! (`clients`).

pub mod database;
pub mod exchange;
pub mod prompt_text;
pub mod readers;
pub mod records;
pub mod source;
pub mod transcript;
