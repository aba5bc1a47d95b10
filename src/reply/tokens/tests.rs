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
const CODE: &str = r#"
impl<'a, T: Clone + Send> RingBuffer<'a, T> where T: 'static {
    /// Returns the oldest entry, if any.
    pub fn pop_front(&mut self) -> Option<&'a T> {
        let index = (self.head + self.len) % self.entries.len();
        self.entries.get(index)?.as_ref().filter(|entry| entry.sequence >= self.seen_max)
    }
}

#[runtime::test(flavor = "multi_thread", worker_threads = 2)]
async fn reconnects_after_ECONNRESET() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    assert_eq!(listener.local_addr()?.port() & 0xFFFF_u16, 49_152, "{:?}", listener);
    Ok(())
}

def parse_iso8601(text: str, *, tz=timezone.utc) -> datetime | None:
    match = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})Z", text or "")
    return datetime(*map(int, match.groups()), tzinfo=tz) if match else None

export const useDebouncedValue = <T,>(value: T, delayMs = 250): T => {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => { const id = setTimeout(() => setDebounced(value), delayMs); return () => clearTimeout(id); }, [value, delayMs]);
  return debounced;
};

SELECT u.id, COUNT(*) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE o.placed_at >= NOW() - INTERVAL '7 days' GROUP BY 1;
error[E0502]: cannot borrow `*self` as mutable because it is also borrowed as immutable
  --> src/pool.rs:118:13
npm ERR! code ERESOLVE  npm ERR! peer react@"^17.0.2" from @acme/ui-kit@3.4.1
"#;

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

/// A text of parts that cost very different numbers of tokens for each byte.
fn uneven_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        part_of(CODE),
        "([a-z]{2,9} ){20,120}",
        "[一-鿿]{20,200}",
        "[ぁ-んァ-ヶ]{20,200}",
        "([0-9a-f]{64}\n){2,12}",
        "[a-z]{200,1500}",
        "[bcdfgh]{200,600}",
        "[A-Za-z0-9+/]{300,900}",
        " {200,900}",
        "([😀-🙏] ){20,90}",
    ];
    prop::collection::vec(part, 2..6).prop_map(|parts| parts.concat())
}

/// Most tokens that a cut leaves unused: those of a word that did not fit, and of the space before it.
const UNUSED_MAX: usize = 10;

proptest! {
    // P16
    #[test]
    fn no_tokenizer_needs_more_than_is_counted(parts in prop::collection::vec(texts(), 1..3)) {
        let text = parts.join("\n");
        prop_assert!(real(&text) <= tokens(&text), "{} > {}: {text}", real(&text), tokens(&text));
    }

    #[test]
    fn a_cut_text_is_a_beginning_within_its_tokens(
        text in prop_oneof![texts(), uneven_text()],
        max in 0_usize..900,
    ) {
        let cut = cut_to(text.clone(), max);
        prop_assert!(text.starts_with(&cut) && tokens(&cut) <= max);
        let is_used = tokens(&cut) + UNUSED_MAX >= max;
        prop_assert!(cut == text || is_used, "{} of {max}", tokens(&cut));
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
