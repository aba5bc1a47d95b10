//! How sure it is that two notes of one repository are about one subject: a logistic model of what they share. Not here:
//! computing what they share (`evidence`), which notes are compared (`comparisons`).
//!
//! The coefficients were fitted by maximum likelihood on 105 pairs of one subject (same contexts and other ones) and 20,000
//! other pairs of one repository. Long notes share more words with anything, so the number of words counts against them. At
//! odds of 0 or more, one in a thousand of the other pairs is taken for one of one subject; most of these are.
//! benches/runs/2026-11-28-current-note.md has the figures.

/// What two notes share.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubjectLikeness {
    /// The weighted share of common words of the note that has fewer, 0 to 1.
    pub(super) words: f32,
    /// The same of their contexts.
    pub(super) situation: f32,
    /// Cosine of their meanings, -1 to 1; `None` where one has no vector.
    pub(super) meaning: Option<f32>,
    /// The number of distinct words of the note that has fewer.
    pub(super) fewer_terms: usize,
    /// The rarity of what the newer note says to have changed, if the older note names that; else 0.
    pub(super) change: f32,
}

/// The coefficients of the log-odds.
struct Coefficients {
    words: f32,
    situation: f32,
    meaning: f32,
    ln_terms: f32,
    change: f32,
    bias: f32,
}

const WITH_MEANING: Coefficients = Coefficients {
    words: 2.46,
    situation: 0.75,
    meaning: 6.49,
    ln_terms: -1.57,
    change: 0.33,
    bias: -1.7,
};
const WORDS_ALONE: Coefficients = Coefficients {
    words: 5.87,
    situation: 1.45,
    meaning: 0.0,
    ln_terms: -1.67,
    change: 0.46,
    bias: 0.6,
};
/// The highest rarity that a change may have: that of a word of one note in some thousand.
const CHANGE_MAX: f32 = 6.0;
/// Notes with fewer words count as having so many: two short notes share a word by chance.
const TERMS_MIN: usize = 12;

impl SubjectLikeness {
    /// Returns the log-odds that both are about one subject, above the bar: they count as such from 0 on.
    pub(super) fn odds(&self) -> f32 {
        let model = if self.meaning.is_some() { &WITH_MEANING } else { &WORDS_ALONE };
        // Notes have at most some hundred distinct words, which an f32 holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let terms = self.fewer_terms.max(TERMS_MIN) as f32;
        model.words * self.words
            + model.situation * self.situation
            + model.meaning * self.meaning.unwrap_or(0.0).max(0.0)
            + model.ln_terms * terms.ln()
            + model.change * self.change.min(CHANGE_MAX)
            + model.bias
    }

    /// Tells whether a change could make it reach the bar: finding one costs most.
    pub(super) fn can_be_of_one_subject(&self) -> bool {
        Self { change: CHANGE_MAX, ..*self }.odds() >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIKENESS: SubjectLikeness =
        SubjectLikeness { words: 0.4, situation: 0.0, meaning: None, fewer_terms: 16, change: 0.0 };

    // S-RANK-10
    #[test]
    fn all_that_two_notes_share_raises_the_odds() {
        let more = [
            SubjectLikeness { words: 0.5, ..LIKENESS },
            SubjectLikeness { situation: 0.5, ..LIKENESS },
            SubjectLikeness { change: 3.0, ..LIKENESS },
            SubjectLikeness { fewer_terms: 14, ..LIKENESS },
        ];
        for more in more {
            assert!(more.odds() > LIKENESS.odds(), "{more:?}");
        }
        let near = SubjectLikeness { meaning: Some(0.8), ..LIKENESS };
        assert!(near.odds() > SubjectLikeness { meaning: Some(0.5), ..LIKENESS }.odds());
    }

    // S-RANK-10
    #[test]
    fn a_change_of_what_the_older_names_decides_where_words_do_not() {
        let changed = SubjectLikeness { change: 5.0, ..LIKENESS };
        assert!(changed.odds() >= 0.0 && LIKENESS.odds() < 0.0);
        assert!(LIKENESS.can_be_of_one_subject());
        assert!(!SubjectLikeness { words: 0.05, ..LIKENESS }.can_be_of_one_subject());
    }
}
