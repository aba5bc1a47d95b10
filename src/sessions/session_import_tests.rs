//! Tests of an import, with a tool of our own whose transcripts have one word a line.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::*;
use crate::past_sessions::PastSessions;
use crate::session_rows::SessionFilter;
use crate::session_writes::ForgetTarget;
use transcripts::exchange::PartKind;
use transcripts::records::each_record;
use transcripts::source::{ReadError, Tool, files_below, has_extension};
use transcripts::transcript::SessionExtent;
use transcripts::transcript::{MomentKind, SessionFact, TranscriptMoment, TranscriptSink};

/// RecordLines such as `{"id":"m1","ask":"text"}`, `{"say":"text"}`, `{"session":"s2"}`.
struct Plain;

static PLAIN: Tool =
    Tool { name: "plain", title: "Plain", parser_version: 1, is_tried: true, days_kept: None };

impl TranscriptReader for Plain {
    fn tool(&self) -> &'static Tool {
        &PLAIN
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        vec![places.home.join("plain")]
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 1, &|path| has_extension(path, "jsonl"))
    }

    fn holds_only_prompts(&self, file: &TranscriptFile) -> bool {
        file.stem() == Some("history")
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let extent = if resume.is_some() { SessionExtent::Continued } else { SessionExtent::Whole };
        let offset = resume.map_or(0, |resume| resume.offset);
        sink.session(file.stem().unwrap_or_default(), extent);
        sink.fact(SessionFact::Remote("acme/shop".to_owned()));
        let mut each = |value: serde_json::Value, sink: &mut dyn TranscriptSink| {
            let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
            let at_ms = value.get("at").and_then(serde_json::Value::as_i64);
            let message_id = text("id");
            let what = match (text("ask"), text("say"), text("session")) {
                (Some(asked), _, _) => MomentKind::Asked(asked),
                (_, Some(said), _) => MomentKind::Answered(said),
                (_, _, Some(id)) => {
                    sink.session(&id, extent);
                    sink.fact(SessionFact::Remote("acme/shop".to_owned()));
                    return None;
                }
                _ => return Some("odd".to_owned()),
            };
            sink.moment(TranscriptMoment { message_id, at_ms, kind: what });
            None
        };
        let end = each_record(&file.path, offset, sink, &|_| false, &mut each)?;
        Ok(Resume { offset: end, state: serde_json::Value::Null })
    }
}

struct Desk {
    folder: tempfile::TempDir,
    kept: SessionStore,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("plain")).unwrap();
        let kept = SessionStore::create(&folder.path().join("kept")).unwrap();
        Self { folder, kept }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("plain").join(format!("{name}.jsonl"))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn plan(&self, scope: ImportScope) -> ImportPlan {
        self.plan_of(&Plain, scope)
    }

    fn plan_of(&self, reader: &'static dyn TranscriptReader, scope: ImportScope) -> ImportPlan {
        let home = self.folder.path().to_owned();
        let (data, config) = (home.join("data"), home.join("config"));
        let places =
            TranscriptPlaces { home, data, config, work_trees: Vec::new(), lookup: &|_| None };
        ImportPlan::make(&[reader], &places, Some(&self.kept), scope).unwrap()
    }

    fn import(&mut self) -> ImportProgress {
        self.import_with(&Plain)
    }

    fn import_with(&mut self, reader: &'static dyn TranscriptReader) -> ImportProgress {
        let plan = self.plan_of(reader, ImportScope::default());
        plan.run(&mut self.kept, 2, &AtomicBool::new(false), &mut |_| {}).unwrap()
    }

    /// Tells whether a word stands in any file of what is kept.
    fn holds(&self, word: &str) -> bool {
        let files = std::fs::read_dir(self.folder.path().join("kept")).unwrap();
        files.flatten().any(|file| {
            let bytes = std::fs::read(file.path()).unwrap();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        })
    }

    /// The texts of every session, by native id.
    fn texts(&self) -> BTreeMap<String, Vec<String>> {
        let sessions = self.kept.sessions(&SessionFilter::default(), 0, 100).unwrap();
        let texts = |row| {
            let exchanges = self.kept.exchanges_of(row).unwrap();
            let parts = exchanges.into_iter().flat_map(|kept| kept.exchange.parts);
            parts.map(|part| match part.what {
                PartKind::Asked(text) | PartKind::Answered(text) => text,
                other => panic!("{other:?}"),
            })
        };
        sessions
            .into_iter()
            .map(|session| (session.native_id, texts(session.row).collect()))
            .collect()
    }
}

const TWO: &str = "{\"id\":\"m1\",\"ask\":\"one\",\"at\":1}\n{\"say\":\"1\"}\n{\"id\":\"m2\",\"ask\":\"two\",\"at\":2}\n";

