//! Laws that hold for every text. Not here: single rules (`tests`).

use proptest::prelude::*;

use super::text::work;
use super::{findings, redacted};

/// Pieces that rules look for, as parts of random texts.
const PIECES: [&str; 27] = [
    "token",
    "=",
    ": ",
    "\"",
    "'",
    "password",
    " is ",
    "https://",
    "@",
    "eyJ",
    ".",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "\n",
    "\\n",
    "%2d",
    "kind: Secret\ndata:\n  a: ",
    "curl -u ",
    "[REDACTED:",
    "]",
    "aB3xK9qLm2Zp0Rt7",
    "deadbeef00112233",
    "xoxb-",
    " + ",
    "heroku",
    " api key ",
    "\\\"",
];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
        1 => "[a-zA-Z0-9]{1,24}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_was_redacted_stays_as_it_is(text in texts()) {
        let once = redacted(&text).into_owned();
        prop_assert_eq!(redacted(&once), once.as_str());
    }

    #[test]
    fn findings_are_in_order_apart_and_on_boundaries(text in texts()) {
        let mut last = 0;
        for finding in findings(&text) {
            prop_assert!(last <= finding.span.start && finding.span.start < finding.span.end);
            prop_assert!(text.get(finding.span.clone()).is_some());
            last = finding.span.end;
        }
    }

    #[test]
    fn a_token_is_found_in_any_surroundings(before in "\\PC{0,40}", after in "\\PC{0,40}", body in "[a-z0-9]{12}[A-Z0-9]{12}[a-z]{4}[0-9]{8}") {
        let text = format!("{before} {}_{body} {after}", ["gh", "p"].concat());
        prop_assert!(!redacted(&text).contains(body.split_at(12).0), "{}", text);
    }
}

/// Texts that make every rule read far and find nothing.
const HARD: [&str; 56] = [
    "key=",
    "aws=",
    "token ",
    "tokentoken",
    "://",
    "eyJ",
    "=eyJ",
    ".=eyJ",
    "A: -----BEGIN PRIVATE KEY-----\n",
    "-eyJ",
    "eyJaaaaaaaaaaaaa-",
    "xoxb-",
    "A3-",
    "glpat-",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nA: b\n",
    "kind: Secret\n",
    "kind: Secret\n---\n",
    "\\",
    "\\\\\"",
    "%25",
    "password is ",
    "\"+\"",
    "://a:b@",
    "mysql -p",
    " -u a:b",
    "token=aB3xK9q",
    "token=\"",
    "secret: \n",
    "key\":\"",
    "hooks.slack.com/a",
    "access_key-api_key",
    "[REDACTED:",
    "ZEBRA=q7RtB2xKd9WmZ4pLs8VnYc3HfGj6 ",
    "q7RtB2xKd9WmZ4pLs8VnYc3HfGj6.",
    "hook/q7RtB2xKd9WmZ4pLs8VnYc3HfGj6/",
    "aws key ",
    "aws api key aws.",
    "token=a\\\"",
    "+ASt",
    "a.acc_",
    ":production.",
    "dev:a|",
    "1308742762612587|s.",
    "password",
    "password\n",
    "user ",
    "userpassword",
    "password kA3!x9Qm",
    "password for a: ",
    "as the password ",
    "{{ password | ",
    "password (a) ",
    "(password) VALUES (",
    "the parol от ",
    "auth a ",
];

/// Twice the text is twice the work, and each byte costs a bounded amount of work. Work is counted, not timed:
/// the bytes that all rules read.
#[test]
fn work_grows_with_the_length_of_the_text_and_no_faster() {
    const BYTES: usize = 8 * 1024;
    const LOOKS_PER_BYTE_MAX: usize = 420;
    for piece in HARD {
        let text = |bytes: usize| piece.repeat(bytes / piece.len());
        let work_for = |bytes: usize| work(|| drop(findings(&text(bytes))));
        let (once, twice) = (work_for(BYTES), work_for(2 * BYTES));
        assert!(twice <= once * 5 / 2 + 4_096, "{piece:?}: {once}, then {twice}");
        assert!(twice <= 2 * BYTES * LOOKS_PER_BYTE_MAX, "{piece:?}: {twice}");
    }
}
