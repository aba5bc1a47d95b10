//! A remote's URL taken apart: `scheme://[user@]host[:port]/path`, `[user@]host:path`, and what helpers of git put in front. Not
//! here: which URLs mean the same repository (`forges`).

use percent_encoding::percent_decode_str;

/// The parts of the URL of a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    /// How it is reached, in lower case; `ssh` for `host:path`.
    pub scheme: String,
    /// The user, without a password.
    pub user: String,
    /// The server in lower case; an address of version 6 in brackets.
    pub host: String,
    /// The port, where one is written.
    pub port: Option<u16>,
    /// The parts of the path, decoded, without empty ones and without `.git` at the end.
    pub path: Vec<String>,
}

impl RemoteUrl {
    /// Takes a URL apart. A text with white space is a note, and a path of this machine is no URL.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = without_helper(text.trim());
        if text.contains(char::is_whitespace) {
            return None;
        }
        match text.split_once("://") {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => None,
            Some((scheme, rest)) if is_scheme(scheme) => {
                let (authority, path) = rest.split_once('/')?;
                Self::new(&scheme.to_ascii_lowercase(), authority, path)
            }
            Some(_) => None,
            None => Self::parse_scp(text),
        }
    }

    /// Reads `[user@]host:path`. `C:\repo` and `./odd:name` are paths, as they are to git.
    fn parse_scp(text: &str) -> Option<Self> {
        let (user, rest) = match text.split_once('@') {
            Some((user, rest)) if !user.contains(['/', ':', '[']) => (user, rest),
            _ => ("", text),
        };
        // Git allows `[host:port]:path` and `[user@host:port]:path`.
        let bracketed = rest.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
        let (host, path) = match bracketed {
            Some((inner, path)) if inner.matches(':').count() > 1 => (format!("[{inner}]"), path),
            Some((inner, path)) => (inner.to_owned(), path),
            None => rest.split_once(':').map(|(host, path)| (host.to_owned(), path))?,
        };
        let is_host = host.len() > 1 && !host.contains(['/', '\\']) && !path.is_empty();
        let authority = if user.is_empty() { host } else { format!("{user}@{host}") };
        is_host.then(|| Self::new("ssh", &authority, path))?
    }

    fn new(scheme: &str, authority: &str, path: &str) -> Option<Self> {
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (host, port) = match host.rsplit_once(':') {
            // The last colon of an address in brackets may be inside the brackets.
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            _ => (host, ""),
        };
        let is_host_char =
            |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
        if host.is_empty() || !host.chars().all(is_host_char) {
            return None;
        }
        let path = parts(path);
        (!path.is_empty()).then(|| Self {
            scheme: scheme.to_owned(),
            user: user.split(':').next().unwrap_or_default().to_owned(),
            host: host.to_ascii_lowercase().trim_end_matches('.').to_owned(),
            port: port.parse().ok(),
            path,
        })
    }

    /// Tells whether it is reached by SSH.
    #[must_use]
    pub fn is_ssh(&self) -> bool {
        self.scheme.contains("ssh")
    }

    /// Tells whether the server is this machine itself.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost"
            || host.ends_with(".localhost")
            // What containers call the machine that they run on.
            || matches!(host, "host.docker.internal" | "host.containers.internal")
            || host == "::1"
            || host == "0.0.0.0"
            || (host.starts_with("127.") && host.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    }
}

fn is_scheme(scheme: &str) -> bool {
    let is_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    !scheme.is_empty() && scheme.chars().all(is_char)
}

/// Strips the name of a helper from `helper::URL`, as git does (gitremote-helpers(7)).
fn without_helper(text: &str) -> &str {
    match text.split_once("::") {
        Some((helper, url)) if is_scheme(helper) && url.contains([':', '/']) => url,
        _ => text,
    }
}

fn parts(path: &str) -> Vec<String> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let path = decoded.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    path.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (url, expected) in [
            ("https://u:p@Git.Example.:8443//a/b.git/", "https u git.example 8443 a/b"),
            ("git@h.example:a/b", "ssh git h.example - a/b"),
            ("[h.example:2222]:a/b", "ssh  h.example 2222 a/b"),
            ("git@[fe80::1]:a/b", "ssh git [fe80::1] - a/b"),
            ("ssh://git@[fe80::1]:22/a/b", "ssh git [fe80::1] 22 a/b"),
            ("hg::https://h.example/a%20b", "https  h.example - a b"),
        ] {
            let found = RemoteUrl::parse(url).unwrap();
            let port = found.port.map_or_else(|| "-".to_owned(), |port| port.to_string());
            let path = found.path.join("/");
            let text = format!("{} {} {} {port} {path}", found.scheme, found.user, found.host);
            assert_eq!(text, expected, "{url}");
        }
    }

    #[test]
    fn paths_and_notes_are_no_urls() {
        for text in [
            "/srv/api",
            "../api",
            "C:\\api",
            "file:///srv/api",
            "./a:b",
            "note: x",
            "a+b:c",
            "x:///y",
            "api",
        ] {
            assert_eq!(RemoteUrl::parse(text), None, "{text}");
        }
    }
}
