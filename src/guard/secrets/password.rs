//! The judge of chosen passwords: whether a value is one, or a word that people write about passwords. Not
//! here: how a value is found (`binding`).

use super::bound_value::{Bond, BoundValue};
use super::context::{is_identifier, mentions};
use super::known_word::{
    NAMES, is_known_word, is_list_of_characters, names_secret, without_end_punctuation,
};
use super::placeholder::is_placeholder;
use super::text::{WordTable, words};
use super::value_statistics::ValueStatistics;

/// Shorter passwords cannot be told from words.
const PASSWORD_BYTES_MIN: usize = 6;
const PASSWORD_BYTES_MAX: usize = 256;

/// Things that people and programs number.
static NUMBERED: WordTable = WordTable::new(include_str!("tables/numbered.txt"));

/// Bytes of a word that may be a password in a sentence.
const SAID_BYTES_MIN: usize = 8;

/// Bytes of a word that may be a password after words that say so.
const TOLD_BYTES_MIN: usize = 10;

/// Bytes of a word that may be a password beside its name.
const BESIDE_BYTES_MIN: usize = 11;

/// Further endings of long words.
const DERIVED: &str = "\
    s ion ness ment er or ship ism ist ance ence ency ancy ure ude age ade hood ward wise some ify ise ize graphy ology ry ty cy th \
    folder holder manager server client factory field text word words file files ware base name line point place";

/// Endings of words that tell how a password is, in the languages that have them in common.
const ENDINGS: &str = "\
    ed ing able ible ity ive less ful ous ent ant ary ory ate ion ly where ever ic ical al ado ada ido ida ato ata ito ita uto \
    uta cta cto ria rio bar lich isch oire ert igt stellt auscht aufen ohlen essen ssen ement eur aire elle ny na ne owane owany";

/// Objects of programs whose members are no values.
const OBJECTS: &str = "self this env var vars local process os req";

/// Returns the password in a value, if it is one. After an operator or a flag the value goes whatever it looks like, unless
/// it is a reference, a number of a program, or a word that code and people use there.
pub(super) fn is_password<'a>(bound: &BoundValue<'a>, bond: Bond) -> Option<&'a [u8]> {
    let value = bound.value;
    let core = without_end_punctuation(value);
    let bounds = PASSWORD_BYTES_MIN..=PASSWORD_BYTES_MAX;
    let is_negated = bond == Bond::Operator && !bound.is_quoted && is_negated(value);
    // Full stops at the end are no part of a name such as `config.password`.
    let stops = value.iter().rev().take_while(|byte| **byte == b'.').count();
    let body = value.get(..value.len() - stops).unwrap_or_default();
    if !bounds.contains(&core.len())
        || refers(body)
        || is_negated
        || is_known_word(core)
        || is_literal(core)
        || is_placeholder(value)
        || is_list_of_characters(value)
        || is_of_known_word_at_host(value)
        || is_made_of_known_words(core)
    {
        return None;
    }
    // Whatever a variable of this name is set to.
    let is_set = bond == Bond::Operator && bound.is_variable_set;
    let make = ValueStatistics::count(core);
    let is_chosen = is_set
        || !is_code(bound, core, make)
            && (is_wild(make) || is_numbered_word(core) || is_phrase(core) || {
                is_bound(bound, bond, core, make)
            });
    is_chosen.then_some(if bound.is_quoted { value } else { with_marks(value, core) })
}

/// Tells whether a value is what code writes there: the key of the next line, a constant, a variable, a name of which one
/// part is a word of code.
fn is_code(bound: &BoundValue<'_>, core: &[u8], make: ValueStatistics) -> bool {
    let is_bare = !bound.is_quoted;
    let is_name = make.letters() == core.len() && !is_wild(make);
    is_bare && bound.value.ends_with(b":")
        || is_name && make.lower == 0
        || is_name && bound.goes_on && bound.bond == Bond::Operator
        || is_name
            && is_bare
            && is_identifier(core)
            && core.first().is_some_and(u8::is_ascii_lowercase)
        || is_identifier(core) && core.iter().all(is_of_names) && names_known_thing(core)
}

fn is_of_names(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.:|".contains(byte)
}

