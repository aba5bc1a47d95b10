//! The forms in which forges write one repository's URL, as a table: what it looks like, and what it means. Not here: a URL that the
//! settings of git or SSH rewrite (`place`), and how a key is spelled (`repo_key`).

use std::fmt;

use super::forge_form::{Case, Form, Reach, captured, filled};
use super::remote_url::RemoteUrl;

/// Names that lead to the same server as another name.
const SERVER_NAMES: &[(&str, &str)] = &[
    // GitHub: SSH over the HTTPS port; the web site.
    ("ssh.github.com", "github.com"),
    ("www.github.com", "github.com"),
    // GitLab.com: SSH over the HTTPS port.
    ("altssh.gitlab.com", "gitlab.com"),
    ("www.gitlab.com", "gitlab.com"),
    // Bitbucket Cloud: SSH over the HTTPS port.
    ("altssh.bitbucket.org", "bitbucket.org"),
    ("www.bitbucket.org", "bitbucket.org"),
    // Hugging Face: the short name, which its SSH uses.
    ("hf.co", "huggingface.co"),
    // Heroku: SSH had no `git.`.
    ("heroku.com", "git.heroku.com"),
];

/// Forges that everybody reaches by one name.
const PUBLIC_FORGES: &[&str] = &[
    "github.com",
    "gist.github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "dev.azure.com",
    "git.sr.ht",
    "hg.sr.ht",
    "huggingface.co",
    "gitee.com",
];

/// First parts of the names of servers that say which forge runs there. All of these ignore the case of owners and names.
const CASELESS_PRODUCTS: &[&str] =
    &["github", "ghe", "gitlab", "gitea", "forgejo", "gogs", "codeberg", "bitbucket"];

/// Public forges that ignore case: <https://docs.github.com/rest>, GitLab, Bitbucket, Gitea and Azure DevOps redirect any case.
const CASELESS_FORGES: &[&str] = &[
    "github.com",
    "gist.github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "dev.azure.com",
    "gitee.com",
];

/// Where a repository of Azure DevOps is, whatever its age.
const AZURE: &str = "dev.azure.com/{org}/{project}/{repo}";
/// The same for the repository that has the name of its project.
const AZURE_FIRST: &str = "dev.azure.com/{org}/{repo}/{repo}";
/// The server and what is behind a prefix.
const SAME_SERVER: &str = "{server}/{rest}";
const BITBUCKET: &str = "{server}/{project}/{repo}";

