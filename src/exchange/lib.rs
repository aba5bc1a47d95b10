//! Memories from other stores and for other tools. Files of others are only ever read: never written or created.
//!
//! In reading order: [`foreign_place`] (what a path holds, within bounds), [`harvest`] (what a reader found in it, and
//! what it left out), [`stores`] (one file per foreign store, behind one table), [`import_batch`] (what of a harvest is
//! new here, written through the door and taken back as one), [`known_items`] (what of it is here already),
//! [`gone_items`] (what a store no longer has), [`memory_note`] (one memory as Markdown), [`memory_csv`] (memories as a
//! table), [`vault_export`] (a folder of notes). Not here: agent files (`clients`), past sessions (`sessions`), the
//! commands (`retriever`), which memories are exported (`api`).

pub mod error;
mod field_names;
mod foreign_database;
pub mod foreign_place;
mod front_matter;
pub mod gone_items;
pub mod harvest;
pub mod import_batch;
pub mod known_items;
mod loose_values;
mod markdown_notes;
pub mod memory_csv;
pub mod memory_note;
mod note_links;
mod note_template;
pub mod stores;
pub mod vault_export;
