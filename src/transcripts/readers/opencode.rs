//! Reads OpenCode: its databases, the tree of JSON files that it kept before 1.2, and what `opencode export` writes. Kilo
//! is made of it, and keeps the same. Not here: the tables (`opencode_tables`), the messages (`opencode_messages`).

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json_parts::whole_json_up_to;
use super::opencode_messages::{MessageHead, report_message, report_session, undone_from};
use super::opencode_tables::OpenCodeTables;
use super::tool_calls::text_at;
use crate::database;
use crate::session_tables::{FirstMomentSink, SessionTables, read_changed};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension, leads_out_of,
};
use crate::transcript::{RecordStatus, TranscriptSink};

/// Largest export that is read, in bytes: it is one JSON value, which is held in memory whole.
const EXPORT_BYTES_MAX: u64 = 256 << 20;

/// Largest file of one message or one part, in bytes.
const MESSAGE_BYTES_MAX: u64 = 16 << 20;

/// Reads the sessions of OpenCode or of a tool that is made of it.
pub(super) struct OpenCodeReader {
    tool: Tool,
    /// The folder of its data, the beginning of its database's name, and of its environment variables.
    name: &'static str,
    variables: &'static str,
}

/// OpenCode itself.
pub(super) static OPENCODE: OpenCodeReader = OpenCodeReader {
    tool: Tool {
        name: "opencode",
        title: "OpenCode",
        parser_version: 1,
        is_tried: true,
        days_kept: None,
    },
    name: "opencode",
    variables: "OPENCODE",
};

/// Kilo Code, since it is made of OpenCode.
pub(super) static KILO: OpenCodeReader = OpenCodeReader {
    tool: Tool {
        name: "kilo",
        title: "Kilo Code",
        parser_version: 1,
        is_tried: false,
        days_kept: None,
    },
    name: "kilo",
    variables: "KILO",
};

impl TranscriptReader for OpenCodeReader {
    fn tool(&self) -> &'static Tool {
        if self.name == KILO.name { &KILO.tool } else { &OPENCODE.tool }
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = Vec::new();
        let named = places.named(&format!("{}_DATA_DIR", self.variables));
        if let Some(list) = named.as_ref().and_then(|list| list.to_str()) {
            roots.extend(
                list.split(',').map(str::trim).filter(|one| !one.is_empty()).map(PathBuf::from),
            );
        }
        // All systems have the folder of Linux; the variable counts everywhere.
        roots.push(places.named_or_home("XDG_DATA_HOME", ".local/share").join(self.name));
        roots.push(places.data.join(self.name));
        let database = places.named(&format!("{}_DB", self.variables));
        roots.extend(database.filter(|path| path.is_absolute()));
        let mut seen = std::collections::HashSet::new();
        roots.retain(|root| seen.insert(root.clone()));
        roots
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        let is_database = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            has_extension(path, "db") && (path == root || name.starts_with(self.name))
        };
        let is_export = |path: &Path| has_extension(path, "json") && path == root;
        let mut files = files_below(root, 0, &|path| is_database(path) || is_export(path))?;
        // The tool copied the tree into the database once, and left it behind.
        if !files.iter().any(|file| has_sessions(&file.path)) {
            let tree = root.join("storage").join("session");
            let sessions = files_below(&tree, 1, &|path| has_extension(path, "json"))?;
            let at_root = |file: TranscriptFile| TranscriptFile { root: root.to_owned(), ..file };
            files.extend(sessions.into_iter().map(at_root));
        }
        Ok(files)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        if has_extension(&file.path, "db") {
            return read_changed(file, resume, &OpenCodeTables, sink);
        }
        let session: Value = whole_json_up_to(&file.path, EXPORT_BYTES_MAX)?;
        if session.get("messages").is_some() {
            read_export(&file.path, &session, sink)?;
        } else {
            read_tree(&file.path, &session, sink)?;
        }
        Ok(Resume::default())
    }
}

/// A database that cannot be read has none: then the tree is all there is.
fn has_sessions(path: &Path) -> bool {
    database::open(path)
        .ok()
        .and_then(|database| OpenCodeTables.plan(&database).ok())
        .is_some_and(|planned| !planned.is_empty())
}

fn read_export(
    path: &Path,
    export: &Value,
    sink: &mut dyn TranscriptSink,
) -> Result<(), ReadError> {
    let info = export.get("info").unwrap_or(&Value::Null);
    let id = text_at(info, &["/id"]).ok_or_else(|| no_session(path))?;
    report_session(id, info, sink);
    let undone = undone_from(info);
    for message in export.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let id = text_at(message, &["/info/id", "/id"]).unwrap_or_default();
        if undone == Some(id) {
            break;
        }
        let info = message.get("info").unwrap_or(message);
        let parts = message.get("parts").and_then(Value::as_array).into_iter().flatten();
        let parts = parts.map(|part| (text_at(part, &["/id"]).unwrap_or_default(), part));
        report_either(id, info, parts, sink);
    }
    Ok(())
}

