//! Every rule finds its secrets and leaves texts that only resemble them. A generator draws all secrets, so
//! that this file holds none.

use super::charset::{ALNUM, HEX};
use super::prefixed::KeyForm;
use super::table::{TableKind, rows};
use super::{findings, redacted};
use crate::prefilter::TableRow;

pub(super) use super::daily_forms::drawn;

pub(super) fn mixed(length: usize) -> String {
    drawn(ALNUM, length, 5)
}

/// Every anchor of the tables of a kind, with its row.
pub(super) fn anchors(kind: TableKind) -> impl Iterator<Item = (&'static str, TableRow)> {
    rows(kind).flat_map(|row| row.anchors.split(',').map(move |anchor| (anchor, row)))
}

pub(super) fn rules(text: &str) -> Vec<&'static str> {
    findings(text).into_iter().map(|finding| finding.rule).collect()
}

/// Whether no twelve characters in a row of the secret are left, nor the whole of a shorter one.
pub(super) fn hides(text: &str, secret: &str) -> bool {
    let clean = redacted(text);
    let run = secret.len().min(12);
    (0..=secret.len() - run)
        .all(|start| secret.get(start..start + run).is_none_or(|part| !clean.contains(part)))
}

#[test]
fn every_prefix_is_found_without_near_misses() {
    for (seed, (prefix, row)) in anchors(TableKind::Prefix).enumerate() {
        let form = KeyForm::parse(row.fields[0], row.fields[1]);
        let least = *form.length.start();
        let secret = format!("{prefix}{}", drawn(form.charset, least, seed));
        assert_eq!(rules(&secret), [row.name], "{prefix}");
        assert!(hides(&format!("see ({secret}), it works"), &secret), "{prefix}");
        let short = format!("{prefix}{}", drawn(form.charset, least / 4, seed));
        assert!(!rules(&short).contains(&row.name), "too short: {prefix}");
        let placeholder = format!("{prefix}{}", "x".repeat(least));
        assert!(rules(&placeholder).is_empty(), "a placeholder: {prefix}");
        let inside = findings(&format!("x{secret}"));
        assert!(inside.iter().all(|finding| finding.span.start != 1), "inside: {prefix}");
    }
}

/// What may stand right before a key: the rest of a branch's name, of a path, of an address or of an assignment.
const BEFORE: [&str; 12] =
    ["fix/rotate-", "x-", "a_", "docs/", "v1.", "a=", "a:", "bot@", "\"", "'", "`", "-w-"];

// S-WRITE-8
#[test]
fn every_prefix_is_found_after_what_parts_names() {
    let mut missed = Vec::new();
    for (seed, (prefix, row)) in anchors(TableKind::Prefix).enumerate() {
        let form = KeyForm::parse(row.fields[0], row.fields[1]);
        let secret = format!("{prefix}{}", drawn(form.charset, *form.length.start(), seed));
        let hidden = |before: &&str| hides(&format!("see {before}{secret}"), &secret);
        missed.extend(BEFORE.into_iter().filter(|one| !hidden(one)).map(|one| [one, prefix]));
    }
    assert!(missed.is_empty(), "{} {missed:?}", missed.len());
}

// S-WRITE-8
#[test]
fn tokens_known_by_a_mark_are_found_after_what_parts_names() {
    let jwt =
        ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N"].join(".");
    let live = format!("acme_{}_{}", "live", mixed(32));
    let bot = format!(
        "{}.{}.{}",
        ["MTE", "4NzQ1NjM4OTAxMjM0NTY3"].concat(),
        mixed(6),
        drawn(ALNUM, 30, 4)
    );
    let unleash = format!("default:{}.{}", "production", drawn(HEX, 56, 3).to_lowercase());
    for secret in [&jwt, &live, &bot, &unleash] {
        assert!(hides(secret, secret), "{secret}");
        for before in BEFORE {
            let text = format!("see {before}{secret}");
            assert!(hides(&text, secret), "{}", redacted(&text));
        }
    }
}

#[test]
fn every_provider_is_found_in_each_form_without_near_misses() {
    for (seed, row) in rows(TableKind::Provider).enumerate() {
        for name in row.anchors.split(',') {
            for form in KeyForm::list(row.fields[0]) {
                let least = *form.length.start();
                let secret = drawn(form.charset, least, seed);
                let text = format!("{name}_token = \"{secret}\"");
                assert_eq!(rules(&text), [row.name], "{text}");
                let placeholder = format!("{name}_token = \"{}\"", "x".repeat(least));
                assert!(rules(&placeholder).is_empty(), "{placeholder}");
            }
            let prose =
                format!("{name} was upgraded; see docs/{name}/setup-guide.md for the steps");
            assert!(rules(&prose).is_empty(), "{prose}");
        }
    }
}

