//! One memory of ours outside a log: as a Markdown note with front matter, and as a line of JSON. Both are read back as
//! the same memory. Not here: folders (`vault_export`), tables (`memory_csv`), which memories are exported (`api`).

use serde_json::{Map, Value};

use super::field_names::{FOLDER, FieldForm, LESSON, is_field, names_of_form, properties};
use super::front_matter::{FrontMatter, quoted_value};
use super::harvest::ForeignItem;
use super::loose_values::first_time;
use event::{
    Draft, Event, EventId, IMPORTED, clean, codec, draft_from_json, parse_age, parse_timestamp,
};

/// The property that says that a note is one of ours, and in which form.
pub(crate) const MARK: &str = "agent_knowledge";
/// The form of our notes.
const FORM: &str = "1";
/// The property by which a note shows that a person changed it.
const DIGEST: &str = "digest";
/// How many characters of a digest are written: 80 bits, all that it has.
const DIGEST_CHARS: usize = 16;
/// Longest title, in characters.
const TITLE_CHARS: usize = 60;

/// Returns an event as a line of JSON, with its line break, as a log would hold it.
#[must_use]
pub fn json_line(event: &Event) -> String {
    codec::encode(&clean::clean(event.clone())).as_str().to_owned()
}

/// Returns an event as a Markdown note.
#[must_use]
pub fn memory_note(event: &Event) -> String {
    let cleaned = clean::clean(event.clone());
    let fields = codec::fields_of(cleaned.event());
    let lesson = texts_of(&fields, LESSON).concat();
    let mut text = format!("---\ntitle: {}\n", quoted_value(&title(cleaned.event())));
    for (name, _) in properties() {
        match fields.get(name) {
            Some(Value::Array(items)) if items.is_empty() => {}
            Some(Value::Array(_)) => {
                let items = texts_of(&fields, name);
                let items: Vec<String> = items.iter().map(|item| quoted_value(item)).collect();
                text.push_str(&format!("{name}: [{}]\n", items.join(", ")));
            }
            Some(Value::String(text_value)) if !text_value.is_empty() => {
                text.push_str(&format!("{name}: {}\n", quoted_value(text_value)));
            }
            Some(Value::Number(text_value)) => text.push_str(&format!("{name}: {text_value}\n")),
            _ => {}
        }
    }
    let digest = digest(|name| texts_of(&fields, name), &lesson);
    text.push_str(&format!("{MARK}: {FORM}\n{DIGEST}: {digest}\n---\n\n{lesson}\n"));
    text
}

/// Returns a title: the first words of the lesson; without one, of what happened, else of the command.
#[must_use]
pub fn title(event: &Event) -> String {
    let first = [&event.lesson, &event.context, &event.command];
    let line = first.into_iter().find_map(|text| text.lines().find(|line| !line.trim().is_empty()));
    let line = line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS) {
        None => line,
        Some((end, _)) => {
            let start = line.get(..end).unwrap_or_default();
            let whole = start.rsplit_once(' ').map_or(start, |(words, _)| words);
            format!("{whole} …")
        }
    }
}

/// Reads a note of ours; `None` where it is not one. One that a person changed is a new memory, which replaces the old.
pub(crate) fn read_note(key: &str, front: &FrontMatter, body: &str) -> Option<ForeignItem> {
    if !front.has(MARK) {
        return None;
    }
    let body = body.strip_prefix('\n').unwrap_or(body);
    let lesson = body.strip_suffix('\n').unwrap_or(body);
    let mut fields = Map::new();
    for (name, form) in properties() {
        match (front.list(name), form) {
            ([], _) => {}
            (items, FieldForm::List) => {
                drop(fields.insert(name.to_owned(), items.to_vec().into()));
            }
            ([first, ..], _) => drop(fields.insert(name.to_owned(), first.clone().into())),
        }
    }
    fields.insert(LESSON.to_owned(), lesson.into());
    let is_same = front.text(DIGEST) == Some(&*digest(|name| front.list(name).to_vec(), lesson));
    let mut draft = imported_draft(fields);
    let old = draft.id.as_deref().and_then(EventId::foreign);
    if is_same {
        return Some(ForeignItem::new(key, draft));
    }
    // It is new, and its id is that of its new content.
    (draft.id, draft.timestamp) = (None, None);
    Some(ForeignItem { replaces: old, ..ForeignItem::new(key, draft) })
}