/// Tells whether the bond of a value is strong enough for what it looks like.
fn is_bound(bound: &BoundValue<'_>, bond: Bond, core: &[u8], make: ValueStatistics) -> bool {
    let is_word = make.lower == core.len();
    let is_strange = make.digits > 0
        || core.iter().any(|byte| is_strange(*byte))
        || make.has_random_letters()
        || is_compound(core);
    let is_quoted_value = bound.is_quoted && !core.contains(&b'_');
    match bond {
        // A name of code that has a digit is made of known words, which was looked at before.
        Bond::Operator | Bond::Flag => make.digits > 0 || !names_secret(core),
        // `PasswordCommand word` names no password.
        Bond::Identifier if bound.is_last && !is_longer_name(bound.tail) => {
            !names_secret(core) && core.len() == bound.value.len()
        }
        Bond::Identifier if is_word && bound.is_last => is_underived(core),
        // A Latin word among words of another script.
        Bond::Sentence | Bond::Neighbour if bound.is_foreign && (is_word || is_strange) => true,
        // A long word after words that say that a password follows, or that a name of another language binds.
        Bond::Sentence | Bond::Neighbour if is_word && bound.is_told => {
            core.len() >= TOLD_BYTES_MIN && !names_secret(core) && !is_said_of_passwords(core)
        }
        // A long word beside the name that fills the rest of the line is one, unless it is made as words of languages are.
        Bond::Neighbour if is_word && bound.is_last && core.len() >= BESIDE_BYTES_MIN => {
            is_underived(core)
        }
        // In a sentence a long word at its end is one, unless it is said of the password.
        Bond::Sentence if is_word && bound.is_last => {
            core.len() >= SAID_BYTES_MIN
                && !names_secret(core)
                && !is_infinitive(bound.tail)
                && !is_said_of_passwords(core)
        }
        // The password was VALUE before.
        Bond::Sentence if is_word && bound.goes_on && is_underived(core) => true,
        // A word of another language has letters beyond ASCII too.
        Bond::Sentence if !core.is_ascii() && make.digits == 0 && make.marks == 0 => {
            bound.is_quoted
        }
        Bond::Sentence => is_strange || is_quoted_value,
        Bond::Neighbour | Bond::Identifier => {
            is_quoted_value && !names_secret(core)
                || is_compound(core)
                || is_marked(core)
                || is_strange && is_varied(make)
                || make.digits == core.len()
        }
    }
}

/// Tells whether a word is long, and none that languages and programs derive from shorter ones.
pub(super) fn is_underived(core: &[u8]) -> bool {
    core.len() >= BESIDE_BYTES_MIN
        && core.iter().all(u8::is_ascii_lowercase)
        && !is_said_of_passwords(core)
        && !names_secret(core)
        && !is_known_word(core)
        && !words(DERIVED).any(|ending| core.ends_with(ending))
}

/// Tells whether a name goes on with a word in lower case after the word that means a password.
fn is_longer_name(tail: &[u8]) -> bool {
    tail.trim_ascii_end().iter().any(u8::is_ascii_lowercase)
}

/// Tells whether a word ends as those that tell how a password is.
fn is_said_of_passwords(core: &[u8]) -> bool {
    words(ENDINGS).any(|ending| core.ends_with(ending))
}

/// Tells whether words end in a `to` that no value follows, as in `has to match`.
fn is_infinitive(tail: &[u8]) -> bool {
    const CHANGES: [&str; 5] = ["changed to ", "set to ", "rotated to ", "updated to ", "now to "];
    const BEFORE_VERBS: [&str; 3] = ["to ", "para ", "auf "];
    BEFORE_VERBS.iter().any(|word| tail.ends_with(word.as_bytes()))
        && !CHANGES.iter().any(|end| tail.ends_with(end.as_bytes()))
}

/// Tells whether a value is capitalised words without a divider, none of which is a word of code.
pub(super) fn is_compound(core: &[u8]) -> bool {
    let mut pieces = pieces(core);
    core.iter().all(u8::is_ascii_alphabetic)
        && core.first().is_some_and(u8::is_ascii_uppercase)
        && pieces.clone().count() > 1
        && pieces.all(|piece| piece.len() > 2 && !is_known_word(piece))
}

/// Tells whether a value has marks between letters and digits, as people put them into passwords.
pub(super) fn is_marked(core: &[u8]) -> bool {
    let inner = core.get(1..core.len().saturating_sub(1)).unwrap_or_default();
    let marks = b"!@#$%^&*";
    let kinds = marks.iter().filter(|mark| inner.contains(mark)).count();
    let make = ValueStatistics::count(core);
    let has_other = core.iter().any(|byte| !byte.is_ascii_alphanumeric() && !marks.contains(byte));
    kinds > 1 && make.letters() > 2 && make.digits > 0 && !has_other
}

