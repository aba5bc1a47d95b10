//! Tests of what happens to transcripts while and after they are read: they grow, vanish, are rewritten, compressed, moved
//! and damaged. Real files, the real readers, and threads that write meanwhile. Not here: damage to single lines
//! (`readers::resume_law`), databases that are written meanwhile (`opencode_tables`).

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::import_scope::ImportScope;
use crate::session_import::{ImportPlan, ImportProgress};
use crate::session_rows::{KeptSession, SessionFilter};
use crate::session_store::SessionStore;
use transcripts::exchange::PartKind;
use transcripts::readers::reader_of_tool;
use transcripts::real_files::{fixtures, unpacked_at};
use transcripts::records::compressed;
use transcripts::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader,
};
use transcripts::transcript::TranscriptSink;

const CLAUDE: &str = ".claude/projects/-code-shop/s1.jsonl";
const CODEX: &str =
    "sessions/2026/09/01/rollout-2026-09-01T10-00-00-019d7e2f-0041-7310-951c-94020254dfc9.jsonl";

/// A home with transcripts, and what is kept of them.
struct TranscriptHome {
    folder: tempfile::TempDir,
    kept: SessionStore,
    readers: Vec<&'static dyn TranscriptReader>,
}

impl TranscriptHome {
    fn new(readers: &[&'static dyn TranscriptReader]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kept = SessionStore::create(&folder.path().join("kept")).unwrap();
        Self { folder, kept, readers: readers.to_vec() }
    }

    fn for_tool(tool: &str) -> Self {
        Self::new(&[reader_of_tool(tool).unwrap()])
    }

    /// A path in the home, whose folder is there.
    fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join("home").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn plan(&self) -> ImportPlan {
        let home = self.folder.path().join("home");
        let (data, config) = (home.join("data"), home.join("config"));
        let places =
            TranscriptPlaces { home, data, config, work_trees: Vec::new(), lookup: &|_| None };
        let scope = ImportScope { is_with_private: true, ..<_>::default() };
        ImportPlan::make(&self.readers, &places, Some(&self.kept), scope).unwrap()
    }

    fn run(&mut self, plan: ImportPlan) -> ImportProgress {
        plan.run(&mut self.kept, 2, &AtomicBool::new(false), &mut |_| {}).unwrap()
    }

    fn import(&mut self) -> ImportProgress {
        let plan = self.plan();
        self.run(plan)
    }

    fn sessions(&self) -> Vec<KeptSession> {
        let filter = SessionFilter { is_with_programs: true, ..<_>::default() };
        self.kept.sessions(&filter, 0, 100).unwrap()
    }

    /// What was said in the only session.
    fn message_texts(&self) -> Vec<String> {
        let sessions = self.sessions();
        assert!(sessions.len() <= 1, "{sessions:?}");
        let rows = sessions.iter().map(|session| session.row);
        let exchanges = rows.flat_map(|row| self.kept.exchanges_of(row).unwrap());
        let parts = exchanges.flat_map(|kept| kept.exchange.parts);
        parts
            .filter_map(|part| match part.what {
                PartKind::Asked(text) | PartKind::Answered(text) => Some(text),
                _ => None,
            })
            .collect()
    }
}

/// A question and its answer, as Claude Code writes them.
fn claude_turn(number: usize, question: &str) -> String {
    let line = |kind: &str, text: &str| {
        json!({
            "type": kind, "uuid": format!("{kind}-{question}"), "sessionId": "s1", "cwd": "/code/shop",
            "timestamp": format!("2026-09-10T08:{:02}:{:02}.000Z", number / 60 % 60, number % 60),
            "message": { "role": kind, "content": [{ "type": "text", "text": text }] },
        })
    };
    format!("{}\n{}\n", line("user", question), line("assistant", &format!("{question}, so")))
}

/// A rollout of Codex in the form that gives messages no ids, with the questions `0`, `1` and so on.
fn rollout(turns: usize) -> String {
    let mut second = 0;
    let mut line = |kind: &str, payload: Value| {
        second += 1;
        let timestamp = format!("2026-09-01T10:00:{second:02}.000Z");
        json!({ "timestamp": timestamp, "type": kind, "payload": payload }).to_string() + "\n"
    };
    let head = json!({ "id": "019d7e2f-0041-7310-951c-94020254dfc9", "cwd": "/code/shop", "source": "cli" });
    let mut text = line("session_meta", head);
    for turn in 0..turns {
        text += &line("event_msg", json!({ "type": "user_message", "message": turn.to_string() }));
        let answer = json!([{ "type": "output_text", "text": format!("{turn}, so") }]);
        text += &line(
            "response_item",
            json!({ "type": "message", "role": "assistant", "content": answer }),
        );
    }
    text
}

fn turns(count: usize) -> Vec<String> {
    (0..count).flat_map(|turn| [turn.to_string(), format!("{turn}, so")]).collect()
}

// S-SESS-5
#[test]
fn a_file_written_meanwhile_loses_nothing() {
    const TURNS_PER_IMPORT: usize = 50;
    const TURNS: usize = 400;
    const LOOKS_MAX: usize = 20_000_000;
    let mut home = TranscriptHome::for_tool("claude-code");
    let mut file = std::fs::File::create(home.path(CLAUDE)).unwrap();
    let (news, is_over) = (&AtomicUsize::new(0), &AtomicBool::new(false));
    std::thread::scope(|scope| {
        let mut write = move || {
            for turn in 0..TURNS {
                for piece in claude_turn(turn, &turn.to_string()).as_bytes().chunks(97) {
                    file.write_all(piece).unwrap();
                    // The reader finds a line that is not whole. A failed assertion ends the test.
                    let is_ahead = || turn > TURNS_PER_IMPORT * (news.load(Ordering::SeqCst) + 1);
                    let mut looks = (0..LOOKS_MAX).inspect(|_| std::thread::yield_now());
                    if looks.all(|_| is_ahead()) {
                        return;
                    }
                }
            }
        };
        scope.spawn(move || {
            write();
            is_over.store(true, Ordering::SeqCst);
        });
        while !is_over.load(Ordering::SeqCst) {
            let progress = home.import();
            let damaged = (progress.census.broken, progress.census.too_long, progress.errors.len());
            assert_eq!(damaged, (0, 0, 0), "{progress:?}");
            news.fetch_add(usize::from(progress.exchanges > 0), Ordering::SeqCst);
            let said = home.message_texts();
            assert_eq!(said, turns(TURNS)[..said.len()], "a beginning of it");
        }
    });
    home.import();
    assert_eq!(home.message_texts(), turns(TURNS));
}

/// Claude Code's reader, after which the transcript is replaced by the file `next` beside it, if that is there.
struct ReplacedMeanwhile;

impl TranscriptReader for ReplacedMeanwhile {
    fn tool(&self) -> &'static Tool {
        reader_of_tool("claude-code").unwrap().tool()
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        reader_of_tool("claude-code").unwrap().roots(places)
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        reader_of_tool("claude-code").unwrap().find(root)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let end = reader_of_tool("claude-code").unwrap().read(file, resume, sink);
        let _ = std::fs::rename(file.path.with_file_name("next"), &file.path);
        end
    }
}

