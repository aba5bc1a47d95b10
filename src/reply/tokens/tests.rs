//! Compares the count with the real tokenizers.

use std::sync::LazyLock;

use proptest::prelude::*;
use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

use super::*;

static TOKENIZERS: LazyLock<[CoreBPE; 2]> =
    LazyLock::new(|| [o200k_base().unwrap(), cl100k_base().unwrap()]);

/// The tokens of a text by the tokenizer that needs more.
fn real(text: &str) -> usize {
    TOKENIZERS.iter().map(|tokenizer| tokenizer.encode_ordinary(text).len()).max().unwrap()
}

#[test]
fn no_character_costs_more_than_it_is_counted() {
    let planes = ('\u{80}'..='\u{FFFD}').chain('\u{1F000}'..='\u{1FBFF}');
    for c in planes.filter(|c| c.is_alphanumeric() || !c.is_control()) {
        let (real, counted) = (real(&c.to_string()), character_tokens(c));
        assert!(real <= counted, "{c:?} (U+{:X}): {real} tokens, counted {counted}", u32::from(c));
    }
}

const ENGLISH: &str = include_str!("../../../SPEC.md");
const CODE: &str = include_str!("../hits.rs");

/// A part of a text, of 300 to 2,400 characters.
fn part_of(text: &'static str) -> impl Strategy<Value = String> {
    (0..text.len() - 300, 300_usize..2_400).prop_map(move |(from, len)| {
        let from = text.floor_char_boundary(from);
        let to = text.floor_char_boundary((from + len).min(text.len()));
        text.get(from..to).unwrap().to_owned()
    })
}

/// Lines as a linker prints them, with mangled names.
fn linker_error() -> impl Strategy<Value = String> {
    let name = "_ZN[1-9][a-z_]{4,20}[1-9][a-zA-Z]{3,16}17h[0-9a-f]{16}E";
    let object =
        "/target/debug/deps/lib[a-z_]{3,16}-[0-9a-f]{16}\\.rlib\\([a-z0-9]{16}\\.rcgu\\.o\\)";
    let line = (object, name, name, "[0-9a-f]{2,4}").prop_map(|(object, here, missing, place)| {
        format!(
            "/usr/bin/ld: {object}: in function `{here}':\n(.text.{here}+0x{place}): undefined reference to `{missing}'\n"
        )
    });
    prop::collection::vec(line, 1..8).prop_map(|lines| lines.concat())
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        part_of(ENGLISH),
        part_of(CODE),
        linker_error(),
        "[一-鿿]{2,12}([，。][一-鿿]{2,12}){9,40}",
        "[ぁ-んァ-ヶ一-鿿]{100,400}",
        "([가-힣]{1,6} ){30,100}",
        "([\u{621}-\u{64A}]{2,9} ){30,100}",
        "([а-я]{2,12} ){30,100}",
        "([ऀ-ॿ]{2,9} ){30,100}",
        "[😀-🙏🌀-🗿🚀-🛿]{20,200}",
        "(👩‍👩‍👧‍👦|🏳️‍🌈|👍🏽|❤️|🇩🇪){10,80}",
        "([0-9a-f]{40} ){5,20}",
        "([A-Za-z0-9+/]{44}= ){5,20}",
        "(/[a-z]{1,10}){3,6}(\\.rs|\\.py|\\.tsx):[0-9]{1,4}:[0-9]{1,3} [ -~]{200,400}",
    ]
}

proptest! {
    // P16
    #[test]
    fn no_tokenizer_needs_more_than_is_counted(parts in prop::collection::vec(texts(), 1..3)) {
        let text = parts.join("\n");
        prop_assert!(real(&text) <= tokens(&text), "{} > {}: {text}", real(&text), tokens(&text));
    }

    #[test]
    fn a_cut_text_is_a_beginning_within_its_tokens(text in texts(), max in 0_usize..300) {
        let cut = cut_to(text.clone(), max);
        prop_assert!(text.starts_with(&cut) && tokens(&cut) <= max);
        prop_assert!(cut == text || tokens(&cut) + 40 >= max, "{} of {max}", tokens(&cut));
    }

    #[test]
    fn a_text_gets_fewer_bytes_until_it_fits(text in texts(), max in 50_usize..900) {
        let (written, bytes) = within_tokens(max, |bytes| {
            (text.get(..text.floor_char_boundary(bytes)).unwrap().to_owned(), bytes)
        });
        prop_assert!(text.starts_with(&written) && tokens(&written) <= max);
        prop_assert!(written.len() <= bytes);
        prop_assert!(written == text || tokens(&written) * 3 >= max, "{} of {max}", tokens(&written));
    }
}

#[test]
fn prose_uses_most_of_its_tokens() {
    let share = real(ENGLISH) * 100 / tokens(ENGLISH);
    assert!((70..=100).contains(&share), "{share} % of the counted tokens are real");
}
