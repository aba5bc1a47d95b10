//! From a name to its value: every form in which text, code and configuration bind the two. Each form says
//! where the value begins; how a value is cut is the same for all. Not here: which names there are
//! (`tables/names.txt`), and which values are secrets (`named_secret`).

use std::ops::Range;

use super::binding_form::{AFTER_OPERATOR, AFTER_TAGS, FORMS, IN_CALL, IN_LIST, IN_PAIR};
use super::bound_value::{Bond, BoundValue, cut, is_quote};
use super::charset::{Charset, DOTTED, URL};
use super::context::{
    NAME_BYTES_MAX, ends_line, is_directive, is_flag, is_identifier, mentions, name_start,
};
use super::text::{Text, words};
use super::value_start::{after_tag, bracket};

const TAIL: Charset = DOTTED.and(" \t");

/// What stands before a name at the beginning of a line of YAML.
const INDENT: Charset = Charset::new(" -");

/// Words before a credential that name its scheme.
const SCHEMES: &str =
    "bearer basic token apikey api-key api-token digest key bot negotiate genie sso-key";

/// Words that bind a value to its name in a sentence, and adverbs that may follow them.
const VERBS: &str = "is was to are ist war lautet est es era jest je contains este är er é è là هي هو היא הוא adalah yra ir είναι - – — from equals para auf BY TO";
/// Words that begin a clause with a subject of its own.
const CLAUSES: &str = "when if where that which unless because and";
/// Bytes of words between a name and its verb or colon.
const WORDS_BYTES_MAX: usize = 64;
/// Words that say whose a password is, or what for.
pub(super) const FOR: &str = "for of on at in to from für von auf pour de du sur para do da del di per voor van för til for na od dla для от к на";
/// Bytes between a name and such a word.
const FOR_BYTES_MAX: usize = 24;
/// Bytes from a name to the end of its line.
const LINE_BYTES_MAX: usize = 120;
/// Bytes of a command before and after a name in it.
const COMMAND_BYTES_MAX: usize = 160;
/// Bytes of spaces between two columns.
const COLUMN_BYTES_MAX: usize = 40;
const ADVERBS: [&str; 15] = [
    "jetzt ",
    "nun ",
    "maintenant ",
    "ahora ",
    "agora ",
    "adesso ",
    "now ",
    "still ",
    "set to ",
    "simply ",
    "just ",
    "changed to ",
    "reset to ",
    "rotated to ",
    "again ",
];

/// The finding after a name, and the values that were read.
pub(super) struct BindingScan<T> {
    pub(super) found: Option<T>,
    pub(super) values: Range<usize>,
}

/// Calls `accept` on every value that may be bound to a name, which stands from `start` to `end`, until one is
/// accepted.
pub(super) fn scan_bindings<'a, T>(
    text: Text<'a>,
    start: usize,
    end: usize,
    mut accept: impl FnMut(BoundValue<'a>) -> Option<T>,
) -> BindingScan<T> {
    let tail_end = text.run(end, TAIL, NAME_BYTES_MAX);
    let name_end = text.run(end, URL, NAME_BYTES_MAX);
    let tail = text.slice(end, tail_end);
    let name_tail = text.slice(end, name_end);
    let mut values = tail_end..end;
    let mut offer = |bound: Option<BoundValue<'a>>| {
        let bound = bound?;
        values = values.start.min(bound.from)..values.end.max(bound.to);
        accept(bound)
    };
    let name = name_start(text, start);
    let in_form = |number: usize| {
        let form = FORMS.get(number)?;
        let (at, tail) = if form.follows_words { (tail_end, tail) } else { (name_end, name_tail) };
        // What follows `</password>` is another element.
        if number == AFTER_TAGS && text.before(name) == b'/' {
            return None;
        }
        // A call of a name: between the two stands no other word.
        if number == IN_CALL && tail.contains(&b' ') {
            return None;
        }
        if number == IN_LIST && !is_listed(text, name, name_end) {
            return None;
        }
        let place = form.value(text, at)?;
        // `when provider=` binds to its last word, and in a template `|` pipes.
        let is_other = number == AFTER_OPERATOR
            && (text.at(at) == b'='
                && text.before(at).is_ascii_alphanumeric()
                && tail.contains(&b' ')
                || text.slice(at, place).contains(&b'|') && is_in_template(text, start));
        if is_other {
            return None;
        }
        let mut bound = value_at(text, place, Bond::Operator, tail)?;
        let last = text.before(at);
        let is_set = place == at + 1 && text.at(at) == b'=';
        let is_line = place == at + 2
            && text.at(at) == b':'
            && matches!(text.before(text.run_back(name, INDENT, 64)), b'\n' | 0)
            && matches!(text.at(bound.to), b'\n' | 0);
        bound.is_variable_set = (is_set || is_line || number == IN_PAIR)
            && (last.is_ascii_uppercase() || last.is_ascii_digit() || last == b'_')
            && text.slice(start, end).iter().any(u8::is_ascii_uppercase);
        (bound.is_quoted || !form.is_quoted).then_some(bound)
    };
    // Words of other languages are no part of a name, but may stand between it and its value.
    let goes_on = |byte: u8| TAIL.has(byte) || byte >= 0x80;
    let words_end = match text.at(tail_end) {
        0x80.. => text.run_while(tail_end, WORDS_BYTES_MAX, goes_on),
        _ => tail_end,
    };
    let words = text.slice(end, words_end);
    let is_other = !words.is_ascii();
    // password ........ value
    let leader = text.run_while(name_end, COLUMN_BYTES_MAX, |byte| matches!(byte, b' ' | b'.'));
    let is_led = mentions(text.slice(name_end, leader), &["..."]);
    let found = offer(in_form(AFTER_OPERATOR))
        .or_else(|| offer(value_at(text, leader, Bond::Operator, b"").filter(|_| is_led)))
        .or_else(|| offer(value_after_space(text, start, name_end, name_tail)))
        .or_else(|| offer(value_after_verb(text, end, tail)))
        .or_else(|| offer(said_last(text, end, tail)))
        .or_else(|| offer(in_brackets(text, name_end)))
        .or_else(|| (1..FORMS.len()).find_map(|number| offer(in_form(number))))
        .or_else(|| offer(below(text, start, name_end, name_tail)))
        .or_else(|| offer(value_after_verb(text, end, words).filter(|_| is_other)))
        .or_else(|| offer(after_operator(text, words_end).filter(|_| is_other)))
        .or_else(|| offer(asked(text, name_end)))
        .or_else(|| offer(last_word(text, end, words).filter(|_| is_other)));
    BindingScan { found, values }
}

