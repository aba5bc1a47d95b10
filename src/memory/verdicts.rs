//! The counted verdicts on a memory, and their consequences: maturity, candidates, expiry.
//! They are a function of the set of events, so neither order nor repetition matters. Not here:
//! their effect on ranking (`search::prior`).

use super::Memory;
use event::{EventId, HOOK, Timestamp, Verdict};

/// A candidate that nothing confirmed expires after this many seconds: thirty days. Somebody who
/// meets the same failure once a month learns as much from the failure itself.
pub const CANDIDATE_SECONDS_MAX: i64 = 30 * 24 * 3_600;

/// How often each verdict was given, by the voices that give it ([`VoiceVerdicts`]).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdicts {
    /// It worked.
    pub worked: u32,
    /// It failed.
    pub failed: u32,
    /// It no longer holds.
    pub stale: u32,
    /// It is right.
    pub confirmed: u32,
    /// Whether the latest verdict on its truth is `stale`.
    pub is_stale: bool,
    /// When it last worked or was confirmed.
    pub last_good: Option<Timestamp>,
    /// When it last failed.
    pub last_failed: Option<Timestamp>,
}

/// How far a memory has proven itself by use.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Maturity {
    /// Nobody reported using it, or the verdicts against it are at least as many as those for it.
    Candidate,
    /// It worked.
    Established,
    /// It worked in at least [`PROVEN_MIN`] sessions, and far more often than not.
    Proven,
}

/// A memory is proven once it worked in this many sessions.
pub const PROVEN_MIN: u32 = 3;
/// The lower bound of its success rate must be at least this too.
const PROVEN_SUCCESS_MIN: f64 = 0.5;

impl Maturity {
    /// Returns its name in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Established => "established",
            Self::Proven => "proven",
        }
    }
}

impl Verdicts {
    /// No verdict.
    pub(super) const NONE: Self = Self {
        worked: 0,
        failed: 0,
        stale: 0,
        confirmed: 0,
        is_stale: false,
        last_good: None,
        last_failed: None,
    };

    /// Counts the verdicts of each voice. Of several verdicts at one time that with the greatest event id is the latest.
    pub(super) fn count<'a>(voices: impl Iterator<Item = &'a VoiceVerdicts<'a>>) -> Self {
        let mut counted = Self::default();
        let mut latest: Option<GivenVerdict<'_>> = None;
        for voice in voices {
            for verdict in voice.tried.iter().chain(voice.stated_beside_try()) {
                let count = counted.count_mut(verdict.verdict);
                *count = count.saturating_add(1);
            }
            let truth = voice.truth.as_ref();
            if let Some(truth) = truth.filter(|truth| truth.is_good()) {
                counted.last_good = counted.last_good.max(truth.at);
            }
            let failed = voice.tried.as_ref().filter(|tried| tried.verdict == Verdict::Failed);
            counted.last_failed = counted.last_failed.max(failed.and_then(|failed| failed.at));
            latest = truth.into_iter().fold(latest, |latest, truth| Some(truth.later(latest)));
        }
        counted.is_stale = latest.is_some_and(|truth| truth.verdict == Verdict::Stale);
        counted
    }

    fn count_mut(&mut self, verdict: Verdict) -> &mut u32 {
        match verdict {
            Verdict::Worked => &mut self.worked,
            Verdict::Failed => &mut self.failed,
            Verdict::Stale => &mut self.stale,
            Verdict::Confirmed => &mut self.confirmed,
        }
    }

    /// Tells whether it has more verdicts for it than against it.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.worked.saturating_add(self.confirmed) > self.failed.saturating_add(self.stale)
    }
}

/// A verdict, with its place in the order of events.
#[derive(Debug, Clone, Copy)]
pub(super) struct GivenVerdict<'a> {
    pub at: Option<Timestamp>,
    pub id: &'a EventId,
    pub verdict: Verdict,
}

impl GivenVerdict<'_> {
    /// Returns the later of two.
    fn later(self, other: Option<Self>) -> Self {
        other.filter(|other| (self.at, self.id) <= (other.at, other.id)).unwrap_or(self)
    }

    fn is_good(&self) -> bool {
        matches!(self.verdict, Verdict::Worked | Verdict::Confirmed)
    }
}

/// The verdicts of one voice. Whether it worked for the voice and whether it still holds are two questions, and the latest answer to
/// each counts. With one answer to both, `confirmed` would take back the voice's own `worked`, and `failed` its `stale`.
#[derive(Debug, Default)]
pub(super) struct VoiceVerdicts<'a> {
    /// `worked` or `failed`.
    tried: Option<GivenVerdict<'a>>,
    /// `confirmed` or `stale`.
    stated: Option<GivenVerdict<'a>>,
    /// Anything but `failed`: one failure may have other reasons, so it says nothing about the truth.
    truth: Option<GivenVerdict<'a>>,
}

