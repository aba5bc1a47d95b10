//! The file operations of the real writer, read from a trace of its system calls. Not here: what a disk
//! makes of them (`disk`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use store::Durability;

use crate::world::{LOG_MEMORY, World, run};

/// One thing that a writer did. Paths are below the world's folder.
#[derive(Debug, Clone)]
pub enum Operation {
    MakeDirectory(PathBuf),
    /// Opened for writing: made where it was missing, emptied where that was asked for.
    Open {
        path: PathBuf,
        empties: bool,
    },
    /// Put at the end.
    Write {
        path: PathBuf,
        bytes: Vec<u8>,
    },
    Cut {
        path: PathBuf,
        length: usize,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove(PathBuf),
    /// Of a file or a directory: what was done to it before is on the disk once this has ended.
    SyncBegins {
        call: usize,
        path: PathBuf,
    },
    SyncEnds {
        call: usize,
    },
    /// The writer said so.
    Acknowledged {
        ids: Vec<String>,
        durability: Durability,
    },
}

impl Operation {
    pub fn is_sync(&self) -> bool {
        matches!(self, Self::SyncBegins { .. } | Self::SyncEnds { .. })
    }
}

/// The calls that change files, and those that must not come up because the disk does not know them.
const CALLS: &str = "trace=open,openat,creat,write,writev,pwrite64,pwritev,truncate,ftruncate,fallocate,\
    fsync,fdatasync,sync,syncfs,sync_file_range,rename,renameat,renameat2,link,linkat,symlink,symlinkat,\
    unlink,unlinkat,rmdir,mkdir,mkdirat,copy_file_range,sendfile,splice";

/// Records writers as they run.
pub struct Recorder<'a> {
    world: &'a World,
    strace: &'a Path,
    /// The world's folder as the system names it.
    root: PathBuf,
    store: &'a str,
    pub operations: Vec<Operation>,
    syncs: usize,
}

impl<'a> Recorder<'a> {
    pub fn new(world: &'a World, strace: &'a Path, store: &'a str) -> Self {
        let root = world.path("").canonicalize().unwrap();
        Self { world, strace, root, store, operations: Vec::new(), syncs: 0 }
    }

    /// Runs `log-memory` to its end.
    pub fn run(&mut self, durability: Durability, args: &[&str], input: &str) {
        self.run_command(&[LOG_MEMORY], durability, args, input);
    }

    /// Runs several of the same at once.
    pub fn run_at_once(&mut self, count: usize, durability: Durability, args: &[&str]) {
        let script = "\"$@\" & ".repeat(count) + "wait";
        self.run_command(&["sh", "-c", &script, "sh", LOG_MEMORY], durability, args, "");
    }

    fn run_command(
        &mut self,
        program: &[&str],
        durability: Durability,
        args: &[&str],
        input: &str,
    ) {
        let trace = self.world.path("trace");
        let mut command = self.world.command(self.strace);
        // Paths of open files, and every text in hexadecimal, so that none can look like syntax.
        command.args(["-f", "-y", "-xx", "-s", "1000000", "-e", CALLS, "-e", "signal=none", "-o"]);
        command.arg(&trace).args(program).args(args);
        // The platform's place for data, of which every missing folder is made.
        let data = self.root.join(self.store.strip_suffix("/agent-knowledge/logs").unwrap());
        command.env("XDG_DATA_HOME", data).env_remove("AGENT_KNOWLEDGE_LOGS");
        if durability == Durability::Synced {
            command.arg("--durable");
        }
        run(&mut command, input.as_bytes()).done();
        self.read(&std::fs::read_to_string(trace).unwrap(), durability);
    }

    fn read(&mut self, trace: &str, durability: Durability) {
        let mut begun: BTreeMap<&str, (String, Option<usize>)> = BTreeMap::new();
        for line in trace.lines() {
            let (process, text) = line.split_once(' ').unwrap();
            let text = text.trim_start();
            if let Some(head) = text.strip_suffix(" <unfinished ...>") {
                let sync = self.begin_sync(head);
                begun.insert(process, (head.to_owned(), sync));
            } else if let Some(rest) = text.strip_prefix("<... ") {
                let (head, sync) = begun.remove(process).unwrap();
                let rest = rest.split_once("resumed>").unwrap().1;
                self.complete(&format!("{head}{rest}"), sync, durability);
            } else if !text.starts_with("+++") {
                let sync = self.begin_sync(text);
                self.complete(text, sync, durability);
            }
        }
    }

