//! Signatures of commits, as git and `ssh-keygen` make and check them. A signature counts only for the origin that the signed
//! commit names, so that it cannot be moved to another one. Not here: which keys are right (`signatures`).

use std::path::Path;

use event::StoreOrigin;
use guard::secrets::redacted;
use guard::text::{Layout, neutralise};

use crate::git_repository::GitRepository;
use crate::signatures::Seal;
use crate::{SyncError, Tip};
use git::GitAnswer;

/// Where mail for an origin would go: nowhere.
const NO_MAIL: &str = "agent-knowledge.invalid";

/// The program that signs and checks. Settings of the user may name another, which could ask somebody.
const PROGRAM: &str = "gpg.ssh.program=ssh-keygen";

/// A commit of ours has less than 2 KiB, with a signature by a long key.
const COMMIT_BYTES_MAX: u64 = 64 * 1024;

/// How a signature by SSH begins, and what git names it.
const SIGNATURE: &str = "gpgsig -----BEGIN SSH SIGNATURE-----";

/// How the answer of ssh-keygen to a right signature begins. `git` is what was signed for: a signature that somebody made for
/// something else is not right.
const GOOD: &str = "Good \"git\" signature with ";

/// What is said if there is no program.
const NO_PROGRAM: &str = "the program ssh-keygen is not there; install OpenSSH";

/// Characters of what ssh-keygen says that are shown.
const WORDS_CHARS_MAX: usize = 200;

/// Returns the mail address of an origin in its commits.
pub(crate) fn mail_of(origin: &StoreOrigin) -> String {
    format!("{}@{NO_MAIL}", origin.as_str())
}

/// Returns what makes `commit-tree` sign with a key: settings before the command.
pub(crate) fn signing_settings(key: &Path) -> [String; 3] {
    let key = format!("user.signingKey={}", key.display());
    [PROGRAM.to_owned(), "gpg.format=ssh".to_owned(), key]
}

/// The variables under which a key with a passphrase fails at once, and nobody is asked.
pub(crate) fn no_passphrase_prompt() -> [(&'static str, String); 2] {
    [("SSH_ASKPASS", "false".to_owned()), ("SSH_ASKPASS_REQUIRE", "force".to_owned())]
}

/// Says why signing failed.
pub(crate) fn signing_error(answer: &GitAnswer) -> SyncError {
    let why = if is_missing(answer) { NO_PROGRAM.to_owned() } else { short_message(&answer.words) };
    SyncError::Signing(why)
}

/// Checks the signature of a commit. Of what it names nothing is read.
pub(crate) fn seal_of(
    repository: &GitRepository,
    origin: &StoreOrigin,
    Tip(tip): &Tip,
) -> Result<Seal, SyncError> {
    let args = ["cat-file", "commit", tip.as_str()];
    let answer = repository.run_long(&args, Vec::new(), COMMIT_BYTES_MAX)?;
    if !answer.is_success {
        // It is here, or it would not have been brought.
        return Err(SyncError::Unreadable("it is no commit".to_owned()));
    }
    match signature_in(&String::from_utf8_lossy(&answer.output), origin) {
        Ok(HasSignature::No) => return Ok(Seal::Unsigned),
        Ok(HasSignature::Yes) => {}
        Err(why) => return Ok(Seal::Broken(why.to_owned())),
    }
    let signers = format!("gpg.ssh.allowedSignersFile={}", repository.no_signers()?.display());
    let args = ["-c", PROGRAM, "-c", &signers, "verify-commit", "--raw", tip];
    // Git fails in any case, because no signer is allowed. What counts is what ssh-keygen says about the key.
    let answer = repository.run(&args, Vec::new())?;
    Ok(match key_in(&answer.words) {
        Some(key) => Seal::Signed(key.to_owned()),
        None if is_missing(&answer) => Seal::Unchecked(NO_PROGRAM.to_owned()),
        None => Seal::Broken(short_message(&answer.words)),
    })
}

/// Whether a commit has a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HasSignature {
    Yes,
    No,
}