// S-SESS-5
#[test]
fn a_file_rewritten_meanwhile_is_read_again() {
    let mut home = TranscriptHome::new(&[&ReplacedMeanwhile]);
    let path = home.path(CLAUDE);
    let turn = |question: &str| claude_turn(1, question);
    std::fs::write(&path, turn("one") + &turn("two")).unwrap();
    let rewritten = turn("another") + &turn("and more") + &turn("at the end");
    std::fs::write(path.with_file_name("next"), rewritten).unwrap();
    home.import();
    assert_eq!(home.message_texts(), ["one", "one, so", "two", "two, so"]);
    home.import();
    let expected =
        ["another", "and more", "at the end"].map(|one| [one.to_owned(), format!("{one}, so")]);
    assert_eq!(home.message_texts(), expected.concat());
}

// S-SESS-3
#[test]
fn a_file_that_vanishes_before_it_is_read() {
    let mut home = TranscriptHome::for_tool("claude-code");
    let path = home.path(CLAUDE);
    std::fs::write(&path, claude_turn(0, "0")).unwrap();
    home.import();
    std::fs::write(&path, claude_turn(0, "0") + &claude_turn(1, "1")).unwrap();
    let plan = home.plan();
    std::fs::remove_file(&path).unwrap();
    let progress = home.run(plan);
    assert_eq!(progress.errors.len(), 1, "{progress:?}");
    assert_eq!(home.message_texts(), turns(1), "what was kept stays");
    home.import();
    assert!(home.sessions()[0].is_source_gone);
    let files = &home.kept.censuses().unwrap()["claude-code"];
    assert_eq!((files.gone, files.errors.len()), (1, 0), "a tool may delete its files");
    std::fs::write(&path, claude_turn(0, "0") + &claude_turn(1, "1")).unwrap();
    home.import();
    assert_eq!(home.message_texts(), turns(2));
}

