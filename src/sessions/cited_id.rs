//! The id by which an answer names a session: as short as finds it alone. Not here: how a name is looked up (`session_rows`).

/// Characters of the shortest id. Ids of some tools begin with the time, so the end tells them apart.
const CHARACTERS_MIN: usize = 8;

/// Characters by which an id grows that others begin or end with, too.
const CHARACTERS_MORE: usize = 4;

/// The tools and ids of all kept sessions.
#[derive(Debug, Default)]
pub(super) struct CitedIds(pub(super) Vec<(String, String)>);

impl CitedIds {
    /// Returns the end of an id that belongs to no other session, else all of it, else its address with the tool.
    pub(super) fn short_id(&self, tool: &str, id: &str) -> String {
        let lengths = (CHARACTERS_MIN..id.chars().count()).step_by(CHARACTERS_MORE);
        let mut ends = lengths.map(|length| end_of(id, length));
        // What begins with a dash would be read as an option.
        let is_readable = |end: &str| end.starts_with(|c: char| c.is_alphanumeric());
        if let Some(end) = ends.find(|end| is_readable(end) && self.is_alone(end)) {
            return end.to_owned();
        }
        match self.0.iter().filter(|(_, other)| other == id).count() {
            0 | 1 => id.to_owned(),
            _ => format!("session://{tool}/{id}"),
        }
    }

    fn is_alone(&self, end: &str) -> bool {
        let found = self.0.iter().filter(|(_, id)| id.starts_with(end) || id.ends_with(end));
        found.take(2).count() < 2
    }
}

fn end_of(id: &str, characters: usize) -> &str {
    let begin = id.char_indices().rev().nth(characters.saturating_sub(1)).map_or(0, |(at, _)| at);
    id.get(begin..).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cited(ids: &[(&str, &str)]) -> Vec<String> {
        let own = |(tool, id): &(&str, &str)| ((*tool).to_owned(), (*id).to_owned());
        let all = CitedIds(ids.iter().map(own).collect());
        ids.iter().map(|(tool, id)| all.short_id(tool, id)).collect()
    }

    // S-SESS-15
    #[test]
    fn a_cited_id_finds_one_session() {
        assert_eq!(
            cited(&[("a", "1111-22223333"), ("a", "1111-22224444")]),
            ["22223333", "22224444"]
        );
        assert_eq!(
            cited(&[("a", "aaaa-bbbb-11112222"), ("a", "11112222-cccc-dddd")]),
            ["bbb-11112222", "ccc-dddd"],
            "the end of one is the beginning of the other"
        );
        assert_eq!(
            cited(&[("a", "abcd"), ("b", "abcd"), ("a", "xyz")]),
            ["session://a/abcd", "session://b/abcd", "xyz"]
        );
        assert_eq!(
            cited(&[("a", "12345678"), ("a", "0000-12345678")]),
            ["12345678", "000-12345678"]
        );
        assert_eq!(cited(&[("a", "planted-command")]), ["nted-command"], "no option");
        assert_eq!(
            cited(&[("a", "été-été-été-été")]),
            ["été-été-été-été"],
            "characters, not bytes"
        );
    }
}
