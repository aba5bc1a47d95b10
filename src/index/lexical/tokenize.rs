//! Turns text into terms, in the same way for memories and queries: words as the `bm25` crate sees them, and beside
//! them the elements of code: identifiers, flags, paths, versions, error codes, each whole and in parts. Pure and
//! deterministic. Not here: scores, and the storage of terms.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

use super::analysis::{Tokenizers, WordCache};
use super::identifier;
use super::script::{
    CharacterClass, JOINERS, SEPARATORS, bigrams, class_of, is_inner, without_option,
};
use super::terms::TermList;

/// Longest term and longest identifier, in bytes. A SHA-256 in hex (64) and any name that people type fit. Longer
/// runs are encoded blobs, which nobody searches by and which would fill the dictionary.
const TERM_BYTES_MAX: usize = 64;

/// Most terms of one memory: several times the longest real lesson, so that one pasted log cannot outweigh the
/// store. A count in halves fits 16 bits.
pub(super) const DOCUMENT_TERMS_MAX: usize = 16_384;

/// Most terms near a passage: four lessons and more. Together with the passage's own terms, a length in halves fits
/// 16 bits.
pub(super) const NEARBY_TERMS_MAX: usize = 2_048;

/// Most terms of one query: a pasted stack trace fits, and a pasted file does not cost seconds.
pub(super) const QUERY_TERMS_MAX: usize = 1_024;

/// Returns the terms of `text` in order, repeats included, at most `terms_max` of them.
pub(super) fn terms_of(
    text: &str,
    terms_max: usize,
    words: &Tokenizers,
    cache: &mut WordCache,
) -> TermList {
    let normal = normalised(text);
    let mut analysis = Analysis { words, cache, terms: TermList::default() };
    let mut rest: &str = &normal;
    let mut before = None;
    while let Some(piece) = next_piece(rest) {
        analysis.piece(&piece, before);
        before = rest.get(..piece.text.len()).and_then(|text| text.chars().next_back());
        rest = piece.rest;
        if analysis.terms.len() >= terms_max {
            break;
        }
    }
    analysis.terms.truncate(terms_max);
    analysis.terms
}

/// Normalises to NFKC without optional marks, so that a word typed on two systems is one term.
fn normalised(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_normal = is_nfkc_quick(text.chars()) == IsNormalized::Yes;
    if is_normal && text.chars().all(|c| without_option(c) == Some(c)) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().filter_map(without_option).collect())
    }
}

/// The longest run of characters of one class, and the text after it.
struct Piece<'text> {
    class: CharacterClass,
    text: &'text str,
    rest: &'text str,
}

fn next_piece(text: &str) -> Option<Piece<'_>> {
    let class = class_of(text.chars().next()?);
    let end = text.find(|character| class_of(character) != class).unwrap_or(text.len());
    let (text, rest) = text.split_at_checked(end)?;
    Some(Piece { class, text, rest })
}

/// The terms found so far.
struct Analysis<'parts> {
    words: &'parts Tokenizers,
    cache: &'parts mut WordCache,
    terms: TermList,
}

