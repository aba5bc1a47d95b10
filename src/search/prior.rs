//! The priors of a memory: its repository, age, success and trust. Each adds a little to the fit or takes a little,
//! so that none can outweigh a clearly better fit. Not here: the fit (`fuse`).

use std::collections::BTreeSet;

use super::candidates::Candidate;
use super::{FolderNames, Query, Score};
use crate::snapshot::Snapshot;
use event::{Confidence, RepoKey, SuccessRate, Timestamp};
use memory::Memory;

/// A prior that grows with the fit: a good fit shows that the memory is about the query, so its priors say more.
struct FitPrior {
    base: f32,
    per_fit: f32,
}

impl FitPrior {
    fn at(&self, fit: f32) -> f32 {
        self.base + self.per_fit * fit.max(0.0)
    }
}

/// What the caller's repository adds to a fit. These three were chosen on the tune half of `benches/lessons`.
const SAME_REPO: FitPrior = FitPrior { base: 0.08, per_fit: 0.2 };
/// What the caller's package of that repository adds: as a repository does, so that the notes of its neighbours come behind. Those of no
/// package, or of a folder above, stay as they are.
const SAME_PACKAGE: FitPrior = FitPrior { base: 0.06, per_fit: 0.2 };
/// The range of what age adds or takes.
const RECENCY_SPAN: FitPrior = FitPrior { base: 0.0, per_fit: 0.25 };
/// The range of what success adds or takes.
const SUCCESS_SPAN: FitPrior = FitPrior { base: 0.0, per_fit: 0.25 };
/// The half-life of recency, in days. One for all kinds: others were measured, and differed by one or two questions
/// either way.
const HALF_LIFE_DAYS: f32 = 180.0;

/// The half-life of a report of success or failure, in days. Reports of tools that were replaced since are older than a year
/// in most repositories that we read.
const REPORT_HALF_LIFE_DAYS: f32 = 365.0;

/// What the source takes. Agents and people who learned it themselves are neutral.
const TRUST: [(&str, f32); 5] =
    [("human", 0.0), ("agent", 0.0), ("hook", 0.0), ("team", -0.005), ("imported", -0.015)];
/// For a candidate, which a hook saw once and nothing has proven yet.
const TRUST_CANDIDATE: f32 = -0.05;
/// Without a source, as in lines of the first format.
const TRUST_UNNAMED: f32 = -0.01;
/// For an unknown source.
const TRUST_UNKNOWN: f32 = -0.015;

/// For what was inferred, not seen.
const TRUST_INFERRED: f32 = -0.05;
/// For a memory that reads like an instruction to its reader: shown, but behind what tells a lesson.
const TRUST_FLAGGED: f32 = -0.1;
/// For a memory that somebody found to be stale. A verdict is about this very memory, so it weighs more than an
/// estimate; a memory that should not be found at all is retracted or replaced.
const DOUBT_STALE: f32 = -0.45;
/// For a memory that failed more often than it helped.
const DOUBT_FAILED: f32 = -0.35;

/// For a memory of a branch that is not merged where the caller is: it may be no fact there.
const UNMERGED: f32 = -0.3;

/// How near a memory is to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Locality {
    /// Of the same package of the same repository.
    SamePackage,
    /// Of the same repository.
    SameRepo,
    /// Of another one.
    OtherRepo,
}

impl Locality {
    /// What the caller's repository adds.
    fn of_repo(self, fit: f32) -> f32 {
        if self == Self::OtherRepo { 0.0 } else { SAME_REPO.at(fit) }
    }

    /// What the caller's package adds.
    fn of_package(self, fit: f32) -> f32 {
        if self == Self::SamePackage { SAME_PACKAGE.at(fit) } else { 0.0 }
    }
}

/// Where the caller works, as far as that is known.
pub(super) struct CallerScope<'a> {
    keys: Option<BTreeSet<RepoKey>>,
    package: Option<&'a FolderNames>,
}

impl<'a> CallerScope<'a> {
    pub(super) fn new(snapshot: &Snapshot, query: &'a Query<'_>) -> Self {
        let keys = query.here.as_ref().map(|here| snapshot.keys_of(here));
        Self { keys, package: query.package.as_ref() }
    }

    /// How near a memory can be at most.
    pub(super) fn nearest(&self) -> Locality {
        match (&self.keys, self.package) {
            (None, _) => Locality::OtherRepo,
            (Some(_), None) => Locality::SameRepo,
            (Some(_), Some(_)) => Locality::SamePackage,
        }
    }

