//! Secrets in tables: below a header that names a password, the cells of its column. Tables of Markdown, of comma,
//! semicolon and tab. Not here: two columns, where the name stands beside its value (`binding`).

use super::binding::FOR;
use super::context::{is_about, is_public_name};
use super::hit::{Hit, Rank};
use super::named_secret::NameInText;
use super::text::{Text, words};
use super::typed_word::is_typed;

/// Bytes of a table that are read, and of a header.
const TABLE_BYTES_MAX: usize = 8_192;
const HEADER_BYTES_MAX: usize = 256;
/// Bytes of a mapping that are read, and of the spaces after a colon.
const MAPPING_BYTES_MAX: usize = 1_024;
const GAP_BYTES_MAX: usize = 4;
const VALUES: &str = "values";
/// What parts the cells of a line, the surest first. A space stands for two and more.
const SEPARATORS: [u8; 5] = *b"|\t;, ";

/// Reports the cells below the header cell in which a name stands; tells whether it is one.
pub(super) fn report(name: &NameInText<'_>, hits: &mut Vec<Hit>) -> bool {
    let NameInText { text, start, end, row, .. } = *name;
    let rule = row.name;
    let start = start + usize::from(text.at(start) == b' ');
    let line = start - before_len(text, start);
    let line_end = text.run_while(end, HEADER_BYTES_MAX, |byte| byte != b'\n');
    if text.at(line_end) != b'\n' || line_end - line > HEADER_BYTES_MAX {
        return false;
    }
    let line = table_start(text, line, start);
    let header = text.slice(line, line_end);
    // In prose spaces part nothing: the header is in capitals, or a line of dashes follows it.
    let next_line = text.slice(line_end + 1, line_end + 1 + HEADER_BYTES_MAX);
    let next_line = next_line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_titled = !header.iter().any(u8::is_ascii_lowercase) || is_rule(next_line);
    let is_separator = |byte: &&u8| match **byte {
        b' ' => is_titled && (has_gap(header) || is_rule(next_line)),
        byte => header.contains(&byte),
    };
    let Some(separator) = SEPARATORS.iter().find(is_separator).copied() else { return false };
    let cells = cells_of(line, header, separator);
    // The name is the last word of the cell, or says after it whose or what for it is.
    let is_in = |cell: &(usize, usize)| {
        let (from, to) = bare(text, *cell);
        (from..to).contains(&start) && to >= end && names_whole(name, text.slice(end, to))
    };
    let Some(column) = cells.iter().position(is_in) else { return false };
    let is_name = |(from, to): &(usize, usize)| {
        let named =
            |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.\"".contains(byte) || *byte >= 0x80;
        text.slice(*from, *to).iter().all(named)
    };
    let is_table = cells.len() > 1 || is_rule(next_line);
    if !is_table || !cells.iter().all(is_name) {
        return false;
    }
    let mut next = line_end + 1;
    while next - line_end < TABLE_BYTES_MAX {
        let row_end = text.run_while(next, HEADER_BYTES_MAX * 4, |byte| byte != b'\n');
        let mut line = text.slice(next, row_end);
        // What stands behind the last bar, such as the quote of a text in JSON, is no cell.
        let bar = line.iter().rposition(|byte| *byte == b'|');
        if let Some(bar) = bar.filter(|_| header.trim_ascii_end().ends_with(b"|")) {
            line = line.get(..=bar).unwrap_or_default();
        }
        let is_rule = is_rule(line);
        let row = cells_of(next, line, separator);
        if !is_rule && row.len() != cells.len() {
            return true;
        }
        if let Some((from, to)) = row.get(column).map(|cell| bare(text, *cell)) {
            let value = text.slice(from, to);
            if !is_rule && !value.contains(&b' ') && is_typed(value, false) {
                hits.push(Hit { rule, from, to, rank: Rank::Form });
            }
        }
        if text.at(row_end) != b'\n' {
            return true;
        }
        next = row_end + 1;
    }
    true
}

/// Tells whether a line parts the header of a table from its rows.
fn is_rule(line: &[u8]) -> bool {
    line.len() > 2 && line.iter().all(|byte| b"-+|=: \r".contains(byte))
}

/// Tells whether two spaces stand between two words.
fn has_gap(line: &[u8]) -> bool {
    line.trim_ascii().windows(2).any(|pair| pair == b"  ")
}

/// Returns where the header begins on a line that begins with other words, as in `logins: user,password`.
fn table_start(text: Text<'_>, line: usize, name: usize) -> usize {
    let before = text.slice(line, name);
    let lead = before.windows(2).rposition(|pair| pair == b": ").map_or(0, |colon| colon + 2);
    let rest = before.get(lead..).unwrap_or_default();
    let bar = rest.iter().position(|byte| *byte == b'|');
    let closing = text.run_while(name, HEADER_BYTES_MAX, |byte| byte != b'\n');
    let is_closed = text.slice(name, closing).trim_ascii_end().ends_with(b"|");
    line + lead + bar.filter(|_| is_closed).unwrap_or(0)
}