/// The forms, the first that fits counts.
const FORMS: &[Form] = &[
    // Claude Code on the web: http://local_proxy@127.0.0.1:PORT/git/OWNER/REPO, of GitHub; the port changes with each session.
    Form::new(Reach::Loopback, "*", "git/{owner}/{repo}", "github.com/{owner}/{repo}"),
    // Azure DevOps: https://dev.azure.com/ORG/PROJECT/_git/REPO; the project's own repository may leave it out.
    Form::new(Reach::Any, "dev.azure.com", "{org}/{project}/_git/{repo}", AZURE),
    Form::new(Reach::Any, "dev.azure.com", "{org}/_git/{repo}", AZURE_FIRST),
    Form::new(Reach::Web, "dev.azure.com", "{org}/{project}/_git/{repo}/{rest}", AZURE),
    // Azure DevOps by SSH: git@ssh.dev.azure.com:v3/ORG/PROJECT/REPO.
    Form::new(Reach::Ssh, "ssh.dev.azure.com", "v3/{org}/{project}/{repo}", AZURE),
    // Visual Studio Team Services, its older name: https://ORG.visualstudio.com/[DefaultCollection/]PROJECT/_git/REPO.
    Form::new(Reach::Ssh, "vs-ssh.visualstudio.com", "v3/{org}/{project}/{repo}", AZURE),
    // Its first SSH: ssh://ORG@vs-ssh.visualstudio.com:22/[DefaultCollection/]PROJECT/_ssh/REPO.
    Form::new(
        Reach::Ssh,
        "vs-ssh.visualstudio.com",
        "DefaultCollection/{project}/_ssh/{repo}",
        VS_USER,
    ),
    Form::new(
        Reach::Ssh,
        "vs-ssh.visualstudio.com",
        "DefaultCollection/_ssh/{repo}",
        VS_USER_FIRST,
    ),
    Form::new(Reach::Ssh, "vs-ssh.visualstudio.com", "{project}/_ssh/{repo}", VS_USER),
    Form::new(Reach::Ssh, "vs-ssh.visualstudio.com", "_ssh/{repo}", VS_USER_FIRST),
    Form::new(
        Reach::Any,
        "{org}.visualstudio.com",
        "DefaultCollection/{project}/_git/{repo}",
        AZURE,
    ),
    Form::new(Reach::Any, "{org}.visualstudio.com", "DefaultCollection/_git/{repo}", AZURE_FIRST),
    Form::new(Reach::Any, "{org}.visualstudio.com", "{project}/_git/{repo}", AZURE),
    Form::new(Reach::Any, "{org}.visualstudio.com", "_git/{repo}", AZURE_FIRST),
    // GitHub: pages below a repository, as people copy them: https://github.com/OWNER/REPO/tree/main/src.
    Form::new(Reach::Web, "github.com", "{owner}/{repo}/{rest}", "github.com/{owner}/{repo}"),
    // Gists: https://gist.github.com/USER/ID is cloned as https://gist.github.com/ID.git.
    Form::new(Reach::Any, "gist.github.com", "{owner}/{repo}", "gist.github.com/{repo}"),
    // Bitbucket Cloud, Codeberg and Sourcehut: pages below a repository.
    Form::new(Reach::Web, "bitbucket.org", "{owner}/{repo}/{rest}", "bitbucket.org/{owner}/{repo}"),
    Form::new(Reach::Web, "codeberg.org", "{owner}/{repo}/{rest}", "codeberg.org/{owner}/{repo}"),
    Form::new(Reach::Web, "git.sr.ht", "{owner}/{repo}/{rest}", "git.sr.ht/{owner}/{repo}"),
    // Bitbucket Server and Data Center: https://HOST[/CONTEXT]/scm/PROJECT/REPO.git and ssh://git@HOST:7999/PROJECT/REPO.git.
    Form::caseless(Reach::Web, "*", "scm/{project}/{repo}", BITBUCKET),
    Form::caseless(Reach::Web, "*", "{context}/scm/{project}/{repo}", BITBUCKET),
    Form::caseless(Reach::SshPort(7999), "*", "{project}/{repo}", BITBUCKET),
    // Its pages: https://HOST/projects/PROJECT/repos/REPO/browse.
    Form::caseless(Reach::Web, "*", "projects/{project}/repos/{repo}", BITBUCKET),
    Form::caseless(Reach::Web, "*", "projects/{project}/repos/{repo}/{rest}", BITBUCKET),
    // Gerrit: https://HOST/a/PROJECT asks for a password, https://HOST/PROJECT does not; SSH has neither. Before 2.12 `/p/`.
    Form::new(Reach::Web, "*gerrit*", "a/{rest}", SAME_SERVER),
    Form::new(Reach::Web, "*gerrit*", "p/{rest}", SAME_SERVER),
    Form::new(Reach::Web, "*gerrit*", "{context}/a/{rest}", "{server}/{rest}"),
    Form::new(Reach::Web, "*review*", "a/{rest}", SAME_SERVER),
    Form::new(Reach::Web, "{name}.googlesource.com", "a/{rest}", SAME_SERVER),
    // Google's own scheme for it: sso://NAME/PROJECT.
    Form::new(Reach::Scheme("sso"), "*", "{rest}", "{server}.googlesource.com/{rest}"),
    // SSH: the path `~/x` is what `x` is in host:x.
    Form::new(Reach::Ssh, "*", "~/{rest}", SAME_SERVER),
];

/// The first SSH of Visual Studio Team Services has the organisation as the user.
const VS_USER: &str = "dev.azure.com/{user}/{project}/{repo}";
const VS_USER_FIRST: &str = "dev.azure.com/{user}/{repo}/{repo}";

/// Parts of a path that a proxy puts before the name of the forge.
const PROXY_PREFIXES: &[&str] = &["git", "proxy", "mirror", "mirrors", "https:", "http:"];

/// Ports that systems hand out to programs that ask for any (Linux from 32768, others from 49152).
const PASSING_PORT_MIN: u16 = 32768;

/// One place for a repository, whatever its URL was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgePlace {
    server: String,
    /// The port, where it tells servers apart.
    port: Option<u16>,
    path: String,
    case: Case,
}

impl ForgePlace {
    /// Finds the place that a URL means.
    #[must_use]
    pub fn from_url(url: &RemoteUrl) -> Option<Self> {
        let host = if url.is_loopback() { "localhost".to_owned() } else { named_server(&url.host) };
        let url = RemoteUrl { host, path: plain_path(&url.path), ..url.clone() };
        if let Some(inner) = named_in_path(&url) {
            return Self::from_url(&inner);
        }
        let may_be = |form: &&Form| form.case == Case::OfServer || !is_named_otherwise(&url.host);
        let mut forms = FORMS.iter().filter(may_be);
        let form = forms.find_map(|form| Some((form, captured(form, &url)?)));
        let (server, path, case) = match form {
            Some((form, captures)) => {
                let whole = filled(form.means, &captures);
                let (server, path) = whole.split_once('/')?;
                (server.to_owned(), path.to_owned(), form.case)
            }
            None => (url.host.clone(), url.path.join("/"), Case::OfServer),
        };
        let is_caseless = case == Case::Ignored || is_caseless(&server, &path);
        let case = if is_caseless { Case::Ignored } else { Case::OfServer };
        // SSH and HTTPS reach one forge by different ports; on this machine, ports are different servers.
        let is_usual = |port| matches!((&*url.scheme, port), ("https", 443) | ("http", 80));
        let counts = url.is_loopback() && server == url.host && !url.is_ssh();
        let port = url.port.filter(|port| counts && !is_usual(*port));
        Some(Self { server, port, path, case })
    }

