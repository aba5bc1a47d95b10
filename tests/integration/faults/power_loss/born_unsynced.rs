//! P2 where the first writer, which made the store, was not durable: a later durable one has to bring the
//! store's own directories to the disk as well. Not here: everything else about lost power.

use std::collections::BTreeSet;

use agent_knowledge::store::Durability;

use super::{Then, lose_power, record_writers};
use crate::faults::tell;
use crate::pieces;
use crate::world::World;

// S-STORE-4
#[test]
fn a_durable_event_survives_in_a_store_that_was_made_by_one_that_was_not() {
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
