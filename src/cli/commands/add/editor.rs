//! Opens a text in the editor of the person, in a file that only they can read. What they wrote is never lost: the file
//! stays until it was saved. Not here: what the text says (`lesson_form`).

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use requests::ApiError;
use store::make_own_file;
use writer::exit::Exit;

use retriever::startup::Surroundings;

/// Longest form that is read, in bytes: more than all fields of a memory together may have.
const FORM_BYTES_MAX: u64 = 1 << 20;

/// What opens where neither `VISUAL` nor `EDITOR` is set.
const EDITOR_DEFAULT: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// A form that a person has edited, in its file.
pub(crate) struct EditedForm {
    /// The file.
    pub(crate) path: PathBuf,
    /// What is in it.
    pub(crate) text: String,
}

/// Tells whether a person sits at a terminal, where an editor can open.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Opens a text in the editor, and returns it once the editor is closed.
pub(crate) fn edit_text(around: &Surroundings<'_>, text: &str) -> Result<EditedForm, ApiError> {
    let name = format!("agent-knowledge-{:016x}.txt", (around.clock)().random);
    let path = around.temporary.join(name);
    create(&path, text).map_err(|error| failed(&path, "write", &error))?;
    let editor = editor(around);
    let shown = editor.to_string_lossy().into_owned();
    let ended = command(&editor, &path).status();
    let trouble = match ended {
        Ok(status) if status.success() => return read(&path).map(|text| EditedForm { path, text }),
        Ok(status) => format!("the editor {shown} failed ({status})"),
        Err(error) => format!("failed to start the editor {shown}: {error}"),
    };
    // What cannot be read is not known to be untouched.
    let is_untouched = read(&path).is_ok_and(|now| now == text);
    let kept = if is_untouched {
        discard(&path);
        "set VISUAL or EDITOR to another one, for example EDITOR=nano".to_owned()
    } else {
        format!("what you wrote is kept in {}", path.display())
    };
    Err(ApiError::Failed {
        exit: Exit::Unavailable,
        message: format!("{trouble}; nothing is saved; {kept}"),
    })
}

/// Reads a form.
pub(crate) fn read(path: &Path) -> Result<String, ApiError> {
    let text = std::fs::File::open(path).and_then(|mut file| text_of(&mut file));
    text.map_err(|error| failed(path, "read", &error))
}

/// Reads a form from standard input.
pub(crate) fn read_input(input: &mut dyn Read) -> Result<String, ApiError> {
    text_of(input).map_err(|error| failed(Path::new("standard input"), "read", &error))
}

fn text_of(input: &mut dyn Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.take(FORM_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FORM_BYTES_MAX {
        return Err(io::Error::other(format!("it is longer than {FORM_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Removes a form whose text was saved, or that nobody has filled in.
pub(crate) fn discard(path: &Path) {
    // A file that stays holds nothing that was lost, and only its owner can read it.
    let _ = std::fs::remove_file(path);
}

fn editor(around: &Surroundings<'_>) -> OsString {
    let set = |name: &str| (around.lookup)(name).filter(|value| !value.is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| EDITOR_DEFAULT.into())
}

/// The variable may hold options, such as `code --wait`, so the shell reads it, as it does for git.
#[cfg(unix)]
fn command(editor: &OsStr, path: &Path) -> Command {
    let mut line = editor.to_owned();
    line.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).arg(editor).arg(path);
    command
}

#[cfg(not(unix))]
fn command(editor: &OsStr, path: &Path) -> Command {
    let text = editor.to_string_lossy();
    let mut words = text.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(EDITOR_DEFAULT));
    command.args(words).arg(path);
    command
}

fn create(path: &Path, text: &str) -> io::Result<()> {
    make_own_file(path).map_err(io::Error::other)?.write_all(text.as_bytes())
}

fn failed(path: &Path, what: &str, error: &io::Error) -> ApiError {
    let message = format!("failed to {what} {}: {error}", path.display());
    ApiError::Failed { exit: Exit::Io, message }
}
