//! Every form of the table by an example.

use crate::RepoKey;

fn key(url: &str) -> String {
    RepoKey::from_remote(url).map_or_else(|| "none".to_owned(), |key| key.to_string())
}

#[track_caller]
fn assert_one(expected: &str, urls: &[&str]) {
    for url in urls {
        assert_eq!(key(url), expected, "{url}");
    }
}

// S-REPO-2
#[test]
fn azure_is_one_place_old_and_new() {
    assert_one(
        "dev.azure.com/acme/shop/api",
        &[
            "https://acme@dev.azure.com/acme/Shop/_git/api",
            "git@ssh.dev.azure.com:v3/acme/Shop/api",
            "ssh://git@ssh.dev.azure.com/v3/acme/Shop/api",
            "https://acme.visualstudio.com/Shop/_git/api",
            "https://acme.visualstudio.com/DefaultCollection/Shop/_git/api",
            "acme@vs-ssh.visualstudio.com:v3/acme/Shop/api",
            "ssh://acme@vs-ssh.visualstudio.com:22/Shop/_ssh/api",
            "ssh://acme@acme.visualstudio.com:22/Shop/_git/api",
            "https://acme.visualstudio.com/Shop/_git/_full/api",
        ],
    );
    let first = ["https://dev.azure.com/acme/_git/api", "https://acme.visualstudio.com/_git/api"];
    assert_one("dev.azure.com/acme/api/api", &first);
    assert_one("dev.azure.com/acme/api/api", &["git@ssh.dev.azure.com:v3/acme/api/api"]);
    let server = key("https://tfs.corp.example/tfs/Main/Shop/_git/Api");
    assert_eq!(server, key("ssh://tfs.corp.example:22/tfs/main/shop/_git/api"));
}

// S-REPO-2
#[test]
fn a_repository_with_a_sharp_is_another_one() {
    let (sharp, plain) =
        (key("https://dev.azure.com/a/p/_git/C%23"), key("https://dev.azure.com/a/p/_git/C"));
    assert_ne!(sharp, plain);
}

// S-REPO-2
#[test]
fn bitbucket_server_is_one_place() {
    assert_one(
        "bb.corp.example/pay/api",
        &[
            "https://bb.corp.example/scm/pay/api.git",
            "https://ana@bb.corp.example:8443/scm/PAY/api.git",
            "ssh://git@bb.corp.example:7999/pay/api.git",
            "ssh://git@bb.corp.example:7999/PAY/api.git",
            "https://bb.corp.example/bitbucket/scm/pay/api.git",
            "https://bb.corp.example/projects/PAY/repos/api/browse",
        ],
    );
    assert_eq!(
        key("https://bb.corp.example/scm/~ana/api"),
        key("ssh://git@bb.corp.example:7999/~ana/api")
    );
    assert_one(
        "gitlab.com/scm/pay/api",
        &["https://gitlab.com/scm/pay/api", "git@gitlab.com:scm/pay/api"],
    );
}

// S-REPO-2
#[test]
fn gerrit_codecommit_and_others_are_one_place() {
    let gerrit = [
        "https://gerrit.corp.example/a/plugins/x",
        "https://gerrit.corp.example/plugins/x",
        "ssh://ana@gerrit.corp.example:29418/plugins/x",
    ];
    assert_one("gerrit.corp.example/plugins/x", &gerrit);
    let google = [
        "https://chromium.googlesource.com/a/v8/v8",
        "sso://chromium/v8/v8.git",
        "https://chromium-review.googlesource.com/v8/v8",
    ];
    assert_one("chromium.googlesource.com/v8/v8", &google);
    let amazon = [
        "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/api",
        "ssh://KEY@git-codecommit.eu-west-1.amazonaws.com/v1/repos/api",
        "codecommit::eu-west-1://prod@api",
        "codecommit::eu-west-1://api",
    ];
    assert_one("git-codecommit.eu-west-1.amazonaws.com/v1/repos/api", &amazon);
    assert_eq!(key("codecommit://api"), "none");
    assert_eq!(key("https://git.sr.ht/~ana/api"), key("git@git.sr.ht:~ana/api"));
    assert_one(
        "huggingface.co/acme/model",
        &["git@hf.co:acme/model", "https://huggingface.co/acme/model"],
    );
    assert_eq!(key("https://gist.github.com/ana/ABC"), key("git@gist.github.com:abc.git"));
}

// S-REPO-2
#[test]
fn proxies_name_the_forge_behind_them() {
    assert_one(
        "github.com/acme/api",
        &[
            "http://local_proxy@127.0.0.1:48052/git/acme/api",
            "http://local_proxy@localhost:25968/git/Acme/api.git",
            "https://git-manager.devin.ai/proxy/github.com/acme/api",
            "https://mirror.example/https://github.com/acme/api.git",
            "https://github.com/acme/api/tree/main/src",
            "persistent-https::https://github.com/acme/api",
        ],
    );
    assert_ne!(key("http://localhost:3000/a/b"), key("http://localhost:4000/a/b"));
    assert_one("gitlab.com/a/b/c", &["http://127.0.0.1:8080/git/gitlab.com/a/b/c"]);
}

// S-REPO-2
#[test]
fn ports_and_case_count_where_servers_differ() {
    let gitea = [
        "https://git.corp.example:3000/acme/api",
        "ssh://git@git.corp.example:2222/acme/api",
        "git@git.corp.example:acme/api",
        "ssh://git@git.corp.example/~/acme/api",
    ];
    assert_one("git.corp.example/acme/api", &gitea);
    assert_ne!(key("git@git.corp.example:acme/API"), key("git@git.corp.example:acme/api"));
    assert_one("gitlab.corp.example/acme/api", &["git@gitlab.corp.example:Acme/API.git"]);
    assert_one("gitlab.corp.example/a/b/c", &["https://gitlab.corp.example/a/b/c/-/tree/main"]);
    assert_one("acme.ghe.com/acme/api", &["https://acme.ghe.com/Acme/api"]);
}

// S-REPO-2
#[test]
fn keys_of_existing_stores_stay() {
    for (url, expected) in [
        ("git@git.corp.example:team/Api", "git.corp.example/team/api~569cb8a2"),
        ("https://git.corp.example/My%20Team/api.git", "git.corp.example/my-team/api~2aebbde8"),
        ("git@git.sr.ht:~ana/api", "git.sr.ht/ana/api~9a802410"),
        ("http://localhost:3000/a/b", "localhost-3000/a/b~cacbe68c"),
        ("ssh://git@[fe80::1]:22/a/b", "fe80--1/a/b~1ec0deaf"),
        (
            "https://dev.azure.com/acme/My%20Shop/_git/api",
            "dev.azure.com/acme/my-shop/api~520e6d98",
        ),
        ("https://github.com/Acme/API.git", "github.com/acme/api"),
        ("git@host.example:a/b/c/d", "host.example/a/b/c/d"),
        (
            "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/api",
            "git-codecommit.eu-west-1.amazonaws.com/v1/repos/api",
        ),
    ] {
        assert_eq!(key(url), expected, "{url}");
    }
}
