//! The stores whose memories can be imported: one file each, and one table. Not here: what becomes of a harvest
//! (`import_batch`).

mod agent_knowledge;
mod agentcache;
mod basic_memory;
mod claude_memory;
mod foreign_store;
mod knowledge_server;
mod knowledge_vault;
mod mcp_memory_service;
mod mem0;
mod obsidian;
mod openmemory;
mod server_memory;
mod yaad;

use super::error::ExchangeError;
use super::foreign_place::ForeignPlace;
use super::harvest::Harvest;
pub use foreign_store::ForeignStore;

/// All of them. A path is the first that recognises it, so those with the clearest marks come first.
pub const STORES: [&ForeignStore; 12] = [
    &agent_knowledge::STORE,
    &server_memory::STORE,
    &mcp_memory_service::STORE,
    &openmemory::STORE,
    &mem0::STORE,
    &yaad::STORE,
    &knowledge_server::STORE,
    &agentcache::STORE,
    &claude_memory::STORE,
    &basic_memory::STORE,
    &knowledge_vault::STORE,
    &obsidian::STORE,
];

/// The name of our own exports and logs, whose memories name their repositories.
pub const OURS: &str = agent_knowledge::STORE.name;

/// Returns the store with this name, in any case.
#[must_use]
pub fn store_named(name: &str) -> Option<&'static ForeignStore> {
    STORES.into_iter().find(|store| store.name.eq_ignore_ascii_case(name.trim()))
}

/// Returns the names of all stores, in the order of the table.
#[must_use]
pub fn store_names() -> String {
    STORES.map(|store| store.name).join(", ")
}

/// Reads the store in a path: the one that is named, or the one that recognises it.
///
/// # Errors
/// [`ExchangeError`] where the path cannot be read, no store recognises it, or there is nothing in it: files without
/// memories are a mistake of somebody, not an empty store.
pub fn read(
    place: &ForeignPlace,
    named: Option<&'static ForeignStore>,
) -> Result<(&'static ForeignStore, Harvest), ExchangeError> {
    let recognised = || STORES.into_iter().find(|store| (store.recognises)(place));
    let Some(store) = named.or_else(recognised) else {
        let what = format!("is no store that is known ({}); name it with --from", store_names());
        return Err(ExchangeError::form(&place.path, what));
    };
    let harvest = (store.read)(place)?;
    if harvest.items.is_empty() {
        return Err(ExchangeError::form(&place.path, nothing_in(store, &harvest)));
    }
    Ok((store, harvest))
}

fn nothing_in(store: &ForeignStore, harvest: &Harvest) -> String {
    let name = store.name;
    if harvest.left_out.is_empty() {
        return format!("has nothing that can be read as a memory of {name} ({})", store.form);
    }
    let why: Vec<String> =
        harvest.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
    let read = harvest.read_count();
    format!("is read as {name}, and none of its {read} items is a memory: {}", why.join(", "))
}

#[cfg(test)]
mod tests;
