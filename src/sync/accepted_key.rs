//! Taking the new key of an origin, once somebody has asked its owner. What was shown is what is taken: the remote is not asked
//! again, where something else may stand by now. Not here: the round that then brings the lines (`team_round`).

use event::StoreOrigin;
use jiff::Timestamp;
use settings::SignatureRule;
use store::Store;

use crate::sync_record::SyncRecord;
use crate::{RemoteAddress, Seal, SyncError, UnverifiedOrigin};

/// How long it waits for a round of the same store, in milliseconds.
const TURN_MS_MAX: u64 = 2_000;

/// What was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedKey {
    /// The origin.
    pub origin: StoreOrigin,
    /// The fingerprint of its key. `None` if it signs no more.
    pub key: Option<String>,
}

/// Accepts the key that was last seen of an origin of which nothing is taken, or that it signs no more. `name` is the whole
/// origin, or what is shown of it.
///
/// # Errors
/// [`SyncError::Setup`] if nothing of that origin is held, or there is nothing to accept.
pub fn accept_key(
    store: &Store,
    (remote, rule): (&RemoteAddress, SignatureRule),
    name: &str,
    now: Timestamp,
) -> Result<AcceptedKey, SyncError> {
    let _turn = store.team_turn(TURN_MS_MAX)?;
    let mut record = SyncRecord::read(store, remote)?;
    let mut held = record.unverified();
    let one = named(&held, name)?;
    let UnverifiedOrigin { origin, expected, seen } = held.remove(one);
    let key = match (seen, expected, rule) {
        (Seal::Signed(key), _, _) => Some(key),
        (Seal::Unsigned, Some(_), SignatureRule::Optional) => None,
        (Seal::Unsigned, _, SignatureRule::Required) => {
            return Err(nothing(
                &origin,
                "it has no signature, and sync.require_signatures asks for one",
            ));
        }
        (Seal::Unsigned, None, SignatureRule::Optional) => {
            return Err(nothing(
                &origin,
                "it never signed, so the next agent-knowledge sync takes it",
            ));
        }
        (Seal::Broken(why) | Seal::Unchecked(why), ..) => return Err(nothing(&origin, &why)),
    };
    match &key {
        Some(key) => record.keep_key(&origin, key, now),
        None => record.forget_key(&origin),
    }
    record.record_unverified(&held);
    record.write()?;
    Ok(AcceptedKey { origin, key })
}

fn nothing(origin: &StoreOrigin, why: &str) -> SyncError {
    SyncError::Setup(format!("there is no key of {origin} to accept: {why}"))
}

/// Finds the place of the one that is meant.
fn named(held: &[UnverifiedOrigin], name: &str) -> Result<usize, SyncError> {
    let is_it =
        |one: &&UnverifiedOrigin| [one.origin.as_str(), one.origin.shown()].contains(&name.trim());
    if held.iter().filter(is_it).count() == 1
        && let Some(place) = held.iter().position(|one| is_it(&one))
    {
        return Ok(place);
    }
    let origins: Vec<&str> = held.iter().map(|one| one.origin.as_str()).collect();
    Err(SyncError::Setup(match origins.as_slice() {
        [] => {
            "no key waits to be accepted: at the last round nothing was held because of a signature"
                .to_owned()
        }
        [first, ..] => format!(
            "sync --accept-signer takes an origin that is held because of its signature, of {}; for example {first}",
            origins.join(", ")
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-13
    #[test]
    fn only_what_is_held_can_be_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        let remote = RemoteAddress::parse("/srv/a.git").unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let accept = |name: &str, rule| accept_key(&store, (&remote, rule), name, now);
        let (any, all) = (SignatureRule::Optional, SignatureRule::Required);
        let why = accept("ana", any).unwrap_err().to_string();
        assert!(why.contains("no key waits"), "{why}");
        let origins = [1, 2, 3, 4].map(|bits| StoreOrigin::mint("ana", bits << 32));
        let mut record = SyncRecord::read(&store, &remote).unwrap();
        let [a, b, c, d] = &origins;
        record.keep_key(a, "SHA256:a", now);
        record.keep_key(b, "SHA256:b", now);
        let broken = Seal::Broken("incorrect signature".to_owned());
        let seen = [Seal::Signed("SHA256:n".to_owned()), Seal::Unsigned, broken, Seal::Unsigned];
        let held = |(origin, seen): (&StoreOrigin, Seal)| UnverifiedOrigin {
            origin: origin.clone(),
            expected: None,
            seen,
        };
        let held: Vec<UnverifiedOrigin> = origins.iter().zip(seen).map(held).collect();
        record.record_unverified(&held);
        record.write().unwrap();
        let refused = |name: &str, rule| accept(name, rule).unwrap_err().to_string();
        assert!(refused("ana", any).contains(d.as_str()), "the choice is listed");
        assert!(refused(c.as_str(), any).contains("incorrect signature"));
        assert!(refused(b.as_str(), all).contains("require_signatures"));
        assert!(refused(d.as_str(), any).contains("it never signed"));
        let accepted = accept(a.shown(), any).unwrap();
        assert_eq!((&accepted.origin, accepted.key.as_deref()), (a, Some("SHA256:n")));
        assert_eq!(accept(b.as_str(), any).unwrap().key, None);
        let record = SyncRecord::read(&store, &remote).unwrap();
        assert_eq!((record.key_of(a), record.key_of(b)), (Some("SHA256:n"), None));
        assert_eq!(record.unverified().len(), 2);
    }
}