    /// Tells whether this is a forge that everybody reaches by one name.
    #[must_use]
    pub fn is_public(&self) -> bool {
        PUBLIC_FORGES.contains(&self.server.as_str())
            || self.server.ends_with(".googlesource.com")
            || self.server.ends_with(".ghe.com")
    }

    /// Tells whether the server is only this machine, by a port that lasts as long as a program.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.port.is_some_and(|port| port >= PASSING_PORT_MIN)
    }

    /// Tells whether the forge ignores the case of letters.
    #[must_use]
    pub fn is_caseless(&self) -> bool {
        self.case == Case::Ignored
    }

    /// Finds the place that a URL means by itself, without the settings of any machine.
    #[must_use]
    pub fn by_itself(url: &str) -> Option<Self> {
        let url = RemoteUrl::parse(url).or_else(|| code_commit(url, &|_| None))?;
        Self::from_url(&url)
    }
}

/// Server, port and path in their own case: in small letters no rule would know a secret.
impl fmt::Display for ForgePlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        write!(out, "{}{port}/{}", self.server, self.path)
    }
}

fn named_server(host: &str) -> String {
    let named = SERVER_NAMES.iter().find(|(name, _)| *name == host);
    let host = named.map_or(host, |(_, usual)| usual);
    let host = host.strip_prefix("www.").unwrap_or(host);
    if let Some(name) = host.strip_suffix("-review.googlesource.com") {
        // Gerrit's pages of a server of Google.
        return format!("{name}.googlesource.com");
    }
    // CodeCommit's servers for FIPS have the same repositories.
    match host.strip_prefix("git-codecommit-fips.") {
        Some(region) => format!("git-codecommit.{region}"),
        None => host.to_owned(),
    }
}

/// Drops parts of a path that are no names: pages of GitLab behind `-`, and how much Azure DevOps sends.
fn plain_path(path: &[String]) -> Vec<String> {
    let is_name = |part: &&String| !matches!(part.as_str(), "_full" | "_optimized");
    let before_pages = path.iter().enumerate().take_while(|(at, part)| *at < 2 || *part != "-");
    before_pages.map(|(_, part)| part).filter(is_name).cloned().collect()
}

/// Returns the URL that a proxy or mirror names in its path, such as `/proxy/github.com/acme/api`.
fn named_in_path(url: &RemoteUrl) -> Option<RemoteUrl> {
    let at = url.path.iter().position(|part| !PROXY_PREFIXES.contains(&part.as_str()))?;
    let host = named_server(&url.path.get(at)?.to_ascii_lowercase());
    let path = url.path.get(at + 1..)?.to_vec();
    let is_forge = PUBLIC_FORGES.contains(&host.as_str()) && host != url.host && path.len() >= 2;
    is_forge.then(|| RemoteUrl {
        scheme: "https".to_owned(),
        host,
        port: None,
        path,
        ..url.clone()
    })
}

/// Tells whether a server's name says that it is another forge than Bitbucket, which may have any name.
fn is_named_otherwise(host: &str) -> bool {
    let product = host.split(['.', '-']).next().unwrap_or_default();
    PUBLIC_FORGES.contains(&host)
        || (product != "bitbucket" && CASELESS_PRODUCTS.contains(&product))
}

fn is_caseless(server: &str, path: &str) -> bool {
    let product = server.split(['.', '-']).next().unwrap_or_default();
    // Azure DevOps Server and Team Foundation Server have `_git` in every path.
    let is_azure = path.split('/').any(|part| part.eq_ignore_ascii_case("_git"));
    CASELESS_FORGES.contains(&server)
        || server.ends_with(".ghe.com")
        || (server.contains('.') && CASELESS_PRODUCTS.contains(&product))
        || is_azure
}

/// Reads what the helper of CodeCommit takes: `codecommit::REGION://[PROFILE@]NAME`, or without the region, which `region_of`
/// then finds for a profile.
#[must_use]
pub fn code_commit(
    text: &str,
    region_of: &dyn Fn(Option<&str>) -> Option<String>,
) -> Option<RemoteUrl> {
    let rest = text.trim().strip_prefix("codecommit:")?;
    let (region, named) = match rest.strip_prefix(':') {
        Some(rest) => rest.split_once("://").map(|(region, named)| (Some(region), named))?,
        None => (None, rest.strip_prefix("//")?),
    };
    let (profile, name) = match named.split_once('@') {
        Some((profile, name)) => (Some(profile), name),
        None => (None, named),
    };
    let region = region.map(str::to_owned).or_else(|| region_of(profile))?;
    let china = if region.starts_with("cn-") { ".cn" } else { "" };
    RemoteUrl::parse(&format!(
        "https://git-codecommit.{region}.amazonaws.com{china}/v1/repos/{name}"
    ))
}

/// Returns the public forge that a name such as `github.com-work` was made of. No server has such a name, so it stands in the SSH
/// settings of somebody, which need not be on this machine.
#[must_use]
pub fn forge_of_alias(host: &str) -> Option<&'static str> {
    let is_alias =
        |forge: &&str| host.strip_prefix(*forge).is_some_and(|rest| rest.starts_with(['-', '_']));
    PUBLIC_FORGES.iter().copied().find(is_alias)
}

#[cfg(test)]
mod tests;
