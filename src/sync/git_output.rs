//! What git prints, read: references, entries of trees, contents, and why it refuses. Not here: asking it (`git_remote`).

use event::StoreOrigin;

use crate::git_repository::REFS;
use crate::{PublishOutcome, Tip, TreeFile};

/// The mode of a plain file in a tree.
pub(crate) const PLAIN: &str = "100644";

/// Reads why one reference was refused: `!<tab>from:to<tab>[rejected] (reason)`.
pub(crate) fn refusal(line: &str) -> PublishOutcome {
    let reason = line.rsplit('\t').next().unwrap_or_default();
    if reason.starts_with("[rejected]") {
        return PublishOutcome::Conflict;
    }
    let reason = guard::text::neutralise(reason, guard::text::Layout::Line);
    PublishOutcome::Refused(reason.chars().take(200).collect())
}

/// Reads `<object> <reference>`.
pub(crate) fn tip((object, reference): (&str, &str)) -> Option<(StoreOrigin, Tip)> {
    let origin = StoreOrigin::parse(reference.strip_prefix(REFS)?)?;
    is_object(object).then(|| (origin, Tip(object.to_owned())))
}

/// The length of an object's name in a repository that uses SHA-256.
pub(crate) const SHA256_DIGITS: usize = 64;

/// Tells whether a text is the SHA-1 name of an object.
pub(crate) fn is_object(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads an entry of a tree: `<mode> <type> <object> <length><tab><path>`. `None` for anything but a plain file.
pub(crate) fn listed(entry: &str) -> Option<TreeFile> {
    let (head, path) = entry.split_once('\t')?;
    let mut parts = head.split_ascii_whitespace();
    let (mode, kind, object) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = parts.next()?.parse().ok()?;
    let is_plain = mode == PLAIN && kind == "blob" && is_object(object);
    is_plain.then(|| TreeFile { path: path.to_owned(), sum: object.to_owned(), bytes })
}

/// Reads one answer of `cat-file --batch`, and returns it with what follows.
pub(crate) fn content_of<'a>(answer: &'a [u8], file: &TreeFile) -> Option<(&'a [u8], &'a [u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    let is_it = head == format!("{} blob {}", file.sum, file.bytes);
    let rest = answer.get(end + 1..).filter(|_| is_it)?;
    let (content, rest) = rest.split_at_checked(usize::try_from(file.bytes).ok()?)?;
    Some((content, rest.strip_prefix(b"\n")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-5
    #[test]
    fn only_plain_files_of_a_tree_are_read() {
        let object = "a".repeat(40);
        let entry = |head: &str| listed(&head.replace('@', &object));
        let file = entry("100644 blob @      12\tapi/000000.jsonl").unwrap();
        assert_eq!((file.bytes, file.path.as_str()), (12, "api/000000.jsonl"));
        for other in [
            "120000 blob @ 12\tlink",
            "160000 commit @ -\tsubmodule",
            "100755 blob @ 12\tprogram",
            "100644 blob @ BAD\tmissing",
            "100644 blob @ 12",
        ] {
            assert_eq!(entry(other), None, "{other}");
        }
    }

    // S-SYNC-4
    #[test]
    fn each_refusal_means_what_git_says() {
        let refused = |reason: &str| refusal(&format!("!\ta:b\t{reason}"));
        assert_eq!(refused("[rejected] (stale info)"), PublishOutcome::Conflict);
        assert_eq!(refused("[rejected] (fetch first)"), PublishOutcome::Conflict);
        let hook = "[remote rejected] (pre-receive hook declined)";
        assert_eq!(refused(hook), PublishOutcome::Refused(hook.to_owned()));
    }

    #[test]
    fn a_batch_is_read_as_it_was_asked() {
        let file = |bytes| TreeFile { path: String::new(), sum: "a".repeat(40), bytes };
        let answer = format!("{} blob 3\none\nrest", "a".repeat(40));
        let (content, rest) = content_of(answer.as_bytes(), &file(3)).unwrap();
        assert_eq!((content, rest), (&b"one"[..], &b"rest"[..]));
        assert_eq!(content_of(answer.as_bytes(), &file(4)), None);
        assert_eq!(content_of(b"aaa missing\n", &file(3)), None);
    }
}
