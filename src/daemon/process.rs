//! Process management: starting a retriever that outlives its starter, and noticing that the parent
//! process has ended. Not here: when either is done (`retriever_client`, `mcp::stdio`).

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use writer::Moment;

/// The first file descriptor behind standard input, output and error.
#[cfg(unix)]
const FIRST_UNNAMED_FD: i32 = 3;

/// The variable that tells a retriever when it was started, in nanoseconds since 1970.
pub const STARTED_VARIABLE: &str = "AGENT_KNOWLEDGE_STARTED";

/// The command that starts a retriever.
#[derive(Debug, Clone)]
pub struct RetrieverCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Environment variables that differ from ours.
    pub environment: Vec<(String, OsString)>,
    /// Its working directory, which must outlive it.
    pub directory: PathBuf,
    /// Tells the time.
    pub clock: fn() -> Moment,
}

impl RetrieverCommand {
    /// Starts it in the background. `messages` receives its error messages.
    pub fn run(&self, messages: Option<File>) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.directory);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env(STARTED_VARIABLE, (self.clock)().now.as_nanosecond().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(messages.map_or_else(Stdio::null, Stdio::from));
        // File descriptors that our parent left open, such as a pipe that somebody reads to its
        // end, would stay open as long as the retriever runs.
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

/// Detaches this process from the terminal and session of its parent.
pub fn detach() {
    #[cfg(unix)]
    {
        // A group leader cannot. Then closing the terminal may end it, and the next client starts
        // another.
        let _ = rustix::process::setsid();
    }
}

/// Calls `then` when the parent process has ended, if the system reports that without polling. A
/// client that is killed cannot close what other processes hold open.
pub fn on_parent_exit(then: impl FnOnce() + Send + 'static) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, getppid, pidfd_open};
        let Some(parent) = getppid().filter(|parent| !parent.is_init()) else { return };
        let Ok(parent_end) = pidfd_open(parent, PidfdFlags::empty()) else { return };
        // The parent may have ended between the two calls, and its number may be reused.
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
        // Without a thread the end of input is still noticed.
        let _ = std::thread::Builder::new().name("parent".to_owned()).spawn(wait);
    }
    #[cfg(not(target_os = "linux"))]
    drop(then);
}
