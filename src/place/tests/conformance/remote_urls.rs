//! One repository under every spelling of its remote.

use super::row::{ExpectedPlace, Row, row};
use super::scene::Scene;

/// The URL in the configuration, the key that everybody gets, and why.
const URLS: &[(&str, &str, &str)] = &[
    ("https://github.com/Acme/API.git", GITHUB, "GitHub ignores the case of owner and name"),
    ("https://github.com/acme/api/", GITHUB, "a slash at the end means nothing"),
    ("https://github.com/acme/api.git/", GITHUB, "a slash behind .git means nothing"),
    ("https://ana:secret@github.com/acme/api.git", GITHUB, "a token says who, not where"),
    ("https://x-access-token:ghs@github.com/acme/api", GITHUB, "actions clone with a token"),
    ("git@github.com:acme/api.git", GITHUB, "SSH and HTTPS reach one repository"),
    ("github.com:acme/api", GITHUB, "the user may be left out"),
    ("org-14957082@github.com:acme/api.git", GITHUB, "users with certificates have other names"),
    ("ssh://git@github.com/acme/api.git", GITHUB, "the long form of SSH"),
    ("ssh://git@github.com:22/acme/api.git", GITHUB, "the usual port may be written"),
    ("ssh://git@ssh.github.com:443/acme/api.git", GITHUB, "SSH over the HTTPS port, for firewalls"),
    ("git+ssh://git@github.com/acme/api.git", GITHUB, "npm and pip write it like this"),
    ("git+https://github.com/acme/api.git", GITHUB, "npm and pip write it like this"),
    ("git://www.github.com/acme/api", GITHUB, "old clones have git:// and www"),
    ("https://github.com:443//acme/api.git", GITHUB, "a usual port and a double slash"),
    ("HTTPS://GitHub.com/acme/api", GITHUB, "schemes and hosts have no case"),
    ("https://github.com./acme/api", GITHUB, "a dot at the end is DNS, not another host"),
    ("https://github.com/acme/api/tree/main/src", GITHUB, "somebody pasted the page of a folder"),
    ("persistent-https::https://github.com/acme/api", GITHUB, "a helper of git stands in front"),
    ("http://local_proxy@127.0.0.1:48052/git/acme/api", GITHUB, "a cloud session's proxy"),
    ("http://local_proxy@127.0.0.1:37330/git/acme/api", GITHUB, "the next session's port"),
    ("http://local_proxy@localhost:25968/git/Acme/api.git", GITHUB, "the same by another name"),
    (
        "https://git-manager.devin.ai/proxy/github.com/acme/api",
        GITHUB,
        "Devin's proxy names the forge",
    ),
    ("https://ghproxy.example/https://github.com/acme/api.git", GITHUB, "a mirror names the forge"),
    ("git@[ssh.github.com]:acme/api.git", GITHUB, "git allows brackets round a host"),
    ("git@github.com-work:acme/api.git", GITHUB, "a container has no SSH settings of its user"),
    ("git@github.com:/acme/api.git/", GITHUB, "slashes at both ends"),
    ("https://acme@dev.azure.com/acme/Shop/_git/api?path=/src", AZURE, "somebody pasted a page"),
    ("https://github.com/acme/web.git", "github.com/acme/web", "another repository stays another"),
    ("git@gitlab.com:acme/team/api.git", "gitlab.com/acme/team/api", "groups may be nested"),
    (
        "ssh://git@altssh.gitlab.com:443/acme/team/api",
        "gitlab.com/acme/team/api",
        "GitLab's other door",
    ),
    ("https://oauth2:t@gitlab.com/Acme/Team/api.git", "gitlab.com/acme/team/api", "a job's token"),
    (
        "https://gitlab.com/acme/team/api/-/tree/main",
        "gitlab.com/acme/team/api",
        "pages follow a dash",
    ),
    (
        "git@gitlab.corp.example:Acme/API.git",
        "gitlab.corp.example/acme/api",
        "GitLab ignores case everywhere",
    ),
    (
        "https://gitlab.corp.example:8443/acme/api",
        "gitlab.corp.example/acme/api",
        "SSH has no such port",
    ),
    ("git@bitbucket.org:acme/api.git", "bitbucket.org/acme/api", "Bitbucket Cloud by SSH"),
    (
        "https://ana@bitbucket.org/acme/api.git",
        "bitbucket.org/acme/api",
        "Bitbucket puts the user in the URL",
    ),
    (
        "ssh://git@altssh.bitbucket.org:443/acme/api",
        "bitbucket.org/acme/api",
        "Bitbucket's other door",
    ),
    ("https://bb.corp.example/scm/pay/api.git", BITBUCKET, "Bitbucket Server has /scm/ over HTTPS"),
    ("https://bb.corp.example/scm/PAY/api.git", BITBUCKET, "it ignores the case of project keys"),
    ("ssh://git@bb.corp.example:7999/pay/api.git", BITBUCKET, "and port 7999 by SSH"),
    ("ssh://git@bb.corp.example:7999/PAY/api.git", BITBUCKET, "its pages show keys in capitals"),
    ("https://bb.corp.example/bitbucket/scm/pay/api.git", BITBUCKET, "it may stand below a path"),
    (
        "https://bb.corp.example/projects/PAY/repos/api/browse",
        BITBUCKET,
        "somebody pasted its page",
    ),
    ("https://acme@dev.azure.com/acme/Shop/_git/api", AZURE, "Azure DevOps over HTTPS"),
    ("git@ssh.dev.azure.com:v3/acme/Shop/api", AZURE, "Azure DevOps by SSH"),
    ("https://acme.visualstudio.com/Shop/_git/api", AZURE, "its older name"),
    ("https://acme.visualstudio.com/DefaultCollection/Shop/_git/api", AZURE, "its oldest form"),
    ("acme@vs-ssh.visualstudio.com:v3/acme/Shop/api", AZURE, "the older name by SSH"),
    ("ssh://acme@vs-ssh.visualstudio.com:22/Shop/_ssh/api", AZURE, "the first form by SSH"),
    (
        "https://dev.azure.com/acme/_git/api",
        "dev.azure.com/acme/api/api",
        "the project's own repository",
    ),
    (
        "git@ssh.dev.azure.com:v3/acme/api/api",
        "dev.azure.com/acme/api/api",
        "SSH writes its name twice",
    ),
    ("ssh://ana@gerrit.corp.example:29418/plugins/x", GERRIT, "Gerrit by SSH has a port"),
    ("https://gerrit.corp.example/plugins/x", GERRIT, "Gerrit for everybody"),
    ("https://gerrit.corp.example/a/plugins/x", GERRIT, "Gerrit with a password has /a/"),
    (
        "https://chromium.googlesource.com/a/v8/v8",
        "chromium.googlesource.com/v8/v8",
        "Google's Gerrit too",
    ),
    (
        "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/api",
        AMAZON,
        "CodeCommit over HTTPS",
    ),
    ("ssh://APKA@git-codecommit.eu-west-1.amazonaws.com/v1/repos/api", AMAZON, "CodeCommit by SSH"),
    ("codecommit::eu-west-1://prod@api", AMAZON, "CodeCommit's helper with region and profile"),
    (
        "https://codeberg.org/Acme/api",
        "codeberg.org/acme/api",
        "Codeberg runs Forgejo, which ignores case",
    ),
    ("ssh://git@git.corp.example:2222/acme/api.git", GITEA, "Gitea by SSH on its own port"),
    ("https://git.corp.example:3000/acme/api.git", GITEA, "the same Gitea over HTTPS"),
    ("git@git.corp.example:acme/api.git", GITEA, "and by the short form"),
    ("[git.corp.example:2222]:acme/api.git", GITEA, "git takes a port in brackets"),
    (
        "ssh://git@git.corp.example/~/acme/api.git",
        GITEA,
        "a path below the home is the short form's",
    ),
    ("git@hf.co:acme/model", "huggingface.co/acme/model", "Hugging Face has a short name"),
    (
        "https://acme.ghe.com/Acme/api.git",
        "acme.ghe.com/acme/api",
        "GitHub with its own data region",
    ),
    (
        "git@ghe.corp.example:22/acme/api.git",
        "ghe.corp.example/22/acme/api",
        "22 is a folder to git here",
    ),
];

