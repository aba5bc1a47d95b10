//! The `log-memory` program, except what requires a process. It starts threads only for hundreds of events at
//! once, opens no index, and needs no server. Not here: the write itself (`writer`).

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::exit::{Exit, complain, deliver};
use super::field_flags::flag_of;
use super::flags::{self, Action, Args};
use super::{Identity, Moment, RecordError, StartDirectory, WAITS, Writer, batch, takes_directory};
use crate::project_directory::{known_directories, project_directory};
use crate::redaction::Redactions;
use event::{DayZone, Draft};
use place::Machine;
use settings::variables::{CONFIG, LOGS, check_paths};
use settings::{Config, PlatformDirs, checked_path};
use store::{Destination, Store, StoreError, read_user_config};

/// What the process gives the program.
pub struct Process<'a> {
    /// The command line, without the program's name.
    pub args: Vec<OsString>,
    /// Looks up an environment variable. Variables that name paths need not be UTF-8.
    pub lookup: &'a dyn Fn(&str) -> Option<OsString>,
    /// The working directory.
    pub directory: StartDirectory,
    /// The name of this machine, if it has one.
    pub host: Option<String>,
    /// Returns the time and random bits.
    pub moment: &'a mut dyn FnMut() -> Moment,
    /// The input of `--json -`.
    pub input: &'a mut dyn Read,
    /// Standard output, for data.
    pub output: &'a mut dyn Write,
    /// Standard error, for messages.
    pub messages: &'a mut dyn Write,
}

/// Most bytes of `--json` input: some 200,000 events. Larger inputs must be split.
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Runs the program. It is not a failure if the reader closed the pipe early.
#[must_use]
pub fn run(process: &mut Process<'_>) -> Exit {
    match flags::parse(std::mem::take(&mut process.args)) {
        Ok(args) => perform(process, args),
        Err(problem) => fail(process, Exit::Usage, &problem),
    }
}

