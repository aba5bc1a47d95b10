//! Opens a link in the browser of the person at this machine. Not here: which link (`ui`).

use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Tells whether a browser that is opened here is seen by the person who asked. Elsewhere it might start in the terminal, or
/// on a screen in another room.
pub(crate) fn is_available(lookup: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
    let has_screen = !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    has_screen && !is_set("SSH_CONNECTION")
}

/// Asks the system to open a link, and tells whether it could be asked. Nobody waits for the browser.
pub(crate) fn open(link: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        // Unlike `start`, it is no word of a shell that would read the link.
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(link);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C in the terminal is not meant for the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-UI-5
    #[test]
    fn a_browser_opens_only_where_it_is_seen() {
        let at_hand = |set: &[(&str, &str)]| {
            is_available(&|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert!(at_hand(&[("DISPLAY", ":0"), ("SSH_CONNECTION", "")]));
        assert!(at_hand(&[("WAYLAND_DISPLAY", "wayland-0")]));
        assert!(!at_hand(&[("DISPLAY", "localhost:10.0"), ("SSH_CONNECTION", "a 1 b 22")]));
        assert_eq!(at_hand(&[]), !cfg!(target_os = "linux"));
    }
}
