//! What every transport must do, shown on real stores and real remotes: a folder, a git repository,
//! and a stream of a real server of NATS. Not here: what one
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
// The own part of a remote, and a remote that loses it or does not tell.
#[cfg(unix)]
mod own_part;
// Trees that are signed, and what somebody without the key can do.
#[cfg(unix)]
mod signed_trees;
// Keys of SSH, and the programs that use them.
#[cfg(unix)]
mod signing_keys;
#[cfg(unix)]
mod signing_programs;
// Rounds as they should be, and as they are without a network, a cache or a remote.
#[cfg(unix)]
mod sync_rounds;
// Lines that are withdrawn.
#[cfg(unix)]
mod withdrawn_lines;
// Servers of JetStream, ended by their process ids.
#[cfg(unix)]
mod nats_server;
// What only a stream can suffer: leaders that are killed, rights, a stream that is not as it must be.
#[cfg(unix)]
mod streams;
// A copy of a store, and a yes that is asked for.
#[cfg(unix)]
mod twins;
// The repository of the user's code stays as it is.
#[cfg(unix)]
mod users_repository;
// Many lines of many stores.
#[cfg(unix)]
mod volume;
