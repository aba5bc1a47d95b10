//! The check of one tree of another origin by its signature, before anything of it is read: its key is kept, or it is held and
//! told. Not here: the rule (`signatures`), and bringing in what is right (`mirror_update`).

use event::StoreOrigin;
use jiff::Timestamp;
use settings::SignatureRule;

use crate::signatures::{Judgement, judge};
use crate::sync_record::SyncRecord;
use crate::{SyncError, SyncReport, Tip, Transport, UnverifiedOrigin};

/// What a check needs.
pub(crate) struct SealCheck<'a> {
    /// Whether trees must be signed.
    pub(crate) rule: SignatureRule,
    /// When a key is seen first.
    pub(crate) now: Timestamp,
    /// Is told each step.
    pub(crate) steps: &'a dyn Fn(&'static str),
}

/// Whether a tree may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckedSeal {
    /// As far as its signature goes, it may.
    Right,
    /// Nothing of it is taken, which the report tells.
    Held,
}

impl SealCheck<'_> {
    /// Checks a tree that was brought. A key that is seen first is kept before the lines come: a process that is killed in
    /// between must not let another key be the first.
    pub(crate) fn check(
        &self,
        transport: &mut dyn Transport,
        (origin, tip): (&StoreOrigin, &Tip),
        record: &mut SyncRecord,
        report: &mut SyncReport,
    ) -> Result<CheckedSeal, SyncError> {
        let Some(signatures) = transport.signatures() else { return Ok(CheckedSeal::Right) };
        let seen = signatures.seal(origin, tip)?;
        (self.steps)("checked");
        let expected = record.key_of(origin).map(str::to_owned);
        match judge(expected.as_deref(), &seen, self.rule) {
            Judgement::Accept => {}
            Judgement::Keep(key) => {
                record.keep_key(origin, &key, self.now);
                record.write()?;
                (self.steps)("kept");
            }
            Judgement::TakeUnchecked(why) => {
                let what = "it is signed, which cannot be checked here";
                report.trouble.push(format!("{origin}: {what}: {why}"));
            }
            Judgement::Hold => {
                report.unverified.push(UnverifiedOrigin { origin: origin.clone(), expected, seen });
                return Ok(CheckedSeal::Held);
            }
        }
        Ok(CheckedSeal::Right)
    }
}
