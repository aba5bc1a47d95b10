//! P2 where whoever made the store did not bring its directories to the disk, since it was not durable or was
//! killed: a later durable writer has to. Not here: everything else about lost power.

use std::collections::{BTreeMap, BTreeSet};

use store::Durability;

use super::disk::Disk;
use super::recording::Recorder;
use super::{STORE, Then, args, lose_power, make, record_writers};
use crate::faults::tell;
use crate::pieces;
use crate::world::World;

// S-STORE-4
#[test]
fn a_durable_event_survives_in_a_store_made_unsynced() {
    let Some(strace) = pieces::strace() else { return };
    let world = World::new();
    let operations = record_writers(&world, &strace, Durability::Written);
    let found = lose_power(&operations, Then::ReadAndAppend);
    assert_eq!(found.durable_lost, BTreeSet::new());
    tell(
        "P2",
        &format!(
            "the same in a store made by a writer that was not durable, {} states",
            found.states
        ),
        "durable: 0 lost",
    );
}

// S-STORE-4
#[test]
fn a_durable_event_survives_a_writer_killed_at_creation() {
    let Some(strace) = pieces::strace() else { return };
    let world = World::new();
    let mut recorder = Recorder::new(&world, &strace, STORE);
    recorder.run(Durability::Synced, &args("api", "the first makes the store"), "");
    let first = recorder.operations;
    let mut states = 0;
    for killed in 0..first.len() {
        let (before, mut disk) = (&first[..killed], Disk::default());
        before.iter().for_each(|operation| disk.apply(operation));
        // A kill loses nothing that the system has seen.
        let world = World::new();
        make(&disk.state(&BTreeMap::new()), &world.path(""));
        let mut recorder = Recorder::new(&world, &strace, STORE);
        recorder.run(Durability::Synced, &args("api", "after the kill"), "");
        let found = lose_power(&[before, &recorder.operations].concat(), Then::ReadAndAppend);
        assert_eq!(found.durable_lost, BTreeSet::new(), "killed after {before:?}");
        states += found.states;
    }
    tell(
        "P2",
        &format!(
            "the first writer killed at each of {} operations, then a durable one; {states} states",
            first.len()
        ),
        "durable: 0 lost",
    );
}
