//! What engines that count passages themselves have in common: by how much their numbers change, and what they count one by one. Not
//! here: where an engine keeps its numbers.

use std::collections::BTreeMap;

use index::lexical::CountedPassage;

/// Passages whose union is counted one by one; beyond, it is computed as if terms were spread evenly.
pub(crate) const COUNTED_MAX: usize = 20_000;
/// Terms near to one in spelling that are looked at.
pub(crate) const NEAR_MAX: usize = 50_000;
/// Letters by which these may be longer or shorter.
pub(crate) const LETTERS_BESIDES: i32 = 2;
/// Numbers in the vector of the model, as an engine has them. Vectors of another width are left out.
pub(crate) const VECTOR_DIMENSIONS: usize = 384;

/// By how much the numbers of the corpus change.
#[derive(Default)]
pub(crate) struct CountChange {
    pub(crate) terms: BTreeMap<Box<str>, i64>,
    pub(crate) passages: i64,
    pub(crate) documents: i64,
    pub(crate) lengths: i64,
    pub(crate) reply_lengths: i64,
}

impl CountChange {
    pub(crate) fn count(&mut self, passages: &[CountedPassage], sign: i64) {
        self.documents += sign;
        for passage in passages {
            let length = sign * i64::from(passage.length);
            self.passages += sign;
            self.lengths += length;
            self.reply_lengths += if passage.is_reply { length } else { 0 };
            for (term, _) in &passage.terms {
                *self.terms.entry(term.clone()).or_default() += sign;
            }
        }
    }
}

/// Returns how many passages hold any of several terms, if each is held by chance.
pub(crate) fn spread_evenly(each: &[usize], passages: usize) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let share = |count: usize| count as f64 / passages.max(1) as f64;
    let none: f64 = each.iter().map(|count| 1.0 - share(*count).min(1.0)).product();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "at most all"
    )]
    let any = ((1.0 - none) * passages as f64) as usize;
    any.max(each.iter().copied().max().unwrap_or(0)).min(passages)
}
