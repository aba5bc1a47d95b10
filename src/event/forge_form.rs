//! One form of a forge's URL: what its server and path look like, with names for the parts that count, and what they mean. Not
//! here: which forms there are (`forges`).

use super::remote_url::RemoteUrl;

/// By which way a form is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Any.
    Any,
    /// By a server on this machine.
    Loopback,
    /// By HTTP or HTTPS.
    Web,
    /// By SSH.
    Ssh,
    /// By SSH with this port.
    SshPort(u16),
    /// By a scheme of its own.
    Scheme(&'static str),
}

/// Whether the case of letters tells repositories apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// As the server has it.
    OfServer,
    /// No.
    Ignored,
}

/// One form.
pub(super) struct Form {
    reach: Reach,
    server: &'static str,
    path: &'static str,
    /// Server and path of the repository, with the captured parts in braces.
    pub(super) means: &'static str,
    /// Whether case counts.
    pub(super) case: Case,
}

impl Form {
    /// A form on a server that decides about case.
    pub(super) const fn new(
        reach: Reach,
        server: &'static str,
        path: &'static str,
        means: &'static str,
    ) -> Self {
        Self { reach, server, path, means, case: Case::OfServer }
    }

    /// A form of a forge that ignores case.
    pub(super) const fn caseless(
        reach: Reach,
        server: &'static str,
        path: &'static str,
        means: &'static str,
    ) -> Self {
        Self { reach, server, path, means, case: Case::Ignored }
    }
}

/// The captured parts by their names.
pub(super) type Captures = Vec<(&'static str, String)>;

/// Returns the named parts of a URL that has a form.
pub(super) fn captured(form: &Form, url: &RemoteUrl) -> Option<Captures> {
    let is_web = matches!(url.scheme.as_str(), "http" | "https") || url.scheme.ends_with("https");
    let is_reached = match form.reach {
        Reach::Any => true,
        Reach::Loopback => is_web && url.is_loopback(),
        Reach::Web => is_web && !url.is_loopback(),
        Reach::Ssh => url.is_ssh(),
        Reach::SshPort(port) => url.is_ssh() && url.port == Some(port),
        Reach::Scheme(scheme) => url.scheme == scheme,
    };
    let mut captures = vec![("server", url.host.clone()), ("user", url.user.clone())];
    let is_form = is_reached
        && captures_server(form.server, &url.host, &mut captures)
        && captures_path(form.path, &url.path, &mut captures);
    is_form.then_some(captures)
}

/// Puts the captured parts into a text.
pub(super) fn filled(text: &str, captures: &Captures) -> String {
    captures
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// A server is `*`, a name, `{name}.suffix`, or `*part*`.
fn captures_server(pattern: &'static str, host: &str, captures: &mut Captures) -> bool {
    if let Some((name, suffix)) = pattern.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        let first = host.strip_suffix(suffix).filter(|first| !first.is_empty());
        captures.extend(first.map(|first| (name, first.to_owned())));
        return first.is_some();
    }
    let part = pattern.strip_prefix('*').and_then(|rest| rest.strip_suffix('*'));
    match part {
        Some(part) => host.contains(part),
        None => pattern == "*" || pattern == host,
    }
}

/// A path has the same parts as a pattern, each a name or `{name}`; `{rest}` takes all that follow.
fn captures_path(pattern: &'static str, path: &[String], captures: &mut Captures) -> bool {
    let mut parts = path.iter();
    for expected in pattern.split('/') {
        let name = expected.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        match (name, parts.next()) {
            (Some("rest"), Some(first)) => {
                let rest: Vec<&str> =
                    std::iter::once(first).chain(parts.by_ref()).map(String::as_str).collect();
                captures.push(("rest", rest.join("/")));
            }
            (Some(name), Some(part)) => captures.push((name, part.clone())),
            (None, Some(part)) if part.eq_ignore_ascii_case(expected) => {}
            (None, Some(_)) | (_, None) => return false,
        }
    }
    parts.next().is_none()
}
