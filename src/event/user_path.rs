//! Absolute paths that name a user: `/home/ana/x` is `~/x` to everybody else. Pure: by the text alone. Not here: paths in a work
//! tree, and this machine's home (`place`).

use std::borrow::Cow;

/// Folders whose entries are the homes of users, on the systems that share a disk; in small letters.
const HOMES: [&str; 8] = [
    "/home/",
    "/users/",
    "/var/home/",
    "/export/home/",
    "/usr/home/",
    "/private/home/",
    "/documents and settings/",
    "/system/volumes/data/users/",
];

/// Where systems show the drives of Windows.
const DRIVES: [&str; 5] = ["/mnt/", "/cygdrive/", "/host_mnt/", "/run/desktop/mnt/host/", "/"];

/// Homes that name no user.
const NAMELESS: [&str; 3] = ["/root", "/var/root", "/data/data/com.termux/files/home"];

/// Returns a path without the name of the user in whose home it lies; any other text as it is.
#[must_use]
pub fn without_user_name(path: &str) -> Cow<'_, str> {
    let slashed = path.trim().replace('\\', "/");
    let Some(at) = below_home(&slashed) else { return Cow::Borrowed(path) };
    let below = slashed.get(at..).unwrap_or_default().trim_start_matches('/');
    Cow::Owned(if below.is_empty() { "~".to_owned() } else { format!("~/{below}") })
}

/// Returns where a path goes on behind the home that it begins with.
fn below_home(slashed: &str) -> Option<usize> {
    let small = slashed.to_ascii_lowercase();
    let is_end =
        |at: usize| small.get(at..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if let Some(home) = NAMELESS.iter().find(|home| small.starts_with(*home) && is_end(home.len()))
    {
        return Some(home.len());
    }
    let start = drive_len(&small);
    let below = small.get(start..)?;
    let homes = HOMES.iter().find(|homes| below.starts_with(*homes))?;
    let name_at = start + homes.len();
    let name = small.get(name_at..)?.split('/').next().filter(|name| !name.is_empty())?;
    Some(name_at + name.len())
}

/// Returns the length of a drive's name in front of a path: `c:`, `/mnt/c`; 0 for none.
fn drive_len(small: &str) -> usize {
    let is_letter = |text: Option<&str>| {
        text.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    if is_letter(small.get(..1)) && small.get(1..3) == Some(":/") {
        return 2;
    }
    let mount = DRIVES.iter().find(|mount| {
        let at = mount.len();
        small.starts_with(*mount)
            && is_letter(small.get(at..at + 1))
            && small.get(at + 1..).is_some_and(|rest| rest.starts_with("/users/"))
    });
    mount.map_or(0, |mount| mount.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PATH-3
    #[test]
    fn a_home_stands_for_its_user() {
        for (path, expected) in [
            ("/home/ana/code/api/src/web.rs:4", "~/code/api/src/web.rs:4"),
            ("/Users/ana/x", "~/x"),
            ("C:\\Users\\ana\\x.rs", "~/x.rs"),
            ("c:/Users/ana/x.rs", "~/x.rs"),
            ("/mnt/c/Users/ana/x.rs", "~/x.rs"),
            ("/c/Users/ana/x.rs", "~/x.rs"),
            ("/var/home/ana/x", "~/x"),
            ("/home/ana", "~"),
            ("/srv/api/x.rs", "/srv/api/x.rs"),
            ("/rooted/x", "/rooted/x"),
            ("home/ana/x", "home/ana/x"),
            ("users/x.rs", "users/x.rs"),
            ("src/home/ana/x", "src/home/ana/x"),
            ("/home/", "/home/"),
            ("~/x", "~/x"),
            ("", ""),
        ] {
            assert_eq!(without_user_name(path), expected, "{path}");
        }
        let of_administrator = ["", "root", ".npmrc"].join("/");
        assert_eq!(without_user_name(&of_administrator), "~/.npmrc");
    }
}