    /// Notes that a sync began; it covers what was done up to now.
    fn begin_sync(&mut self, text: &str) -> Option<usize> {
        let rest = text.strip_prefix("fdatasync(").or_else(|| text.strip_prefix("fsync("))?;
        let path = self.below_root(&named_by_file(rest.split(')').next().unwrap()))?;
        self.syncs += 1;
        self.operations.push(Operation::SyncBegins { call: self.syncs, path });
        Some(self.syncs)
    }

    fn complete(&mut self, text: &str, sync: Option<usize>, durability: Durability) {
        let (call, rest) = text.split_once('(').unwrap();
        let (args, result) = rest.rsplit_once(") = ").unwrap_or_else(|| {
            // strace pads short calls before the equals sign.
            let (args, result) = rest.rsplit_once(" = ").unwrap();
            (args.trim_end().trim_end_matches(')'), result)
        });
        if result.starts_with(['-', '?']) {
            return;
        }
        if let Some(call) = sync {
            self.operations.push(Operation::SyncEnds { call });
            return;
        }
        let args: Vec<&str> = args.trim_end().trim_end_matches(')').split(", ").collect();
        if call == "write" && args[0].starts_with("1<") {
            let ids = acknowledged(&unhex(args[1]));
            self.operations.push(Operation::Acknowledged { ids, durability });
            return;
        }
        let operation = self.operation(call, &args, result);
        self.operations.extend(operation);
    }

    /// Understands one call on a file below the root; others are of no interest.
    fn operation(&self, call: &str, args: &[&str], result: &str) -> Option<Operation> {
        let named = |arg: &str| self.below_root(&path_of(&unhex(arg)));
        match call {
            "openat" => {
                let path = self.below_root(&named_by_file(result))?;
                let empties = args[2].contains("O_TRUNC");
                let writes = ["O_CREAT", "O_TRUNC"].iter().any(|flag| args[2].contains(flag));
                writes.then_some(Operation::Open { path, empties })
            }
            "write" => {
                let path = self.below_root(&named_by_file(args[0]))?;
                let mut bytes = unhex(args[1]);
                bytes.truncate(result.parse().unwrap());
                Some(Operation::Write { path, bytes })
            }
            "ftruncate" => {
                let path = self.below_root(&named_by_file(args[0]))?;
                Some(Operation::Cut { path, length: args[1].parse().unwrap() })
            }
            "mkdir" => Some(Operation::MakeDirectory(named(args[0])?)),
            "rename" => Some(Operation::Rename { from: named(args[0])?, to: named(args[1])? }),
            "unlink" => Some(Operation::Remove(named(args[0])?)),
            _ => {
                let is_ours = args.iter().any(|arg| self.is_of_store(arg));
                assert!(!is_ours, "the disk does not know {call}({args:?})");
                None
            }
        }
    }

    /// Whether a call is on a file of the store; what the locks' files hold, no reader asks.
    fn is_of_store(&self, arg: &str) -> bool {
        let path = if arg.contains('<') { named_by_file(arg) } else { path_of(&unhex(arg)) };
        let is_of_locks = path
            .components()
            .any(|name| name.as_os_str() == ".locks" || name.as_os_str() == ".chain");
        !is_of_locks && self.below_root(&path).is_some()
    }

    fn below_root(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.root).ok().map(Path::to_owned)
    }
}

/// The path that strace shows behind the number of an open file: `3<path>`.
fn named_by_file(text: &str) -> PathBuf {
    let path = text.split_once('<').map_or("", |(_, rest)| rest.trim_end_matches('>'));
    path_of(&unhex(path))
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Reads `\x2f\x74` and the like; what is not written so is left out.
fn unhex(text: &str) -> Vec<u8> {
    let digits = text.split("\\x").skip(1);
    let two = |digits: &str| digits.get(..2).and_then(|two| u8::from_str_radix(two, 16).ok());
    digits.map(|digits| two(digits).unwrap()).collect()
}

/// The ids that a writer printed: one, or one in each report.
fn acknowledged(printed: &[u8]) -> Vec<String> {
    let printed = String::from_utf8(printed.to_vec()).unwrap();
    let id = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(report) => report["id"].as_str().unwrap().to_owned(),
        Err(_) => line.to_owned(),
    };
    printed.lines().map(id).collect()
}