impl<'a> VoiceVerdicts<'a> {
    pub(super) fn offer(&mut self, given: GivenVerdict<'a>) {
        if matches!(given.verdict, Verdict::Worked | Verdict::Failed) {
            self.tried = Some(given.later(self.tried));
        }
        if matches!(given.verdict, Verdict::Confirmed | Verdict::Stale) {
            self.stated = Some(given.later(self.stated));
        }
        if given.verdict != Verdict::Failed {
            self.truth = Some(given.later(self.truth));
        }
    }

    /// Returns the verdict of the voice on the truth, if it adds to its own try: one voice counts once for a memory, and once
    /// against it. A later `worked` takes back its `stale`, but not its `confirmed`.
    fn stated_beside_try(&self) -> Option<&GivenVerdict<'a>> {
        let stated = self.stated.as_ref()?;
        let is_taken_back = |by: Verdict| self.truth.is_some_and(|truth| truth.verdict == by);
        let is_said_by_try = |word: Verdict| self.tried.is_some_and(|tried| tried.verdict == word);
        let adds = match stated.verdict {
            Verdict::Confirmed => !is_said_by_try(Verdict::Worked),
            Verdict::Stale => !is_said_by_try(Verdict::Failed) && !is_taken_back(Verdict::Worked),
            // They are tries.
            Verdict::Worked | Verdict::Failed => false,
        };
        adds.then_some(stated)
    }
}

impl Memory {
    /// Returns its verdicts, counted.
    #[must_use]
    pub fn verdicts(&self) -> &Verdicts {
        &self.lifecycle().verdicts
    }

    /// Returns its maturity. Only helpful use raises it, not being shown.
    #[must_use]
    pub fn maturity(&self) -> Maturity {
        let verdicts = self.verdicts();
        let is_sound = self.evidence().is_some_and(|rate| rate.lower_bound() >= PROVEN_SUCCESS_MIN);
        match verdicts.worked {
            PROVEN_MIN.. if is_sound && verdicts.is_proven() => Maturity::Proven,
            1.. if verdicts.is_proven() => Maturity::Established,
            _ => Maturity::Candidate,
        }
    }

    /// Tells whether a hook wrote it and nothing has proven it since.
    #[must_use]
    pub fn is_candidate(&self) -> bool {
        self.is_candidate_with(&self.lifecycle().deciding)
    }

    fn is_candidate_with(&self, verdicts: &Verdicts) -> bool {
        self.provenance.source.as_deref() == Some(HOOK) && !verdicts.is_proven()
    }