/// Reads a line of a log, or of an export; `None` where it holds no memory.
pub(crate) fn read_line(line: &Value) -> Option<Draft> {
    let codec::DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "") else {
        return None;
    };
    if event.memory_id.is_some() {
        return None;
    }
    let known = codec::fields_of(&event);
    let is_kept = |name: &str| is_field(name) || name == "private";
    let is_empty = |value: &Value| matches!(value, Value::String(text) if text.is_empty());
    let kept = known.into_iter().filter(|(name, value)| is_kept(name) && !is_empty(value));
    let mut kept: Map<String, Value> = kept.collect();
    // A folder that is no clean path is a field of somebody else.
    if event.folder().is_none() {
        kept.remove(FOLDER);
    }
    for name in names_of_form(FieldForm::Time) {
        readable_time(&mut kept, name);
    }
    // A line without a lesson holds one in another field.
    for other in ["context", "command", "symptoms"] {
        if !kept.contains_key(LESSON) && kept.contains_key(other) {
            let texts = texts_of(&kept, other);
            kept.insert(LESSON.to_owned(), texts.join("\n").into());
        }
    }
    Some(imported_draft(kept))
}

/// Puts a time into a form that a draft takes, and drops what is no time: the memory says more than its time.
fn readable_time(fields: &mut Map<String, Value>, name: &str) {
    let is_age = |text: &str| name == "expires" && parse_age(text.trim()).is_some();
    let is_read = |text: &str| parse_timestamp(text).is_some() || is_age(text);
    if fields.get(name).is_none_or(|value| value.as_str().is_some_and(is_read)) {
        return;
    }
    match first_time(fields, &[name]) {
        Some(time) => drop(fields.insert(name.to_owned(), time.into())),
        None => drop(fields.remove(name)),
    }
}

/// Makes a draft of the fields of a memory of ours. Whoever vouched for it, here it is imported.
fn imported_draft(fields: Map<String, Value>) -> Draft {
    Draft { source: Some(IMPORTED.to_owned()), session_id: None, ..draft_from_json(fields) }
}

