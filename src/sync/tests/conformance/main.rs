//! What every transport must do, shown on real stores and real remotes: a folder, and a git repository. Not here: what one
//! file of the crate does by itself, which is tested beside it.
#![cfg(test)]

// Stores on several machines, and a remote between them.
#[cfg(unix)]
mod laptops;
// Trees that no store publishes: nothing of them is followed.
#[cfg(unix)]
mod hostile_trees;
// A process that is killed between any two steps loses nothing and repeats nothing.
#[cfg(unix)]
mod kills;
// Rounds as they should be, and as they are without a network, a cache or a remote.
#[cfg(unix)]
mod sync_rounds;
// Lines that are taken back.
#[cfg(unix)]
mod taken_back;
// A copy of a store, and a yes that is asked for.
#[cfg(unix)]
mod twins;
// The repository of the user's code stays as it is.
#[cfg(unix)]
mod users_repository;
// Many lines of many stores.
#[cfg(unix)]
mod volume;
