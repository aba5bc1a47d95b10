//! The rules for writing: a draft becomes an event, or all its problems are named at once. Not here: the shape
//! of JSON (`fields`), and where `now` and the repository come from (`writer`).

use jiff::Timestamp;
use serde_json::Value;

use super::audience::{PRIVATE, SCOPE};
use super::confidence::{CONFIDENCE, EXPIRES};
use super::folder_path::{FOLDER, FolderPath};
use super::limits::{
    COMMAND_BYTES_MAX, CONTEXT_BYTES_MAX, FILE_BYTES_MAX, FILES_MAX, LESSON_BYTES_MAX,
    SHORT_BYTES_MAX, SYMPTOM_BYTES_MAX, SYMPTOMS_MAX, TAG_BYTES_MAX, TAGS_MAX,
};
use super::time_text::format_timestamp;
use super::{
    CalendarDay, Confidence, DayZone, Draft, Event, EventId, EventType, MemoryChange, MemoryScope,
    Problems, RepoKey, SuccessRate, parse_age, parse_timestamp, quoted,
};
use guard::secrets::findings;
use guard::text;

/// The fields that the writer knows and the draft may leave out.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The time of writing.
    pub now: Timestamp,
    /// Fresh random bits for the id; the low 80 are used.
    pub random: u128,
    /// The resolved repository.
    pub repo: RepoKey,
    /// The writer's name, used if the draft names no agent.
    pub agent_id: String,
    /// Whose days the draft means.
    pub days: DayZone,
}

/// Checks a draft and makes it an event.
///
/// # Errors
/// All problems at once, each with its field and remedy.
pub fn validate(draft: Draft, stamp: &Stamp) -> Result<Event, Problems> {
    let mut problems = draft.problems;
    let mut check = Check { problems: &mut problems };
    let done = draft.change.as_ref().map(MemoryChange::event_type);
    let event_type = check.kind(done.or(draft.event_type.as_deref()));
    check.name("event_type", event_type.as_str());
    check.name("repo", stamp.repo.as_str());
    check.name("id", draft.id.as_deref().unwrap_or_default());
    let event = Event {
        timestamp: check.timestamp(draft.timestamp.as_deref(), stamp.now),
        agent_id: check.short("agent_id", draft.agent_id).unwrap_or_else(|| stamp.agent_id.clone()),
        repo: stamp.repo.to_string(),
        event_type,
        context: check.text("context", draft.context, CONTEXT_BYTES_MAX),
        command: check.text("command", draft.command, COMMAND_BYTES_MAX),
        lesson: check.lesson(draft.lesson, draft.memory_id.as_deref()),
        success_rate: check.rate(draft.success_rate.as_deref()),
        tags: check.list(&TAGS, draft.tags),
        symptoms: check.list(&SYMPTOMS, draft.symptoms),
        files: check.list(&FILES, draft.files),
        commit: check.short("commit", draft.commit),
        branch: check.short("branch", draft.branch),
        session_id: check.short("session_id", draft.session_id),
        host: check.short("host", draft.host),
        source: check.short("source", draft.source),
        id: check.id(draft.id.as_deref(), stamp),
        schema: None,
        memory_id: check.memory(draft.memory_id.as_deref()),
        extra: {
            let mut extra = draft.change.map(|change| change.fields()).unwrap_or_default();
            let confidence = check.confidence(draft.confidence.as_deref());
            let expires = check.expires(draft.expires.as_deref(), stamp);
            let scope = check.scope(draft.scope.as_deref());
            let folder = check.folder(draft.folder.as_deref());
            let given_fields = [
                (CONFIDENCE, confidence),
                (EXPIRES, expires.map(Value::from)),
                (SCOPE, scope.map(Value::from)),
                (FOLDER, folder.map(Value::from)),
            ];
            let given_fields = given_fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            extra.extend(given_fields);
            extra.extend(draft.private.then(|| (PRIVATE.to_owned(), true.into())));
            extra
        },
    };
    problems.or(event)
}