    /// How near a memory is.
    pub(super) fn locality(&self, memory: &Memory) -> Locality {
        let Some(keys) = &self.keys else { return Locality::OtherRepo };
        let folders = memory.folder().zip(self.package);
        let is_own = keys.contains(&memory.repo);
        if is_own && folders.is_some_and(|(folder, package)| package.has(folder)) {
            return Locality::SamePackage;
        }
        if is_own || memory.is_global() { Locality::SameRepo } else { Locality::OtherRepo }
    }
}

/// Returns the upper bound of the total of a memory with this fit. It grows with the fit. A little more, for
/// rounding.
pub(super) fn total_max(fit: f32, nearest: Locality) -> f32 {
    fit + nearest.of_repo(fit)
        + nearest.of_package(fit)
        + RECENCY_SPAN.at(fit) / 2.0
        + SUCCESS_SPAN.at(fit) / 2.0
        + 1e-5
}

/// Adds the priors of a memory to its fit.
pub(super) fn weigh(
    candidate: &Candidate,
    fit: f32,
    memory: &Memory,
    now: Timestamp,
    locality: Locality,
) -> Score {
    let (repo, package) = (locality.of_repo(fit), locality.of_package(fit));
    let age = RECENCY_SPAN.at(fit) * (freshness(memory.timestamp, now) - 0.5);
    // A pinned memory does not age.
    let recency = if memory.lifecycle().is_pinned { age.max(0.0) } else { age };
    let success = SUCCESS_SPAN.at(fit) * (believed_success(memory, now) - 0.5) + doubt(memory);
    let flagged = if memory.flagged().is_some() { TRUST_FLAGGED } else { 0.0 };
    let trust = flagged
        + match memory.is_candidate() {
            true => TRUST_CANDIDATE,
            false => {
                trust(memory.provenance.source.as_deref()) + certainty(memory.provenance.confidence)
            }
        };
    Score {
        lexical: candidate.lexical,
        covered: candidate.covered,
        dense: candidate.dense,
        fit,
        repo,
        package,
        recency,
        success,
        trust,
        total: fit + repo + package + recency + success + trust,
        ..Score::default()
    }
}

/// Takes from a score what a memory loses whose branch is not merged where the caller is.
pub(super) fn on_other_branch(score: Score) -> Score {
    Score { branch: UNMERGED, total: score.total + UNMERGED, ..score }
}

/// Returns 1 for now, halved for each half-life; one half without a time. A time in the future, which the clock of
/// another machine may give, counts as now.
pub(crate) fn freshness(timestamp: Option<Timestamp>, now: Timestamp) -> f32 {
    timestamp.map_or(0.5, |timestamp| halved(timestamp, now, HALF_LIFE_DAYS))
}

/// Returns 1 for now, halved for each half-life.
fn halved(timestamp: Timestamp, now: Timestamp, half_life_days: f32) -> f32 {
    let seconds = now.as_second().saturating_sub(timestamp.as_second()).max(0);
    // Days fit an f32 to within minutes, which is more than a half-life of months needs.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let days = seconds as f32 / 86_400.0;
    0.5_f32.powf(days / half_life_days)
}

/// Returns how far to believe its success at a time, 0..1; one half without any report ([`SuccessRate::belief`]). Its successes
/// are as old as the last good report, its failures as the last failure, and both as the memory where nobody reported later.
pub(crate) fn believed_success(memory: &Memory, now: Timestamp) -> f32 {
    let verdicts = memory.verdicts();
    let share = |last: Option<Timestamp>| {
        let age = |written: Timestamp| last.map_or(written, |last| last.max(written));
        let share = memory.timestamp.map_or(1.0, |at| halved(age(at), now, REPORT_HALF_LIFE_DAYS));
        f64::from(share)
    };
    let (good, bad) = (share(verdicts.last_good), share(verdicts.last_failed));
    #[expect(clippy::cast_possible_truncation, reason = "a share in 0..1 needs no f64")]
    let belief = SuccessRate::aged_belief(memory.evidence(), good, bad) as f32;
    belief
}

/// Returns what later verdicts against a memory take.
fn doubt(memory: &Memory) -> f32 {
    let standing = memory.verdicts();
    if standing.is_stale {
        return DOUBT_STALE;
    }
    let against = standing.failed.saturating_add(standing.stale);
    let is_doubted = against > standing.worked.saturating_add(standing.confirmed);
    // A memory that helped nine times of ten loses nothing for one failure.
    let fails_often = |rate: SuccessRate| rate.counts().0.saturating_mul(2) < rate.counts().1;
    match is_doubted && memory.evidence().is_none_or(fails_often) {
        true => DOUBT_FAILED,
        false => 0.0,
    }
}

fn certainty(confidence: Confidence) -> f32 {
    match confidence {
        Confidence::Stated => 0.0,
        Confidence::Inferred => TRUST_INFERRED,
    }
}