impl Analysis<'_> {
    fn piece(&mut self, piece: &Piece<'_>, before: Option<char>) {
        match piece.class {
            CharacterClass::Gap => {}
            CharacterClass::Spaceless => bigrams(piece.text).for_each(|pair| self.terms.push(pair)),
            CharacterClass::Code => {
                let found = self.terms.len();
                self.code(piece.text);
                // A stop word in backticks is a keyword: `for`, `if`, `as`.
                let quoted = before == Some('`') && piece.rest.starts_with('`');
                if quoted && self.terms.len() == found {
                    self.push_whole(piece.text.trim_matches(is_inner));
                }
            }
        }
    }

    fn code(&mut self, run: &str) {
        // A fast path for most of any text: no search for joints.
        if run.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return self.word(run);
        }
        if let Some(flag) = flag_of(run) {
            self.push_whole(flag);
        }
        for compound in parted_at_lone_colons(run) {
            self.compound(compound.trim_matches(is_inner));
        }
    }

    /// `src/foo/bar.rs` -> itself, `bar.rs`, src, foo, bar, rs; `no-verify` -> noverify, no, verifi.
    fn compound(&mut self, compound: &str) {
        if !compound.contains(JOINERS) {
            return self.identifier(compound);
        }
        if let Some(version) = version_of(compound) {
            return self.push_whole(version);
        }
        if compound.contains(['.', '/', '\\', ':']) {
            self.push_whole(compound);
            self.basename(compound);
        } else {
            self.push_joined(compound);
        }
        for identifier in compound.split(JOINERS) {
            self.parts(identifier.trim_matches(is_inner));
        }
    }

    fn basename(&mut self, path: &str) {
        if let Some((_, name)) = path.rsplit_once(SEPARATORS)
            && name.contains(JOINERS)
        {
            self.push_whole(name);
        }
    }

    fn identifier(&mut self, identifier: &str) {
        if identifier::parts(identifier).nth(1).is_some() {
            self.parts(identifier);
        } else {
            self.word(identifier.trim_matches('_'));
            identifier::hex_digits(identifier).into_iter().for_each(|digits| self.word(digits));
        }
    }

    /// Adds an identifier whole, if it has parts, and its parts. Single letters and digits are dropped: without
    /// their name they match everything.
    fn parts(&mut self, identifier: &str) {
        if identifier.len() > TERM_BYTES_MAX {
            return;
        }
        if identifier::parts(identifier).nth(1).is_some() {
            self.push_joined(identifier);
        }
        for part in identifier::parts(identifier).filter(|part| part.len() > 1) {
            self.word(part);
        }
    }

    /// Adds `get_user`, `get-user` and `getUser` as one name: the letters without the joints.
    fn push_joined(&mut self, name: &str) {
        if name.contains(['-', '_']) {
            self.word(&name.replace(['-', '_'], ""));
        } else {
            self.word(name);
        }
    }

    fn word(&mut self, word: &str) {
        if (1..=TERM_BYTES_MAX).contains(&word.len()) {
            self.cache.push_terms(self.words, word, &mut self.terms);
        }
    }

    /// Adds a term as written, except for case and the platform's slash.
    fn push_whole(&mut self, name: &str) {
        if (1..=TERM_BYTES_MAX).contains(&name.len()) {
            self.terms.push(&name.to_lowercase().replace('\\', "/"));
        }
    }
}

/// Adds `--no-verify` or `-p` with its dashes; nothing for a list dash, a rule or a negative number.
fn flag_of(run: &str) -> Option<&str> {
    let flag = run.trim_end_matches(is_inner);
    let name = flag.strip_prefix("--").or_else(|| flag.strip_prefix('-'))?;
    name.starts_with(|first: char| first.is_ascii_alphabetic()).then_some(flag)
}

/// Adds `1.2.3` of `1.2.3` and `v1.2.3`. Its single numbers would match any other number.
fn version_of(compound: &str) -> Option<&str> {
    let version = compound.strip_prefix('v').unwrap_or(compound);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    version.split('.').all(is_number).then_some(version)
}

/// Splits `file.rs:12` and `error:text`, but not `std::fmt`.
fn parted_at_lone_colons(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let colons = rest.match_indices(':').map(|(at, _)| at);
        let cut = colons.into_iter().find(|&at| is_lone(rest, at)).unwrap_or(rest.len());
        let (part, tail) = rest.split_at_checked(cut)?;
        rest = tail.strip_prefix(':').unwrap_or(tail);
        Some(part)
    })
}