/// Reads a session of the tree: `session/<project>/<id>.json` here, its messages in `message/<id>/`, their parts in
/// `part/<message>/`.
fn read_tree(path: &Path, session: &Value, sink: &mut dyn TranscriptSink) -> Result<(), ReadError> {
    let id = text_at(session, &["/id"]).filter(|id| is_name(id)).ok_or_else(|| no_session(path))?;
    let storage = path.ancestors().nth(3).unwrap_or(path);
    let mut reported = FirstMomentSink::new(sink);
    report_session(id, session, &mut reported);
    for file in files_of(storage, "message", id)? {
        let Some(info) = counted(whole_json_up_to(&file.path, MESSAGE_BYTES_MAX), &mut reported)
        else {
            continue;
        };
        let message = text_at(&info, &["/id"]).unwrap_or_default();
        if undone_from(session) == Some(message) {
            break;
        }
        let mut parts = Vec::new();
        if is_name(message) {
            for file in files_of(storage, "part", message)? {
                let part = counted(whole_json_up_to(&file.path, MESSAGE_BYTES_MAX), &mut reported);
                parts.extend(part.map(|part| (file.stem().unwrap_or_default().to_owned(), part)));
            }
        }
        let parts = parts.iter().map(|(id, part)| (id.as_str(), part));
        report_either(message, &info, parts, &mut reported);
    }
    Ok(())
}

/// The files of a session or of a message, none if a link leads out of the tree.
fn files_of(storage: &Path, kind: &str, id: &str) -> Result<Vec<TranscriptFile>, ReadError> {
    let folder = storage.join(kind).join(id);
    if leads_out_of(storage, &folder) { Ok(Vec::new()) } else { files_below(&folder, 0, &|_| true) }
}

/// Reports a message of 1.x with its parts, or one of 2.x, which has a type instead of a role.
fn report_either<'a>(
    id: &str,
    info: &Value,
    parts: impl Iterator<Item = (&'a str, &'a Value)>,
    sink: &mut dyn TranscriptSink,
) {
    if let (None, Some(kind)) = (info.get("role"), text_at(info, &["/type"])) {
        return report_message(id, kind, None, info, sink);
    }
    let Some(head) = MessageHead::from_info(id, None, Some(info)) else {
        return sink.count(RecordStatus::Unknown("message of no known role"));
    };
    for (id, part) in parts {
        head.report_part(id, part, sink);
    }
    head.report_error(info, sink);
    sink.count(RecordStatus::Understood);
}