// S-SESS-5
#[test]
fn a_file_that_grows_is_read_on() {
    let mut desk = Desk::new();
    desk.write("a", TWO);
    assert_eq!(desk.import().exchanges, 2);
    assert!(desk.plan(<_>::default()).is_empty(), "nothing has changed");
    desk.write("a", &format!("{TWO}{{\"say\":\"2\"}}\n{{\"ask\":\"three\"}}\n{{\"ask\":\"to"));
    let progress = desk.import();
    assert_eq!(
        (progress.exchanges, progress.census.understood),
        (2, 3),
        "from the last exchange on"
    );
    assert_eq!(desk.texts()["a"], ["one", "1", "two", "2", "three"]);
    desk.write(
        "a",
        &format!("{TWO}{{\"say\":\"2\"}}\n{{\"ask\":\"three\"}}\n{{\"ask\":\"too\"}}\n"),
    );
    desk.import();
    assert_eq!(desk.texts()["a"].len(), 6);
    let (removed, _) = desk.kept.removed_after(0).unwrap();
    assert_eq!(removed.len(), 2, "the exchange that went on, each time");
}

#[test]
fn a_rewritten_file_replaces_what_it_said() {
    let mut desk = Desk::new();
    desk.write("a", TWO);
    desk.import();
    desk.write("a", "{\"id\":\"m1\",\"ask\":\"one\",\"at\":1}\n{\"say\":\"1\"}\n");
    desk.import();
    assert_eq!(desk.texts()["a"], ["one", "1"]);
    assert_eq!(desk.kept.removed_after(0).unwrap().0.len(), 1, "what is the same stays");
}

// S-SESS-6
#[test]
fn a_copy_of_a_session_is_kept_once() {
    let mut desk = Desk::new();
    let two = format!("{TWO}{{\"say\":\"2\"}}\n");
    desk.write("z-original", &two);
    desk.write("a-fork", &format!("{two}{{\"id\":\"m9\",\"ask\":\"other\",\"at\":3}}\n"));
    let progress = desk.import();
    assert_eq!((progress.exchanges, progress.copied), (3, 2));
    let texts = desk.texts();
    assert_eq!(texts["z-original"], ["one", "1", "two", "2"]);
    assert_eq!(texts["a-fork"], ["other"]);
}

#[test]
fn a_copy_that_goes_on_keeps_what_it_adds() {
    let mut desk = Desk::new();
    desk.write("z-original", TWO);
    desk.write("a-fork", &format!("{TWO}{{\"say\":\"2, another way\"}}\n"));
    desk.import();
    assert_eq!(desk.texts()["a-fork"], ["two", "2, another way"]);
}

// S-SESS-3
#[test]
fn what_a_tool_deletes_stays() {
    let mut desk = Desk::new();
    desk.write("a", TWO);
    desk.import();
    std::fs::remove_file(desk.path("a")).unwrap();
    desk.import();
    assert_eq!(desk.texts()["a"].len(), 3);
    let sessions = desk.kept.sessions(&SessionFilter::default(), 0, 9).unwrap();
    assert!(sessions[0].is_source_gone);
    desk.write("a", TWO);
    desk.import();
    assert!(!desk.kept.sessions(&SessionFilter::default(), 0, 9).unwrap()[0].is_source_gone);
}

// S-SESS-3
#[test]
fn a_file_that_comes_back_unchanged_is_there() {
    let mut desk = Desk::new();
    let (path, aside) = (desk.path("a"), desk.folder.path().join("aside"));
    desk.write("a", TWO);
    desk.import();
    std::fs::rename(&path, &aside).unwrap();
    desk.import();
    assert!(is_gone(&desk));
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(desk.import().files, 0, "it is not read again");
    assert!(!is_gone(&desk));
    assert_eq!(desk.kept.censuses().unwrap()["plain"].gone, 0);
}

#[test]
fn a_transcript_replaces_bare_prompts() {
    let mut desk = Desk::new();
    desk.write(
        "history",
        "{\"session\":\"a\"}\n{\"ask\":\"one\"}\n{\"session\":\"b\"}\n{\"ask\":\"lost\"}\n",
    );
    desk.import();
    assert_eq!(desk.texts().len(), 2);
    desk.write("a", TWO);
    desk.import();
    assert_eq!(desk.texts()["a"], ["one", "1", "two"]);
    desk.write("history", "{\"session\":\"a\"}\n{\"ask\":\"one\"}\n{\"ask\":\"two\"}\n{\"session\":\"b\"}\n{\"ask\":\"lost\"}\n");
    desk.import();
    let texts = desk.texts();
    assert_eq!((texts["a"].len(), texts["b"].len()), (3, 1));
}

