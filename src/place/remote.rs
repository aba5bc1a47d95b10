//! Which remote of a repository says where it is: `origin`, else `upstream`, else the first that other machines share; with what
//! the settings of git and SSH make of its URL. Not here: the forms of forges (`event::forges`), a remote on this machine (`locate`).

use std::path::{Path, PathBuf};

use event::{ForgePlace, RemoteUrl, RepoKey, code_commit, forge_of_alias};
use percent_encoding::percent_decode_str;

use crate::git_settings::IncludeCase;
use crate::machine::Machine;
use crate::setting_text::{Setting, settings};
use crate::small_file::small_text;
use crate::ssh_hosts::host_name;
use crate::steps::Steps;
use crate::url_rewrite::rewritten;

/// A remote that other machines share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedRemote {
    /// Its name.
    pub(crate) name: String,
    /// Its URL as written, without user and password.
    pub(crate) url: String,
    /// The key that it gives.
    pub(crate) key: RepoKey,
}

/// What the remotes of a repository say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RemoteFound {
    /// A place that other machines share.
    Shared(SharedRemote),
    /// A repository on this machine.
    Here(PathBuf),
    /// Nothing.
    Nothing,
}

/// The settings of one repository, and those of the user once a URL needs them.
pub(crate) struct RemoteSearch<'a> {
    /// Which files are included.
    pub(crate) case: &'a IncludeCase<'a>,
    /// The repository's own settings.
    pub(crate) own: Vec<Setting>,
    of_user: Option<Vec<Setting>>,
}

impl<'a> RemoteSearch<'a> {
    /// Makes the search over a repository's own settings.
    pub(crate) fn new(case: &'a IncludeCase<'a>, own: Vec<Setting>) -> Self {
        Self { case, own, of_user: None }
    }

    /// Finds the best remote. Relative paths count from `top`.
    pub(crate) fn best(&mut self, top: &Path, steps: &mut Steps) -> RemoteFound {
        let mut remotes = remotes(&self.own);
        if remotes.is_empty() {
            remotes = remotes_of(self.user_settings());
        }
        remotes.sort_by_key(|(name, _)| match name.as_str() {
            "origin" => 0,
            "upstream" => 1,
            _ => 2,
        });
        let mut here = None;
        for (name, url) in &remotes {
            if let Some(key) = self.place(url, steps).map(|place| RepoKey::from_forge(&place)) {
                steps.add(|| format!("its remote {name:?} ({}) gives {key}", without_user(url)));
                let (name, url) = (name.clone(), without_user(url));
                return RemoteFound::Shared(SharedRemote { name, url, key });
            }
            here = here.or_else(|| path_here(url, top, self.case.machine));
        }
        here.map_or(RemoteFound::Nothing, RemoteFound::Here)
    }

    /// Finds the place that a URL means here. A server that lives as long as one session is no place.
    fn place(&mut self, url: &str, steps: &mut Steps) -> Option<ForgePlace> {
        let machine = self.case.machine;
        let parse = |url: &str| {
            let special = || code_commit(url, &|profile| aws_region(machine, profile));
            RemoteUrl::parse(url).or_else(special)
        };
        let written = parse(url).and_then(|parsed| ForgePlace::from_url(&parsed));
        // What leads away from a public forge is a mirror of it or a proxy before it.
        if written.as_ref().is_some_and(ForgePlace::is_public) {
            return written;
        }
        let replaced = rewritten(url, self.user_and_own());
        if let Some(replaced) = &replaced {
            let (from, to) = (without_user(url), without_user(replaced));
            steps.add(|| format!("insteadOf in git's settings makes {to} of {from}"));
        }
        let meant = parse(replaced.as_deref().unwrap_or(url));
        let meant = meant.map(|parsed| self.behind_alias(parsed, steps));
        let meant = meant.and_then(|parsed| ForgePlace::from_url(&parsed));
        meant
            .filter(|place| !place.is_passing())
            .or_else(|| written.filter(|place| !place.is_passing()))
    }

    /// Replaces a name that only this user's SSH knows by that of the server.
    fn behind_alias(&mut self, url: RemoteUrl, steps: &mut Steps) -> RemoteUrl {
        if !url.is_ssh() {
            return url;
        }
        let command = self.ssh_command();
        let named = host_name(&url.host, self.case.machine, command.as_deref());
        let Some(named) = named.or_else(|| forge_of_alias(&url.host).map(str::to_owned)) else {
            return url;
        };
        let named = named.to_ascii_lowercase();
        let is_meant = is_other_server(&url.host, &named);
        steps.add(|| match is_meant {
            true => format!("SSH's settings say that {} is {named}", url.host),
            false => format!("{} is reached by way of {named}, and keeps its name", url.host),
        });
        if is_meant { RemoteUrl { host: named, ..url } } else { url }
    }

