//! Nobody else on the machine gets in, and what somebody planted does no harm: modes, planted links
//! and pipes, a second user, no open port. Each is tried with the built programs, and every wait has
//! a bound. Not here: names that could leave the store (`event::repo_key`), modes of a store that
//! others may write.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::pieces;
use crate::raw_client::{BOTH, Client, Era};
use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, Ran, World, bytes_under};

/// Longest a program may take here: a debug build on a busy machine. What waits for a pipe that
/// nobody writes to takes for ever.
const RUN: Duration = Duration::from_secs(30);

const RECORD: [&str; 6] = ["--repo", "api", "--type", "fact", "--lesson", "the zebra"];

/// Runs a command to its end, which must come in time.
#[track_caller]
fn bounded(command: &mut Command) -> Ran {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let status = wait_for(&mut child).unwrap_or_else(|| panic!("hangs: {command:?}"));
    let (mut output, mut messages) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    Ran { exit: status.code(), output, messages }
}

/// Waits for the end, or kills what does not end. What these programs print fits into a pipe.
fn wait_for(child: &mut Child) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if start.elapsed() > RUN {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn says_skipped(what: &str) {
    eprintln!("skipped: {what}");
}

/// The modes of everything under a directory, itself included.
fn modes(directory: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, metadata.permissions().mode() & 0o7777);
    }
    found
}

fn with_umask(world: &World, umask: &str, program: &str, args: &[&str]) -> Ran {
    let mut command = world.command("sh");
    command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\""), program]).args(args);
    bounded(&mut command)
}

// S-STORE-2
#[test]
fn whatever_the_umask_only_the_user_can_read_what_we_make() {
    for umask in ["000", "022", "027", "077"] {
        let world = World::new();
        with_umask(&world, umask, LOG_MEMORY, &RECORD).done();
        let more = ["--durable", "--repo", "web", "--type", "fact", "--lesson", "the walrus"];
        with_umask(&world, umask, LOG_MEMORY, &more).done();
        with_umask(&world, umask, AGENT_KNOWLEDGE, &["search", "zebra"]).done();
        with_umask(&world, umask, AGENT_KNOWLEDGE, &["mcp"]).done();
        let made = modes(&world.store());
        assert!(made.len() > 5, "{made:?}");
        for (path, mode) in made {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, expected, "umask {umask}: {mode:o} {}", path.display());
        }
    }
}

/// What somebody may put in the place of a file or folder of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plant {
    Link,
    DanglingLink,
    LinkToFolder,
    HardLink,
    Pipe,
    Folder,
    Device,
}

const PLANTS: [Plant; 7] = [
    Plant::Link,
    Plant::DanglingLink,
    Plant::LinkToFolder,
    Plant::HardLink,
    Plant::Pipe,
    Plant::Folder,
    Plant::Device,
];

/// Somebody's file and folder, which a plant may lead to.
struct Victim {
    file: PathBuf,
    folder: PathBuf,
}

impl Victim {
    fn in_world(world: &World) -> Self {
        let victim = Self { file: world.path("victim"), folder: world.path("victims") };
        std::fs::write(&victim.file, "theirs\n").unwrap();
        std::fs::create_dir(&victim.folder).unwrap();
        victim
    }

    /// Plants; false where this machine does not let us.
    fn plant(&self, plant: Plant, path: &Path) -> bool {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        match plant {
            Plant::Link => symlink(&self.file, path).unwrap(),
            Plant::DanglingLink => symlink(self.folder.join("new"), path).unwrap(),
            Plant::LinkToFolder => symlink(&self.folder, path).unwrap(),
            Plant::HardLink => std::fs::hard_link(&self.file, path).unwrap(),
            Plant::Pipe => return made(Command::new("mkfifo").arg(path)),
            Plant::Folder => std::fs::create_dir(path).unwrap(),
            // As /dev/zero: to be read for ever.
            Plant::Device => {
                return made(
                    Command::new("mknod").arg(path).args(["c", "1", "5"]).stderr(Stdio::null()),
                );
            }
        }
        true
    }

    #[track_caller]
    fn assert_untouched(&self, plant: Plant, by: &str) {
        let bytes = std::fs::read(&self.file).unwrap();
        assert_eq!(bytes, b"theirs\n", "{plant:?}: written by {by}");
        let held = bytes_under(&self.folder);
        assert!(held.is_empty(), "{plant:?}: {by} made {held:?}");
        let mode = self.file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o022, 0, "{plant:?}: {by} opened it to others");
    }
}