/// Tells whether a name and what follows it in its cell name a password, as in `password for db` and `senha_do_banco`.
fn names_whole(name: &NameInText<'_>, tail: &[u8]) -> bool {
    let is_part = |byte: &u8| b"_- .".contains(byte);
    let mut parts = tail.split(is_part).filter(|part| !part.is_empty());
    let is_parted = tail.first().is_some_and(|byte| is_part(byte) || *byte >= 0x80);
    let is_foreign = || name.row.fields[0] == "stem" || !tail.is_ascii();
    tail.is_empty()
        || is_parted
            && !is_about(tail)
            && !is_public_name(tail)
            && (is_foreign()
                || parts.next().is_some_and(|part| words(FOR).any(|word| word == part)))
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

/// Reports the values of a mapping whose name says that each is one, as in `passwords:` and lines of names and values that
/// are indented more.
pub(super) fn mapped(name: &NameInText<'_>, hits: &mut Vec<Hit>) {
    let NameInText { text, start, end, row, .. } = *name;
    let is_list = text.slice(start.saturating_sub(2), end).eq_ignore_ascii_case(b"chpasswd");
    let colon = end + usize::from(text.at(end) == b's');
    if !(colon > end || is_list) || text.slice(colon, colon + 2) != b":\n" {
        return;
    }
    let indent =
        |place: usize| text.run_while(place, HEADER_BYTES_MAX, |byte| b" \t-".contains(&byte));
    let line = start - before_len(text, start);
    let (depth, last) = (indent(line) - line, colon + MAPPING_BYTES_MAX);
    let mut next = colon + 2;
    while next < last && indent(next) > next + depth {
        let line_end = text.run_while(next, HEADER_BYTES_MAX, |byte| byte != b'\n');
        let pair = text.slice(next, line_end);
        let parted = pair.iter().position(|byte| *byte == b':').map(|place| next + place + 1);
        if let Some(place) = parted {
            let from = text.run_while(place, GAP_BYTES_MAX, |byte| byte == b' ');
            let (from, to) = bare(text, (from, from.max(line_end)));
            let value = text.slice(from, to);
            if !value.contains(&b' ') && is_typed(value, false) {
                hits.push(Hit { rule: row.name, from, to, rank: Rank::Form });
            }
        }
        next = line_end + 1;
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
    if separator == b' ' {
        return spaced_cells(start, line);
    }
    let mut from = start + lead;
    let cell = |part: &[u8]| {
        let left = part.len() - part.trim_ascii_start().len();
        let begin = from + left;
        from += part.len() + 1;
        (begin, begin + part.trim_ascii().len())
    };
    trimmed.split(|byte| *byte == separator).map(cell).collect()
}

/// Returns the cells of a line between which two spaces and more stand.
fn spaced_cells(start: usize, line: &[u8]) -> Vec<(usize, usize)> {
    let (mut cells, mut place) = (Vec::new(), 0);
    while let Some(next) =
        line.get(place..).and_then(|rest| rest.iter().position(|byte| *byte > b' '))
    {
        let from = place + next;
        let rest = line.get(from..).unwrap_or_default();
        let length = rest.windows(2).position(|pair| pair == b"  ").unwrap_or(rest.len());
        cells.push((
            start + from,
            start + from + length
                - usize::from(rest.get(..length).is_some_and(|cell| cell.ends_with(b" "))),
        ));
        place = from + length;
    }
    cells
}

/// Returns a cell without its quotes or backticks.
fn bare(text: Text<'_>, (from, to): (usize, usize)) -> (usize, usize) {
    let (first, last) = (text.at(from), text.before(to));
    let is_quoted = to > from + 1 && first == last && matches!(first, b'"' | b'\'' | b'`');
    if is_quoted { (from + 1, to - 1) } else { (from, to) }
}

#[cfg(test)]
mod tests {
    use super::super::redacted;

    // S-WRITE-8
    #[test]
    fn values_below_a_plural_name_go() {
        let secret = ["copper", "lantern"].concat();
        for text in [
            format!("passwords:\n  jane: {secret}\n  joe: ''\nhost: db1"),
            format!("app:\n  passwords:\n    db: \"{secret}\"\n  port: 80"),
            format!("chpasswd:\n  list: |\n    root:{secret}\n  expire: false"),
        ] {
            let clean = redacted(&text);
            assert!(!clean.contains(&secret), "{clean}");
            assert_eq!(clean.lines().last(), text.lines().last());
        }
    }

    // S-WRITE-8
    #[test]
    fn columns_that_spaces_part_go() {
        let secret = ["copper", "lantern"].concat();
        for text in [
            format!("USER     PASSWORD\njane     {secret}"),
            format!("user  password\n----  --------\njane  {secret}\n"),
            format!("+------+\n| pass |\n+------+\n| {secret} |\n+------+"),
            format!("Password\n--------\n{secret}"),
        ] {
            assert!(!redacted(&text).contains(&secret), "{text}");
        }
        let help = "  -p, --password  password\n  -d, --database  databasename\n";
        assert_eq!(redacted(help), help);
    }
}