// S-SESS-6
#[test]
fn a_rollout_that_moves_is_kept_once() {
    let mut home = TranscriptHome::for_tool("codex");
    let path = home.path(&format!(".codex/{CODEX}"));
    let packed = path.with_extension("jsonl.zst");
    let archived = home.path(".codex/archived_sessions").join(path.file_name().unwrap());
    std::fs::create_dir_all(archived.parent().unwrap()).unwrap();
    // The answer to the second question is not there yet.
    let begun = rollout(2);
    let begun = begun.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(&path, format!("{begun}\n")).unwrap();
    home.import();
    assert_eq!(home.message_texts(), turns(2)[..3]);
    // It rests for a week and is compressed, with what was not read before.
    std::fs::write(&packed, compressed(rollout(3).as_bytes())).unwrap();
    std::fs::remove_file(&path).unwrap();
    home.import();
    assert_eq!(home.message_texts(), turns(3));
    assert!(!home.sessions()[0].is_source_gone, "only its form is another");
    // Somebody resumes it: it is plain again, and grows.
    std::fs::write(&path, rollout(4)).unwrap();
    std::fs::remove_file(&packed).unwrap();
    home.import();
    assert_eq!(home.message_texts(), turns(4));
    std::fs::rename(&path, &archived).unwrap();
    home.import();
    assert_eq!(home.message_texts(), turns(4));
    assert!(!home.sessions()[0].is_source_gone);
    assert_eq!(home.sessions()[0].exchanges, 4);
}

// S-SESS-6
#[test]
fn a_backup_of_a_session_is_kept_once() {
    let mut home = TranscriptHome::for_tool("codex");
    for place in [".codex", "backup"] {
        let path = home.path(&format!("{place}/{CODEX}"));
        std::fs::write(path, rollout(2)).unwrap();
    }
    let scope = ImportScope {
        is_with_private: true,
        roots: vec![("codex".to_owned(), home.path("backup"))],
        ..<_>::default()
    };
    let (root, lookup) = (home.folder.path().join("home"), |_: &str| None);
    let (data, config) = (root.join("data"), root.join("config"));
    let places =
        TranscriptPlaces { home: root, data, config, work_trees: Vec::new(), lookup: &lookup };
    let plan = ImportPlan::make(&home.readers, &places, Some(&home.kept), scope).unwrap();
    assert_eq!(plan.len(), 2);
    let progress = home.run(plan);
    assert_eq!((progress.exchanges, progress.copied), (2, 2));
    assert_eq!(home.message_texts(), turns(2));
}

// S-SESS-3
#[test]
fn a_damaged_archive_takes_nothing_back() {
    let mut home = TranscriptHome::for_tool("codex");
    let path = home.path(&format!(".codex/{CODEX}.zst"));
    let (mut text, mut state) = (rollout(2), 1_u64);
    // Noise that compresses badly, so that the file has several blocks.
    for _ in 0..40_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let _ = writeln!(text, "{{\"type\":\"world_state\",\"x\":\"{state:x}\"}}");
    }
    text += rollout(4).split_once('\n').unwrap().1;
    let packed = compressed(text.as_bytes());
    std::fs::write(&path, &packed).unwrap();
    home.import();
    let whole = home.message_texts();
    assert_eq!(whole.len(), 12);
    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let progress = home.import();
    assert_eq!(progress.errors.len(), 1, "{progress:?}");
    assert!(progress.census.understood > 0, "a part of it can be read: {progress:?}");
    assert_eq!(home.message_texts(), whole);
}

// S-SESS-6
#[test]
fn a_real_family_of_forks_is_kept_once() {
    let Some(fixtures) = fixtures() else { return };
    let mut home = TranscriptHome::for_tool("claude-code");
    let folder = home.path(CLAUDE).with_file_name("");
    for name in ["33cbf43f-a729-447c-9e1e-94d7625775b3", "d1ffb512-fc49-422a-bffe-ac6962a37c74"] {
        let packed = format!("claude-code/real/oh-my-posh__{name}.jsonl.gz");
        unpacked_at(&fixtures.join(packed), &folder);
    }
    let progress = home.import();
    let sessions = home.sessions();
    let [fork, original] = sessions.as_slice() else { panic!("{sessions:?}") };
    let messages = |session: &KeptSession| -> Vec<_> {
        let exchanges = home.kept.exchanges_of(session.row).unwrap();
        exchanges.into_iter().filter_map(|kept| kept.exchange.message_id).collect()
    };
    let (first, second) = (messages(original), messages(fork));
    assert!(!first.is_empty() && !second.is_empty(), "{first:?} {second:?}");
    let twice = second.iter().filter(|message| first.contains(message)).count();
    // The copy goes on in the middle of one exchange.
    assert!(twice <= 1, "{twice} of {} exchanges are kept twice", second.len());
    assert!(progress.copied + 1 >= first.len() as u64, "{progress:?}");
}