    /// Tells whether it is an expired candidate. It can still be cited by its id.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.is_expired_with(&self.lifecycle().deciding, now)
    }

    pub(super) fn is_expired_with(&self, verdicts: &Verdicts, now: Timestamp) -> bool {
        let is_old = |then: Timestamp| {
            now.as_second().saturating_sub(then.as_second()) > CANDIDATE_SECONDS_MAX
        };
        self.is_candidate_with(verdicts) && self.timestamp.is_some_and(is_old)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::sample::folded;
    use super::*;

    fn candidate() -> Value {
        json!({"id": "m1", "timestamp": "2026-01-01T00:00:00Z", "event_type": "error",
            "lesson": "x", "source": "hook"})
    }

    fn verdict(id: usize, verdict: &str) -> Value {
        json!({"id": format!("f{id}"), "event_type": "feedback", "memory_id": "m1", "verdict": verdict})
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    // S-HOOK-7
    #[test]
    fn a_candidate_stays_one_until_verdicts_favour_it() {
        let is_candidate = |verdicts: &[&str]| {
            let events = (0..).zip(verdicts).map(|(id, word)| verdict(id, word));
            folded(&std::iter::once(candidate()).chain(events).collect::<Vec<_>>()).is_candidate()
        };
        assert!(is_candidate(&[]) && is_candidate(&["failed"]) && is_candidate(&["perhaps"]));
        assert!(!is_candidate(&["worked"]) && !is_candidate(&["confirmed"]));
        assert!(is_candidate(&["worked", "stale"]));
        assert!(!is_candidate(&["worked", "failed", "worked"]));
        let mut first_hand = candidate();
        first_hand["source"] = "agent".into();
        assert!(!folded(&[first_hand]).is_candidate());
        let other_kind =
            json!({"id": "f1", "event_type": "note", "memory_id": "m1", "verdict": "worked"});
        assert!(folded(&[candidate(), other_kind]).is_candidate());
    }

    // S-HOOK-7
    #[test]
    fn an_unproven_candidate_expires_after_thirty_days() {
        let memory = folded(&[candidate()]);
        assert!(!memory.is_expired(at("2026-01-31T00:00:00Z")));
        assert!(memory.is_expired(at("2026-01-31T00:00:01Z")));
        assert!(
            !folded(&[candidate(), verdict(1, "worked")]).is_expired(at("2027-01-01T00:00:00Z"))
        );
        let mut timeless = candidate();
        timeless.as_object_mut().unwrap().remove("timestamp");
        assert!(!folded(&[timeless]).is_expired(at("2027-01-01T00:00:00Z")));
    }

    /// A verdict of one of three voices, at a minute.
    fn voice_verdict(id: usize, (voice, word, minute): (usize, Verdict, u32)) -> Value {
        let mut line = verdict(id, word.as_str());
        line["session_id"] = voice.to_string().into();
        line["timestamp"] = format!("2026-01-02T00:{minute:02}:00Z").into();
        line
    }

    fn any_voice_verdict() -> impl Strategy<Value = (usize, Verdict, u32)> {
        (0_usize..3, prop::sample::select(Verdict::ALL.to_vec()), 0_u32..9)
    }

    /// The rating of a memory; in each part more is better.
    fn standing(lines: &[Value]) -> (f64, Maturity, [bool; 2], Option<Timestamp>) {
        let memory = folded(lines);
        let is_good = [!memory.verdicts().is_stale, !memory.is_candidate()];
        let belief = event::SuccessRate::belief(memory.evidence());
        (belief, memory.maturity(), is_good, memory.verdicts().last_good)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        // S-LIFE-2, S-LIFE-3
        #[test]
        fn no_report_moves_a_memory_against_its_own_word(
            first in prop::sample::select(vec![None, Some("0/1"), Some("1/1"), Some("9/10"), Some("999999/1000000")]),
            before in prop::collection::vec(any_voice_verdict(), 0..8),
            more in any_voice_verdict(),
        ) {
            let mut memory = candidate();
            memory["success_rate"] = first.into();
            // The new report may be the first, the last or between the others.
            let known = (1..).zip(before).map(|(id, given)| voice_verdict(id, given));
            let lines: Vec<Value> = std::iter::once(memory).chain(known).collect();
            let longer: Vec<Value> = lines.iter().cloned().chain([voice_verdict(0, more)]).collect();
            let (old, new) = (standing(&lines), standing(&longer));
            let (less, greater) = match more.1 {
                Verdict::Worked | Verdict::Confirmed => (old, new),
                Verdict::Failed | Verdict::Stale => (new, old),
            };
            prop_assert!(less.0 <= greater.0, "belief {less:?} {greater:?}");
            prop_assert!(less.1 <= greater.1, "maturity {less:?} {greater:?}");
            prop_assert!(less.2[0] <= greater.2[0] && less.2[1] <= greater.2[1], "{less:?} {greater:?}");
            prop_assert!(less.3 <= greater.3, "last good {less:?} {greater:?}");
        }
    }

    // S-LIFE-2
    #[test]
    fn a_success_takes_back_no_confirmation() {
        let verdicts =
            [(0, Verdict::Confirmed, 0), (0, Verdict::Failed, 6), (1, Verdict::Worked, 0)];
        let known = (1..).zip(verdicts).map(|(id, given)| voice_verdict(id, given));
        let lines: Vec<Value> = std::iter::once(candidate()).chain(known).collect();
        let longer: Vec<Value> =
            lines.iter().cloned().chain([voice_verdict(0, (0, Verdict::Worked, 1))]).collect();
        assert!(standing(&lines) <= standing(&longer));
    }

    // S-LIFE-2
    #[test]
    fn a_voice_answers_whether_it_worked_and_whether_it_holds() {
        let counts = |words: &[Verdict]| {
            let reports = (1..)
                .zip(1..)
                .zip(words)
                .map(|((id, minute), word)| voice_verdict(id, (0, *word, minute)));
            let memory = folded(&std::iter::once(candidate()).chain(reports).collect::<Vec<_>>());
            let Verdicts { worked, failed, stale, confirmed, is_stale, .. } = *memory.verdicts();
            ([worked, failed, stale, confirmed], is_stale)
        };
        use Verdict::{Confirmed, Failed, Stale, Worked};
        for (words, expected) in [
            (&[Worked, Confirmed][..], ([1, 0, 0, 0], false)),
            (&[Confirmed, Worked], ([1, 0, 0, 0], false)),
            (&[Failed, Stale], ([0, 1, 0, 0], true)),
            (&[Stale, Failed], ([0, 1, 0, 0], true)),
            (&[Stale, Worked], ([1, 0, 0, 0], false)),
            (&[Worked, Stale], ([1, 0, 1, 0], true)),
            (&[Confirmed, Failed], ([0, 1, 0, 1], false)),
            (&[Stale, Confirmed], ([0, 0, 0, 1], false)),
        ] {
            assert_eq!(counts(words), expected, "{words:?}");
        }
    }

    proptest! {
        // S-HOOK-7
        #[test]
        fn order_and_repetition_keep_the_verdicts(
            verdicts in prop::collection::vec((0_usize..6, 0_usize..4), 0..12),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..30)
        ) {
            let mut lines = vec![candidate()];
            lines.extend(verdicts.iter().map(|(id, word)| verdict(*id, Verdict::ALL[*word].as_str())));
            let expected = folded(&lines).verdicts().clone();
            let mut mixed: Vec<Value> = order.iter().map(|place| place.get(&lines).clone()).collect();
            mixed.extend(lines.iter().rev().cloned());
            prop_assert_eq!(folded(&mixed).verdicts().clone(), expected);
        }
    }
}
