//! Choosing one memory at a terminal: a person types, the list becomes shorter, and a preview shows what is chosen. Pure
//! but for [`raw_terminal`]: what is chosen from is passed in. Not here: the command (`program::pick`).

mod choice_list;
mod fuzzy;
mod keys;
#[cfg(unix)]
mod raw_terminal;
mod screen;

#[cfg(unix)]
pub use choice_list::{AfterKey, ChoiceList, PickRow};
#[cfg(unix)]
pub use keys::{Key, KeyReader};
#[cfg(unix)]
pub use raw_terminal::{PersonTerminal, RawTerminal, output_columns};
#[cfg(unix)]
pub use screen::{Screen, drawn};
pub use screen::{Style, cut, width, wrapped};
