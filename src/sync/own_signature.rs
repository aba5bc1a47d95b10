//! Signing our own trees: with which key, whether others can check it, and whether what stands in our place on the remote is
//! ours. Not here: the trees of others (`mirror_update`), and publishing (`team_round`).

use event::StoreOrigin;
use jiff::Timestamp;
use settings::{SignatureRule, SyncPolicy};

use crate::sync_record::SyncRecord;
use crate::{Seal, SyncError, SyncReport, Tip, Transport};

/// Whether our trees are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnSigning {
    /// They are.
    On,
    /// They are not: no key is named, or the remote carries no signatures.
    Off,
}

impl OwnSigning {
    /// Tells the transport with which key it signs, and the report what cannot be as the settings say.
    pub(crate) fn begin(
        transport: &mut dyn Transport,
        policy: &SyncPolicy,
        record: &SyncRecord,
        report: &mut SyncReport,
    ) -> Result<Self, SyncError> {
        let key = policy.signing_key.as_deref();
        let has_signed = record.key_of(&report.origin).is_some();
        let Some(signatures) = transport.signatures() else {
            if policy.require_signatures == SignatureRule::Required {
                let why = "sync.require_signatures asks for signatures, and only a git remote carries them; unset it, or \
                           set sync.remote to a git repository";
                return Err(SyncError::Setup(why.to_owned()));
            }
            let why = "nothing is signed: sync.signing_key works with a git remote only";
            report.trouble.extend(key.map(|_| why.to_owned()));
            return Ok(Self::Off);
        };
        signatures.sign_with(key);
        match key {
            Some(_) => Ok(Self::On),
            None => {
                let why = "this store signed before, and sync.signing_key is not set now, so others take nothing new of it";
                report.trouble.extend(has_signed.then(|| why.to_owned()));
                Ok(Self::Off)
            }
        }
    }

    /// Tells whether a tree of ours that is there was published before this store began to sign.
    pub(crate) fn is_missing(self, origin: &StoreOrigin, record: &SyncRecord) -> bool {
        self == Self::On && record.key_of(origin).is_none()
    }

    /// Tells whether somebody who has not our key put something in our place. Nobody can tell before we have signed.
    pub(crate) fn is_forged(
        self,
        transport: &mut dyn Transport,
        (origin, tip): (&StoreOrigin, &Tip),
        record: &SyncRecord,
    ) -> Result<bool, SyncError> {
        let Some(key) = record.key_of(origin).filter(|_| self == Self::On) else {
            return Ok(false);
        };
        if record.has_published(tip) {
            return Ok(false);
        }
        let brought = transport.bring(&[(origin.clone(), tip.clone())])?;
        match brought.failed.into_iter().next() {
            Some((_, SyncError::Unreadable(_))) => return Ok(true),
            Some((_, error)) => return Err(error),
            // It changed meanwhile, which is found out again.
            None if brought.tips.get(origin) != Some(tip) => return Ok(false),
            None => {}
        }
        let Some(signatures) = transport.signatures() else { return Ok(false) };
        match signatures.seal(origin, tip) {
            Ok(Seal::Signed(seen)) => Ok(seen != key),
            Ok(Seal::Unsigned | Seal::Broken(_)) | Err(SyncError::Unreadable(_)) => Ok(true),
            Ok(Seal::Unchecked(why)) => Err(SyncError::Signing(why)),
            Err(error) => Err(error),
        }
    }

    /// Returns the key that signed a tree of ours, as others will see it; `None` if nothing is signed.
    pub(crate) fn key_of_tree(
        self,
        transport: &mut dyn Transport,
        (origin, tip): (&StoreOrigin, &Tip),
    ) -> Result<Option<String>, SyncError> {
        let Some(signatures) = transport.signatures().filter(|_| self == Self::On) else {
            return Ok(None);
        };
        match signatures.seal(origin, tip)? {
            Seal::Signed(key) => Ok(Some(key)),
            Seal::Unsigned => Err(SyncError::Signing("git made no signature".to_owned())),
            Seal::Broken(why) | Seal::Unchecked(why) => Err(SyncError::Signing(why)),
        }
    }
}

/// Notes the key with which our tree is signed, and returns what is to be told if it is another one than before.
pub(crate) fn record_own_key(
    record: &mut SyncRecord,
    (origin, key): (&StoreOrigin, &str),
    now: Timestamp,
) -> Option<String> {
    let before = record.key_of(origin);
    if before == Some(key) {
        return None;
    }
    let told = before.map(|_| {
        format!("this store signs as {key} now, and not as before; others take nothing new of it until they accept that")
    });
    record.keep_key(origin, key, now);
    told
}
