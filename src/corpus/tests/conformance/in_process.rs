//! The engine in this process keeps the promises. Not here: the promises.

use crate::memory_corpus::MemoryCorpus;
use corpus::Feeder;
use index::embed::SpaceId;
use index::vector::VectorIndex;

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

// S-CORPUS-5, S-CORPUS-9
#[test]
fn vectors_of_another_model_replace_the_first() {
    let first = collections::with_vectors(collections::snapshot(&promises::notes()));
    let mut second = first.clone();
    let mut vectors = VectorIndex::new(collections::DIMENSIONS);
    for (number, memory) in (0..).zip(second.memories().iter()) {
        let other = collections::direction(&format!("{} of another model", memory.id));
        vectors.set(number, &other).unwrap();
    }
    (second.vectors, second.space) = (Some(vectors), SpaceId::from_name("another model"));
    let corpus = MemoryCorpus::default();
    let mut feeder = Feeder::new(collections::viewpoint(), Box::new(|_| true));
    let mut put = |snapshot| feeder.feed(&corpus, snapshot, collections::now()).unwrap().put;
    assert_eq!((put(&first), put(&second), put(&second)), (4, 4, 0), "the feeder that goes on");
    assert_eq!(promises::feed(&corpus, &first).put, 4, "one that begins");
}
