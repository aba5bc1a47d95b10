//! A folder of Markdown notes as memories: a note is one memory, a long one a memory for each of its sections. Links
//! between notes become links. Not here: what differs between tools (`stores`), links in a text (`note_links`).

use std::collections::BTreeMap;

use super::foreign_place::{NoteFile, NoteFolder};
use super::front_matter::FrontMatter;
use super::harvest::{ForeignLink, Harvest, foreign_draft, relation_of};
use super::loose_values::{tags, time_of_text};
use super::note_links::{NoteLink, inline_tags, links};
use super::note_template::without_templates;
use event::{BELOW, Draft};
use guard::markdown_marks::{self, MarkdownLine, heading};

/// A note above this is cut at its headings, in bytes: a search shows a memory as a whole, and one subject answers one
/// question.
const NOTE_BYTES: usize = 4_096;

/// Names under which tools keep the time of a note, the best first.
const TIMES: [&str; 8] = [
    "updated",
    "modified",
    "last_modified",
    "updated_at",
    "created",
    "created_at",
    "date",
    "timestamp",
];

/// One note, split.
pub(crate) struct MarkdownNote<'a> {
    /// Its file.
    pub(crate) file: &'a NoteFile,
    /// Its properties.
    pub(crate) front: FrontMatter,
    /// The text below them.
    pub(crate) body: &'a str,
}

impl<'a> MarkdownNote<'a> {
    pub(crate) fn from_file(file: &'a NoteFile) -> Self {
        let (front, body) = FrontMatter::split(&file.text);
        Self { file, front, body }
    }

