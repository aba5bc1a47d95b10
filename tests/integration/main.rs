//! The integration tests: one program, one module per promise. Each drives the real programs in a
//! world of its own. Not here: what one room promises by itself; that is tested inside the room.
#![cfg(test)]

// How a test gets a machine of its own: home, store, clock of git, programs.
mod world;

// What may not pass the door, what is said about it, and how the program ends.
mod door;
// Lines of every age and damage load for ever.
mod format;
// Any number of writers, and dying ones, lose nothing that was acknowledged.
mod many_writers;
// One repository has one key wherever it stands; two never share a file.
mod repository;
// The rules of the house: who imports whom, and how a file looks.
mod rooms;
// The helper that agents call needs nothing but the binary.
mod shell_helper;
