//! A command line as the commands in it, how each is joined to the next, and where its output goes. Quotes, and
//! documents that stand in the line, are respected; nothing else of the shell is. Not here: what the commands
//! mean (`commands`).

/// How a command is joined to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connector {
    /// The next runs if this one ends well.
    And,
    /// The next runs if this one fails.
    Or,
    /// The next reads what this one prints.
    Pipe,
    /// The next runs however this one ends.
    Then,
    /// The next does not wait.
    Apart,
    /// There is none.
    End,
}

impl Connector {
    pub(super) fn written(self) -> &'static str {
        match self {
            Self::And => " && ",
            Self::Or => " || ",
            Self::Pipe => " | ",
            Self::Then => "; ",
            Self::Apart => " & ",
            Self::End => "",
        }
    }
}

/// One command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellCommand {
    /// Its words, without where its errors go and without an output that is thrown away.
    pub(super) text: String,
    /// How it is joined to the next.
    pub(super) joint: Connector,
    /// The file its output goes to.
    pub(super) target: Option<String>,
    /// Whether a document stands in the line for it to read.
    pub(super) has_document: bool,
}

/// Returns the commands of a line, one after the other.
pub(super) fn segments(line: &str) -> Vec<ShellCommand> {
    let (line, documents) = without_documents(line);
    let mut found: Vec<ShellCommand> = Vec::new();
    let mut rest = line.as_str();
    while !rest.is_empty() {
        let (text, joint, after) = first(rest);
        rest = after;
        let segment = segment(text, joint);
        if !segment.text.is_empty() || segment.target.is_some() {
            found.push(segment);
        }
    }
    // What is joined to nothing just ends; only what runs apart does so without us.
    if let Some(last) = found.last_mut()
        && last.joint != Connector::Apart
    {
        last.joint = Connector::End;
    }
    if documents == Documents::Some {
        for segment in found.iter_mut().filter(|segment| segment.text.contains("<<")) {
            segment.has_document = true;
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Documents {
    None,
    Some,
}

/// Leaves out the lines that a command is given to read: what stands in them is no command.
fn without_documents(text: &str) -> (String, Documents) {
    let (mut kept, mut ends, mut documents) = (Vec::new(), None::<String>, Documents::None);
    for line in text.lines() {
        if let Some(end) = &ends {
            if line.trim() == end {
                ends = None;
            }
            continue;
        }
        kept.push(line);
        let after = line.split_once("<<").map(|(_, after)| after.trim_start_matches('-').trim());
        let word = after.filter(|after| !after.starts_with('<'));
        let word = word.and_then(|after| after.split([' ', ';', ')', '|', '>', '&']).next());
        let word = word.map(|word| word.trim_matches(['\'', '"', '\\']));
        if let Some(word) = word.filter(|word| !word.is_empty()) {
            (ends, documents) = (Some(word.to_owned()), Documents::Some);
        }
    }
    (kept.join("\n"), documents)
}

/// Splits the first command off.
fn first(line: &str) -> (&str, Connector, &str) {
    let mut quote = None;
    let mut before = ' ';
    let mut places = line.char_indices();
    while let Some((place, c)) = places.next() {
        let after = line.get(place + c.len_utf8()..).unwrap_or_default();
        let joint = match (quote, c) {
            (Some('"'), '\\') => {
                places.next();
                None
            }
            (Some(open), _) => {
                quote = (open != c).then_some(open);
                None
            }
            (None, '\\') => {
                places.next();
                None
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                None
            }
            (None, '&') if after.starts_with('&') => Some((Connector::And, 1)),
            (None, '|') if after.starts_with('|') => Some((Connector::Or, 1)),
            (None, '|') => Some((Connector::Pipe, usize::from(after.starts_with('&')))),
            (None, ';' | '\n') => Some((Connector::Then, 0)),
            // `2>&1` and `&>` join nothing.
            (None, '&') if before != '>' && !after.starts_with('>') => Some((Connector::Apart, 0)),
            (None, _) => None,
        };
        if let Some((joint, more)) = joint {
            let text = line.get(..place).unwrap_or_default();
            return (text, joint, after.get(more..).unwrap_or_default());
        }
        before = c;
    }
    (line, Connector::End, "")
}

/// Reads where the output goes, and leaves out what says nothing about the command.
fn segment(text: &str, joint: Connector) -> ShellCommand {
    let (mut kept, mut target, mut is_target) = (Vec::new(), None, false);
    let mut quote = None;
    for word in text.split_whitespace().filter(|word| *word != "\\") {
        let is_quoted = quote.is_some();
        for mark in word.chars().filter(|c| matches!(c, '\'' | '"')) {
            match quote {
                Some(open) if open == mark => quote = None,
                Some(_) => {}
                None => quote = Some(mark),
            }
        }
        if is_quoted {
            kept.push(word);
            continue;
        }
        if is_target {
            target = Some(word);
            is_target = false;
            continue;
        }
        let bare = word.trim_start_matches(['1', '2', '&']);
        let Some(to) = bare.strip_prefix('>') else {
            kept.push(word);
            continue;
        };
        let to = to.trim_start_matches(['>', '|']);
        if to.is_empty() {
            is_target = true;
        } else if !to.starts_with('&') {
            target = Some(to);
        }
    }
    let plain = |word: &str| word.trim_matches(['\'', '"']).to_owned();
    ShellCommand { text: kept.join(" "), joint, target: target.map(plain), has_document: false }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_the_commands_in_it() {
        let found = |line: &str| -> Vec<(String, Connector)> {
            segments(line).into_iter().map(|segment| (segment.text, segment.joint)).collect()
        };
        let text = |text: &str, joint| (text.to_owned(), joint);
        assert_eq!(
            found("a 2>&1 | b && c || d; e & f"),
            [
                text("a", Connector::Pipe),
                text("b", Connector::And),
                text("c", Connector::Or),
                text("d", Connector::Then),
                text("e", Connector::Apart),
                text("f", Connector::End)
            ]
        );
        assert_eq!(found("a 'x; y' \"p && q\" &"), [text("a 'x; y' \"p && q\"", Connector::Apart)]);
        assert_eq!(
            found("cat <<'E'\nx; y\nE\nb"),
            [text("cat <<'E'", Connector::Then), text("b", Connector::End)]
        );
        assert_eq!(found(" ; \n"), []);
        let target = |line: &str| segments(line).into_iter().find_map(|segment| segment.target);
        assert_eq!(target("a >> x.c 2>&1").as_deref(), Some("x.c"));
        assert_eq!(target("a >'x.c'").as_deref(), Some("x.c"));
        assert_eq!(target("a '> b' 2>&1"), None);
    }

    proptest! {
        #[test]
        fn any_line_is_read_to_its_end(line in "[a-z &|;<>'\"\\\\\n]{0,40}") {
            for segment in segments(&line) {
                prop_assert!(!segment.text.is_empty() || segment.target.is_some());
            }
        }
    }
}