/// Tells whether a value may follow a name in a list: the name is the first, an option, a selector or a constant.
fn is_listed(text: Text<'_>, name: usize, name_end: usize) -> bool {
    let lead = usize::from(matches!(text.before(name), b'#' | b' '));
    let quoted = usize::from(is_quote(text.before(name.saturating_sub(lead))));
    let opening = name.saturating_sub(lead + quoted);
    let opening = text.run_back_while(opening, 1, |byte| byte == b' ');
    let is_opened = matches!(text.before(opening), b'(' | b'[' | b'{' | b'\n' | 0);
    // 'input[name=password]', 'value'
    let is_selected = text.before(name) == b'=' && text.at(name_end) == b']';
    // setopt(h, OPT_PASSWORD, "value")
    let whole = text.slice(name, name_end);
    let is_constant = text.before(opening) == b','
        && is_identifier(whole)
        && whole.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    is_opened || is_selected || text.at(name) == b'-' || is_constant
}

/// Tells whether a template opens on the line before a place.
fn is_in_template(text: Text<'_>, place: usize) -> bool {
    let line = text.run_back_while(place, COMMAND_BYTES_MAX, |byte| byte != b'\n');
    text.slice(line, place).windows(2).any(|pair| matches!(pair, b"{{" | b"{%"))
}

/// A value that only a space parts from its name.
fn value_after_space<'a>(
    text: Text<'a>,
    start: usize,
    name_end: usize,
    tail: &'a [u8],
) -> Option<BoundValue<'a>> {
    // "name" "value"
    let is_closed = is_quote(text.at(name_end)) && is_quote(text.at(name_end + 2));
    let name_end = name_end + usize::from(is_closed);
    if tail.is_empty() && text.is_at(name_end, "'s ") {
        return value_at(text, name_end + 3, Bond::Sentence, b"");
    }
    if text.at(name_end) == b'\t' {
        return value_at(text, name_end + 1, Bond::Identifier, tail);
    }
    // fs.secret.key VALUE
    let end = name_end - tail.len();
    let is_dotted = text.at(name_end) == b'.' && text.at(name_end + 1).is_ascii_lowercase();
    let name_end = if is_dotted { text.run(name_end, DOTTED, NAME_BYTES_MAX) } else { name_end };
    let tail = text.slice(end, name_end);
    if text.at(name_end) != b' ' {
        return None;
    }
    let is_name = is_identifier(text.slice(name_start(text, start), name_end));
    let bond = match () {
        () if is_flag(text, start) => Bond::Flag,
        () if is_name || is_directive(text, start, name_end) => Bond::Identifier,
        () => Bond::Neighbour,
    };
    let is_flagged = bond == Bond::Flag;
    let from = text.run_while(name_end, COLUMN_BYTES_MAX, |byte| byte == b' ');
    // username jane password 0 value
    let is_typed = text.at(name_end + 1).is_ascii_digit() && text.at(name_end + 2) == b' ';
    let name_end = name_end + 2 * usize::from(is_typed);
    // In a table of two columns many spaces bind.
    let is_column = !is_flagged && from > name_end + 1 && is_directive(text, start, from - 1);
    let bond = if is_column { Bond::Operator } else { bond };
    let mut bound = value_at(text, if is_column { from } else { name_end + 1 }, bond, tail)?;
    bound.is_last &= bond != Bond::Identifier || ends_line(text, bound.to);
    Some(bound)
}