const GITHUB: &str = "github.com/acme/api";
const BITBUCKET: &str = "bb.corp.example/pay/api";
const AZURE: &str = "dev.azure.com/acme/shop/api";
const GERRIT: &str = "gerrit.corp.example/plugins/x";
const AMAZON: &str = "git-codecommit.eu-west-1.amazonaws.com/v1/repos/api";
const GITEA: &str = "git.corp.example/acme/api";

/// The rows.
pub fn rows() -> Vec<Row> {
    let of_urls = URLS.iter().map(|(url, key, why)| {
        let place = format!("a clone of {url}");
        let set_up = |scene: &mut Scene| scene.repository("api", Some(url));
        row(&place, set_up, ExpectedPlace::key(key).kind("remote").folder("").branch("main"), why)
    });
    of_urls.chain(pairs()).collect()
}

/// Two clones, and whether they are one place.
const PAIRS: &[(&str, &str, bool, &str)] = &[
    ("http://localhost:3000/a/b", "http://[::1]:3000/a/b", true, "this machine has several names"),
    (
        "http://p@host.docker.internal:41000/git/acme/api",
        "https://github.com/acme/api",
        true,
        "a container calls the machine below it so",
    ),
    (
        "https://code-review.corp.example/a/tools/x",
        "ssh://code-review.corp.example:29418/tools/x",
        true,
        "Gerrit under another name",
    ),
    ("https://git.sr.ht/~ana/api", "git@git.sr.ht:~ana/api", true, "Sourcehut's tilde is in both"),
    (
        "https://git.corp.example/team/Api",
        "https://git.corp.example/team/api",
        false,
        "an unknown server may tell case apart",
    ),
    (
        "http://localhost:3000/a/b",
        "http://localhost:4000/a/b",
        false,
        "two servers on this machine",
    ),
    (
        "https://tfs.corp.example/tfs/Main/Shop/_git/Api",
        "ssh://tfs.corp.example:22/tfs/main/shop/_git/api",
        true,
        "Azure DevOps Server ignores case",
    ),
    (
        "https://bb.corp.example/scm/~ana/api.git",
        "ssh://git@bb.corp.example:7999/~ana/api.git",
        true,
        "a personal repository of Bitbucket",
    ),
    (
        "https://gitlab.com/scm/pay/api",
        "git@gitlab.com:pay/api",
        false,
        "a group may be called scm",
    ),
    (
        "https://dev.azure.com/a/p/_git/C%23",
        "https://dev.azure.com/a/p/_git/C",
        false,
        "a sharp is part of a name",
    ),
    (
        "https://dev.azure.com/a/My%20Shop/_git/api",
        "git@ssh.dev.azure.com:v3/a/My%20Shop/api",
        true,
        "a space in a project",
    ),
    (
        "https://gist.github.com/ana/abc123",
        "git@gist.github.com:abc123.git",
        true,
        "a gist with and without its owner",
    ),
    (
        "http://proxy@127.0.0.1:41000/x/acme/api",
        "http://proxy@127.0.0.1:42000/x/acme/api",
        false,
        "an unknown proxy says nothing",
    ),
];

fn pairs() -> impl Iterator<Item = Row> {
    PAIRS.iter().map(|(one, other, is_same, why)| {
        let place = format!("clones of {one} and {other}");
        let set_up = |scene: &mut Scene| {
            scene.repository("other", Some(other));
            scene.repository("api", Some(one))
        };
        let expected = if *is_same {
            ExpectedPlace::same_as("other")
        } else {
            ExpectedPlace::other_than("other")
        };
        row(&place, set_up, expected, why)
    })
}