/// What every command does that could touch a plant.
fn commands(world: &World) -> Vec<(&'static str, Command)> {
    let of = |program: &str, args: &[&str]| {
        let mut command = world.command(program);
        command.args(args);
        command
    };
    vec![
        ("log-memory", of(LOG_MEMORY, &RECORD)),
        ("log-memory --durable", of(LOG_MEMORY, &[&RECORD[..], &["--durable"]].concat())),
        ("search", of(AGENT_KNOWLEDGE, &["search", "zebra"])),
        ("status", of(AGENT_KNOWLEDGE, &["status"])),
        ("context", of(AGENT_KNOWLEDGE, &["context"])),
        ("mcp", of(AGENT_KNOWLEDGE, &["mcp"])),
    ]
}

/// Plants each thing at a place, runs everything, and hands each end to `judge`.
fn plant_everywhere(place: impl Fn(&World) -> PathBuf, judge: impl Fn(&World, Plant, &str, &Ran)) {
    let mut planted = 0;
    for plant in PLANTS {
        let world = World::new();
        let path = place(&world);
        // The store as it is in use; what we plant stands in the place of one thing of it.
        world.log_memory(&["--repo", "other", "--type", "fact", "--lesson", "the okapi"]).done();
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            std::fs::remove_file(&path).unwrap();
        }
        let victim = Victim::in_world(&world);
        if !victim.plant(plant, &path) {
            says_skipped(&format!("this machine lets us make no {plant:?}"));
            continue;
        }
        for (name, mut command) in commands(&world) {
            let ran = bounded(&mut command);
            victim.assert_untouched(plant, name);
            judge(&world, plant, name, &ran);
        }
        planted += 1;
    }
    assert!(planted >= 6, "{planted} planted");
}

/// Done, or refused in a way that our table of exit codes has and with a message that names the place.
#[track_caller]
fn assert_well_ended(ran: &Ran, plant: Plant, by: &str) {
    match ran.exit {
        Some(0) => {}
        Some(74 | 75 | 78) => {
            assert!(ran.messages.contains("failed to "), "{plant:?}: {by}: {ran:?}");
        }
        _ => panic!("{plant:?}: {by}: {ran:?}"),
    }
}

// S-STORE-2
#[test]
fn a_planted_log_is_refused_and_the_others_answer() {
    let log = |world: &World| world.store().join("api.jsonl");
    plant_everywhere(log, |world, plant, by, ran| {
        assert_well_ended(ran, plant, by);
        if by.starts_with("log-memory") {
            assert_eq!(ran.exit, Some(74), "{plant:?}: {ran:?}");
            assert!(ran.messages.contains(world.store().to_str().unwrap()), "{ran:?}");
        } else {
            assert_eq!(ran.exit, Some(0), "{plant:?}: {by}: {ran:?}");
        }
        assert!(world.agent_knowledge(&["search", "okapi"]).done().contains("the okapi"));
    });
}

// S-STORE-2
#[test]
fn what_is_planted_in_the_place_of_a_lock_file_is_harmless() {
    let lock = |world: &World| world.store().join(".locks/api.jsonl.lock");
    plant_everywhere(lock, |_, plant, by, ran| assert_well_ended(ran, plant, by));
}

// S-STORE-2
#[test]
fn what_is_planted_in_the_place_of_the_spool_is_harmless() {
    let spool = |world: &World| world.store().join(".spool");
    plant_everywhere(spool, |_, plant, by, ran| assert_well_ended(ran, plant, by));
}

#[test]
fn a_planted_configuration_blocks_nobody() {
    plant_everywhere(World::config_file, |_, plant, by, ran| {
        assert_well_ended(ran, plant, by);
        // The victim's text is no configuration, and a folder is none either.
        let is_readable = matches!(plant, Plant::DanglingLink | Plant::Pipe);
        assert_eq!(ran.exit == Some(0), is_readable, "{plant:?}: {by}: {ran:?}");
    });
}

#[test]
fn what_is_planted_in_the_place_of_the_cache_is_harmless() {
    for name in ["cache", "cache/vectors.lock"] {
        plant_everywhere(
            |world| world.path(name),
            |_, plant, by, ran| assert_eq!(ran.exit, Some(0), "{name}: {plant:?}: {by}: {ran:?}"),
        );
    }
}