    /// Returns the name of its file without folders and extension.
    pub(crate) fn stem(&self) -> &str {
        let name = self.file.name.rsplit('/').next().unwrap_or(&self.file.name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// Returns the folder at the top of its path, if it is in one.
    pub(crate) fn top_folder(&self) -> Option<&str> {
        self.file.name.split_once('/').map(|(folder, _)| folder)
    }

    /// Returns its title: a property, its first heading, or the name of its file.
    fn title(&self) -> String {
        let named = self.front.text("title").or_else(|| self.front.text("name"));
        let first = || heading(self.body.trim_start().lines().next()?).map(|(_, text)| text);
        let title = named.or_else(first).filter(|title| !without_templates(title).is_empty());
        title.unwrap_or_else(|| self.stem()).trim().to_owned()
    }
}

/// What a tool's notes mean.
pub(crate) struct NoteStyle {
    /// The name of the store, which stands for authors that a note does not name.
    pub(crate) agent: &'static str,
    /// Returns the kind of a note, and words that become tags.
    pub(crate) kind: fn(&MarkdownNote<'_>) -> (&'static str, Vec<String>),
}

/// Reads the notes of a folder.
pub(crate) fn harvest(folder: &NoteFolder, style: &NoteStyle) -> Harvest {
    let mut harvest = Harvest::default();
    harvest.leave_out_files(&folder.left_out, (&folder.other_files, folder.more_files));
    add_notes(
        &mut harvest,
        &folder.notes.iter().map(MarkdownNote::from_file).collect::<Vec<_>>(),
        style,
    );
    harvest
}

/// Adds notes and the links between them.
pub(crate) fn add_notes(harvest: &mut Harvest, notes: &[MarkdownNote<'_>], style: &NoteStyle) {
    let names = NoteNames::collect(notes);
    for note in notes {
        let (title, plain) = (note.title(), without_templates(note.body));
        let body = without_title(&plain, &title);
        if body.trim().is_empty() {
            harvest.leave_out("note without text");
            continue;
        }
        for (place, section) in sections(body).into_iter().enumerate() {
            let mut under = vec![title.as_str()];
            under.extend(section.under.iter().map(String::as_str));
            let draft = draft_of(note, style, &under.join(BELOW), &section.text);
            let key = if place == 0 {
                note.file.name.clone()
            } else {
                format!("{}#{place}", note.file.name)
            };
            harvest.add_item(key, draft);
        }
        for link in links(&plain) {
            harvest.links.extend(names.link(note, &link));
        }
    }
}

fn draft_of(note: &MarkdownNote<'_>, style: &NoteStyle, context: &str, lesson: &str) -> Draft {
    let (kind, words) = (style.kind)(note);
    let stated = note.front.list("tags").iter().chain(note.front.list("tag"));
    let stated = stated.flat_map(|tag| tag.split(',').map(str::to_owned));
    let time = TIMES.iter().find_map(|name| time_of_text(note.front.text(name)?));
    let context = match note.front.text("description") {
        Some(description) => format!("{context}: {description}"),
        None => context.to_owned(),
    };
    let draft = foreign_draft(style.agent, &context, lesson);
    Draft {
        event_type: Some(kind.to_owned()),
        tags: tags(stated.chain(words).chain(inline_tags(lesson))),
        timestamp: time.or(note.file.written).map(|time| time.to_string()),
        confidence: note
            .front
            .text("confidence")
            .filter(|word| *word == "inferred")
            .map(str::to_owned),
        ..draft
    }
}

/// The notes of a folder by everything that a link may call them.
struct NoteNames<'a>(BTreeMap<String, &'a str>);

impl<'a> NoteNames<'a> {
    fn collect(notes: &[MarkdownNote<'a>]) -> Self {
        let mut names = BTreeMap::new();
        for note in notes {
            let path = note.file.name.strip_suffix(".md").unwrap_or(&note.file.name);
            let permalink = note.front.text("permalink").map(str::to_owned);
            let aliases = note.front.list("aliases").iter().cloned();
            let all = [path.to_owned(), note.stem().to_owned(), note.title()].into_iter();
            for name in all.chain(permalink).chain(aliases) {
                names.entry(name.to_lowercase()).or_insert(&*note.file.name);
            }
        }
        Self(names)
    }

    fn link(&self, from: &MarkdownNote<'_>, link: &NoteLink) -> Option<ForeignLink> {
        let folder = from.file.name.rsplit_once('/').map(|(folder, _)| folder);
        let sibling = folder.map(|folder| format!("{folder}/{}", link.target).to_lowercase());
        let named = || self.0.get(&link.target.to_lowercase());
        let to = sibling.and_then(|path| self.0.get(&path)).or_else(named)?;
        let relation = relation_of(link.relation.as_deref().unwrap_or_default());
        let from = from.file.name.clone();
        (from != *to).then(|| ForeignLink { from, to: (*to).to_owned(), relation })
    }
}

/// Drops a first heading that says the title again.
fn without_title<'a>(body: &'a str, title: &str) -> &'a str {
    let body = body.trim_start_matches('\n');
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    match heading(first) {
        Some((1, text)) if text == title => rest,
        _ => body,
    }
}

/// A part of a note.
struct NoteSection {
    /// The headings it is under.
    under: Vec<String>,
    text: String,
}

/// Cuts a long note at its headings. Sections without text are no sections.
fn sections(body: &str) -> Vec<NoteSection> {
    if body.len() <= NOTE_BYTES {
        return vec![NoteSection { under: Vec::new(), text: body.to_owned() }];
    }
    let mut sections = vec![NoteSection { under: Vec::new(), text: String::new() }];
    let mut under = Vec::<(usize, String)>::new();
    for line in markdown_marks::lines(body) {
        let (MarkdownLine::Prose(line_text) | MarkdownLine::Code(line_text)) = line;
        let head = heading(line_text).filter(|_| line == MarkdownLine::Prose(line_text));
        if let Some((level, text)) = head {
            under.retain(|(above, _)| *above < level);
            under.push((level, text.to_owned()));
            let under = under.iter().map(|(_, text)| text.clone()).collect();
            sections.push(NoteSection { under, text: String::new() });
        } else if let Some(section) = sections.last_mut() {
            section.text.push_str(line_text);
            section.text.push('\n');
        }
    }
    sections.retain(|section| !section.text.trim().is_empty());
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: NoteStyle = NoteStyle { agent: "obsidian", kind: |_| ("fact", Vec::new()) };

    fn read(notes: &[(&str, &str)]) -> Harvest {
        let file = |(name, text): &(&str, &str)| NoteFile {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
            written: None,
        };
        let notes = notes.iter().map(file).collect();
        harvest(&NoteFolder { notes, ..NoteFolder::default() }, &STYLE)
    }

    // S-IMPORT-5
    #[test]
    fn a_note_becomes_one_memory() {
        let note =
            "---\ntags: [Tea, two words]\nupdated: 2026-01-02\n---\n# Brewing\n\nUse #hot water.\n";
        let read = read(&[("kitchen/brewing.md", note), ("empty.md", "# Only a title\n")]);
        let [item] = &*read.items else { panic!("{read:?}") };
        assert_eq!(item.draft.context.as_deref(), Some("Brewing"));
        assert_eq!(item.draft.lesson.as_deref(), Some("Use #hot water."));
        assert_eq!(item.draft.tags, ["Tea", "two words", "hot"]);
        assert_eq!(item.draft.timestamp.as_deref(), Some("2026-01-02T00:00:00Z"));
        assert_eq!((read.read_count(), read.left_out["note without text"]), (2, 1));
    }

    // S-IMPORT-5
    #[test]
    fn what_a_program_of_the_vault_fills_in_is_no_lesson() {
        let read = read(&[
            ("Daily.md", "# <% tp.file.title %>\n<% tp.date.now() %>\n```dataview\nLIST\n```\n"),
            ("Book.md", "# {{title}}\n\n```dataviewjs\ndv.list()\n```\nRead it twice.\n"),
        ]);
        let [item] = &*read.items else { panic!("{read:?}") };
        assert_eq!(
            (item.draft.context.as_deref(), item.draft.lesson.as_deref()),
            (Some("Book"), Some("Read it twice."))
        );
        assert_eq!(read.left_out["note without text"], 1);
    }

    // S-IMPORT-5
    #[test]
    fn long_notes_are_cut_at_headings() {
        let text = "word ".repeat(900);
        let note = format!(
            "# T\nfirst\n## One\n{text}\n### Deep\n```\n# no heading\n```\n~~~\n# none\n```\n# none\n~~~\n## Two\nlast\n## Bare\n"
        );
        let read = read(&[("a.md", &note)]);
        let contexts: Vec<_> =
            read.items.iter().map(|item| item.draft.context.clone().unwrap()).collect();
        assert_eq!(contexts, ["T", "T > One", "T > One > Deep", "T > Two"]);
    }

    // S-IMPORT-5
    #[test]
    fn links_find_notes_by_any_name() {
        let read = read(&[
            ("a.md", "[[B note]] [[sub/c]] [[main/d]] [[nowhere]] [[a]]"),
            ("b.md", "---\ntitle: B note\n---\nsee [c](sub/c.md)\n- depends on [[a]]"),
            ("sub/c.md", "beside: [[d]]"),
            ("sub/d.md", "---\npermalink: main/d\n---\nx"),
        ]);
        let links_read = read
            .links
            .iter()
            .map(|link| format!("{} {} {}", link.from, link.relation.as_str(), link.to));
        assert_eq!(
            links_read.collect::<Vec<_>>(),
            [
                "a.md related_to b.md",
                "a.md related_to sub/c.md",
                "a.md related_to sub/d.md",
                "b.md related_to sub/c.md",
                "b.md depends_on a.md",
                "sub/c.md related_to sub/d.md",
            ]
        );
    }
}