/// An id becomes part of a path, so it must not lead elsewhere.
fn is_name(id: &str) -> bool {
    !id.is_empty()
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// GoldenCounts a file that cannot be read: one that was cut off must not lose the others.
fn counted(value: Result<Value, ReadError>, sink: &mut dyn TranscriptSink) -> Option<Value> {
    if value.is_err() {
        sink.count(RecordStatus::Broken);
    }
    value.ok()
}

fn no_session(path: &Path) -> ReadError {
    ReadError::form(path, "no session of OpenCode")
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::golden::{GoldenCounts, compare, sessions_of};
    use crate::real_files::fixtures;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn tree(root: &Path) {
        write(root, "storage/session/p/ses_1.json", r#"{"id":"ses_1","title":"Cart"}"#);
        write(root, "storage/session/p/ses_2.json", r#"{"id":"../../etc"}"#);
        write(root, "storage/message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user"}"#);
        write(
            root,
            "storage/message/ses_1/msg_2.json",
            r#"{"id":"msg_2","type":"user","text":"and?"}"#,
        );
        write(root, "storage/message/ses_1/msg_3.json", r#"{"id":"msg_3","role"#);
        write(root, "storage/part/msg_1/prt_1.json", r#"{"type":"text","text":"why"}"#);
    }

    fn found(root: &Path) -> Vec<String> {
        let files = OPENCODE.find(root).unwrap();
        let name = |file: &TranscriptFile| {
            assert_eq!(file.root, root);
            file.path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        files.iter().map(name).collect()
    }

    #[test]
    fn the_tree_of_files_is_read_where_no_database_has_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        tree(root);
        let database = Connection::open(root.join("opencode.db")).unwrap();
        database.execute_batch("CREATE TABLE session(id, time_created, time_updated)").unwrap();
        write(root, "other.db", "");
        assert_eq!(found(root), ["opencode.db", "ses_1.json", "ses_2.json"]);
        database.execute_batch("INSERT INTO session VALUES ('ses_1', 1, 1)").unwrap();
        assert_eq!(found(root), ["opencode.db"]);
        assert!(OPENCODE.find(&root.join("none")).unwrap().is_empty());
    }

    #[test]
    fn a_session_of_the_tree_is_put_together_from_its_files() {
        let folder = tempfile::tempdir().unwrap();
        tree(folder.path());
        let sessions = folder.path().join("storage/session/p");
        let (read, census) = sessions_of(&OPENCODE, &sessions.join("ses_1.json"));
        let [session] = read.as_slice() else { panic!("{read:?}") };
        let parts: Vec<_> =
            session.exchanges[0].parts.iter().map(|part| part.what.clone()).collect();
        let expected = ["why", "and?"].map(|text| PartKind::Asked(text.to_owned()));
        assert_eq!(parts, expected);
        assert_eq!(census.broken, 1, "a file that was cut off loses only itself");
        let path = sessions.join("ses_2.json");
        let file = TranscriptFile { path, root: folder.path().to_owned() };
        let mut deliver = |_| {};
        let mut builder = crate::exchange::ExchangeBuilder::new(0, &mut deliver);
        let error = OPENCODE.read(&file, None, &mut builder).unwrap_err();
        assert!(error.to_string().contains("no session"), "an id never leads out of the tree");
    }

    #[test]
    fn half_a_character_loses_no_export() {
        let folder = tempfile::tempdir().unwrap();
        let export = r#"{"info":{"id":"s"},"messages":[{"info":{"id":"m","role":"user"},"parts":[{"id":"p","type":"text","text":"why \ud83d"}]}]}"#;
        write(folder.path(), "s.json", export);
        let (read, _) = sessions_of(&OPENCODE, &folder.path().join("s.json"));
        let asked = PartKind::Asked("why \u{fffd}".to_owned());
        assert_eq!(read[0].exchanges[0].parts[0].what, asked);
    }

    // S-SESS-2
    #[cfg(unix)]
    #[test]
    fn links_never_lead_out_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        for place in [&root, &outside] {
            tree(place);
        }
        for folder in ["message/ses_1", "part/msg_1"] {
            let place = root.join("storage").join(folder);
            std::fs::remove_dir_all(&place).unwrap();
            std::os::unix::fs::symlink(outside.join("storage").join(folder), place).unwrap();
            let path = root.join("storage/session/p/ses_1.json");
            let (read, _) = sessions_of(&OPENCODE, &path);
            let parts = read.iter().flat_map(|session| &session.exchanges);
            let parts = parts.flat_map(|exchange| &exchange.parts);
            assert!(parts.count() < 2, "{folder}");
            std::fs::remove_file(root.join("storage").join(folder)).unwrap();
            tree(&root);
        }
    }

    #[test]
    fn roots_follow_the_variables() {
        let lookup = |name: &str| match name {
            "OPENCODE_DATA_DIR" => Some("/a, /b".into()),
            "OPENCODE_DB" => Some("/c/x.db".into()),
            _ => None,
        };
        let places = TranscriptPlaces {
            home: "/home/u".into(),
            data: "/home/u/.local/share".into(),
            config: "/home/u/.config".into(),
            work_trees: Vec::new(),
            lookup: &lookup,
        };
        let expected = ["/a", "/b", "/home/u/.local/share/opencode", "/c/x.db"].map(PathBuf::from);
        assert_eq!(OPENCODE.roots(&places), expected);
    }

    #[test]
    fn real_exports_are_read_as_the_second_opinion_reads_them() {
        let blank = GoldenCounts {
            user: 2,
            assistant: 18,
            commands: 18,
            edits: 5,
            ..GoldenCounts::default()
        };
        let explained =
            [("ses_00e640058ffeRdo8h1GxaXmmlc.json", blank, "two answers are blank lines alone")];
        compare(&OPENCODE, "opencode", &explained);
    }

    #[test]
    fn a_tree_that_another_project_made_up_is_read() {
        let Some(fixtures) = fixtures() else { return };
        let root = fixtures.join("opencode/synthetic/lantern/opencode-home");
        let files = OPENCODE.find(&root).unwrap();
        let sessions: Vec<_> =
            files.iter().flat_map(|file| sessions_of(&OPENCODE, &file.path).0).collect();
        let counts = GoldenCounts::count(&sessions);
        assert_eq!((sessions.len(), counts.user, counts.commands), (3, 3, 1), "{counts:?}");
    }
}