#[test]
fn every_word_is_found_and_its_near_misses_are_left() {
    let is_mark = |letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric();
    for (name, row) in anchors(TableKind::Name) {
        let (value, harmless) = match row.fields[0] {
            "pin" => ("4821".to_owned(), "12"),
            "password" | "stem" | "word" | "pass" => (["hunter", "2!x"].concat(), "${SECRET}"),
            _ => (mixed(24), "the-usual-place"),
        };
        let name = if name == "pin" { "the card PIN" } else { name.trim_end_matches(is_mark) };
        for parting in ["", " ", "_", "-", "__", "\u{A0}"] {
            let name = name.replace('^', parting);
            let text = format!("{name}: '{value}'");
            assert_eq!(rules(&text), [row.name], "{text}");
            assert!(rules(&format!("{name}: {harmless}")).is_empty(), "{name}");
            assert!(rules(&format!("{name} is missing")).is_empty(), "{name}");
        }
    }
}

#[test]
fn passwords_are_found_as_people_tell_them() {
    let (short, long) = (["hunter", "2"].concat(), ["Tr0ub", "4dor&3"].concat());
    let words = ["correct", "-horse"].concat();
    let chance = ["VEoC7zcv", "qK#9w!"].concat();
    let letters = ["DCssMXl", "RvthncU"].concat();
    for (text, secret) in [
        (format!("the password is {short}!"), &short),
        (format!("password: {words}"), &words),
        (format!("the root password was \"{words}\" until Friday"), &words),
        (format!("I changed the password to {long}"), &long),
        (format!("mytool --password {short} --user x"), &short),
        (format!("mytool --db-password={short}"), &short),
        (format!("PGPASSWORD={short} psql"), &short),
        (format!("{{\"password\": \"{short}x\"}}"), &short),
        (format!("<add key=\"Password\" value=\"{short}\" />"), &short),
        (format!("https://bob:{short}@host/"), &short),
        (format!("Passwort: {short}"), &short),
        (format!("password = 'p\u{E4}ss-{short}'"), &short),
        (format!("log in as user bob and password {short}"), &short),
        (format!("machine x.example login bob password {short}"), &short),
        (format!("passwords: [\"{long}\", \"x{short}\"]"), &short),
        (format!("{{\"password\": \"a\\\"b'{short}\"}}"), &short),
        (format!("credentials: admin/{short}!x"), &short),
        (format!("DB_PASS={short}x"), &short),
        (format!("DB_PW={short}x"), &short),
        (format!("smtp: {{ user: 'x', pass: '{short}' }}"), &short),
        (format!("le mot de passe est {short}"), &short),
        (format!("la contrase\u{F1}a del servidor es {short}"), &short),
        (format!("Das Passwort lautet {short}"), &short),
        (format!("пароль: {short}"), &short),
        (format!("密码是 {short}"), &short),
        (format!("パスワードは {short} です"), &short),
        (format!("requirepass {short}Xy"), &short),
        (format!("  password {short}Xy\n"), &short),
        (format!("connect lab password {chance} now"), &chance),
        (format!("docker run -e DB_PASSWORD={letters} x"), &letters),
        (format!("jdbc:x:user=u;password=!{long};"), &long),
    ] {
        assert!(!redacted(&text).contains(secret.as_str()), "{text}");
    }
}

/// For every option of the table.
#[test]
fn every_option_that_takes_a_password_hides_it_and_no_reference() {
    let typed = ["S3cr", "3tOfBob"].concat();
    for (program, row) in anchors(TableKind::Command) {
        let [option, shape, _] = row.fields;
        // Arguments without an option have tests of their own (`daily`).
        if !matches!(shape, "glued" | "apart" | "both") {
            continue;
        }
        let gap = if shape == "apart" { " " } else { "" };
        let with = |value: &str| format!("{program} -v x{option}{gap}{value} y");
        assert_eq!(rules(&with(&typed)), ["command-password"], "{}", with(&typed));
        for reference in ["$SECRET", "${SECRET}", "<password>", "****"] {
            assert!(rules(&with(reference)).is_empty(), "{}", with(reference));
        }
    }
}

