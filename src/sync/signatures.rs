//! Signatures of trees, and trust on first use: the first key that an origin signs with is kept, and from then on nothing of
//! it is taken that another key signed, or none. Keys are compared, and never names. Not here: how git carries a signature
//! (`commit_seal`), and where keys are kept (`sync_record`).

use std::fmt;

use event::StoreOrigin;
use serde::{Deserialize, Serialize};
use settings::SignatureRule;

/// What a tree shows of who made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seal {
    /// It has no signature.
    Unsigned,
    /// It is signed with the key of this fingerprint (`SHA256:…`), as a tree of this origin.
    Signed(String),
    /// It has a signature that is wrong, for this reason.
    Broken(String),
    /// It has a signature that cannot be checked on this machine, for this reason.
    Unchecked(String),
}

/// An origin of which nothing is taken, because of its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedOrigin {
    /// The origin.
    pub origin: StoreOrigin,
    /// The fingerprint of the key that it signed with before. `None` if it never signed.
    pub expected: Option<String>,
    /// What its tree shows now.
    pub seen: Seal,
}

impl fmt::Display for UnverifiedOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, expected, seen } = self;
        let whole = origin.as_str();
        write!(out, "{origin}: nothing new is taken, ")?;
        match expected {
            Some(key) => write!(out, "expected {key}, ")?,
            None => out.write_str("expected a signature, ")?,
        }
        match (seen, expected) {
            (Seal::Signed(key), _) => write!(
                out,
                "seen {key}; ask its owner, and if that is the new one: agent-knowledge sync --accept-signer {whole}"
            ),
            (Seal::Unsigned, Some(_)) => write!(
                out,
                "seen no signature; whoever may push can have written it. Ask its owner, and if that store signs no more: \
                 agent-knowledge sync --accept-signer {whole}"
            ),
            (Seal::Unsigned, None) => out.write_str(
                "seen none; its owner sets sync.signing_key, or set sync.require_signatures off here",
            ),
            (Seal::Broken(why), _) => {
                write!(out, "seen a wrong signature ({why}); ask its owner to run agent-knowledge sync")
            }
            (Seal::Unchecked(why), _) => write!(out, "seen a signature that cannot be checked: {why}"),
        }
    }
}

/// What to do with a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is taken.
    Accept,
    /// It is taken, and its key is kept from now on.
    Keep(String),
    /// It is taken, and somebody should know this.
    TakeUnchecked(String),
    /// Nothing of it is taken.
    Hold,
}

/// Judges a tree by the key that its origin signed with before.
pub(crate) fn judge(kept: Option<&str>, seen: &Seal, rule: SignatureRule) -> Judgement {
    match (kept, seen, rule) {
        (Some(kept), Seal::Signed(key), _) if kept == key => Judgement::Accept,
        (None, Seal::Signed(key), _) => Judgement::Keep(key.clone()),
        (None, Seal::Unsigned, SignatureRule::Optional) => Judgement::Accept,
        (None, Seal::Unchecked(why), SignatureRule::Optional) => {
            Judgement::TakeUnchecked(why.clone())
        }
        _ => Judgement::Hold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-13
    #[test]
    fn what_is_held_is_shown_in_full() {
        let print = |letter: &str| format!("SHA256:{}", letter.repeat(43));
        let key = || Seal::Signed("SHA256:GMcHAT3lbLM1kdGknyHFfVsfuQMAFQ9h0ZqVeiQY+1k".to_owned());
        let why = || "incorrect signature".to_owned();
        for expected in [None, Some(print("a"))] {
            for seen in [key(), Seal::Unsigned, Seal::Broken(why()), Seal::Unchecked(why())] {
                let origin = StoreOrigin::mint("laptop", 0x3fa9_c1d2_e5b6_0718);
                let told =
                    UnverifiedOrigin { origin, expected: expected.clone(), seen }.to_string();
                // Whatever is shown goes through the removal of secrets, and this holds none.
                assert_eq!(guard::secrets::redacted(&told), told);
                assert!(expected.as_ref().is_none_or(|key| told.contains(key)), "{told}");
            }
        }
    }

    // S-SYNC-13
    #[test]
    fn only_the_first_key_is_taken() {
        let signed = |key: &str| Seal::Signed(key.to_owned());
        let why = || "x".to_owned();
        let (any, all) = (SignatureRule::Optional, SignatureRule::Required);
        for rule in [any, all] {
            assert_eq!(judge(None, &signed("a"), rule), Judgement::Keep("a".to_owned()));
            assert_eq!(judge(Some("a"), &signed("a"), rule), Judgement::Accept);
            let wrong = [signed("b"), Seal::Unsigned, Seal::Broken(why()), Seal::Unchecked(why())];
            for seen in wrong {
                assert_eq!(judge(Some("a"), &seen, rule), Judgement::Hold, "{seen:?}");
            }
            assert_eq!(judge(None, &Seal::Broken(why()), rule), Judgement::Hold);
        }
        assert_eq!(judge(None, &Seal::Unsigned, any), Judgement::Accept);
        assert_eq!(judge(None, &Seal::Unsigned, all), Judgement::Hold);
        let unchecked = Seal::Unchecked(why());
        assert_eq!(judge(None, &unchecked, any), Judgement::TakeUnchecked(why()));
        assert_eq!(judge(None, &unchecked, all), Judgement::Hold);
    }
}
