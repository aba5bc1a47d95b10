//! A user and a password before a host without a scheme, as in `root:PASSWORD@10.0.0.4`. Not here: addresses with a scheme
//! (`login`).

use super::charset::{Charset, DOTTED, HEX};
use super::hit::{Hit, Rank};
use super::text::{Text, count, words};
use super::user_info::refers_in_address;

/// Bytes of a user and a password, of a host, and of a password at least.
const USER_BYTES_MAX: usize = 160;
const HOST_BYTES_MAX: usize = 128;
const PASSWORD_BYTES_MIN: usize = 6;

/// Characters of a user, also with a domain or a tag: `CORP\jane` and `jane+ci`.
const USER: Charset = DOTTED.and("+\\");

/// Characters of an address of version 6 with its zone.
const NUMBERS: Charset = HEX.and(":.%abcdefghijklmnopqrstuvwxyz");

/// What parts the members of a list, and may stand in a password.
const DIVIDERS: Charset = Charset::new(",;");

/// Words before a colon and an address of mail or the name of a thing with a version.
const LABELS: &str = "\
    mailto mail email e-mail mails emails to from cc bcc by reply-to sender recipient sip sips xmpp acct tel author authors \
    maintainer maintainers contact owner committer reviewer signed-off-by co-authored-by reported-by git npm yarn pnpm pkg package \
    image tag docker file path node jsr workspace patch link portal exec gem purl urn http https ftp principal subject name";

/// Words before a member of a list of rights, as in `user:jane@example.org`.
const MEMBERS: &str = "user users group groups member members account";

/// Reports the passwords before the hosts of a text.
pub(super) fn report(text: Text<'_>, hits: &mut Vec<Hit>) {
    let mut place = 0;
    while let Some(next) = text.0.get(place..).and_then(|rest| rest.iter().position(is_at)) {
        let at = place + next;
        hits.extend(found(text, at));
        place = at + 1;
    }
}

fn is_at(byte: &u8) -> bool {
    *byte == b'@'
}

fn found(text: Text<'_>, at: usize) -> Option<Hit> {
    let kind = HostKind::at(text, at + 1)?;
    let from = login_start(text, at);
    let login = text.slice(from, at);
    count(login.len());
    let colon = login.iter().position(|byte| *byte == b':')?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    let is_label = words(LABELS).any(|label| user.eq_ignore_ascii_case(label));
    let is_user = user.first().is_some_and(u8::is_ascii_alphabetic)
        && user.iter().all(|byte| USER.has(*byte) || kind == HostKind::Machine && *byte == b'/')
        && !is_label;
    // A list of names, or a name at a service, before an address of mail.
    let could_be_mail = kind == HostKind::Name
        && (words(MEMBERS).any(|word| word == user)
            || password.starts_with(b"@")
            || password.iter().any(|byte| DIVIDERS.has(*byte)))
        && password.iter().all(|byte| byte.is_ascii_lowercase() || b"@,;._-".contains(byte));
    let is_password = password.len() >= PASSWORD_BYTES_MIN
        && !b":/".contains(password.first()?)
        && !could_be_mail
        && !refers_in_address(password);
    (is_user && is_password).then_some(Hit {
        rule: "url-password",
        from: from + colon + 1,
        to: at,
        rank: Rank::Form,
    })
}

/// Returns where the login before an `@` begins. A comma or a semicolon is part of it only if a password stood without a user
/// otherwise: in a list each login has both.
fn login_start(text: Text<'_>, at: usize) -> usize {
    let goes_on = |byte: u8| byte > b' ' && byte < 0x80 && !b"\"'`()<>[],;=|".contains(&byte);
    let run_back = |place: usize| {
        text.run_back_while(place, USER_BYTES_MAX.saturating_sub(at - place), goes_on)
    };
    // The end of base64.
    let mut from = run_back(text.run_back_while(at, 2, |byte| byte == b'='));
    while !text.slice(from, at).contains(&b':')
        && DIVIDERS.has(text.before(from))
        && at - from < USER_BYTES_MAX
    {
        from = run_back(from - 1);
    }
    from
}