/// Returns the texts of a field: one, or those of a list.
pub(crate) fn texts_of(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    match fields.get(name) {
        Some(Value::String(text)) if !text.is_empty() => vec![text.clone()],
        Some(Value::Number(number)) => vec![number.to_string()],
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Hashes a memory with all its fields.
fn digest(texts: impl Fn(&str) -> Vec<String>, lesson: &str) -> String {
    let mut content = String::new();
    for (name, _) in properties() {
        // Notes were written before there was this property, and their digests stand.
        if name == FOLDER && texts(name).is_empty() {
            continue;
        }
        content.push_str(&format!("{name}\u{1E}{}\u{1D}", texts(name).join("\u{1F}")));
    }
    content.push_str(lesson);
    let id = EventId::derive(None, content.as_bytes()).as_str().to_owned();
    id.get(id.len().saturating_sub(DIGEST_CHARS)..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use event::{RepoKey, Stamp, validate};
    use proptest::prelude::*;

    use super::super::field_names::FIELD_NAMES;
    use super::*;

    fn stamp() -> Stamp {
        Stamp {
            now: "2026-01-02T03:04:05Z".parse().unwrap(),
            random: 7,
            repo: RepoKey::parse("api").unwrap(),
            agent_id: "tester".into(),
            days: event::DayZone::Utc,
        }
    }

    fn event(draft: Draft) -> Event {
        let event = validate(draft, &stamp()).unwrap();
        clean::clean(event).event().clone()
    }

    fn full() -> Draft {
        Draft {
            event_type: Some("error".into()),
            lesson: Some("Chown it: \"first\"\n\n---\n# not: yaml".into()),
            context: Some("- npm: install\n  EACCES".into()),
            command: Some("sudo chown -R $(whoami) ~/.npm # 'yes'".into()),
            success_rate: Some("9/10".into()),
            tags: vec!["npm".into(), "a, b".into(), "true".into()],
            symptoms: vec!["EACCES: permission\ndenied".into(), "~".into()],
            files: vec!["src/a b.rs".into()],
            commit: Some("0a1b2c3".into()),
            branch: Some("main".into()),
            host: Some("box".into()),
            confidence: Some("inferred".into()),
            expires: Some("2027-01-01".into()),
            source: Some("human".into()),
            ..Draft::default()
        }
    }

    fn read_back(text: &str) -> ForeignItem {
        let (front, body) = FrontMatter::split(text);
        read_note("a.md", &front, body).unwrap()
    }

    /// What comes back must be equal but for who vouches for it.
    fn expected(event: &Event) -> Event {
        Event { source: Some(IMPORTED.to_owned()), session_id: None, ..event.clone() }
    }

    // S-EXPORT-1, S-EXPORT-2
    #[test]
    fn every_field_of_a_memory_leaves_it() {
        let draft = Draft {
            session_id: Some("s1".into()),
            scope: Some("global".into()),
            folder: Some("packages/web".into()),
            ..full()
        };
        let fields = codec::fields_of(&event(draft));
        let missing: Vec<&String> = fields.keys().filter(|name| !is_field(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(fields.len(), FIELD_NAMES.len(), "each name of the table is one of a memory");
    }

    // S-EXPORT-2
    #[test]
    fn a_note_is_read_back_equal() {
        let event = event(full());
        let text = memory_note(&event);
        assert!(text.starts_with("---\ntitle: \"Chown it: \\\"first\\\"\"\n"), "{text}");
        let item = read_back(&text);
        assert_eq!(
            (validate(item.draft, &stamp()).unwrap(), item.replaces),
            (expected(&event), None)
        );
        // Editors write other line breaks and other quotes.
        let text = text.replace("commit: \"0a1b2c3\"", "commit: 0a1b2c3");
        assert_eq!(read_back(&text).replaces, None);
    }

    // S-EXPORT-1, S-EXPORT-2
    #[test]
    fn a_numeric_confidence_comes_back() {
        let event = event(Draft { confidence: Some("0.7".into()), ..full() });
        assert_eq!(event.extra.get("confidence"), Some(&serde_json::json!(0.7)));
        let item = read_back(&memory_note(&event));
        assert_eq!(item.replaces, None);
        assert_eq!(validate(item.draft, &stamp()).unwrap(), expected(&event));
        let line: Value = serde_json::from_str(&json_line(&event)).unwrap();
        assert_eq!(validate(read_line(&line).unwrap(), &stamp()).unwrap(), expected(&event));
    }

    // S-EXPORT-2
    #[test]
    fn a_changed_note_is_another_memory() {
        let event = event(full());
        let text = memory_note(&event);
        for changed in [text.replace("Chown", "chown"), text.replace("9/10", "10/11")] {
            let item = read_back(&changed);
            assert_eq!((item.draft.id, item.replaces), (None, Some(event.id.clone())));
        }
    }

    // S-EXPORT-1
    #[test]
    fn a_line_is_read_back_equal() {
        let event = event(full());
        let line: Value = serde_json::from_str(&json_line(&event)).unwrap();
        let draft = read_line(&line).unwrap();
        assert_eq!(validate(draft, &stamp()).unwrap(), expected(&event));
        let about = serde_json::json!({ "memory_id": "m1", "event_type": "retract" });
        assert_eq!(read_line(&about), None);
        let old = serde_json::json!({ "context": "npm failed" });
        assert_eq!(read_line(&old).unwrap().lesson.as_deref(), Some("npm failed"));
    }

    // S-IMPORT-3
    #[test]
    fn a_line_with_odd_times_is_taken() {
        let read = |time: Value| {
            let line = serde_json::json!({ "event_type": "fact", "lesson": "a", "timestamp": time, "expires": time });
            let event = validate(read_line(&line).unwrap(), &stamp()).unwrap();
            (event.timestamp.unwrap().to_string(), event.extra.get("expires").cloned())
        };
        for odd in [Value::Null, "soon".into(), "".into(), "30".into(), 0.into(), vec![1].into()] {
            assert_eq!(read(odd), (stamp().now.to_string(), None), "the time of the import");
        }
        let time = "2026-01-02T03:04:05Z";
        assert_eq!(read(1_767_323_045.into()), (time.to_owned(), Some(time.into())));
    }

    // S-EXPORT-2
    #[test]
    fn a_title_is_short_and_one_line() {
        let titled = |lesson: &str| title(&event(Draft { lesson: Some(lesson.into()), ..full() }));
        assert_eq!(titled("  a\tb \nc"), "a b");
        let long = titled(&"word ".repeat(40));
        assert!(long.chars().count() <= TITLE_CHARS + 2 && long.ends_with("word …"), "{long}");
    }

    /// Texts with much of what YAML, Markdown and JSON take for something else.
    const ODD: &str = "(\\PC|---|\n|[\t \"'#:&*!|>%@`\\[\\]{},\\\\\u{85}\u{2028}~-]){0,24}";

    proptest! {
        // S-EXPORT-2
        #[test]
        fn odd_texts_come_back_equal(
            lesson in ODD, context in ODD,
            tags in proptest::collection::vec(ODD, 0..4), symptom in ODD,
        ) {
            let draft = Draft {
                lesson: Some(lesson), context: Some(context), tags, symptoms: vec![symptom], ..full()
            };
            // What no log takes is refused before.
            let Ok(event) = validate(draft, &stamp()) else { return Ok(()) };
            let event = clean::clean(event).event().clone();
            let item = read_back(&memory_note(&event));
            prop_assert_eq!(item.replaces, None);
            prop_assert_eq!(validate(item.draft, &stamp()).unwrap(), expected(&event));
            let line: Value = serde_json::from_str(&json_line(&event)).unwrap();
            prop_assert_eq!(validate(read_line(&line).unwrap(), &stamp()).unwrap(), expected(&event));
        }
    }
}