/// A running server meets a plant as a command does.
#[test]
fn a_running_server_leaves_a_planted_log_alone_and_answers() {
    for plant in PLANTS {
        let world = World::new();
        let victim = Victim::in_world(&world);
        let mut client = Client::open(&world, Era::Legacy);
        let okapi = json!({"repo": "other", "event_type": "fact", "lesson": "the okapi"});
        client.told("memory_save", &okapi);
        if !victim.plant(plant, &world.store().join("api.jsonl")) {
            continue;
        }
        let save = json!({"repo": "api", "event_type": "fact", "lesson": "the zebra"});
        let (text, is_error) = client.call("memory_save", &save);
        assert!(is_error && text.contains("api.jsonl"), "{plant:?}: {text}");
        assert!(client.search("okapi").contains("the okapi"), "{plant:?}");
        victim.assert_untouched(plant, "memory_save");
    }
}

// S-STORE-2
#[test]
fn another_user_can_neither_read_nor_write_the_store() {
    if !is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        return says_skipped("only root can become another user, and only with setpriv");
    }
    let world = World::new();
    world.log_memory(&RECORD).done();
    let programs = programs_for_all(&world);
    let before = bytes_under(&world.store());
    let nobody = |program: &Path, args: &[&str]| as_nobody(&world, program, args);
    let log = world.store().join("api.jsonl");
    assert_eq!(nobody(Path::new("true"), &[]).exit, Some(0), "becoming nobody works");
    for args in [["cat", log.to_str().unwrap()], ["ls", world.store().to_str().unwrap()]] {
        let ran = nobody(Path::new(args[0]), &args[1..]);
        assert!(ran.exit != Some(0) && ran.messages.contains("denied"), "{args:?}: {ran:?}");
        assert!(!ran.output.contains("zebra") && !ran.output.contains("api"), "{ran:?}");
    }
    let ran = nobody(&programs.join("log-memory"), &RECORD);
    assert_eq!(ran.exit, Some(74), "{ran:?}");
    for args in [&["search", "zebra"][..], &["recent"], &["status"], &["whoami"]] {
        let ran = nobody(&programs.join("agent-knowledge"), args);
        assert!(!ran.output.contains("the zebra"), "{args:?}: {ran:?}");
    }
    assert_eq!(bytes_under(&world.store()), before);
}

