//! Secrets in tables: below a header that names a password, the cells of its column. Tables of Markdown, of comma,
//! semicolon and tab. Not here: two columns, where the name stands beside its value (`binding`).

use super::hit::{Hit, Rank};
use super::login::is_typed;
use super::text::Text;

/// Bytes of a table that are read, and of a header.
const TABLE_BYTES_MAX: usize = 8_192;
const HEADER_BYTES_MAX: usize = 256;
const VALUES: &str = "values";
/// What parts the cells of a line, the surest first.
const SEPARATORS: [u8; 4] = *b"|\t;,";

/// Reports the cells below the header cell that stands from `start` to `end`, if it is one.
pub(super) fn report(
    text: Text<'_>,
    start: usize,
    end: usize,
    rule: &'static str,
    hits: &mut Vec<Hit>,
) {
    let start = start + usize::from(text.at(start) == b' ');
    let line = start - before_len(text, start);
    let line_end = text.run_while(end, HEADER_BYTES_MAX, |byte| byte != b'\n');
    let header = text.slice(line, line_end);
    if text.at(line_end) != b'\n' || header.len() > HEADER_BYTES_MAX {
        return;
    }
    let is_separator = |byte: &&u8| header.contains(*byte);
    let Some(separator) = SEPARATORS.iter().find(is_separator).copied() else { return };
    let cells = cells_of(line, header, separator);
    // The name is the whole cell or its last word, as in `db password`.
    let is_in = |cell: &&(usize, usize)| {
        let (from, to) = bare(text, **cell);
        (from..to).contains(&start) && to == end
    };
    let Some(column) = cells.iter().position(|cell| is_in(&cell)) else { return };
    let is_name = |(from, to): &(usize, usize)| {
        let named =
            |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.\"".contains(byte) || *byte >= 0x80;
        text.slice(*from, *to).iter().all(named)
    };
    if cells.len() < 2 || !cells.iter().all(is_name) {
        return;
    }
    let mut next = line_end + 1;
    while next - line_end < TABLE_BYTES_MAX {
        let row_end = text.run_while(next, HEADER_BYTES_MAX * 4, |byte| byte != b'\n');
        let line = text.slice(next, row_end);
        let is_rule = !line.is_empty() && line.iter().all(|byte| b"-+|=: ".contains(byte));
        let row = cells_of(next, line, separator);
        if !is_rule && row.len() != cells.len() {
            return;
        }
        if let Some((from, to)) = row.get(column).map(|cell| bare(text, *cell)) {
            let value = text.slice(from, to);
            if !is_rule && !value.contains(&b' ') && is_typed(value, false) {
                hits.push(Hit { rule, from, to, rank: Rank::Form });
            }
        }
        if text.at(row_end) != b'\n' {
            return;
        }
        next = row_end + 1;
    }
}

/// Reports the value of a column in `INSERT INTO t (a, password) VALUES ('b', 'value')`.
pub(super) fn inserted(
    text: Text<'_>,
    start: usize,
    end: usize,
    rule: &'static str,
    hits: &mut Vec<Hit>,
) {
    let open = text.run_back_while(start, HEADER_BYTES_MAX, |byte| byte != b'(' && byte != b')');
    let close = text.run_while(end, HEADER_BYTES_MAX, |byte| byte != b'(' && byte != b')');
    if text.before(open) != b'(' || text.at(close) != b')' {
        return;
    }
    let next = |place| text.run_while(place, 8, |byte: u8| byte.is_ascii_whitespace());
    let (values, number) =
        (next(close + 1), text.slice(open, start).iter().filter(|byte| **byte == b',').count());
    let first = next(values + VALUES.len());
    if !text.is_at(values, VALUES) || text.at(first) != b'(' {
        return;
    }
    let mut place = first + 1;
    for _ in 0..number {
        place = after_comma(text, place);
    }
    let from = text.run_while(place, 4, |byte| byte == b' ' || byte == b'N');
    let (from, to) = bare(text, (from, after_comma(text, from).saturating_sub(1)));
    if matches!(text.before(from), b'\'' | b'"') && is_typed(text.slice(from, to), true) {
        hits.push(Hit { rule, from, to, rank: Rank::Form });
    }
}

/// Returns where the member of a list after this one begins; commas in quotes part nothing.
fn after_comma(text: Text<'_>, place: usize) -> usize {
    let mut quote = None;
    let end = text.run_while(place, HEADER_BYTES_MAX, |byte| {
        match quote {
            None if matches!(byte, b'\'' | b'"') => quote = Some(byte),
            Some(open) if open == byte => quote = None,
            _ => {}
        }
        quote.is_some() || !matches!(byte, b',' | b')')
    });
    end + 1
}

/// Returns the bytes between the beginning of the line and a place, at most as many as a header has.
fn before_len(text: Text<'_>, place: usize) -> usize {
    let before = text.slice(place.saturating_sub(HEADER_BYTES_MAX), place);
    super::text::count(before.len());
    before.iter().rev().take_while(|byte| **byte != b'\n').count()
}

/// Returns where the cells of a line begin and end, without the space around them.
fn cells_of(start: usize, line: &[u8], separator: u8) -> Vec<(usize, usize)> {
    let trimmed = line.trim_ascii();
    let trimmed = match separator {
        b'|' => trimmed.strip_prefix(b"|").unwrap_or(trimmed),
        _ => line.trim_ascii_end(),
    };
    let lead = line.len() - line.trim_ascii_start().len();
    let lead =
        if separator == b'|' { lead + usize::from(line.trim_ascii().starts_with(b"|")) } else { 0 };
    let trimmed =
        if separator == b'|' { trimmed.strip_suffix(b"|").unwrap_or(trimmed) } else { trimmed };
    let mut from = start + lead;
    let cell = |part: &[u8]| {
        let left = part.len() - part.trim_ascii_start().len();
        let begin = from + left;
        from += part.len() + 1;
        (begin, begin + part.trim_ascii().len())
    };
    trimmed.split(|byte| *byte == separator).map(cell).collect()
}

/// Returns a cell without its quotes or backticks.
fn bare(text: Text<'_>, (from, to): (usize, usize)) -> (usize, usize) {
    let (first, last) = (text.at(from), text.before(to));
    let is_quoted = to > from + 1 && first == last && matches!(first, b'"' | b'\'' | b'`');
    if is_quoted { (from + 1, to - 1) } else { (from, to) }
}