fn perform(process: &mut Process<'_>, args: Args) -> Exit {
    let draft = match args.command {
        Action::Help => return print(process, &flags::help()),
        Action::Version => {
            return print(process, concat!("log-memory ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        Action::RecordJson(source) => {
            return match open(process, args.logs.as_deref()) {
                Ok(writer) => perform_json(process, &writer, &source, args.durability),
                Err(error) => fail(process, Exit::of_store(&error), &format!("failed to {error}")),
            };
        }
        Action::Record(draft) => draft,
    };
    let is_named = args.logs.is_some();
    let writer = match open(process, args.logs.as_deref()) {
        Ok(writer) => writer,
        Err(error) => return fail(process, Exit::of_store(&error), &format!("failed to {error}")),
    };
    let (draft, guessed) = with_kind(*draft);
    print_directory_notice(process, || takes_directory(&draft));
    let moment = (process.moment)();
    let is_new = is_named && !writer.store.root().exists();
    let among = writer.store.foreign_folder_warning();
    match writer.record(draft, moment, args.durability) {
        Ok(receipt) => {
            if receipt.place == Destination::Spool {
                complain(process.messages, "log-memory", WAITS);
            }
            if is_new {
                let made = format!("made the store {}", writer.store.root().display());
                complain(process.messages, "log-memory", &made);
            }
            if let Some(among) = among {
                complain(process.messages, "log-memory", &among);
            }
            let written = format!("written as {}", receipt.id);
            let printed = print_written(process, &format!("{}\n", receipt.id), &written);
            // After the id, so that nobody waits for it.
            for notice in guessed.into_iter().chain(receipt.notices()) {
                complain(process.messages, "log-memory", &notice);
            }
            printed
        }
        Err(error) => refuse(process, &error),
    }
}

/// Gives a lesson without a type the one that its words suggest. Returns a notice about that.
fn with_kind(mut draft: Draft) -> (Draft, Option<String>) {
    if draft.event_type.is_some() {
        return (draft, None);
    }
    let kind = draft.guessed_kind();
    draft.event_type = Some(kind.to_owned());
    let notice = format!("saved as {kind}, which its words suggest, because no --type was given");
    (draft, Some(notice))
}

/// Resolves where the logs are: flag > environment > configuration file > platform directory.
fn open(process: &mut Process<'_>, logs: Option<&Path>) -> Result<Writer, StoreError> {
    let (store, config) = settle(process.lookup, logs)?;
    if let Some(warning) = config.warning() {
        complain(process.messages, "log-memory", &warning);
    }
    let known = known_directories(None, &process.directory, &store, process.lookup);
    let stands = project_directory(&store, &config, &process.directory, &known);
    if stands.is_some() {
        process.directory = process.directory.clone().in_repository();
    }
    Ok(Writer {
        store,
        config,
        directory: stands.unwrap_or_default(),
        identity: Identity::from_environment(process.lookup, process.directory.path())
            .with_host(process.host.as_deref()),
    })
}

/// Prints that another directory replaces the removed one, if the directory decides a repository.
fn print_directory_notice(process: &mut Process<'_>, is_asked: impl FnOnce() -> bool) {
    if let Some(notice) = process.directory.notice().filter(|_| is_asked()) {
        complain(process.messages, "log-memory", &notice);
    }
}

/// Resolves the store and the configuration for either program. The findings of a configuration that does not
/// exist say so: it must not keep a lesson from being saved. Joins that the store is certain of are no part of it
/// (`Store::with_certain_joins`): a save needs them for the key of a directory alone.
///
/// # Errors
/// [`StoreError::NoPlace`], [`StoreError::Config`], and [`StoreError::NoFolder`] for a named store in a folder that does
/// not exist: a mistyped path must not become a second store.
pub fn settle(
    lookup: &dyn Fn(&str) -> Option<OsString>,
    logs: Option<&Path>,
) -> Result<(Store, Config), StoreError> {
    let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    check_paths(lookup).map_err(|wrong| wrong_path(wrong.name, "=", wrong.why))?;
    // The zone of the user; no file can set it.
    let config = Config { days: DayZone::System, ..read_user_config(lookup)? };
    let logs = logs.map(named_store).transpose()?;
    let root = logs.or_else(|| set(LOGS)).or_else(|| config.general.logs.clone());
    let above =
        root.as_deref().and_then(Path::parent).filter(|above| !above.as_os_str().is_empty());
    if let Some(above) = above.filter(|above| !above.exists()) {
        return Err(StoreError::NoFolder { path: above.to_owned() });
    }
    let root = root
        .or_else(|| PlatformDirs::of_platform().map(|places| places.logs))
        .ok_or(StoreError::NoPlace)?;
    Ok((Store::at(root).on(Machine::from_environment(lookup)), config))
}

/// Returns the directory of `--logs`. A relative one is below the working directory, as for other programs; where it is the same from
/// everywhere, a retriever that is started elsewhere opens the same store.
fn named_store(logs: &Path) -> Result<PathBuf, StoreError> {
    let wrong = |why| wrong_path("--logs", " ", why);
    let path = checked_path(logs.as_os_str()).map_err(wrong)?;
    let whole = std::path::absolute(&path);
    whole.map_err(|_| wrong("is relative to a directory that was removed".to_owned()))
}

fn wrong_path(name: &'static str, before: &str, why: String) -> StoreError {
    let file = if name == CONFIG { "knowledge/config.toml" } else { "knowledge/logs" };
    StoreError::WrongPath { name, why, example: format!("{before}~/{file}") }
}

fn perform_json(
    process: &mut Process<'_>,
    writer: &Writer,
    source: &Path,
    durability: store::Durability,
) -> Exit {
    let text = match read(process, source) {
        Ok(text) => text,
        Err(error) => {
            return fail(
                process,
                Exit::Io,
                &format!("failed to read {}: {error}", source.display()),
            );
        }
    };
    print_directory_notice(process, || batch::takes_directory(&text));
    let outcomes = batch::record_all(writer, &text, durability, &mut process.moment);
    if outcomes.is_empty() {
        return fail(process, Exit::Invalid, "--json: the input contains no event");
    }
    let report = batch::reports(&outcomes);
    let written_len = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
    let written = format!("{written_len} of {} events written", outcomes.len());
    let printed = print_written(process, &report, &written);
    let mut redacted = Redactions::default();
    let receipts = outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok());
    receipts.for_each(|receipt| redacted.add(&receipt.redacted));
    if let Some(message) = redacted.message() {
        complain(process.messages, "log-memory", &message);
    }
    let worst = outcomes.iter().map(batch::BatchOutcome::exit).max_by_key(|exit| exit.code());
    worst.filter(|exit| *exit != Exit::Done).unwrap_or(printed)
}

fn read(process: &mut Process<'_>, source: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    if source == Path::new("-") {
        process.input.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(source)?.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > INPUT_BYTES_MAX {
        return Err(io::Error::other(format!(
            "it has more than {INPUT_BYTES_MAX} bytes; send it in pieces"
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn refuse(process: &mut Process<'_>, error: &RecordError) -> Exit {
    let text = match error {
        RecordError::Invalid(problems) => problems
            .iter()
            .map(|problem| format!("{}: {}", flag_of(&problem.field), problem.message))
            .collect::<Vec<_>>()
            .join("\n"),
        RecordError::Store(_) | RecordError::NotSaved { .. } => error.to_string(),
    };
    fail(process, Exit::of_record(error), &text)
}

fn fail(process: &mut Process<'_>, exit: Exit, text: &str) -> Exit {
    complain(process.messages, "log-memory", text);
    exit
}

fn print(process: &mut Process<'_>, text: &str) -> Exit {
    match deliver(process.output, text) {
        Ok(()) => Exit::Done,
        Err(error) => fail(process, Exit::Io, &format!("failed to print the answer: {error}")),
    }
}

/// Prints that something was written. If printing fails the memory still exists, so the caller must learn on
/// the other stream that sending it again would write it twice.
fn print_written(process: &mut Process<'_>, text: &str, written: &str) -> Exit {
    let Err(error) = deliver(process.output, text) else { return Exit::Done };
    let message =
        format!("{written}, but the answer could not be printed: {error}; do not send it again");
    fail(process, Exit::Io, &message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A standard output on a full disk.
    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[cfg(unix)]
    // S-STORE-1
    #[test]
    fn a_setting_that_is_not_utf8_counts() {
        use std::os::unix::ffi::OsStringExt;
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.toml");
        std::fs::write(&config, "").unwrap();
        let logs = PathBuf::from(OsString::from_vec(b"/l\xF6gs".to_vec()));
        let lookup = |name: &str| match name {
            "AGENT_KNOWLEDGE_CONFIG" => Some(config.clone().into_os_string()),
            "AGENT_KNOWLEDGE_LOGS" => Some(logs.clone().into_os_string()),
            _ => None,
        };
        assert_eq!(settle(&lookup, None).unwrap().0.root(), logs);
    }

    // S-WRITE-5
    #[test]
    fn an_id_that_could_not_be_printed_is_told_as_a_message() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, config) = (folder.path().join("logs"), folder.path().join("config.toml"));
        std::fs::write(&config, "").unwrap();
        let lookup = |name: &str| {
            (name == "AGENT_KNOWLEDGE_CONFIG").then(|| config.clone().into_os_string())
        };
        let args = ["--repo", "a", "--type", "fact", "--lesson", "l", "--id", "m1", "--logs"];
        let json = r#"{"repo":"a","event_type":"fact","lesson":"l"}"#;
        let from_input = ["--json", "-", "--logs"];
        for (args, expected) in
            [(args.as_slice(), "written as m1, but"), (&from_input, "1 of 1 events written, but")]
        {
            let mut messages = Vec::new();
            let args = args.iter().map(OsString::from).chain([logs.clone().into()]);
            let exit = run(&mut Process {
                args: args.collect(),
                lookup: &lookup,
                directory: StartDirectory::at(folder.path().to_owned()),
                host: None,
                moment: &mut || Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random: 7 },
                input: &mut json.as_bytes(),
                output: &mut FullDisk,
                messages: &mut messages,
            });
            let messages = String::from_utf8(messages).unwrap();
            assert_eq!(exit, Exit::Io);
            assert!(messages.contains(expected), "{messages}");
            assert!(messages.contains("do not send"), "{messages}");
        }
        assert_eq!(std::fs::read_to_string(logs.join("a.jsonl")).unwrap().lines().count(), 2);
    }
}