fn is_lone(text: &str, colon_at: usize) -> bool {
    let is_colon = |at: usize| text.as_bytes().get(at) == Some(&b':');
    !is_colon(colon_at + 1) && !colon_at.checked_sub(1).is_some_and(is_colon)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let terms =
            terms_of(text, DOCUMENT_TERMS_MAX, &Tokenizers::new(), &mut WordCache::default());
        terms.iter().map(String::from).collect()
    }

    // S-RANK-1
    #[test]
    fn identifiers_are_whole_and_in_parts_whatever_their_convention() {
        assert_eq!(terms("getUserById"), ["getuserbyid", "get", "user", "id"]);
        for name in ["node_modules", "nodeModules", "node-modules", "NODE_MODULES"] {
            assert_eq!(terms(name), ["nodemodul", "node", "modul"], "{name}");
        }
        assert_eq!(terms("MAX_OLD_SPACE"), ["maxoldspac", "max", "old", "space"]);
        assert_eq!(terms("utf8"), ["utf8", "utf"]);
        assert_eq!(terms("UTF-8"), terms("utf8"));
    }

    #[test]
    fn error_codes_stay_whole() {
        assert_eq!(terms("ECONNREFUSED EACCES"), ["econnrefus", "eacc"]);
        assert_eq!(terms("error[E0277]: HTTP 404"), ["error", "e0277", "http", "404"]);
        assert_eq!(terms("0x80070005"), ["0x80070005", "80070005"]);
        assert_eq!(terms("TS2345:"), ["ts2345", "ts", "2345"]);
    }

    #[test]
    fn paths_are_whole_by_name_and_in_parts() {
        let path = ["src/foo/bar.rs", "bar.rs", "src", "foo", "bar", "rs"];
        for written in
            ["src/foo/bar.rs", "./src/foo/bar.rs", "\\src\\foo\\bar.rs", "`src/foo/bar.rs`."]
        {
            assert_eq!(terms(written), path, "{written}");
        }
        assert_eq!(terms("src/foo/bar.rs:12"), [&path[..], &["12"]].concat());
    }

    #[test]
    fn flags_versions_and_dotted_names_are_found_as_written() {
        assert_eq!(terms("--no-verify"), ["--no-verify", "noverifi", "no", "verifi"]);
        assert_eq!(terms("rm -rf x"), ["rm", "-rf", "rf", "x"]);
        assert_eq!(terms("- item\n---\n-1"), ["item", "1"]);
        assert_eq!(terms("v1.2.3 1.2.3"), ["1.2.3", "1.2.3"]);
        assert_eq!(terms("foo.bar.baz"), ["foo.bar.baz", "foo", "bar", "baz"]);
        assert_eq!(terms("std::fmt"), ["std::fmt", "std", "fmt"]);
    }

    #[test]
    fn a_keyword_in_backticks_is_no_stop_word() {
        assert_eq!(terms("the `for` loop"), ["for", "loop"]);
        assert_eq!(terms("wait for it"), ["wait"]);
    }

    #[test]
    fn other_scripts_and_letters_are_found() {
        assert_eq!(
            terms("データベース接続"),
            ["デー", "ータ", "タベ", "ベー", "ース", "ス接", "接続"]
        );
        assert_eq!(terms("npmエラー"), ["npm", "エラ", "ラー"]);
        assert_eq!(terms("ｴﾗｰ"), terms("エラー"));
        assert_eq!(
            terms("한국어"),
            terms("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}")
        );
        assert_eq!(terms("Größe café"), ["gross", "cafe"]);
        assert_eq!(terms("cafe\u{301}"), ["cafe"]);
        assert_eq!(terms("привет"), ["privet"]);
    }

    // S-RANK-1
    #[test]
    fn what_a_writer_may_leave_out_makes_no_other_word() {
        for (written, plain) in [
            ("Ёмкость ёмкость", "Емкость емкость"),
            ("\u{643}\u{64E}\u{644}\u{650}\u{645}\u{64E}\u{629}", "\u{643}\u{644}\u{645}\u{629}"),
            ("\u{5E9}\u{5C1}\u{5B8}\u{5DC}\u{5D5}\u{5B9}\u{5DD}", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}"),
            ("e\u{2011}mail e\u{2010}mail", "e-mail e-mail"),
            ("con\u{AD}nection", "connection"),
        ] {
            assert_eq!(terms(written), terms(plain), "{written}");
        }
    }

    #[test]
    fn blobs_are_left_out_and_terms_are_bounded() {
        assert!(terms(&"a".repeat(TERM_BYTES_MAX + 1)).is_empty());
        assert_eq!(terms(&"f".repeat(64)).len(), 1);
        assert_eq!(terms(&"a/b-c ".repeat(DOCUMENT_TERMS_MAX)).len(), DOCUMENT_TERMS_MAX);
    }

    proptest! {
        #[test]
        fn a_warm_cache_and_any_text_give_the_same_bounded_terms(text in "\\PC{0,80}") {
            let (words, mut cache) = (Tokenizers::new(), WordCache::default());
            let cold = terms_of(&text, QUERY_TERMS_MAX, &words, &mut cache);
            let warm = terms_of(&text, QUERY_TERMS_MAX, &words, &mut cache);
            prop_assert_eq!(&cold, &warm);
            prop_assert!(cold.iter().all(|term| !term.is_empty() && !term.contains(' ')));
        }
    }
}