/// Returns what the trust in a source takes.
fn trust(source: Option<&str>) -> f32 {
    let Some(source) = source else { return TRUST_UNNAMED };
    TRUST.iter().find(|(known, _)| *known == source).map_or(TRUST_UNKNOWN, |(_, trust)| *trust)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::tests::snapshot;
    use super::*;
    use event::Verdict;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// A memory, and the later events about it.
    fn lines() -> impl Strategy<Value = Vec<Value>> {
        let known = TRUST.iter().map(|(source, _)| Some(*source));
        let sources: Vec<Option<&str>> = known.chain([None, Some("oracle")]).collect();
        // Now, before and in the future.
        let times = ["2026-06-01T00:00:00Z", "2026-05-01T00:00:00Z", "2027-06-01T00:00:00Z"];
        let times: Vec<Option<&str>> = times.into_iter().map(Some).chain([None]).collect();
        let rates = vec![None, Some("0/9"), Some("1/2"), Some("100000/100000")];
        let verdict = prop::sample::select(Verdict::ALL.to_vec());
        (
            (prop::sample::select(sources), prop::sample::select(times)),
            (prop::sample::select(rates), prop::sample::select(vec!["stated", "inferred"])),
            any::<bool>(),
            prop::collection::vec(verdict, 0..6),
        )
            .prop_map(|((source, time), (rate, confidence), is_pinned, verdicts)| {
                let memory = json!({"id": "m1", "lesson": "x", "source": source, "timestamp": time,
                    "success_rate": rate, "confidence": confidence});
                let pin = json!({"id": "p", "memory_id": "m1", "event_type": "pin"});
                let verdict_events = (0..).zip(verdicts).map(|(number, verdict)| {
                    json!({"id": format!("f{number}"), "event_type": "feedback", "memory_id": "m1",
                        "session_id": number.to_string(), "verdict": verdict.as_str()})
                });
                let pin = is_pinned.then_some(pin);
                std::iter::once(memory).chain(pin).chain(verdict_events).collect()
            })
    }

    proptest! {
        // S-RANK-4
        #[test]
        fn no_factor_exceeds_its_bound(lines in lines(), fused in 0.0_f32..=1.0) {
            let snapshot = snapshot(&lines);
            let memory = snapshot.memories().get(0).unwrap();
            let candidate = Candidate { number: 0, lexical: 1.0, covered: 1.0, dense: None, embedded: 1.0 };
            for place in [Locality::SamePackage, Locality::SameRepo, Locality::OtherRepo] {
                let now = at("2026-06-01T00:00:00Z");
                let score = weigh(&candidate, fused, memory, now, place);
                prop_assert!(score.total <= total_max(fused, place), "{score:?} {place:?}");
                prop_assert!(score.total <= total_max(fused, Locality::SamePackage));
            }
        }
    }

    // S-RANK-4
    #[test]
    fn the_newest_and_best_proven_nearly_reaches_the_bound() {
        let now = at("2026-06-01T00:00:00Z");
        let line = json!({"id": "m1", "lesson": "x", "source": "agent", "timestamp": now.to_string(),
            "success_rate": "100000/100000"});
        let snapshot = snapshot(&[line]);
        let memory = snapshot.memories().get(0).unwrap();
        let candidate =
            Candidate { number: 0, lexical: 1.0, covered: 1.0, dense: None, embedded: 1.0 };
        for place in [Locality::SamePackage, Locality::SameRepo, Locality::OtherRepo] {
            let total = weigh(&candidate, 1.0, memory, now, place).total;
            assert!((total_max(1.0, place) - total).abs() < 1e-3, "{total}");
        }
    }

    // S-RANK-4
    #[test]
    fn first_hand_knowledge_is_trusted_most() {
        let trust_of = |source| trust(Some(source));
        assert!(trust_of("human").abs() < 1e-6 && trust_of("agent").abs() < 1e-6);
        for other in
            [trust(None), trust_of("team"), trust_of("imported"), trust_of("Human"), trust_of("")]
        {
            assert!((-0.05..0.0).contains(&other), "{other}");
        }
    }

    // S-RANK-4
    #[test]
    fn freshness_halves_with_each_half_life() {
        let now = at("2026-07-01T00:00:00Z");
        assert!((freshness(Some(now), now) - 1.0).abs() < 1e-6);
        assert!((freshness(Some(at("2026-01-02T00:00:00Z")), now) - 0.5).abs() < 1e-3);
        assert!((freshness(Some(at("2027-01-01T00:00:00Z")), now) - 1.0).abs() < 1e-6);
        assert!((freshness(None, now) - 0.5).abs() < 1e-6);
    }
}
