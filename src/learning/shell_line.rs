//! A shell's command line as the commands in it, the operators between them, and the files their output goes to.
//! Quotes and here-documents are respected; nothing else of the shell is. Not here: what the commands mean
//! (`commands`).

/// The operator between a command and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connector {
    /// `&&`: the next runs if this one succeeds.
    And,
    /// `||`: the next runs if this one fails.
    Or,
    /// `|`: the next reads the output of this one.
    Pipe,
    /// `;`: the next runs in any case.
    Then,
    /// `&`: the next does not wait.
    Apart,
    /// The end of the line.
    End,
}

impl Connector {
    pub(crate) fn written(self) -> &'static str {
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
pub(crate) struct ShellCommand {
    /// Its words, without redirections.
    pub(crate) text: String,
    /// The operator after it.
    pub(crate) joint: Connector,
    /// The file its output goes to.
    pub(crate) target: Option<String>,
    /// Whether it reads a here-document.
    pub(crate) has_document: bool,
}

/// Returns the commands of a line in order.
pub(crate) fn segments(line: &str) -> Vec<ShellCommand> {
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
    // After the last command only `&` means something.
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

/// Removes the lines of here-documents, since they are no commands.
fn without_documents(text: &str) -> (String, Documents) {
    let (mut kept, mut document_end, mut documents) = (Vec::new(), None::<String>, Documents::None);
    for line in text.lines() {
        if let Some(end) = &document_end {
            if line.trim() == end {
                document_end = None;
            }
            continue;
        }
        kept.push(line);
        let after = line.split_once("<<").map(|(_, after)| after.trim_start_matches('-').trim());
        let word = after.filter(|after| !after.starts_with('<'));
        let word = word.and_then(|after| after.split([' ', ';', ')', '|', '>', '&']).next());
        let word = word.map(|word| word.trim_matches(['\'', '"', '\\']));
        if let Some(word) = word.filter(|word| !word.is_empty()) {
            (document_end, documents) = (Some(word.to_owned()), Documents::Some);
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
            // The `&` of `2>&1` and `&>` is no operator.
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

/// Reads where the output goes, and leaves redirections out of the words.
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
    fn a_line_is_split_into_commands() {
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
        fn every_line_is_read_to_its_end(line in "[a-z &|;<>'\"\\\\\n]{0,40}") {
            for segment in segments(&line) {
                prop_assert!(!segment.text.is_empty() || segment.target.is_some());
            }
        }
    }
}
