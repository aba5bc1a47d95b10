//! The judge of chosen passwords: whether a value is one, or a word that people write about passwords. Not
//! here: how a value is found (`binding`).

use super::binding::{Bond, BoundValue};
use super::context::is_identifier;
use super::judge::{Hint, Make, is_placeholder};
use super::text::words;

/// Shorter passwords cannot be told from words.
const PASSWORD_BYTES_MIN: usize = 6;
const PASSWORD_BYTES_MAX: usize = 256;

/// Words that people write about passwords, and placeholders.
const WORDS: &str = "\
    password passwort passwd passphrase secret string required optional incorrect invalid \
    disabled enabled changed rotated encrypted expired mismatch missing username unknown \
    correct wrong empty stored hashed hidden default random generated none null true false \
    stdin prompt option argument authentication reset rejected accepted supported needed \
    protected plaintext database account postgres localhost the and from with instead flag \
    field value variable environment confirm confirmation undefined integer boolean number \
    varchar credentials config settings failed policy manager safer history visible fails \
    works shows leaked leaks insecure command apikey token mypassword secretpassword user \
    pass after before cannot should because without requires prompts";

/// Beginnings of the names of password hashes.
const METHODS: [&str; 9] =
    ["base64", "sha1", "sha2", "sha5", "md5", "utf", "argon", "pbkdf", "bcrypt"];

/// Returns the password in a value, if it is one.
pub(super) fn is_password<'a>(bound: &BoundValue<'a>, hint: Hint, bond: Bond) -> Option<&'a [u8]> {
    let value = bound.value;
    let core = core_of(value);
    let bounds = PASSWORD_BYTES_MIN..=PASSWORD_BYTES_MAX;
    let is_negated = bond == Bond::Operator && !bound.is_quoted && is_negated(value);
    if !bounds.contains(&core.len()) || refers(value) || is_negated || is_known_word(core) {
        return None;
    }
    let make = Make::of(core);
    let has_other = core.iter().any(|byte| !byte.is_ascii_alphanumeric());
    let is_strange =
        make.digits > 0 || core.iter().any(|byte| is_strange(*byte)) || make.has_random_letters();
    let is_chosen = match bond {
        _ if make.distinct < 3 || make.letters() == 0 && !has_other && make.digits < 6 => false,
        // Whatever a variable of this name is set to.
        Bond::Operator if bound.is_variable_set => true,
        _ if is_wild(make) => true,
        Bond::Operator if hint == Hint::Weak => {
            make.digits > 0
                && make.letters() > 2
                && (bound.is_quoted
                    || make.is_unlike_words(60)
                    || is_varied(make) && make.bytes >= 12)
        }
        Bond::Operator if bound.is_quoted => core.len() >= 8 || is_strange,
        Bond::Operator => is_strange || core.contains(&b'-'),
        Bond::Flag => hint == Hint::Strong && (is_strange || has_other || make.letters() >= 6),
        // A word of another language has letters beyond ASCII too.
        Bond::Sentence if !core.is_ascii() && make.digits == 0 && make.marks == 0 => {
            bound.is_quoted
        }
        Bond::Sentence => is_strange || bound.is_quoted && !core.contains(&b'_'),
        Bond::Neighbour if is_varied(make) && make.bytes >= 12 && make.is_unlike_words(60) => true,
        Bond::Neighbour => {
            (bound.is_quoted && is_strange && !core.contains(&b'_')) || is_plainly_one(make)
        }
        Bond::Identifier => {
            is_strange && (bound.is_quoted || is_varied(make)) && !core.contains(&b'_')
        }
    };
    (is_chosen && !is_placeholder(value)).then_some(if bound.is_quoted {
        value
    } else {
        with_marks(value, core)
    })
}

/// Tells whether letters alone are in no order that a word or a name has.
pub(super) fn is_wild(make: Make) -> bool {
    make.letters() == make.bytes
        && make.bytes >= 10
        && make.upper >= 2
        && make.lower >= 2
        && make.is_unlike_words(55)
}

/// Tells whether a value has more kinds of characters than a word.
fn is_varied(make: Make) -> bool {
    let kinds = [make.digits > 0, make.upper > 0, make.lower > 0, make.marks > 0];
    kinds.into_iter().filter(|has| *has).count() >= 3 && make.switches > 0
}

/// Tells whether a value can only be a password: characters of all kinds, and no words.
fn is_plainly_one(make: Make) -> bool {
    let kinds = [make.digits, make.upper, make.lower, make.marks];
    kinds.into_iter().all(|count| count > 0) && make.bytes >= 10 && make.is_unlike_words(60)
}

/// Removes the punctuation of a sentence from the end.
fn core_of(value: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b'.' | b':' | b'?' | b'!' | b',' | b';' | b'*');
    let end = value.iter().rposition(is_text).map_or(0, |last| last + 1);
    value.get(..end).unwrap_or_default()
}

/// Adds the exclamation marks and stars at the end, which may belong to the password.
fn with_marks<'a>(value: &'a [u8], core: &[u8]) -> &'a [u8] {
    let rest = value.get(core.len()..).unwrap_or_default();
    let marks = rest.iter().take_while(|byte| matches!(byte, b'!' | b'*' | b'?')).count();
    value.get(..core.len() + marks).unwrap_or_default()
}

fn is_strange(byte: u8) -> bool {
    !byte.is_ascii()
        || matches!(
            byte,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'~' | b'?'
        )
}

/// Tells whether a value is a reference to the password: a variable, a path, a call.
fn refers(value: &[u8]) -> bool {
    let starts = value.first().is_some_and(|byte| b"$<{[(*/\\.-:=&|?+".contains(byte));
    let is_variable = value.len() > 2 && value.starts_with(b"%") && value.ends_with(b"%");
    // The host after `<password>` in an address.
    let is_host = value.starts_with(b"@") && value.iter().any(|byte| matches!(byte, b':' | b'.'));
    let calls = value.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{' | b'<'));
    let is_path = value.contains(&b'/') || value.windows(2).any(|pair| pair == b"::");
    // self.password, var.db_password, DB_PASSWORD
    let is_name =
        value.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'))
            && value.iter().any(|byte| matches!(byte, b'.' | b'_'));
    starts || is_host || is_variable || calls || is_path || is_name
}

/// Tags of YAML and of style sheets, after their exclamation mark.
const TAGS: &str = "\
    secret vault vaulted encrypted include reference importvalue getatt binary string important";

/// Tells whether a value is a negated variable, as in `!isHidden` and `!this.hidden`, or a tag.
fn is_negated(value: &[u8]) -> bool {
    let marks = value.iter().take_while(|byte| **byte == b'!').count();
    let name = core_of(value.get(marks..).unwrap_or_default());
    let is_variable = name.first().is_some_and(u8::is_ascii_lowercase)
        && name.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'))
        && (is_identifier(name) || name.contains(&b'.'));
    let is_tag = || words(TAGS).any(|tag| name.eq_ignore_ascii_case(tag));
    marks > 0 && (is_variable || is_known_word(name) || is_tag())
}

/// Tells whether a word is one that people write about passwords.
pub(super) fn is_word_of_passwords(value: &[u8]) -> bool {
    is_known_word(core_of(value))
}

fn is_known_word(core: &[u8]) -> bool {
    let is = |word: &[u8]| core.eq_ignore_ascii_case(word);
    let begins = |word: &&str| {
        core.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_counted = core.first().is_some_and(u8::is_ascii_digit) && core.contains(&b'-');
    words(WORDS).any(is) || METHODS.iter().any(begins) || is_counted
}