    fn ssh_command(&mut self) -> Option<String> {
        let set = self.case.machine.variable("GIT_SSH_COMMAND");
        let set = set.map(|command| command.to_string_lossy().into_owned());
        set.or_else(|| {
            let all = self.user_and_own();
            let last = all.iter().rfind(|setting| setting.is("core", "sshCommand"))?;
            Some(last.value.clone())
        })
    }

    /// Returns all settings, read once: those of the user first, as git has them.
    fn user_and_own(&mut self) -> &[Setting] {
        let own = &self.own;
        let case = self.case;
        self.of_user.get_or_insert_with(|| {
            let mut all = case.user_settings();
            all.extend(own.iter().cloned());
            all
        })
    }

    fn user_settings(&mut self) -> &[Setting] {
        self.user_and_own()
    }
}

/// Reads a repository's own settings: those of its configuration and those of its work tree alone.
pub(crate) fn own_settings(
    case: &mut IncludeCase<'_>,
    common_dir: &Path,
    git_dir: &Path,
) -> Vec<Setting> {
    let file = common_dir.join("config");
    // A condition may ask for the remotes, which stand in the file itself.
    let text = small_text(&file).unwrap_or_default();
    let plain = settings(&text);
    let includes =
        plain.iter().any(|setting| setting.is_in("include") || setting.is_in("includeIf"));
    let by_work_tree = plain.iter().any(|s| s.is("extensions", "worktreeConfig") && s.is_on());
    case.remote_urls = remotes(&plain).into_iter().map(|(_, url)| url).collect();
    let mut own = if includes { case.file_settings(&file).unwrap_or_default() } else { plain };
    if by_work_tree {
        own.extend(case.file_settings(&git_dir.join("config.worktree")).unwrap_or_default());
    }
    own
}

/// Returns the URL of each remote, in their order. The first URL of a remote counts.
pub(crate) fn remotes(settings: &[Setting]) -> Vec<(String, String)> {
    remotes_of(settings)
}

fn remotes_of(settings: &[Setting]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for setting in settings.iter().filter(|setting| setting.is("remote", "url")) {
        let is_new = found.iter().all(|(other, _)| *other != setting.subsection);
        if is_new && !setting.subsection.is_empty() && !setting.value.is_empty() {
            found.push((setting.subsection.clone(), setting.value.clone()));
        }
    }
    found
}

/// Tells whether SSH's `HostName` names the place, and not only a way to it: a name that others use as well is kept where SSH has
/// an address, this machine (a tunnel), or another door of the same server for it.
fn is_other_server(host: &str, named: &str) -> bool {
    let is_address =
        named.contains(':') || named.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_way = is_address || named == "localhost" || named.ends_with(&format!(".{host}"));
    named != host && !(is_way && is_full_name(host))
}

/// Tells whether a name has the form that the whole world resolves: parts, the last of letters alone.
fn is_full_name(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns the path of a remote on this machine.
fn path_here(url: &str, top: &Path, machine: &Machine) -> Option<PathBuf> {
    let by_scheme = url.strip_prefix("file://").map(|path| {
        let path = path.strip_prefix("localhost").unwrap_or(path);
        percent_decode_str(path).decode_utf8_lossy().into_owned()
    });
    let is_url = by_scheme.is_none() && (url.contains("://") || RemoteUrl::parse(url).is_some());
    let path = by_scheme.unwrap_or_else(|| url.to_owned());
    (!is_url && !path.is_empty()).then(|| top.join(machine.expanded(&path)))
}

/// Removes user name and password from a URL that is shown.
pub(crate) fn without_user(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            format!("{scheme}://{host}/{path}")
        }
        None => url.to_owned(),
    }
}

/// Finds the region that AWS's command line would use, for a remote that names none.
fn aws_region(machine: &Machine, profile: Option<&str>) -> Option<String> {
    let text =
        |name: &str| machine.variable(name).map(|value| value.to_string_lossy().into_owned());
    if let Some(region) = text("AWS_REGION").or_else(|| text("AWS_DEFAULT_REGION")) {
        return Some(region);
    }
    let file = machine.path("AWS_CONFIG_FILE").or_else(|| machine.at_home(".aws/config"))?;
    let profile = profile.map(str::to_owned).or_else(|| text("AWS_PROFILE"));
    let headers = match profile.as_deref() {
        None | Some("default") => ["[default]".to_owned(), "[profile default]".to_owned()],
        Some(name) => [format!("[profile {name}]"), format!("[{name}]")],
    };
    let text = small_text(&file)?;
    let lines = text.lines().map(str::trim);
    let ours = lines.skip_while(|line| !headers.iter().any(|header| header == line)).skip(1);
    let mut ours = ours.take_while(|line| !line.starts_with('['));
    let region =
        ours.find_map(|line| line.split_once('=').filter(|(key, _)| key.trim() == "region"))?;
    Some(region.1.trim().to_owned())
}
