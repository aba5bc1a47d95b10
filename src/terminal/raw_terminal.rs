//! A terminal that passes every key at once and has a screen of its own, until this is dropped. Not here: what is shown
//! (`screen`), what keys mean (`keys`).

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Stderr, Stdin, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::screen::Screen;

/// What the screen has where the terminal does not tell.
const SCREEN_DEFAULT: Screen = Screen { rows: 24, columns: 80 };

/// The other screen, without a cursor and without line breaks of the terminal's own; pasted text is marked.
const ENTER: &str = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h";
const LEAVE: &str = "\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l";

/// Returns the columns of the terminal that standard output is; `None` where it is none.
#[must_use]
pub fn output_columns() -> Option<usize> {
    let output = io::stdout();
    let size = output.is_terminal().then(|| tcgetwinsize(&output).ok()).flatten();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    columns.or_else(|| output.is_terminal().then_some(SCREEN_DEFAULT.columns))
}

/// Where the screen is: standard output may be a pipe that waits for the answer.
enum Shown {
    Messages(Stderr),
    Terminal(File),
}

/// The terminal of the person in front of it, as it is.
pub struct PersonTerminal {
    keys: Stdin,
    shown: Shown,
}

impl PersonTerminal {
    /// Finds the terminal of standard input; `None` where there is none.
    #[must_use]
    pub fn find() -> Option<Self> {
        let keys = io::stdin();
        if !keys.is_terminal() {
            return None;
        }
        let shown = if io::stderr().is_terminal() {
            Shown::Messages(io::stderr())
        } else {
            Shown::Terminal(OpenOptions::new().write(true).open("/dev/tty").ok()?)
        };
        Some(Self { keys, shown })
    }

    /// Takes it, until the answer is dropped.
    ///
    /// # Errors
    /// The system's, where the terminal cannot be changed.
    pub fn into_raw(self) -> io::Result<RawTerminal> {
        let Self { keys, shown } = self;
        let before = tcgetattr(&keys)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&keys, OptionalActions::Drain, &raw)?;
        let mut terminal = RawTerminal { keys, shown, before };
        terminal.write(ENTER)?;
        Ok(terminal)
    }
}

/// A terminal that was taken.
pub struct RawTerminal {
    keys: Stdin,
    shown: Shown,
    before: Termios,
}

impl RawTerminal {
    /// Returns its size.
    #[must_use]
    pub fn screen(&self) -> Screen {
        let size = tcgetwinsize(self.fd()).ok();
        let size = size.filter(|size| size.ws_row > 0 && size.ws_col > 0);
        size.map_or(SCREEN_DEFAULT, |size| Screen {
            rows: usize::from(size.ws_row),
            columns: usize::from(size.ws_col),
        })
    }

    /// Shows lines in the place of what was shown.
    ///
    /// # Errors
    /// The system's.
    pub fn show(&mut self, lines: &[String]) -> io::Result<()> {
        // One write, so that nobody sees half a screen.
        let lines = lines.join("\u{1B}[K\r\n");
        self.write(&format!("\u{1B}[H{lines}\u{1B}[K\u{1B}[J"))
    }

    /// Waits so long, in milliseconds, for bytes; none where nothing was pressed.
    ///
    /// # Errors
    /// The system's; also where the terminal is gone.
    pub fn read(&self, wait_ms: i64, bytes: &mut [u8]) -> io::Result<usize> {
        let wait = Timespec { tv_sec: wait_ms / 1_000, tv_nsec: wait_ms % 1_000 * 1_000_000 };
        let mut waiting = [PollFd::new(&self.keys, PollFlags::IN)];
        match poll(&mut waiting, Some(&wait)) {
            Ok(0) => return Ok(0),
            // Somebody changed the size of the terminal, or asked to stop.
            Err(rustix::io::Errno::INTR) => return Ok(0),
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        match rustix::io::read(&self.keys, bytes)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match &self.shown {
            Shown::Messages(messages) => messages.as_fd(),
            Shown::Terminal(terminal) => terminal.as_fd(),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let out: &mut dyn Write = match &mut self.shown {
            Shown::Messages(messages) => messages,
            Shown::Terminal(terminal) => terminal,
        };
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing more.
        let _ = self.write(LEAVE);
        let _ = tcsetattr(&self.keys, OptionalActions::Drain, &self.before);
    }
}