/// Tells whether a text is valid as a short field (`branch`, `session_id`, …). A value that the writer finds by
/// itself is left out if it does not fit, so that it never causes a refusal of what the user wrote.
#[must_use]
pub fn fits_short_field(text: &str) -> bool {
    text.len() <= SHORT_BYTES_MAX && !text.chars().any(|c| c == '\n' || text::is_unsafe(c))
}

/// The rules of one list field.
struct ListRule {
    field: &'static str,
    items_max: usize,
    item_bytes_max: usize,
}

const TAGS: ListRule =
    ListRule { field: "tags", items_max: TAGS_MAX, item_bytes_max: TAG_BYTES_MAX };
const SYMPTOMS: ListRule =
    ListRule { field: "symptoms", items_max: SYMPTOMS_MAX, item_bytes_max: SYMPTOM_BYTES_MAX };
const FILES: ListRule =
    ListRule { field: "files", items_max: FILES_MAX, item_bytes_max: FILE_BYTES_MAX };

struct Check<'a> {
    problems: &'a mut Problems,
}

impl Check<'_> {
    fn kind(&mut self, given: Option<&str>) -> EventType {
        let text = given.unwrap_or_default();
        EventType::for_writing(text).unwrap_or_else(|rule| {
            if given.is_none() && self.problems.names("event_type") {
                return EventType::from_line(text);
            }
            let lead = if text.trim().is_empty() { "is missing; it " } else { "" };
            self.problems.add("event_type", format!("{lead}{rule}"));
            EventType::from_line(text)
        })
    }

    /// An event about a memory may have no lesson.
    fn lesson(&mut self, given: Option<String>, about: Option<&str>) -> String {
        let lesson = self.text("lesson", given, LESSON_BYTES_MAX);
        if lesson.is_empty() && about.is_none() && !self.problems.names("lesson") {
            let message = "is empty; say in one or two sentences what to do next time, for example \
                           \"verify ownership before npm operations\"";
            self.problems.add("lesson", message);
        }
        lesson
    }

    fn timestamp(&mut self, given: Option<&str>, now: Timestamp) -> Option<Timestamp> {
        let Some(text) = given else { return Some(now) };
        let parsed = parse_timestamp(text);
        if parsed.is_none() {
            let message =
                format!("must be a time such as \"2025-10-31T04:58:01Z\"; got {}", quoted(text));
            self.problems.add("timestamp", message);
        }
        parsed
    }

    /// `stated` is the default and is not written. A number is kept as it is.
    fn confidence(&mut self, given: Option<&str>) -> Option<Value> {
        let text = given.filter(|text| !text.trim().is_empty())?;
        let share =
            || text.trim().parse().ok().filter(|share| Confidence::from_share(*share).is_some());
        match (Confidence::parse(text), share()) {
            (Some(Confidence::Stated), _) => None,
            (Some(other), _) => Some(other.as_str().into()),
            (None, Some(share)) => Some(share.into()),
            (None, None) => {
                let got = quoted(text);
                let message = format!(
                    "must be stated, inferred, or a number from 0 to 1 such as 0.7; got {got}"
                );
                self.problems.add(CONFIDENCE, message);
                None
            }
        }
    }

    /// `repo` is the default and is not written.
    fn scope(&mut self, given: Option<&str>) -> Option<String> {
        let text = given.filter(|text| !text.trim().is_empty())?;
        let scope = MemoryScope::parse(text);
        if scope.is_none() {
            self.problems.add(SCOPE, format!("must be repo or global; got {}", quoted(text)));
        }
        scope.filter(|scope| *scope != MemoryScope::Repo).map(|scope| scope.as_str().to_owned())
    }

    /// The top of the repository is the default and is not written.
    fn folder(&mut self, given: Option<&str>) -> Option<String> {
        let text = given.map(|text| text.trim().trim_end_matches('/')).unwrap_or_default();
        let path = text.trim_start_matches("./");
        if path.is_empty() || path == "." {
            return None;
        }
        let folder = FolderPath::parse(path);
        if folder.is_none() {
            let message = format!(
                "must be the path of a folder below the top of the repository, such as packages/web, or . for none; got {}",
                quoted(text)
            );
            self.problems.add(FOLDER, message);
        }
        folder.map(|folder| folder.as_str().to_owned())
    }

    /// A day counts to its end.
    fn expires(&mut self, given: Option<&str>, stamp: &Stamp) -> Option<String> {
        let text = given.map(str::trim).filter(|text| !text.is_empty())?;
        let until = match (parse_age(text), CalendarDay::parse(text)) {
            (Some(age), _) => stamp.now.checked_add(age).ok(),
            (None, Some(day)) => Some(day.last(stamp.now, stamp.days)),
            (None, None) => parse_timestamp(text),
        };
        if until.is_none() {
            let message = format!(
                "must be a time, a day or an age from now, such as \"2026-03-01\", \"tomorrow\", \"30d\" or \"1y\"; got {}",
                quoted(text)
            );
            self.problems.add(EXPIRES, message);
        }
        until.map(format_timestamp)
    }

    fn rate(&mut self, given: Option<&str>) -> Option<SuccessRate> {
        let text = given.filter(|text| !text.trim().is_empty())?;
        SuccessRate::parse(text).map_err(|rule| self.problems.add("success_rate", rule)).ok()
    }

    fn id(&mut self, given: Option<&str>, stamp: &Stamp) -> EventId {
        let Some(text) = given else { return EventId::mint(stamp.now, stamp.random) };
        EventId::foreign(text).unwrap_or_else(|| {
            let message = "must be 1 to 128 visible ASCII characters without spaces, quotes or \
                           backslashes; leave it out to get one";
            self.problems.add("id", message);
            EventId::mint(stamp.now, stamp.random)
        })
    }

    fn memory(&mut self, given: Option<&str>) -> Option<EventId> {
        let id = EventId::foreign(given?);
        if id.is_none() {
            let message = "must be the full id of a memory, such as 01K8QXJ3V5D0S6T7B9C1E2F4G6";
            self.problems.add("memory_id", message);
        }
        id
    }

    /// Refuses a secret in a name. A name cannot be redacted, because it also names files.
    fn name(&mut self, field: &str, given: &str) {
        if let Some(finding) = findings(given).first() {
            let message = format!(
                "contains what looks like a secret ({}); choose another name",
                finding.rule
            );
            self.problems.add(field, message);
        }
    }

    fn short(&mut self, field: &str, given: Option<String>) -> Option<String> {
        let text = self.text(field, given, SHORT_BYTES_MAX);
        if text.contains('\n') {
            self.problems.add(field, "must be one line");
        }
        (!text.is_empty()).then_some(text)
    }

    fn list(&mut self, rule: &ListRule, given: Vec<String>) -> Vec<String> {
        if given.len() > rule.items_max {
            let message =
                format!("has {} entries; at most {} are allowed", given.len(), rule.items_max);
            self.problems.add(rule.field, message);
            return Vec::new();
        }
        let mut kept: Vec<String> = Vec::with_capacity(given.len());
        for (place, item) in given.into_iter().enumerate() {
            let text =
                self.text(&format!("{}[{place}]", rule.field), Some(item), rule.item_bytes_max);
            if !text.is_empty() && !kept.contains(&text) {
                kept.push(text);
            }
        }
        kept
    }

    fn text(&mut self, field: &str, given: Option<String>, bytes_max: usize) -> String {
        let text = given.unwrap_or_default().replace("\r\n", "\n");
        let text = text::visible(&text);
        if text.len() > bytes_max {
            let message = format!(
                "is {} bytes long; at most {bytes_max} are allowed. Shorten it to what the next reader needs",
                text.len()
            );
            self.problems.add(field, message);
            return String::new();
        }
        if let Some((place, c)) = text.chars().enumerate().find(|(_, c)| text::is_unsafe(*c)) {
            self.problems.add(field, unsafe_character(place, c));
        }
        text.trim().to_owned()
    }
}

