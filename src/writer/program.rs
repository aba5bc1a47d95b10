//! The `log-memory` program, but for what only a process can do. It starts no thread, opens no
//! index, and needs no server. Not here: the door itself (`writer`).

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::args::{self, Args, Command};
use super::exit::Exit;
use super::{Identity, Moment, RecordError, Writer, batch};
use crate::store::{Config, Places, Store, StoreError};

/// What the process gives the program.
pub struct Process<'a> {
    /// The command line, without the program's name.
    pub args: Vec<OsString>,
    /// Looks up an environment variable.
    pub lookup: &'a dyn Fn(&str) -> Option<String>,
    /// The working directory.
    pub directory: PathBuf,
    /// Tells the time, and gives random bits.
    pub moment: &'a mut dyn FnMut() -> Moment,
    /// Where `--json -` reads.
    pub input: &'a mut dyn Read,
    /// For data.
    pub output: &'a mut dyn Write,
    /// For messages.
    pub messages: &'a mut dyn Write,
}

/// Most bytes of `--json` input: some 200,000 events; more should come in pieces.
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Runs the program. A reader that went away early is no failure.
#[must_use]
pub fn run(process: &mut Process<'_>) -> Exit {
    match args::parse(std::mem::take(&mut process.args)) {
        Ok(args) => perform(process, args),
        Err(problem) => fail(process, Exit::Usage, &problem),
    }
}

fn perform(process: &mut Process<'_>, args: Args) -> Exit {
    let draft = match args.command {
        Command::Help => return print(process, args::HELP),
        Command::Version => {
            return print(process, concat!("log-memory ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        Command::RecordJson(source) => {
            return match open(process, args.logs) {
                Ok(writer) => perform_json(process, &writer, &source, args.durability),
                Err(error) => fail(process, Exit::of_store(&error), &format!("failed to {error}")),
            };
        }
        Command::Record(draft) => draft,
    };
    let writer = match open(process, args.logs) {
        Ok(writer) => writer,
        Err(error) => return fail(process, Exit::of_store(&error), &format!("failed to {error}")),
    };
    let moment = (process.moment)();
    match writer.record(*draft, moment, args.durability) {
        Ok(receipt) => print(process, &format!("{}\n", receipt.id)),
        Err(error) => refuse(process, &error),
    }
}

/// Settles where the logs are: flag > environment > configuration file > the platform's place.
fn open(process: &Process<'_>, logs: Option<PathBuf>) -> Result<Writer, StoreError> {
    let (store, config) = settle(process.lookup, logs)?;
    Ok(Writer {
        store,
        config,
        directory: process.directory.clone(),
        identity: Identity::from_environment(process.lookup),
    })
}

/// Settles the store and the configuration for either program.
///
/// # Errors
/// [`StoreError::NoPlace`] and [`StoreError::Config`].
pub fn settle(
    lookup: &dyn Fn(&str) -> Option<String>,
    logs: Option<PathBuf>,
) -> Result<(Store, Config), StoreError> {
    let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let places = Places::of_platform();
    let named = set("AGENT_KNOWLEDGE_CONFIG");
    if let Some(path) = named.as_ref().filter(|path| !path.exists()) {
        return Err(StoreError::Config { path: path.clone(), why: "it does not exist".to_owned() });
    }
    let config_file = named.or_else(|| places.as_ref().map(|places| places.config_file.clone()));
    let config = match config_file {
        Some(path) => Config::read(&path)?,
        None => Config::default(),
    };
    let root = logs.or_else(|| set("AGENT_KNOWLEDGE_LOGS")).or_else(|| config.logs.clone());
    let root = root.or_else(|| places.map(|places| places.logs)).ok_or(StoreError::NoPlace)?;
    Ok((Store::at(root), config))
}

fn perform_json(
    process: &mut Process<'_>,
    writer: &Writer,
    source: &Path,
    durability: crate::store::Durability,
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
    let outcomes = batch::record_all(writer, &text, durability, &mut process.moment);
    if outcomes.is_empty() {
        return fail(process, Exit::Invalid, "--json: the input holds no event");
    }
    let report: String = outcomes.iter().map(|outcome| format!("{}\n", outcome.report())).collect();
    let printed = print(process, &report);
    let worst = outcomes.iter().map(batch::Outcome::exit).max_by_key(|exit| exit.code());
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
            "more than {INPUT_BYTES_MAX} bytes; send it in pieces"
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn refuse(process: &mut Process<'_>, error: &RecordError) -> Exit {
    let text = match error {
        RecordError::Invalid(problems) => problems
            .iter()
            .map(|problem| format!("{}: {}", args::flag_of(&problem.field), problem.message))
            .collect::<Vec<_>>()
            .join("\n"),
        RecordError::Store(error) => format!("failed to {error}"),
    };
    fail(process, Exit::of_record(error), &text)
}

fn fail(process: &mut Process<'_>, exit: Exit, text: &str) -> Exit {
    for line in text.lines() {
        // A message that cannot be delivered changes nothing about what happened.
        let _ = writeln!(process.messages, "log-memory: {line}");
    }
    exit
}

fn print(process: &mut Process<'_>, text: &str) -> Exit {
    match process.output.write_all(text.as_bytes()).and_then(|()| process.output.flush()) {
        Ok(()) => Exit::Done,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(_) => Exit::Io,
    }
}