/// Tells whether a commit has a signature. With one it must be exactly of the form that `prepare` gives it.
fn signature_in(commit: &str, origin: &StoreOrigin) -> Result<HasSignature, &'static str> {
    let head = commit.split_once("\n\n").map_or(commit, |(head, _)| head);
    let mut lines = head.lines();
    if !head.lines().any(|line| line.starts_with("gpgsig")) {
        return Ok(HasSignature::No);
    }
    let who = format!("{} <{}> ", origin.as_str(), mail_of(origin));
    let mut next = |start: &str| lines.next().and_then(|line| line.strip_prefix(start));
    if next("tree ").is_none() {
        return Err("it is no commit of a store");
    }
    let mut author = next("");
    while author.is_some_and(|line| line.starts_with("parent ")) {
        author = next("");
    }
    let author = author.and_then(|line| line.strip_prefix("author "));
    let committer = next("committer ");
    if [author, committer].iter().any(|line| !line.is_some_and(|line| line.starts_with(&who))) {
        return Err("it was made for another origin");
    }
    if next("") != Some(SIGNATURE) {
        return Err("it is none by SSH");
    }
    match lines.all(|line| line.starts_with(' ')) {
        true => Ok(HasSignature::Yes),
        false => Err("something stands beside it"),
    }
}

/// Reads the fingerprint of the key: `<kind> key SHA256:…`. Only the first line can be that of ssh-keygen.
fn key_in(words: &str) -> Option<&str> {
    let (_, key) = words.lines().next()?.strip_prefix(GOOD)?.split_once(" key ")?;
    let digits = key.strip_prefix("SHA256:")?;
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    (digits.len() == 43 && digits.bytes().all(is_digit)).then_some(key)
}

/// Tells whether git found no ssh-keygen.
fn is_missing(answer: &GitAnswer) -> bool {
    let starts =
        ["error: cannot run ssh-keygen", "fatal: cannot exec", "fatal: cannot run ssh-keygen"];
    answer.words.lines().any(|line| starts.iter().any(|start| line.starts_with(start)))
}

/// Returns what ssh-keygen says, in one short line.
fn short_message(words: &str) -> String {
    let lines = words.lines().map(|line| line.strip_prefix("error: ").unwrap_or(line).trim());
    let line =
        lines.into_iter().find(|line| !line.is_empty()).unwrap_or("nothing is said about it");
    let line = neutralise(&redacted(line), Layout::Line);
    line.trim_end_matches('?').trim().chars().take(WORDS_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(origin: &str, more: &str) -> String {
        let who = format!("{origin} <{origin}@{NO_MAIL}> 0 +0000");
        format!("tree x\nparent y\nauthor {who}\ncommitter {who}\n{more}\nagent-knowledge\n")
    }

    // S-SYNC-13
    #[test]
    fn a_signature_counts_for_its_own_origin() {
        let origin = StoreOrigin::mint("ana", 1);
        let found = |name: &str, more: &str| signature_in(&commit(name, more), &origin);
        let right = format!("{SIGNATURE}\n AAAA\n -----END SSH SIGNATURE-----\n");
        assert_eq!(found(origin.as_str(), &right), Ok(HasSignature::Yes));
        assert_eq!(found(origin.as_str(), ""), Ok(HasSignature::No));
        let other = StoreOrigin::mint("bo", 2);
        assert_eq!(found(other.as_str(), &right), Err("it was made for another origin"));
        let name = origin.as_str();
        let beside = format!("{right}encoding x\n");
        for more in ["gpgsig -----BEGIN PGP SIGNATURE-----\n x\n", "gpgsig-sha256 x\n", &beside] {
            assert!(found(name, more).is_err(), "{more}");
        }
        // What stands in the message is no signature.
        assert_eq!(found(name, &format!("\n{right}")), Ok(HasSignature::No));
    }

    // S-SYNC-13
    #[test]
    fn only_the_first_word_of_ssh_keygen_names_the_key() {
        let key = format!("SHA256:{}", "a".repeat(43));
        let good = format!("{GOOD}ED25519 key {key}\nNo principal matched.\n");
        assert_eq!(key_in(&good), Some(key.as_str()));
        for wrong in [
            format!("Could not verify signature.\n{good}"),
            format!("Good \"git\" signature for x with ED25519 key {key}"),
            format!("Good \"file\" signature with ED25519 key {key}"),
            format!("{GOOD}ED25519 key {key}x"),
            String::new(),
        ] {
            assert_eq!(key_in(&wrong), None, "{wrong}");
        }
    }
}
