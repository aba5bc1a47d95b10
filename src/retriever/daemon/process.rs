//! What is asked of the system about processes: starting a retriever that outlives its starter, and
//! noticing that one's own parent is gone. Not here: when either is done (`remote`, `stdio`).

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The first file descriptor behind standard input, output and error.
#[cfg(unix)]
const FIRST_UNNAMED_FD: i32 = 3;

/// How a retriever is started.
#[derive(Debug, Clone)]
pub struct Start {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables that differ from ours.
    pub set: Vec<(String, OsString)>,
    /// Its directory: one that is there as long as it is.
    pub directory: PathBuf,
}

impl Start {
    /// Starts it in the background; `words` is where it may leave messages.
    pub(super) fn run(&self, words: Option<File>) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.directory);
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(words.map_or_else(Stdio::null, Stdio::from));
        // What whoever started us left open here, a pipe that somebody reads to its end perhaps, would stay open for as
        // long as the retriever lives.
        #[cfg(unix)]
        close_fds::set_fds_cloexec(FIRST_UNNAMED_FD, &[]);
        #[cfg(windows)]
        {
            const CREATE_NO_WINDOW: u32 = 0x0800_0000;
            const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
            std::os::windows::process::CommandExt::creation_flags(
                &mut command,
                CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP,
            );
        }
        command.spawn()
    }
}

/// Parts this process from the terminal and session of whoever started it.
pub fn detach() {
    #[cfg(unix)]
    {
        // Who leads a group cannot; then a closed terminal may end it, and the next client starts another.
        let _ = rustix::process::setsid();
    }
}

/// Calls `then` when the process that started this one has ended, if the system can tell without being asked
/// again and again. A client that is killed cannot close what others hold open.
pub fn parent_gone(then: impl FnOnce() + Send + 'static) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, getppid, pidfd_open};
        let Some(parent) = getppid().filter(|parent| !parent.is_init()) else { return };
        let Ok(parent_end) = pidfd_open(parent, PidfdFlags::empty()) else { return };
        // It may have ended between the two, and its number may be another's by now.
        if getppid() != Some(parent) {
            return then();
        }
        let wait = move || {
            let mut ends = [rustix::event::PollFd::new(&parent_end, rustix::event::PollFlags::IN)];
            while rustix::event::poll(&mut ends, None)
                .is_err_and(|error| error == rustix::io::Errno::INTR)
            {}
            then();
        };
        // Without a thread the end of input remains.
        let _ = std::thread::Builder::new().name("parent".to_owned()).spawn(wait);
    }
    #[cfg(not(target_os = "linux"))]
    drop(then);
}
