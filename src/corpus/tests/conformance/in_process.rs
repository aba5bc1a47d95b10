//! The engine in this process keeps the promises. Not here: the promises.

use corpus::MemoryCorpus;

use crate::{collections, promises};

/// Of so many queries one is asked, since all take minutes without optimisation; `scripts/test-engine` asks all.
const SAMPLED: usize = 12;

// S-CORPUS-1
#[test]
fn lessons_rank_as_on_one_machine() {
    let mut lessons = collections::lessons();
    lessons.keep_every(SAMPLED);
    promises::answers_as_one_machine_does(&MemoryCorpus::default(), &lessons);
}

// S-CORPUS-1
#[test]
fn lessons_with_vectors_rank_as_on_one_machine() {
    let mut lessons = collections::lessons();
    lessons.keep_every(SAMPLED);
    lessons.snapshot = collections::with_vectors(lessons.snapshot);
    promises::answers_as_one_machine_does(&MemoryCorpus::default(), &lessons);
}

// S-CORPUS-3
#[test]
fn filters_are_those_of_one_machine() {
    promises::filters_as_one_machine_does(&MemoryCorpus::default());
}

// S-CORPUS-4
#[test]
fn putting_again_changes_nothing() {
    promises::putting_is_idempotent(&MemoryCorpus::default());
    promises::a_change_leaves_nothing_behind(&MemoryCorpus::default());
}

// S-CORPUS-5
#[test]
fn a_feeder_follows_the_fold() {
    promises::feeding_follows_the_fold(&MemoryCorpus::default());
}

// S-CORPUS-4
#[test]
fn what_goes_meanwhile_is_no_hit() {
    promises::what_goes_meanwhile_is_no_hit(&MemoryCorpus::default());
}

// S-CORPUS-5
#[test]
fn nothing_private_is_beside_a_memory() {
    promises::nothing_private_is_beside_a_memory();
}
