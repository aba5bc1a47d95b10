//! Keys in names that a program made of a path: clients name a folder after its directory, with `-` for whatever is no letter or
//! digit, so that `ghp_…` stands there as `ghp-…`. Passwords that only a name binds look like any other word there. Not here: keys as
//! their makers write them (`prefixed`, `shape`).

use super::charset::ALNUM;
use super::hit::Hit;
use super::judge::{Hint, is_mixed, is_random};
use super::table::{Anchor, TableKind, each_anchor};
use super::text::{Text, count};
use super::{prefixed, shape};

/// Bytes of a name that may hold a key.
const NAME_BYTES_MIN: usize = 24;

/// The marks of keys that may have become `-`. Hardly a key has more than one of them.
const MARKS: [u8; 2] = [b'_', b'.'];

/// Beginnings of this length are no accident, so that a key may be of one case.
const TELLING_PREFIX_BYTES: usize = 6;

/// Reports the keys in the respelled names of a text. Each name is read once for each mark.
pub(super) fn report(text: Text<'_>, hits: &mut Vec<Hit>) {
    let members = ALNUM.and("-");
    let mut place = 0;
    while place < text.0.len() {
        let end = text.run(place, members, usize::MAX);
        let name = text.slice(place, end);
        if name.len() >= NAME_BYTES_MIN && name.contains(&b'-') && has_digits(name) {
            MARKS.into_iter().for_each(|mark| report_name(name, mark, place, hits));
        }
        place = end + 1;
    }
}

/// Reports the keys of a name, which begins at `origin`, as if each `-` was a mark.
fn report_name(name: &[u8], mark: u8, origin: usize, hits: &mut Vec<Hit>) {
    count(name.len());
    let respelled: Vec<u8> =
        name.iter().map(|byte| if *byte == b'-' { mark } else { *byte }).collect();
    let text = Text(&respelled);
    let mut behind = 0;
    each_anchor(&respelled, |place, anchor| {
        if place.start < behind {
            return;
        }
        let Anchor { kind, text: anchor, row, number } = anchor();
        let found = match kind {
            TableKind::Prefix => prefixed::found(text, place.start, place.end, anchor, &row),
            TableKind::Shape => shape::found(text, place.start, number, &row),
            _ => None,
        };
        let Some(hit) = found.filter(|hit| is_key(text.slice(place.end, hit.to), anchor)) else {
            return;
        };
        behind = hit.to;
        hits.push(Hit { from: origin + hit.from, to: origin + hit.to, ..hit });
    });
}

/// Tells whether a part of what follows a beginning is random: names of many words begin like keys too.
fn is_key(body: &[u8], prefix: &str) -> bool {
    body.split(|byte| MARKS.contains(byte)).any(|part| {
        is_mixed(part) || prefix.len() >= TELLING_PREFIX_BYTES && is_random(part, Hint::Strong)
    })
}

fn has_digits(name: &[u8]) -> bool {
    name.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::super::charset::ALNUM;
    use super::super::table::TableKind;
    use super::super::tests::{anchors, drawn, hides, mixed};
    use super::super::{prefixed::KeyForm, redacted};

    /// A path as clients name a folder after it.
    fn folder_of(path: &str) -> String {
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    }

    // S-WRITE-8
    #[test]
    fn well_known_keys_are_found_in_the_name_of_a_folder() {
        let jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N"];
        let mut keys = vec![
            jwt.join("."),
            format!("github_{}_{}_{}", "pat", mixed(22), drawn(ALNUM, 59, 3)),
            format!("{}.{}.{}", "SG", mixed(22), drawn(ALNUM, 43, 8)),
        ];
        let begins = [
            "ghp_",
            "gho_",
            "npm_",
            "hf_",
            "glsa_",
            "dckr_pat_",
            "sk_live_",
            "glpat-",
            "hvs.",
            "sk-ant-api03-",
            "xoxb-",
        ];
        keys.extend(begins.map(|begin| format!("{begin}{}", mixed(44))));
        for key in keys {
            let name = folder_of(&format!("/home/jane.doe/work_2/{key}/web"));
            let secret = folder_of(&key);
            let body = secret.split('-').max_by_key(|part| part.len()).unwrap();
            assert!(hides(&name, body), "{key}: {}", redacted(&name));
            assert!(redacted(&name).starts_with("-home-jane-doe-work-2-"), "{}", redacted(&name));
        }
    }

    /// Of all beginnings in the tables, whose keys have one kind of mark.
    #[test]
    fn most_keys_survive_no_respelling() {
        let (mut all, mut missed) = (0, Vec::new());
        for (seed, (prefix, row)) in anchors(TableKind::Prefix).enumerate() {
            let form = KeyForm::parse(row.fields[0], row.fields[1]);
            let body = drawn(form.charset, (*form.length.start()).max(36), seed);
            let body = body.get(..body.len().min(*form.length.end())).unwrap();
            let name = folder_of(&format!("/w/{prefix}{body}/web"));
            let longest = folder_of(body);
            let longest = longest.split('-').max_by_key(|part| part.len()).unwrap();
            all += 1;
            if !hides(&name, longest) {
                missed.push(prefix);
            }
        }
        println!("{} of {all} missed: {missed:?}", missed.len());
        assert!(missed.len() * 3 <= all, "{} of {all}", missed.len());
    }

    // S-WRITE-8
    #[test]
    fn names_of_many_words_stay() {
        for text in [
            "-home-jane-work-re-how-to-use-the-new-thing-2024-12-01",
            "test-3f2a9c1b7d4e5f60a1b2c3d4e5f60718abc-of-12",
            "npm-run-build-and-publish-the-packages-of-2024",
            "-home-jane-3593fde0-17d4-4707-ab72-fcdaf171e715-web",
            "live-view-components-for-phoenix-1-7-and-later",
            "docs/sk-2024-12-01-how-to-upgrade-the-server-of-2023",
            "fix/sk-learn-extra-tools-for-python-3-12-and-3-13",
            "hf-transformers-cache-models-bert-base-uncased-2024",
            "secret-santa-draw-for-the-office-2024-and-2025",
            "feature-ABC-1234-pk-cs-columns-of-table-users-v2",
            "e2b-sandbox-runner-for-tests-2024-01-02t03-04-05",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