#[test]
fn what_is_excluded_is_not_kept() {
    let mut desk = Desk::new();
    desk.write("a", TWO);
    let count = |scope: ImportScope| desk.plan(scope).len();
    assert_eq!(count(ImportScope { without_tools: vec!["plain".to_owned()], ..<_>::default() }), 0);
    assert_eq!(
        count(ImportScope { without_paths: vec![desk.folder.path().to_owned()], ..<_>::default() }),
        0
    );
    let scope =
        ImportScope { without_repos: vec!["github.com/acme/shop".to_owned()], ..<_>::default() };
    let plan = desk.plan(scope);
    let progress = plan.run(&mut desk.kept, 1, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!((progress.exchanges, progress.left_out), (0, 1));
    assert_eq!(desk.kept.censuses().unwrap()["plain"].left_out, 1);
}

#[test]
fn another_choice_reads_what_was_left_out() {
    let mut desk = Desk::new();
    desk.write("a", TWO);
    let without =
        || ImportScope { without_repos: vec!["github.com/acme/shop".to_owned()], ..<_>::default() };
    let mut import = |scope: ImportScope| {
        let plan = desk.plan(scope);
        plan.run(&mut desk.kept, 1, &AtomicBool::new(false), &mut |_| {}).unwrap()
    };
    assert_eq!(import(without()).left_out, 1);
    assert_eq!(import(without()).files, 0, "nothing has changed");
    let progress = import(<_>::default());
    assert_eq!((progress.files, progress.exchanges, progress.left_out), (1, 2, 0));
    assert_eq!(import(<_>::default()).files, 0);
    assert_eq!(import(without()).files, 0, "what is kept is hidden, not read again");
}

#[test]
fn an_import_that_is_stopped_keeps_what_it_read() {
    let mut desk = Desk::new();
    for place in 0..20 {
        desk.write(&format!("s{place:02}"), &format!("{{\"ask\":\"{place}\"}}\n"));
    }
    let stop = AtomicBool::new(false);
    let plan = desk.plan(<_>::default());
    let mut watch = |progress: &ImportProgress| {
        let _ = stop.fetch_or(progress.files >= 3, Ordering::Relaxed);
    };
    let progress = plan.run(&mut desk.kept, 2, &stop, &mut watch).unwrap();
    assert!(progress.files >= 3 && progress.files < 20, "{progress:?}");
    assert_eq!(desk.texts().len(), progress.files);
    desk.import();
    assert_eq!(desk.texts().len(), 20);
}

#[test]
fn what_is_forgotten_does_not_come_back() {
    let mut desk = Desk::new();
    desk.write("a", &format!("{{\"ask\":\"kingfisher\",\"at\":1}}\n{{\"say\":\"0\"}}\n{TWO}"));
    desk.write("b", "{\"ask\":\"new\",\"at\":9}\n");
    desk.import();
    assert!(desk.holds("kingfisher"), "the title is not packed");
    let of = |desk: &Desk, id: &str| desk.kept.sessions_named(id, 2).unwrap()[0].row;
    let row = of(&desk, "a");
    assert_eq!(desk.kept.forget(&ForgetTarget::Session(row), 1).unwrap(), 1);
    desk.write("a", &format!("{TWO}{{\"say\":\"2\"}}\n"));
    let progress = desk.import();
    assert_eq!((progress.exchanges, progress.left_out, progress.forgotten), (0, 0, 1));
    assert_eq!(desk.texts().keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(desk.kept.forget(&ForgetTarget::Before(10), 1).unwrap(), 1);
    desk.write("c", "{\"ask\":\"old\",\"at\":5}\n");
    desk.write("d", "{\"ask\":\"newer\",\"at\":10}\n");
    desk.import();
    assert_eq!(desk.texts().keys().collect::<Vec<_>>(), ["d"]);
    assert!(!desk.holds("kingfisher"), "nothing of it stays in the files");
}

#[test]
fn a_replaced_store_is_indexed_anew() {
    let mut desk = Desk::new();
    let (folder, cache) = (desk.folder.path().join("kept"), desk.folder.path().join("cache"));
    let past = PastSessions::at(&folder, &cache);
    desk.write("a", TWO);
    desk.import();
    let view = || past.view(Duration::from_secs(60)).unwrap().unwrap();
    assert_eq!((view().index.len(), view().is_behind), (2, false));
    std::fs::remove_dir_all(&folder).unwrap();
    desk.kept = SessionStore::create(&folder).unwrap();
    std::fs::remove_file(desk.path("a")).unwrap();
    desk.write("b", "{\"ask\":\"new\",\"at\":9}\n");
    desk.import();
    assert_eq!((view().index.len(), view().is_behind), (1, false));
}

fn is_gone(desk: &Desk) -> bool {
    desk.kept.sessions(&SessionFilter::default(), 0, 9).unwrap()[0].is_source_gone
}

#[path = "unreadable_file_tests.rs"]
mod unreadable_files;

#[path = "file_key_tests.rs"]
mod file_keys;