/// Opens everything around the store, and copies the programs to where everybody can run them: only the store's own modes hold.
fn programs_for_all(world: &World) -> PathBuf {
    let programs = world.path("programs");
    std::fs::create_dir(&programs).unwrap();
    for program in [LOG_MEMORY, AGENT_KNOWLEDGE] {
        std::fs::copy(program, programs.join(Path::new(program).file_name().unwrap())).unwrap();
    }
    for open in [world.path(""), world.home(), world.work(), programs.clone()] {
        std::fs::set_permissions(open, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    programs
}

fn as_nobody(world: &World, program: &Path, args: &[&str]) -> Ran {
    let mut command = world.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(args);
    bounded(&mut command)
}

// S-STORE-2
#[test]
fn a_store_without_write_permission_is_named() {
    if !is_root() || Command::new("setpriv").arg("--version").output().is_err() {
        return says_skipped("only root can become another user, and only with setpriv");
    }
    let world = World::new();
    let (programs, closed) = (programs_for_all(&world), world.path("closed"));
    std::fs::create_dir(&closed).unwrap();
    std::os::unix::fs::chown(&closed, Some(65534), Some(65534)).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    // What others can write is refused before the store is looked at.
    for place in [world.path(""), world.home()] {
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let shown = closed.to_str().unwrap();
    let save = ["--logs", shown, "add", "x"];
    for (program, args) in [
        ("log-memory", &[&RECORD[..], &["--logs", shown]].concat()[..]),
        ("agent-knowledge", &save),
    ] {
        let ran = as_nobody(&world, &programs.join(program), args);
        let told = format!(
            "failed to write into {shown}: you may not write {shown}/.locks; nothing was saved; chmod u+rwX {shown}"
        );
        assert_eq!(ran.exit, Some(74), "{ran:?}");
        assert!(ran.messages.contains(&told), "{ran:?}");
    }
}

/// The numbers of the internet sockets that this process's network has.
fn internet_sockets(process: u32) -> Vec<String> {
    let tables = ["tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6", "packet"];
    let read = |table| std::fs::read_to_string(format!("/proc/{process}/net/{table}"));
    let texts: Vec<String> = tables.into_iter().filter_map(|table| read(table).ok()).collect();
    let fields = texts.iter().flat_map(|text| text.lines().skip(1));
    fields.flat_map(|line| line.split_whitespace().map(str::to_owned)).collect()
}

// S-MCP-1: the server speaks on standard streams; a web page has nothing to connect to.
#[test]
fn a_running_server_has_no_socket_that_anybody_could_connect_to() {
    if !Path::new("/proc/self/net/tcp").exists() {
        return says_skipped("this system does not tell the sockets of a process");
    }
    let world = World::new();
    for era in BOTH {
        let mut client = Client::open(&world, era);
        client.told("memory_save", &json!({"event_type": "fact", "lesson": "the zebra"}));
        client.search("zebra");
        let process = client.process();
        let known = internet_sockets(process);
        let files = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        let open: Vec<String> = files
            .filter_map(|file| std::fs::read_link(file.unwrap().path()).ok())
            .map(|target| target.to_string_lossy().into_owned())
            .collect();
        assert!(open.iter().any(|file| file.starts_with("pipe:")), "{open:?}");
        for file in &open {
            let socket = file.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            let is_internet =
                socket.is_some_and(|number| known.iter().any(|other| other == number));
            assert!(!is_internet, "{era:?}: {file}");
        }
    }
}

#[test]
fn no_command_ever_asks_for_a_socket_of_the_internet() {
    let world = World::new();
    let traced = |program: &str, args: &[&str]| {
        let mut command = world.command("strace");
        command
            .args(["-f", "-qq", "-e", "trace=socket,bind,listen,connect"])
            .arg(program)
            .args(args);
        command
    };
    // Not where it is missing, nor where a process may not trace another.
    match traced("true", &[]).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => {}
        Ok(_) | Err(_) => return says_skipped("strace is missing or may not trace"),
    }
    let ls = ["--repo", "api", "--durable", "--type", "fact", "--lesson", "the zebra"];
    let runs: [(&str, &[&str]); 9] = [
        (LOG_MEMORY, &ls),
        (AGENT_KNOWLEDGE, &["search", "zebra"]),
        (AGENT_KNOWLEDGE, &["context", "--task", "zebra"]),
        (AGENT_KNOWLEDGE, &["recent"]),
        (AGENT_KNOWLEDGE, &["status"]),
        (AGENT_KNOWLEDGE, &["whoami"]),
        (AGENT_KNOWLEDGE, &["token", "list"]),
        (AGENT_KNOWLEDGE, &["model", "status"]),
        (AGENT_KNOWLEDGE, &["mcp"]),
    ];
    for (program, args) in runs {
        let ran = bounded(&mut traced(program, args));
        assert_eq!(ran.exit, Some(0), "{args:?}: {ran:?}");
        let calls: Vec<&str> = ran.messages.lines().filter(|line| line.contains("AF_")).collect();
        for call in calls {
            assert!(call.contains("AF_UNIX"), "{program} {args:?}: {call}");
            assert!(!call.contains("listen("), "{program} {args:?}: {call}");
        }
    }
}

// S-RANK-9
#[test]
fn the_model_uses_no_network_and_only_our_folders() {
    let (Some(strace), Some(model)) = (pieces::strace(), pieces::model()) else { return };
    let world = World::with_model(model);
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    let mut command = world.command(strace);
    command.args(["-f", "-qq", "-e", "trace=socket,connect"]);
    command.args([AGENT_KNOWLEDGE, "search", "striped animal", "--json"]);
    let ran = bounded(&mut command);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(ran.output.contains("the zebra"), "only the meaning finds it: {ran:?}");
    let asks = |line: &&str| line.contains("AF_") && !line.contains("AF_UNIX");
    assert_eq!(ran.messages.lines().filter(asks).collect::<Vec<_>>(), Vec::<&str>::new());
    let others = std::fs::read_dir(world.home().join(".cache")).into_iter().flatten();
    assert_eq!(others.count(), 0, "a runtime keeps what it is about to report there");
}
