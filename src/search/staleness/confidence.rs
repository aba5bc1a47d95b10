//! The confidence that a memory is stale, as one number. Pure. Not here: collecting the signs.

/// The factor where every name of code in the memory is still in its files.
const ALL_PRESENT: f32 = 0.3;

/// The weight of a commit that is in no history: most were squashed or rebased.
const COMMIT_GONE: f32 = 0.3;

/// The names of code in a memory, looked up in its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Symbols {
    /// The memory names no file, or none that git has ever had.
    NotApplicable,
    /// Some are present.
    Found {
        /// The number of present ones.
        present: usize,
        /// The missing ones.
        missing: Vec<String>,
    },
}

impl Symbols {
    /// Looks for names, as whole words, in the texts of files.
    pub(super) fn look_up(names: Vec<String>, texts: &[Vec<u8>]) -> Self {
        let all = names.len();
        let is_missing = |name: &String| !texts.iter().any(|text| has_word(text, name.as_bytes()));
        let missing: Vec<String> = names.into_iter().filter(is_missing).collect();
        match all - missing.len() {
            0 => Self::NotApplicable,
            present => Self::Found { present, missing },
        }
    }
}

/// The signs of a memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct StalenessSigns {
    /// The number of files it names.
    pub(super) files: usize,
    /// The named files that are gone or changed.
    pub(super) changed_files: usize,
    /// Whether its commit is in no history.
    pub(super) is_commit_gone: bool,
}

/// Weighs the signs, 0 to 1: the share of the files that are gone or changed, times what the names of code say
/// (linearly from .3 where all are still there to 1 where hardly one is; 1 where they say nothing). A commit that is
/// in no history weighs .3 by itself.
pub(super) fn confidence(signs: &StalenessSigns, symbols: &Symbols) -> f32 {
    let of_files = share(signs.changed_files, signs.files);
    let of_symbols = match symbols {
        Symbols::NotApplicable => 1.0,
        Symbols::Found { present, missing } => {
            ALL_PRESENT + (1.0 - ALL_PRESENT) * share(missing.len(), present + missing.len())
        }
    };
    let of_commit = if signs.is_commit_gone { COMMIT_GONE } else { 0.0 };
    (of_files * of_symbols).max(of_commit)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a memory names tens of files and names, not millions"
)]
fn share(part: usize, whole: usize) -> f32 {
    if whole == 0 { 0.0 } else { part as f32 / whole as f32 }
}

/// Tells whether a text has a word, not as part of a longer one.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    let Some((first, _)) = word.split_first() else { return false };
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut from = 0;
    while let Some(rest) = text.get(from..) {
        let Some(at) = rest.iter().position(|byte| byte == first).map(|at| from + at) else {
            return false;
        };
        let end = at + word.len();
        let stands = text.get(at..end) == Some(word);
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        if stands && !is_word(before) && !is_word(text.get(end)) {
            return true;
        }
        from = at + 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(present: usize, missing: usize) -> Symbols {
        Symbols::Found { present, missing: vec!["x".to_owned(); missing] }
    }

    fn confidence_of(files: usize, off: usize, symbols: &Symbols) -> f32 {
        confidence(&StalenessSigns { files, changed_files: off, is_commit_gone: false }, symbols)
    }

    // S-STALE-3
    #[test]
    fn present_names_lower_the_confidence_of_staleness() {
        assert!((confidence_of(1, 1, &found(4, 0)) - 0.3).abs() < 1e-6);
        assert!((confidence_of(1, 1, &found(2, 2)) - 0.65).abs() < 1e-6);
        assert!((confidence_of(1, 1, &Symbols::NotApplicable) - 1.0).abs() < 1e-6);
        assert!((confidence_of(4, 1, &Symbols::NotApplicable) - 0.25).abs() < 1e-6);
        assert!(confidence_of(4, 0, &found(1, 3)).abs() < 1e-6);
        let squashed = StalenessSigns { files: 0, changed_files: 0, is_commit_gone: true };
        assert!((confidence(&squashed, &Symbols::NotApplicable) - 0.3).abs() < 1e-6);
    }

    // S-STALE-3
    #[test]
    fn a_name_counts_only_as_a_whole_word() {
        let texts = [b"fn open_store(path: &Path) {}".to_vec(), b"let x = Store::new();".to_vec()];
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected = Symbols::Found { present: 2, missing: vec!["open".to_owned()] };
        assert_eq!(Symbols::look_up(names(&["open_store", "open", "Store"]), &texts), expected);
        assert_eq!(Symbols::look_up(names(&["open", "tore"]), &texts), Symbols::NotApplicable);
        assert_eq!(Symbols::look_up(names(&["path"]), &[]), Symbols::NotApplicable);
    }

    proptest! {
        // S-STALE-3
        #[test]
        fn more_signs_never_lower_the_confidence(
            files in 1_usize..20, off in 0_usize..20, present in 1_usize..9, missing in 0_usize..9
        ) {
            let off = off.min(files);
            let sure = confidence_of(files, off, &found(present, missing));
            prop_assert!((0.0..=1.0).contains(&sure));
            prop_assert!(confidence_of(files, (off + 1).min(files), &found(present, missing)) >= sure);
            prop_assert!(confidence_of(files, off, &found(present, missing + 1)) >= sure);
            prop_assert!(confidence_of(files, off, &Symbols::NotApplicable) >= sure);
        }
    }
}
