//! An exchange as it is kept: without secrets, as JSON, compressed. The file that names `flate2`. Not here: the table that
//! holds it (`session_rows`).

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

use guard::secrets::RedactedText;
use transcripts::exchange::{Exchange, PartKind};
use transcripts::transcript::Outcome;

/// Most bytes of an exchange when it is unpacked: more than [`crate::exchange`] ever makes of one. A damaged row must not
/// fill the memory.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;

/// An exchange, ready to be stored.
#[derive(Debug, Clone)]
pub(super) struct PackedExchange {
    pub(super) ordinal: u32,
    /// Identifies its first message among those of all tools, if the tool gives messages ids.
    pub(super) message_key: Option<i64>,
    pub(super) span_ms: Option<(i64, i64)>,
    /// Identifies its content.
    pub(super) digest: i64,
    /// How many parts it has.
    pub(super) parts: i64,
    pub(super) body: Vec<u8>,
}

/// Removes the secrets of an exchange and packs it. Returns `None` if it cannot be written as JSON, which no exchange
/// is known to cause.
pub(super) fn pack(tool: &str, mut exchange: Exchange) -> Option<PackedExchange> {
    exchange.parts.iter_mut().for_each(|part| clean(&mut part.what));
    exchange.message_id = exchange.message_id.map(|id| RedactedText::stamp(&id).into_string());
    let json = serde_json::to_vec(&exchange).ok()?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json).ok()?;
    let message_id = exchange.message_id.as_deref();
    Some(PackedExchange {
        ordinal: exchange.ordinal,
        message_key: message_id.map(|id| hash(&[tool.as_bytes(), id.as_bytes()])),
        span_ms: exchange.span_ms(),
        digest: hash(&[&json]),
        parts: i64::try_from(exchange.parts.len()).unwrap_or(i64::MAX),
        body: encoder.finish().ok()?,
    })
}

/// Reads what [`packed`] wrote; `None` if it is damaged or a later version wrote something unknown.
pub(super) fn unpack(body: &[u8]) -> Option<Exchange> {
    let mut json = Vec::new();
    ZlibDecoder::new(body).take(UNPACKED_BYTES_MAX).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}

/// Returns the first 64 bits of SHA-256 of the parts, each with its length.
pub(super) fn hash(parts: &[&[u8]]) -> i64 {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().take(8).fold(0, |bits, byte| (bits << 8) | i64::from(*byte))
}

/// Makes a part of a text.
pub(super) type PartOfText = fn(String) -> PartKind;

/// Returns the text of a part that is nothing else, and what makes such a part of a text.
pub(super) fn speech(part: &PartKind) -> Option<(&str, PartOfText)> {
    match part {
        PartKind::Asked(text) => Some((text, PartKind::Asked)),
        PartKind::Answered(text) => Some((text, PartKind::Answered)),
        PartKind::Summarised(text) => Some((text, PartKind::Summarised)),
        PartKind::Planned(text) => Some((text, PartKind::Planned)),
        PartKind::Decided(text) => Some((text, PartKind::Decided)),
        PartKind::Failed(text) => Some((text, PartKind::Failed)),
        PartKind::Ran { .. }
        | PartKind::Edited { .. }
        | PartKind::Called { .. }
        | PartKind::Interrupted => None,
    }
}

fn clean(part: &mut PartKind) {
    match part {
        PartKind::Ran { command: name, outcome, excerpt }
        | PartKind::Edited { path: name, outcome, excerpt } => {
            erase(name);
            erase(excerpt);
            clean_outcome(outcome);
        }
        PartKind::Called { tool, argument, outcome, excerpt } => {
            [tool, argument, excerpt].into_iter().for_each(erase);
            clean_outcome(outcome);
        }
        _ => {
            let cleaned =
                speech(part).map(|(text, kind)| kind(RedactedText::redact(text).into_string()));
            cleaned.into_iter().for_each(|cleaned| *part = cleaned);
        }
    }
}

fn clean_outcome(outcome: &mut Outcome) {
    if let Outcome::Refused(Some(reason)) = outcome {
        erase(reason);
    }
}

/// Replaces the secrets of a text by their marks.
pub(super) fn erase(text: &mut String) {
    *text = RedactedText::redact(text).into_string();
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcripts::exchange::{
        COMMAND_BYTES_MAX, EXCERPT_HEAD, EXCERPT_TAIL, ExchangeBuilder, ExchangePart, SessionRead,
        TEXT_BYTES_MAX,
    };
    use transcripts::transcript::{
        MomentKind, SessionExtent, TranscriptMoment, TranscriptSink as _,
    };

    /// The first exchange of a session in which this happened.
    fn built(happenings: &[MomentKind]) -> Exchange {
        let mut sessions: Vec<SessionRead> = Vec::new();
        let mut deliver = |session| sessions.push(session);
        let mut builder = ExchangeBuilder::new(0, &mut deliver);
        builder.session("s", SessionExtent::Whole);
        for what in happenings {
            let moment = TranscriptMoment { message_id: None, at_ms: None, kind: what.clone() };
            builder.moment(moment);
        }
        let _ = builder.finish();
        sessions[0].exchanges[0].clone()
    }

    #[test]
    fn what_is_kept_holds_no_secret_and_comes_back() {
        let secret = ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        let part = |what| ExchangePart { at_ms: Some(5), what };
        let exchange = Exchange {
            ordinal: 3,
            message_id: Some("m".to_owned()),
            parts: vec![
                part(PartKind::Asked(format!("use GITHUB_TOKEN={secret}"))),
                part(PartKind::Ran {
                    command: format!("curl -H 'Authorization: token {secret}' x"),
                    outcome: Outcome::Refused(Some(format!("not with {secret}"))),
                    excerpt: format!("token={secret}"),
                }),
            ],
        };
        let stored = pack("codex", exchange).unwrap();
        let back = unpack(&stored.body).unwrap();
        assert!(!format!("{back:?}").contains(&secret), "{back:?}");
        assert_eq!((back.ordinal, back.parts.len(), stored.span_ms), (3, 2, Some((5, 5))));
        assert_ne!(stored.message_key, pack("pi", back).unwrap().message_key);
        assert_eq!(unpack(b"no zlib"), None);
    }

    // S-SESS-3
    #[test]
    fn no_cut_hides_a_secret_from_the_rules() {
        let secret = ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        let mut places = Vec::new();
        for step in (0..60).step_by(5) {
            let cuts = [TEXT_BYTES_MAX, COMMAND_BYTES_MAX, EXCERPT_HEAD];
            places.extend(cuts.map(|cut| (cut - step, TEXT_BYTES_MAX)));
            places.push((TEXT_BYTES_MAX, EXCERPT_TAIL - step));
        }
        for (before, after) in places {
            let text =
                format!("{} {secret} {}", "word ".repeat(before / 5), "word ".repeat(after / 5));
            let outcome = Outcome::Exited(1);
            let told = [
                MomentKind::Asked(text.clone()),
                MomentKind::Answered(text.clone()),
                MomentKind::Ran { call: "a".to_owned(), command: text.clone() },
                MomentKind::Returned { call: "a".to_owned(), outcome, output: text.clone() },
            ];
            let kept = pack("codex", built(&told)).unwrap();
            let kept = format!("{:?}", unpack(&kept.body).unwrap());
            for piece in secret.as_bytes().windows(12) {
                let piece = str::from_utf8(piece).unwrap();
                assert!(!kept.contains(piece), "{piece} of {}", text.find(&secret).unwrap());
            }
        }
    }
}