/// Tells whether a value is words of code and nothing else, as in `test-password` and `user:passwd`.
fn is_made_of_known_words(core: &[u8]) -> bool {
    let mut pieces = pieces(core).peekable();
    pieces.peek().is_some() && pieces.all(is_known_word)
}

/// Tells whether a value is an address of mail that people write as an example, as in `user@site`.
fn is_of_known_word_at_host(value: &[u8]) -> bool {
    let mut parts = value.splitn(2, |byte| *byte == b'@');
    let name = parts.next().unwrap_or_default();
    let is_host = |host: &[u8]| {
        host.len() > 2 && host.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'.')
    };
    is_known_word(name) && parts.next().is_some_and(is_host)
}

/// Tells whether a short value has the kinds of characters that tokens have, and is no name of a thing.
pub(super) fn is_short_token(value: &[u8]) -> bool {
    let make = ValueStatistics::count(value);
    (8..=64).contains(&value.len())
        && is_varied(make)
        && make.distinct > 5
        && (make.marks > 0 || !make.has_word)
        && !refers(value)
        && !is_literal(value)
        && !names_known_thing(value)
        && !is_placeholder(value)
}

/// Tells whether one part of a name is a word of code.
fn names_known_thing(core: &[u8]) -> bool {
    pieces(core).any(|piece| piece.len() > 2 && is_known_word(piece))
}

/// Returns the words of a name in camel case or with separators.
fn pieces(core: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let begins_hump =
        |before: &u8, next: &u8| before.is_ascii_lowercase() && next.is_ascii_uppercase();
    core.chunk_by(move |before, next| {
        !begins_hump(before, next) && before.is_ascii_alphanumeric() && next.is_ascii_alphanumeric()
    })
    .filter(|piece| piece.first().is_some_and(u8::is_ascii_alphanumeric))
}

/// Tells whether a value is a number of a program: hexadecimal, or numbers with points between them.
fn is_literal(core: &[u8]) -> bool {
    let hex = core.strip_prefix(b"0x").or_else(|| core.strip_prefix(b"0X"));
    // 2.5.4.35, T1003.008
    let numbers = core.strip_prefix(b"T").unwrap_or(core);
    let is_dotted = numbers.contains(&b'.')
        && numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let is_row = ValueStatistics::count(core).distinct < 3;
    // npm:^1.0.0
    let is_version = core
        .windows(2)
        .any(|pair| pair.starts_with(b"^") && pair.last().is_some_and(u8::is_ascii_digit))
        && ValueStatistics::count(core).letters() < 4;
    // 0x350UL
    let is_number = |digits: &[u8]| {
        let suffix = digits.iter().rev().take_while(|byte| b"uUlL".contains(byte)).count();
        digits.iter().rev().skip(suffix).all(u8::is_ascii_hexdigit)
    };
    hex.is_some_and(is_number) || is_dotted || is_row || is_version
}

/// Numbers at the end of names of types, and of programs.
const TYPE_NUMBERS: [&str; 8] = ["10", "11", "12", "16", "32", "64", "128", "256"];

/// Tells whether a value is a word and a number, as in `tiger42`, which names hardly are.
pub(super) fn is_numbered_word(core: &[u8]) -> bool {
    let letters = core.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = core.split_at(letters);
    let is_word = letters >= 4 && word.iter().skip(1).all(u8::is_ascii_lowercase);
    let is_number = (2..=4).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
    let is_hex = core.iter().all(u8::is_ascii_hexdigit);
    let is_thing = || NUMBERED.has(word);
    is_word
        && is_number
        && !is_hex
        && !mentions(word, &NAMES)
        && !is_thing()
        && !TYPE_NUMBERS.iter().any(|end| number == end.as_bytes())
}