/// What a host is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostKind {
    /// A name that ends in a word, as in addresses of mail.
    Name,
    /// Numbers, the machine itself, or a host with a port, which no address of mail has.
    Machine,
}

impl HostKind {
    /// Returns the kind of the host that begins at a place, if one does.
    fn at(text: Text<'_>, place: usize) -> Option<Self> {
        if text.at(place) == b'[' {
            // [fe80::1%eth0]
            let end = text.run(place + 1, NUMBERS, HOST_BYTES_MAX);
            let is_whole = text.at(end) == b']' && text.slice(place, end).contains(&b':');
            return is_whole.then_some(Self::Machine);
        }
        // A data source of Go: `app:PASSWORD@tcp(db:3306)/shop`.
        if text.slice(place, place + 4) == b"tcp(" || text.slice(place, place + 5) == b"unix(" {
            return Some(Self::Machine);
        }
        let host = text.slice(place, text.run(place, DOTTED, HOST_BYTES_MAX));
        let next = text.at(place + host.len());
        let host = host.strip_suffix(b".").unwrap_or(host);
        let labels = || host.split(|byte| *byte == b'.');
        let is_number =
            |label: &[u8]| (1..=3).contains(&label.len()) && label.iter().all(u8::is_ascii_digit);
        let is_machine = labels().count() == 4 && labels().all(is_number)
            || host == b"localhost"
            || next == b':' && host.len() > 1;
        let is_last = |last: &[u8]| last.len() > 1 && last.iter().all(u8::is_ascii_alphabetic);
        let is_named = labels().count() > 1 && labels().next_back().is_some_and(is_last);
        match () {
            // nginx:stable@sha256:…
            () if host.starts_with(b"sha256") || host.starts_with(b"sha512") => None,
            () if next.is_ascii_alphanumeric() || next == b'_' || next == b'(' => None,
            () if is_machine => Some(Self::Machine),
            () => is_named.then_some(Self::Name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::redacted;

    // S-WRITE-8
    #[test]
    fn a_password_before_a_host_goes() {
        let secret = ["copper", "lantern"].concat();
        for text in [
            format!("root:{secret}@10.0.0.4"),
            format!("ssh jane:{secret}@build01.corp.local"),
            format!("proxy=jane:{secret}@proxy:3128"),
            format!("postgres:{secret}@localhost"),
            format!("root:copper,{secret}@10.0.0.4"),
            format!("root:{secret},lantern9@10.0.0.4"),
            format!("root:{secret};lan,tern9@db.corp.local"),
            format!("root:@{secret}@10.0.0.4"),
            format!("root:@{secret}9@db.corp.local"),
            format!("root:{secret}@[fe80::1]"),
            format!("root:{secret}@[fe80::1%eth0]:22"),
            format!("j+x:{secret}@10.0.0.4"),
            format!("wmiexec.py corp/jane:{secret}@10.0.0.4"),
            format!("\"app:{secret}@tcp(db:3306)/shop\""),
            format!("DOMAIN\\jane:{secret}@10.0.0.4"),
            format!("to:a@x.org,root:{secret}@10.0.0.4"),
        ] {
            assert!(!redacted(&text).contains(&secret), "{text}");
        }
    }

    #[test]
    fn mail_and_versions_stay() {
        for text in [
            "mailto:jane.miller@example.org",
            "Author:jane.miller@example.org",
            "npm:lodash-es@next.js",
            "image:registry/app@sha256.digest",
            "git@example.org:shop/app.git",
            "user:${PASSWORD}@host.example.org",
            "user:password@host.example.org",
            "team:ann,joe,carol@example.org",
            "--member='user:jane-miller@example.org'",
            "seen:@jane.miller@example.social",
            "a list,jane.miller@10.0.0.4",
            "root:copper@[note]",
            "nginx:stable-alpine@sha256:449771d833424d61fcd25491215310a53e5356b6b3dacd8e7f05554b1e1e0ee0",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
