//! Detection of texts that must not pass into or out of a log: secrets, hidden characters, and orders to the reader.
//!
//! - [`secrets`]: finds keys and passwords in a text.
//! - [`injection`]: tells whether a text gives orders to the agent that reads it.
//! - [`disclosure`]: decides whether a recalled text may reach its reader, and how.
//! - [`encoding`]: reads the text of a file in the encoding that its first bytes name.
//! - [`fence`]: marks our own texts, so that we never take them for something new.
//! - [`markdown_marks`]: distinguishes code and headings of Markdown from other lines.
//! - [`text`]: says which characters a memory may have, and makes doubtful text safe to show.
//!
//! Pure functions of a text: no files, no clock, no threads. This is the lowest crate; it does not know
//! what an event is. Not here: cleaning a whole event (`event::clean`).

pub mod disclosure;
pub mod encoding;
pub mod fence;
pub mod injection;
pub mod markdown_marks;
mod prefilter;
mod rule_regex;
pub mod secrets;
pub mod text;
