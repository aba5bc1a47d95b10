//! The supported clients as a table of data: how each one is found, which files it has, the form of our entries, and
//! what its user does next. Not here: writing files.

mod client_spec;
mod editors;
mod terminals;

use super::locations::{BaseFolder, FileLocation};
pub use client_spec::ClientSpec;
pub(super) use client_spec::{
    ClientEvent, EntryForm, HookForm, HookSpec, ScopeFiles, ServerForm, Timeout,
};

/// Where a client lists its enabled plugins: its name, the file, and the member.
pub(super) const PLUGINS: &[(&str, FileLocation, &str)] =
    &[("claude-code", FileLocation::at(BaseFolder::Claude, "settings.json"), "enabledPlugins")];

/// All clients. Editions of one client are next to each other.
pub(super) fn all_clients() -> impl Iterator<Item = &'static ClientSpec> {
    terminals::CLIENTS.iter().chain(editors::CLIENTS)
}

/// The names of all clients, each once.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for client in all_clients() {
        if !names.contains(&client.name) {
            names.push(client.name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::client_spec::SessionFolder;
    use super::*;

    #[test]
    fn every_client_can_be_found_and_set_up() {
        assert_eq!(names().len(), 16);
        for client in all_clients() {
            assert!(!client.marker_files.is_empty() && client.user.is_some(), "{}", client.name);
        }
    }

    // S-SETUP-1
    #[test]
    fn a_client_of_a_terminal_starts_servers_where_it_works() {
        for client in terminals::CLIENTS {
            for files in [&client.user, &client.project].into_iter().flatten() {
                assert_eq!(files.server.folder, SessionFolder::StartedThere, "{}", client.name);
            }
        }
        let variables = all_clients().flat_map(|client| [&client.user, &client.project]).flatten();
        let variables = variables.filter_map(|files| files.server.folder.variable());
        assert_eq!(variables.collect::<Vec<_>>(), ["${workspaceFolder}"; 3]);
    }
}