fn unsafe_character(place: usize, c: char) -> String {
    let description = match c {
        '\u{1B}' => "an ANSI escape; set NO_COLOR=1 or strip colours before saving",
        '\0' => "a NUL byte; save text, not binary data",
        '\r' => "a lone carriage return; use line breaks",
        c if c.is_control() => "a control character; remove it or write it as \\xNN",
        _ => "a character that hides or reorders text; remove it",
    };
    format!("contains U+{:04X} at character {}: {description}", u32::from(c), place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn stamp() -> Stamp {
        Stamp {
            now: "2026-01-02T03:04:05Z".parse().unwrap(),
            random: 7,
            repo: RepoKey::parse("api").unwrap(),
            agent_id: "tester".into(),
            days: DayZone::Utc,
        }
    }

    fn draft() -> Draft {
        Draft {
            event_type: Some("error".into()),
            lesson: Some("do this".into()),
            ..Draft::default()
        }
    }

    fn problem(change: impl FnOnce(&mut Draft)) -> String {
        let mut draft = draft();
        change(&mut draft);
        validate(draft, &stamp()).unwrap_err().to_string()
    }

    #[test]
    fn the_smallest_draft_becomes_an_event() {
        let event = validate(draft(), &stamp()).unwrap();
        assert_eq!((event.repo.as_str(), event.agent_id.as_str()), ("api", "tester"));
        assert_eq!(event.timestamp, Some(stamp().now));
    }

    // S-WRITE-4
    #[test]
    fn all_problems_are_named_at_once() {
        let bad = Draft {
            success_rate: Some("often".into()),
            tags: vec!["x".repeat(65)],
            timestamp: Some("soon".into()),
            ..Draft::default()
        };
        let problems = validate(bad, &stamp()).unwrap_err();
        let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["event_type", "timestamp", "lesson", "success_rate", "tags[0]"]);
    }

    // S-WRITE-2
    #[test]
    fn each_bad_field_is_named_with_its_remedy() {
        assert!(problem(|d| d.lesson = Some(" \n".into())).starts_with("lesson: is empty; say"));
        assert!(problem(|d| d.lesson = Some("x".repeat(10_000_000))).contains("at most 32768"));
        assert!(problem(|d| d.context = Some("\u{1B}[31m".into())).contains("NO_COLOR"));
        assert!(
            problem(|d| d.command = Some("a\u{202E}b".into())).contains("U+202E at character 2")
        );
        assert!(problem(|d| d.agent_id = Some("a\nb".into())).contains("one line"));
        assert!(problem(|d| d.id = Some("a b".into())).starts_with("id: must"));
        assert!(problem(|d| d.tags = vec!["t".into(); 33]).contains("33 entries; at most 32"));
    }

    #[test]
    fn problems_of_form_and_of_value_are_told_together_and_once() {
        let json = serde_json::json!({ "type": "error", "lesson": 5, "success_rate": "often" });
        let Value::Object(object) = json else { panic!() };
        let problems = validate(crate::draft_from_json(object), &stamp()).unwrap_err();
        let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["type", "lesson", "event_type", "success_rate"]);
    }

    #[test]
    fn what_fits_a_short_field_is_what_passes_as_one() {
        let long = "x".repeat(SHORT_BYTES_MAX);
        for text in
            ["", "main", "fix/ä-b", "a\nb", "a\u{1B}b", "a\u{202E}b", &long, &(long.clone() + "x")]
        {
            let branched = Draft { branch: Some(text.to_owned()), ..draft() };
            assert_eq!(validate(branched, &stamp()).is_ok(), fits_short_field(text), "{text:?}");
        }
    }

    // S-WRITE-3
    #[test]
    fn what_shows_nothing_is_dropped_and_is_no_lesson() {
        let mut hidden = draft();
        hidden.lesson = Some("do\u{200B} th\u{AD}is\u{FEFF}".into());
        assert_eq!(validate(hidden, &stamp()).unwrap().lesson, "do this");
        assert!(problem(|d| d.lesson = Some("\u{200B}\u{2060}".into())).contains("is empty"));
    }

    // S-WRITE-3
    #[test]
    fn windows_line_breaks_are_no_problem() {
        let mut two_lines = draft();
        two_lines.lesson = Some("a\r\nb".into());
        assert_eq!(validate(two_lines, &stamp()).unwrap().lesson, "a\nb");
    }

    #[test]
    fn repeated_and_empty_list_entries_are_dropped() {
        let mut tagged = draft();
        tagged.tags = vec!["npm".into(), " npm ".into(), String::new()];
        assert_eq!(validate(tagged, &stamp()).unwrap().tags, ["npm"]);
    }
}