/// An unknown provider, in every way that people and programs write names and values.
#[test]
fn any_providers_secret_is_found_however_it_is_told() {
    let (first, second) = (mixed(32), drawn(HEX, 40, 9).to_lowercase());
    for text in [
        "{name} = \"{value}\"",
        "{name}: {value}",
        "export {name}={value}",
        "{\"{name}\": \"{value}\"}",
        "<{name}>{value}</{name}>",
        "<add key=\"{name}\" value=\"{value}\" />",
        "- name: {name}\n  value: {value}",
        "{ name = \"{name}\", value = \"{value}\" }",
        "\"name\": \"{name}\", \"value\": \"{value}\"",
        "gh secret set {name} --body \"{value}\"",
        "gh secret set {name} -b {value}",
        "echo {value} | gh secret set {name}",
        "setx {name} {value}",
        "ENV {name} {value}",
        "{name} \"{value}\"",
        "{name}\n{value}",
        "{name}?: string = \"{value}\"",
        "let {name}: &str = \"{value}\";",
        "{name} (prod): {value}",
        "the {name} is {value}",
        "--{name} {value}",
        "curl -H '{name}: {value}' https://x",
        "https://x/?{name}={value}&page=2",
        "| {name} | {value} |",
        "{name}s: [\"x\", \"{value}\"]",
    ] {
        for name in ["zebra_api_key", "ZEBRA_TOKEN", "zebraClientSecret", "zebra_service_key"] {
            for value in [&first, &second] {
                let text = text.replace("{name}", name).replace("{value}", value);
                let text = text.replace("[\"x\"", &format!("[\"{}\"", mixed(24)));
                assert!(hides(&text, value), "{}", redacted(&text));
            }
        }
    }
}

