//! Answers for people at a terminal: layouts, highlighting, and choosing one memory of a list. Pure but for [`raw_terminal`]: what is
//! shown is passed in.
//!
//! In reading order: [`screen`], [`highlight`], [`memory_card`], [`memory_table`]; [`fuzzy`], [`choice_list`], [`keys`] and
//! [`raw_terminal`] (the picker). Not here: the commands (`cli`).

pub mod choice_list;
mod fuzzy;
pub mod highlight;
pub mod keys;
pub mod memory_card;
pub mod memory_table;
#[cfg(unix)]
pub mod raw_terminal;
pub mod screen;
