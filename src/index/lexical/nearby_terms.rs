//! Stand-ins for a word that no document holds: the nearest terms of the corpus, since the word may be a slip. Pure.
//! Not here: the weight of a stand-in (`search`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::LexicalIndex;

/// Shorter words have too many neighbours: most words of four letters have one.
const LETTERS_MIN: usize = 5;

/// Words of this length and longer may contain two slips.
const TWO_SLIPS_LETTERS_MIN: usize = 8;

/// Most stand-ins of one term: with more, anything would match.
const STAND_INS_MAX: usize = 3;

/// Returns how many edits may separate a word from a stand-in. `None` if it is not a plain word: a name with digits
/// or signs is exact or is another name.
fn slips_max(term: &[u8]) -> Option<usize> {
    let is_word = term.len() >= LETTERS_MIN && term.iter().all(u8::is_ascii_lowercase);
    is_word.then_some(if term.len() < TWO_SLIPS_LETTERS_MIN { 1 } else { 2 })
}

impl LexicalIndex {
    /// Returns the terms of living documents with the fewest edits from `term` and the same first letter, which
    /// people seldom mistype: at most three, the most frequent first. Reads the part of that letter in every
    /// dictionary.
    pub(super) fn nearby_terms(&self, term: &str) -> Vec<Box<str>> {
        if let Some(numbers) =
            self.numbers.as_ref().filter(|_| slips_max(term.as_bytes()).is_some())
        {
            return numbers.nearby_terms(term);
        }
        let (Some(slips), Some(&letter)) = (slips_max(term.as_bytes()), term.as_bytes().first())
        else {
            return Vec::new();
        };
        let mut near: BTreeMap<&[u8], usize> = BTreeMap::new();
        for part in &self.parts {
            for other in part.segment.terms_beginning_with(letter) {
                if let Some(edits) = edits_within(term.as_bytes(), other, slips) {
                    near.insert(other, edits);
                }
            }
        }
        self.most_frequent(near)
    }

    fn most_frequent(&self, near: BTreeMap<&[u8], usize>) -> Vec<Box<str>> {
        let named = near.into_iter().filter_map(|(term, edits)| {
            let term = std::str::from_utf8(term).ok()?;
            Some((edits, Reverse(self.documents_with(term)), term))
        });
        chosen(named.filter(|(_, documents, _)| documents.0 > 0).collect())
    }

    /// Returns how many passages of the corpus hold a term.
    pub(super) fn documents_with(&self, term: &str) -> usize {
        match &self.numbers {
            Some(numbers) => numbers.documents_with(term),
            None => self.own_documents_with(term),
        }
    }

    /// Returns how many passages of this index hold a term.
    #[must_use]
    pub fn own_documents_with(&self, term: &str) -> usize {
        let lists = self.parts.iter().map(|part| (part, part.segment.list(term)));
        lists.filter_map(|(part, list)| Some(part.living(list?))).sum()
    }
}

/// Returns the nearest of some terms of a corpus, each of which has its document frequency, as
/// [`LexicalIndex::nearby_terms`] does.
pub(super) fn nearest_of(term: &str, candidates: &[(Box<str>, usize)]) -> Vec<Box<str>> {
    let (Some(slips), Some(letter)) = (slips_max(term.as_bytes()), term.as_bytes().first()) else {
        return Vec::new();
    };
    let near = candidates.iter().filter_map(|(other, documents)| {
        let is_alike = *documents > 0 && other.as_bytes().first() == Some(letter);
        let edits = edits_within(term.as_bytes(), other.as_bytes(), slips).filter(|_| is_alike)?;
        Some((edits, Reverse(*documents), &**other))
    });
    chosen(near.collect())
}

/// Returns the terms with the fewest edits, the most frequent first.
fn chosen(mut near: Vec<(usize, Reverse<usize>, &str)>) -> Vec<Box<str>> {
    near.sort_unstable();
    let least = near.first().map(|(edits, ..)| *edits);
    near.retain(|(edits, ..)| Some(*edits) == least);
    near.into_iter().take(STAND_INS_MAX).map(|(_, _, term)| term.into()).collect()
}

/// Returns the number of edits between two words, if it is at most `edits_max`: a letter more, less or changed, or
/// two neighbours swapped (optimal string alignment). Plain words have only plain words as neighbours.
fn edits_within(one: &[u8], other: &[u8], edits_max: usize) -> Option<usize> {
    let may_be = one.len().abs_diff(other.len()) <= edits_max
        && (letters(one) ^ letters(other)).count_ones() as usize <= 2 * edits_max
        && other.iter().all(u8::is_ascii_lowercase);
    may_be.then(|| alignment_edits(one, other, edits_max)).flatten()
}