#[test]
fn what_is_said_about_secrets_stays() {
    let harmless = include_str!("harmless.txt").lines();
    let changed: Vec<_> = harmless.filter(|text| redacted(text) != *text).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

// S-WRITE-8
#[test]
fn the_id_of_a_session_stays_unless_it_is_sent() {
    let id = "3593fde0-17d4-4707-ab72-fcdaf171e715";
    for text in [format!("{{\"sessionId\": \"{id}\"}}"), format!("sessionid={id}")] {
        assert_eq!(redacted(&text), text);
    }
    for text in [format!("Cookie: sessionid={id}"), format!("curl -H 'sessionid: {id}' https://x")]
    {
        assert!(!redacted(&text).contains(id), "{text}");
    }
    let drawn = mixed(32);
    assert!(!redacted(&format!("sessionid={drawn}")).contains(&drawn));
    let digest = "3f2a9c1b7d4e5f60a1b2c3d4e5f60718";
    for name in ["sessionId", "sessionID", "session_id"] {
        let text = format!("{{\"{name}\": \"{digest}\"}}");
        assert_eq!(redacted(&text), text);
    }
    for name in [
        "sessionid=",
        "PHPSESSID=",
        "JSESSIONID=",
        "Cookie: sessionId=",
        "curl -b sessionId=",
        "curl --cookie \"sessionId=",
        "requests.get(url, cookies={\"sessionId\": \"",
        "{\"cookies\":[{\"name\":\"sessionId\",\"value\":\"",
        "headers: {sessionId: \"",
        "headers: {\"sessionId\": \"",
        "https://x.example/app;jsessionId=",
        "https://x.example/app?sessionId=",
    ] {
        let text = format!("{name}{digest}\"");
        assert!(!redacted(&text).contains(digest), "{text}");
    }
}

#[test]
fn a_name_is_given_by_the_surest_rule() {
    let token = format!("{}_{}", ["gh", "p"].concat(), mixed(36));
    assert_eq!(
        redacted(&format!("GITHUB_API_TOKEN=\"{token}\"")),
        "GITHUB_API_TOKEN=\"[REDACTED:github-token]\""
    );
    assert_eq!(rules(&format!("stripe_api_key={}", mixed(40))), ["api-key"]);
}

#[test]
fn names_of_rules_fit_their_mark_and_hold_nothing_that_ends_it() {
    let kinds = [
        TableKind::Prefix,
        TableKind::Provider,
        TableKind::Name,
        TableKind::Command,
        TableKind::Shape,
    ];
    for rule in kinds.into_iter().flat_map(rows).map(|row| row.name) {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(rule.len() < 40 && rule.chars().all(is_plain), "{rule}");
    }
}

// S-WRITE-8
#[test]
fn a_mark_that_is_none_hides_nothing() {
    let token = ["gh", "p_", "a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
    for text in [format!("see [REDACTED: {token} and go"), format!("x [REDACTED:{token}] y")] {
        assert!(!redacted(&text).contains("a8Kd03jFq9Zx"), "{text}");
    }
}

/// Pieces of keys, put together here so that this file holds none.
const PLAIN_KEY: [&str; 2] = ["x4k9q2m7w1", "z8r5t3b6n0vjghd4s9f2ee"];
const DIGEST_KEY: [&str; 2] = ["3f2a9c1b7d4e5f60", "a1b2c3d4e5f60718"];

// S-WRITE-8
#[test]
fn what_a_sentence_says_of_a_key_is_enough() {
    let (plain, digest) = (PLAIN_KEY.concat(), DIGEST_KEY.concat());
    let uuid = "3593fde0-17d4-4707-ab72-fcdaf171e715";
    for (text, secret) in [
        (format!("bitbucket api key {plain} was revoked"), plain.as_str()),
        (format!("bitbucket rejected key '{plain}'"), &plain),
        (format!("the bitbucket token is {plain}"), &plain),
        (format!("adobe refused the api key {digest}"), &digest),
        (format!("adobe rejected key '{digest}'"), &digest),
        (format!("heroku wants the token {uuid}"), uuid),
        (format!("set heroku.token \"{uuid}\""), uuid),
        (format!("zebra api key {plain} was revoked"), &plain),
        (format!("the api key {uuid} works"), uuid),
        (format!("error: 401 for key '{plain}'"), &plain),
        (format!("zebra says unauthorized: key '{plain}' has expired"), &plain),
        (format!("the asana token is {}", "7149477240014139"), "7149477240014139"),
    ] {
        assert!(!redacted(&text).contains(secret), "{}", redacted(&text));
    }
}

#[test]
fn what_a_sentence_says_of_other_things_stays() {
    let (plain, digest) = (PLAIN_KEY.concat(), DIGEST_KEY.concat());
    let uuid = "3593fde0-17d4-4707-ab72-fcdaf171e715";
    for text in [
        format!("the key '{plain}' was evicted"),
        format!("rejected key 'users:{plain}:profile'"),
        format!("the key '{digest}' was rejected"),
        format!("sentry token for event {digest} was missing"),
        format!("circleci key {digest} missed; algolia object key {digest} is gone"),
        format!("mongodb key {} is doubled", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        "github token 8843d7f92416211de9ebb963ff4ce28125932878 is the commit".to_owned(),
        "bitbucket keys of pull-request-2024-build-42 are cached".to_owned(),
        "heroku key vault-name-of-the-staging-environment2".to_owned(),
        "adobe token 3593fde0-17d4-4707 is cut".to_owned(),
        "heroku-key-id 3593fde0-17d4-4707-ab72-fcdaf171e715 is listed".to_owned(),
        format!("api_key_id {digest} and api_key_hash {digest} are logged"),
        format!("key_id '{plain}' was revoked"),
        format!("memory leak: subscriptions under key '{plain}' never close"),
        format!("of 40123 rows the one with key '{plain}' is odd, and 401 have key '{plain}'"),
        format!("E11000 rejected duplicate key '{plain}'; Kafka rejected key '{plain}'"),
        format!("sessions.rs:403: no row has the key '{plain}'"),
        format!("mongodb rejected duplicate key '{uuid}'"),
        format!("codecov cache key {plain} was missed, bitbucket public key {plain} is known"),
        format!("bitbucket dedup key {plain} and idempotency key {plain} were used twice"),
        format!("aws s3 object key a1/b2c3x9/{plain}0 is gone"),
        format!("confluent message key {} is null", plain.get(..16).unwrap()),
        format!("heroku-api {uuid} GET /v1/apps 200; snyk-api {uuid} GET"),
        format!("coinbase-api-worker {uuid} crashed"),
        format!("kubectl logs heroku-api-7d9f8b6c5-x2k4q {uuid}"),
        format!(
            "buildkite-access-token-service {} deployed",
            "8843d7f92416211de9ebb963ff4ce28125932878"
        ),
        "the deleted api key 01h45ytscbebyvny4gc8cr8ma2 is its id".to_owned(),
        format!("the access key {uuid} of the map is stable"),
    ] {
        assert_eq!(redacted(&text), text);
    }
}