/// A value in a sentence of another language without a verb: the first word of another script, or the last.
fn last_word<'a>(text: Text<'a>, end: usize, words: &[u8]) -> Option<BoundValue<'a>> {
    let is_latin = |part: &[u8]| matches!(part, [last, b' ', next] if *last >= 0x80 && next.is_ascii_alphanumeric());
    let first = words.windows(3).position(is_latin).map(|place| place + 1);
    let last = || words.iter().rposition(|byte| *byte == b' ');
    let at = |place| value_at(text, end + place + 1, Bond::Neighbour, b"");
    first.and_then(at).filter(|bound| bound.is_foreign).or_else(|| at(last()?))
}

/// A value that an operator binds to its name and the words after it, which are not part of the name.
fn after_operator(text: Text<'_>, place: usize) -> Option<BoundValue<'_>> {
    let place = FORMS.get(AFTER_OPERATOR)?.value(text, place)?;
    value_at(text, place, Bond::Operator, b"")
}

/// A value at the end of the line, after a colon, where the words before it say whose or what for it is.
fn asked(text: Text<'_>, name_end: usize) -> Option<BoundValue<'_>> {
    let says_for = |words_after: &[u8]| {
        words_after.split(|byte| *byte == b' ').any(|word| words(FOR).any(|other| other == word))
    };
    if text.at(name_end) != b' ' {
        return None;
    }
    let end = text.run_while(name_end, LINE_BYTES_MAX, |byte| byte != b'\n');
    let rest = text.slice(name_end, end);
    // The cheap test comes first.
    if !rest.contains(&b':') || !says_for(text.slice(name_end, name_end + FOR_BYTES_MAX)) {
        return None;
    }
    let colon = rest.windows(2).rposition(|pair| pair == b": ")?;
    let (before, value) = (rest.get(..colon)?, rest.get(colon + 2..)?);
    let is_one = !value.trim_ascii().contains(&b' ') && matches!(text.at(end), 0 | b'\n');
    (is_one && says_for(before))
        .then(|| value_at(text, name_end + colon + 2, Bond::Operator, b""))?
}

/// A value that a verb binds to its name.
fn value_after_verb<'a>(text: Text<'a>, end: usize, tail: &'a [u8]) -> Option<BoundValue<'a>> {
    let (before, mut after) = verb(tail).map(|verb| (verb.start, verb.end))?;
    // password when provider is "x"
    let is_clause = |word: &&[u8]| words(CLAUSES).any(|other| other == *word);
    let clause = tail.get(..before)?.split(|byte| *byte == b' ').find(is_clause);
    // the password that works is VALUE
    let is_relative = matches!(clause, Some(b"that" | b"which"));
    if clause.is_some() && !is_relative {
        return None;
    }
    let rest = tail.get(after..)?;
    after +=
        ADVERBS.iter().find(|word| rest.starts_with(word.as_bytes())).map_or(0, |word| word.len());
    let bond = if is_relative { Bond::Neighbour } else { Bond::Sentence };
    let bound = value_at(text, end + after, bond, tail.get(..after)?)?;
    (!is_relative || bound.is_last).then_some(bound)
}

/// The second value in `changed from OLD to NEW`.
fn said_last<'a>(text: Text<'a>, end: usize, tail: &'a [u8]) -> Option<BoundValue<'a>> {
    let first = verb(tail).filter(|verb| tail.get(verb.clone()) == Some(b" from "))?;
    let rest = tail.get(first.end - 1..)?;
    let to = rest.windows(4).position(|part| part == b" to ")?;
    value_at(text, end + first.end - 1 + to + 4, Bond::Sentence, tail.get(..first.end - 1 + to)?)
}

/// A value in brackets after its name: `the password (value)`.
fn in_brackets(text: Text<'_>, name_end: usize) -> Option<BoundValue<'_>> {
    let close = match text.slice(name_end, name_end + 2) {
        b" (" => b')',
        b" [" => b']',
        _ => return None,
    };
    let mut bound = value_at(text, name_end + 2, Bond::Sentence, b"")?;
    bound.is_last = true;
    (text.at(bound.to + usize::from(bound.is_quoted)) == close).then_some(bound)
}

/// Returns where the first verb stands, with the spaces around it.
pub(super) fn verb(tail: &[u8]) -> Option<Range<usize>> {
    let mut start = 0;
    for word in tail.split(|byte| *byte == b' ') {
        let end = start + word.len();
        let is_verb = || words(VERBS).any(|verb| verb == word);
        if start > 0 && end < tail.len() && is_verb() {
            return Some(start - 1..end + 1);
        }
        start = end + 1;
    }
    None
}

/// A value on the line after a name that fills its own line, or that a command printed.
fn below<'a>(
    text: Text<'a>,
    start: usize,
    name_end: usize,
    tail: &'a [u8],
) -> Option<BoundValue<'a>> {
    let line = text.run_back_while(start, COMMAND_BYTES_MAX, |byte| byte != b'\n');
    // The prompt of a shell, at the beginning of the line or behind other words.
    let is_prompt = |part: &[u8]| matches!(part, b" $ " | b"\"$ ");
    if matches!(text.slice(line, line + 2), b"$ " | b"> " | b"% ")
        || text.slice(line, start).contains(&b'$')
            && text.slice(line, start).windows(3).any(is_prompt)
    {
        let line_end = text.run_while(name_end, COMMAND_BYTES_MAX, |byte| byte != b'\n');
        let from = text.run(line_end + 1, INDENT, COLUMN_BYTES_MAX);
        let bound = value_at(text, from, Bond::Operator, tail)?;
        return ends_line(text, bound.to).then_some(bound);
    }
    let name = name_start(text, start);
    let before = text.run_back(name, Charset::new("# \""), 8);
    let is_heading = text.at(before) == b'#' && matches!(text.before(before), 0 | b'\n');
    // A part of a form: `name="password"`.
    let is_part = text.at(name_end) == b'"' && text.is_at(before.saturating_sub(5), "name=");
    let name_end = name_end + usize::from(is_part);
    // A line that is the name, after a line that is empty, and the last line of its part.
    let ends_part = || {
        let end = text.run_while(name_end + 1, COMMAND_BYTES_MAX, |byte| byte != b'\n');
        matches!((text.at(end), text.at(end + 1)), (0 | b'\n', 0 | b'\n'))
    };
    let is_title = name == start
        && text.at(name_end) == b'\n'
        && (name == 0 || text.slice(name.saturating_sub(2), name) == b"\n\n")
        && ends_part();
    let is_alone = text.at(name_end) == b'\n'
        && (is_heading
            || is_part
            || is_title
            || matches!(text.before(name), 0 | b'\n') && is_identifier(text.slice(name, name_end)));
    let is_gap = |byte: u8| byte == b' ' || byte == b'\n' && (is_heading || is_part);
    let line = is_alone.then(|| text.run_while(name_end + 1, 64, is_gap))?;
    let bound = value_at(text, line, Bond::Identifier, tail)?;
    matches!(text.at(bound.to), 0 | b'\n' | b'\r').then_some(bound)
}

/// Reads the value that begins at `place`, after its opening quote and the name of its scheme.
pub(super) fn value_at<'a>(
    text: Text<'a>,
    place: usize,
    bond: Bond,
    tail: &'a [u8],
) -> Option<BoundValue<'a>> {
    // « value »
    let place = match text.slice(place, place + 2) {
        [0xC2, 0xAB] => text.run_while(place + 2, 3, |byte| matches!(byte, b' ' | 0xC2 | 0xA0)),
        _ => place,
    };
    // password: !!str value
    let place = match text.slice(place, place + 2) {
        b"!!" => text.run_while(place, WORDS_BYTES_MAX, |byte| byte > b' ') + 1,
        _ => place,
    };
    let place = after_tag(text, place);
    // b"…" and @"…"
    let is_letter = matches!(text.at(place), b'b' | b'r' | b'f' | b'u' | b'@' | b'L' | b'N' | b'$');
    let marked = usize::from(is_letter && is_quote(text.at(place + 1)));
    // [[…]] and {"…"}
    let place = place + 2 * usize::from(text.slice(place, place + 2) == b"[[");
    let opening = place + marked + bracket(text, place);
    let from = text.run_while(opening, 3, is_quote);
    // In '"…"' the inner quote closes the value.
    let quote = (from > opening).then(|| text.before(from));
    // 'echo VALUE'
    let from = if quote.is_some() && text.is_at(from, "echo ") { from + 5 } else { from };
    let mut bound = cut(text, from, quote, bond, tail);
    let is_scheme = words(SCHEMES).any(|scheme| bound.value.eq_ignore_ascii_case(scheme));
    if is_scheme && text.at(bound.to) == b' ' {
        let next = text.run_while(bound.to, 4, |byte| byte == b' ');
        bound = cut(text, next, quote, bond, tail);
    }
    (!bound.value.is_empty()).then_some(bound)
}
