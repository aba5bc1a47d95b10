//! Repeats an answer whose checkpoint turned out damaged: the second answer is made from the logs. Not here: the
//! answers.

use std::cell::RefCell;

use reply::Reply;
use requests::ApiError;
use search::snapshot::Snapshot;

/// The snapshot that an answer was made from.
#[derive(Default)]
pub(super) struct UsedSnapshot(RefCell<Option<Snapshot>>);

impl UsedSnapshot {
    pub(super) fn record(&self, snapshot: &Snapshot) {
        self.0.replace(Some(snapshot.clone()));
    }

    /// Tells whether a record that was needed could not be read.
    fn is_damaged(&self) -> bool {
        self.0.borrow().as_ref().is_some_and(Snapshot::is_damaged)
    }
}

/// Answers, and answers again where a record of the checkpoint was damaged: the next snapshot is made from the logs.
pub(super) fn undamaged_answer(
    answer: impl Fn(&UsedSnapshot) -> Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    let used = UsedSnapshot::default();
    let reply = answer(&used);
    if used.is_damaged() { answer(&UsedSnapshot::default()) } else { reply }
}