/// The set of letters of a word. An edit changes at most two.
fn letters(word: &[u8]) -> u32 {
    word.iter().fold(0, |set, letter| set | 1 << (letter & 31))
}

/// Tries at most four branches at each edit, and at most two edits: never more than 21 comparisons of a pair.
fn alignment_edits(one: &[u8], other: &[u8], edits_max: usize) -> Option<usize> {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (one.get(same..)?, other.get(same..)?);
    let (Some((first, one_rest)), Some((second, other_rest))) =
        (one.split_first(), other.split_first())
    else {
        let left = one.len().max(other.len());
        return (left <= edits_max).then_some(left);
    };
    let left = edits_max.checked_sub(1)?;
    let swapped = match (one_rest.split_first(), other_rest.split_first()) {
        (Some((a, one_rest)), Some((b, other_rest))) if a == second && b == first => {
            alignment_edits(one_rest, other_rest, left)
        }
        _ => None,
    };
    let ways = [
        swapped,
        alignment_edits(one_rest, other_rest, left),
        alignment_edits(one_rest, other, left),
        alignment_edits(one, other_rest, left),
    ];
    ways.into_iter().flatten().min().map(|edits| edits + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lexical::DocId;

    /// The textbook's table: `table[i][j]` is the distance between the first i letters of one word and the first j
    /// of the other.
    fn table(one: &[u8], other: &[u8]) -> usize {
        let mut table = vec![vec![0; other.len() + 1]; one.len() + 1];
        for i in 0..=one.len() {
            for j in 0..=other.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let other_letter = usize::from(one[i - 1] != other[j - 1]);
                    let mut least = (table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1)
                        .min(table[i - 1][j - 1] + other_letter);
                    if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                        least = least.min(table[i - 2][j - 2] + 1);
                    }
                    least
                };
            }
        }
        table[one.len()][other.len()]
    }

    fn nearby(texts: &[&str], term: &str) -> Vec<String> {
        let mut index = LexicalIndex::new();
        for (doc, text) in (0..).zip(texts) {
            index.insert(DocId(doc), text).unwrap();
        }
        index.nearby_terms(term).into_iter().map(String::from).collect()
    }

    proptest! {
        // S-FIND-4
        #[test]
        fn edits_are_those_of_the_table(
            one in "[a-d]{0,9}", other in "[a-d]{0,9}", edits_max in 0_usize..3,
        ) {
            let (one, other) = (one.as_bytes(), other.as_bytes());
            let expected = Some(table(one, other)).filter(|edits| *edits <= edits_max);
            prop_assert_eq!(edits_within(one, other, edits_max), expected);
        }
    }

    // S-FIND-4
    #[test]
    fn a_word_of_five_letters_bears_one_slip_and_one_of_eight_two() {
        let texts = ["kafka broker zookeeper"];
        for (slip, meant) in [
            ("kafak", "kafka"),
            ("kafkaa", "kafka"),
            ("broke", "broker"),
            ("bruker", "broker"),
            ("zookeper", "zookeep"),
        ] {
            let found = nearby(&texts, slip);
            assert_eq!(found.first().map(String::as_str), Some(meant), "{slip}");
        }
        for far in ["kakfb", "afkak", "fafka", "kafk", "brkxer", "kafka1", "zookepr-x"] {
            assert!(nearby(&texts, far).is_empty(), "{far}");
        }
    }

    // S-FIND-4
    #[test]
    fn at_most_three_nearest_terms_replace_an_unknown_one() {
        let texts = ["panda", "panda pando", "pando", "pando pandb pandc", "pandxx"];
        assert_eq!(nearby(&texts, "pandz"), ["pando", "panda", "pandb"]);
        assert_eq!(nearby(&["abcdefgh", "abcdefxx"], "abcdefgx"), ["abcdefgh", "abcdefxx"]);
        assert_eq!(nearby(&["abcdefgh", "abcdexxx"], "abcdefgx"), ["abcdefgh"]);
    }

    #[test]
    fn a_term_of_removed_documents_stands_in_for_nothing() {
        let mut index = LexicalIndex::new();
        for doc in 0..9 {
            index.insert(DocId(doc), if doc == 8 { "panda" } else { "other" }).unwrap();
        }
        assert_eq!(index.nearby_terms("pandz").len(), 1);
        assert!(index.remove(DocId(8)));
        assert!(index.nearby_terms("pandz").is_empty());
    }
}