/// Tells whether a value is words with hyphens, none of which is a word of programs: four words and more, or two and a
/// number; or groups of letters and digits as programs draw them for people to type.
pub(super) fn is_phrase(core: &[u8]) -> bool {
    let words = || core.split(|byte| *byte == b'-');
    let is_word = |word: &[u8]| {
        word.len() >= 3
            && word.iter().skip(1).all(u8::is_ascii_lowercase)
            && word.first().is_some_and(u8::is_ascii_alphabetic)
            && !is_known_word(word)
    };
    let is_number =
        |word: &[u8]| (2..=4).contains(&word.len()) && word.iter().all(u8::is_ascii_digit);
    let is_title = |word: &[u8]| word.first().is_some_and(u8::is_ascii_uppercase);
    let (number, all) = (words().filter(|word| is_number(word)).count(), words().count());
    let is_numbered =
        number == 1 && all >= 3 && words().all(|word| is_number(word) || is_title(word));
    let make = ValueStatistics::count(core);
    let first = words().next().map_or(0, <[u8]>::len);
    let is_grouped = (3..=6).contains(&all)
        && (4..=6).contains(&first)
        && words().all(|word| word.len() == first && word.iter().all(u8::is_ascii_alphanumeric))
        && make.upper > 0
        && make.digits > 0
        && (make.lower > 0 || make.switches > 2)
        && !core.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    is_grouped
        || (all >= 4 || is_numbered)
            && words().all(|word| is_word(word) || is_numbered && is_number(word))
}

/// Tells whether letters alone are in no order that a word or a name has.
pub(super) fn is_wild(make: ValueStatistics) -> bool {
    make.letters() == make.bytes
        && make.bytes >= 10
        && make.upper >= 2
        && make.lower >= 2
        && make.is_unlike_words(55)
}

/// Tells whether a value has more kinds of characters than a word.
fn is_varied(make: ValueStatistics) -> bool {
    let kinds = [make.digits > 0, make.upper > 0, make.lower > 0, make.marks > 0];
    kinds.into_iter().filter(|has| *has).count() >= 3 && (make.switches > 0 || make.marks > 0)
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
    let starts = value.first().is_some_and(|byte| b"$<{[(*/\\.-:=&|?+`\"".contains(byte));
    let is_home = value.starts_with(b"~/");
    let is_variable = value.len() > 2 && value.starts_with(b"%") && value.ends_with(b"%");
    // The host after `<password>` in an address.
    let is_host = value.starts_with(b"@")
        && value.iter().all(|byte| byte.is_ascii_lowercase() || b"@:.-0123456789".contains(byte));
    let calls = value.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{' | b'<'));
    // The parts of base64 are no words.
    let is_plain = |part: &[u8]| {
        part.len() > 2 && part.iter().all(|byte| byte.is_ascii_lowercase() || b"-_.".contains(byte))
    };
    let is_path = value.contains(&b'/') && value.split(|byte| *byte == b'/').any(is_plain)
        || value.windows(2).any(|pair| pair == b"::")
        || value.windows(3).any(|part| part == b"://");
    // protobuf:"bytes,1" in a tag of a structure
    let is_tag = value.windows(2).any(|pair| pair == b":\"");
    let is_constant = value.contains(&b'_')
        && value
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    // BASE+146
    let mut terms = value.split(|byte| *byte == b'+');
    let is_base = |term: &[u8]| {
        term.len() > 3 && term.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
    };
    let is_sum = terms.next().is_some_and(is_base)
        && terms.next().is_some_and(|term| term.iter().all(u8::is_ascii_digit));
    let is_member = value.contains(&b'.')
        && value.iter().all(is_of_names)
        && value.split(|byte| *byte == b'.').next().is_some_and(|first| {
            words(OBJECTS).any(|object| object == first) || is_known_word(first)
        });
    // self.password, var.db_password, DB_PASSWORD
    let is_name =
        value.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'))
            && value.iter().any(|byte| matches!(byte, b'.' | b'_'));
    starts
        || is_home
        || is_constant
        || is_sum
        || is_tag
        || is_member
        || is_host
        || is_variable
        || calls
        || is_path
        || is_name
}

/// Tags of YAML and of style sheets, after their exclamation mark.
const TAGS: &str = "\
    secret vault vaulted encrypted include reference importvalue getatt binary string important";

/// Tells whether a value is a negated variable, as in `!isHidden` and `!this.hidden`, or a tag.
fn is_negated(value: &[u8]) -> bool {
    let marks = value.iter().take_while(|byte| **byte == b'!').count();
    let name = without_end_punctuation(value.get(marks..).unwrap_or_default());
    let is_variable = name.first().is_some_and(u8::is_ascii_lowercase)
        && name.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'))
        && (is_identifier(name) || name.contains(&b'.'));
    let is_tag = || words(TAGS).any(|tag| name.eq_ignore_ascii_case(tag));
    marks > 0 && (is_variable || is_known_word(name) || is_tag())
}
