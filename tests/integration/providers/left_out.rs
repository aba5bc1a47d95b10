//! A repository that is left out, as the settings are changed while a server runs: the provider gets none of its texts and no query of
//! it, under whatever name it is called. Not here: what is left out from the start (`setting`).

use super::stand_in_provider::{Held, StandInProvider, model_a, model_b};
use super::switching::{get, serve, until};
use crate::http::client::Server;
use crate::redaction::secret_runs;
use crate::session_secrets::SecretRuns;
use crate::world::World;
use guard::secrets::daily_forms::one_in_each;

fn note(world: &World, repo: &str, lesson: &str) {
    world.log_memory(&["--repo", repo, "--type", "fact", "--lesson", lesson]).done();
}

fn use_model(world: &World, name: &str, provider: &StandInProvider, off: &[&str]) {
    let args = ["model", "use", "openai", name, "--url", &provider.url, "--batch", "250", "--yes"];
    world.agent_knowledge(&[&args[..], off].concat()).done();
}

/// Saves a note of the laboratory and then one of the shop, and waits until the provider has the latter.
fn both_noted(world: &World, server: &Server, provider: &StandInProvider, words: [&str; 2]) {
    let [of_lab, of_shop] = words;
    note(world, "lab", of_lab);
    let query = format!("search?query={}&mode=lexical", of_lab.replace(' ', "%20"));
    until(server, "the first is read", |_| get(server, &query).to_string().contains(of_lab));
    note(world, "shop", of_shop);
    until(server, "the second is sent", |_| provider.has_seen(of_shop));
}

// S-PROVIDER-7
#[test]
fn left_out_later_is_sent_no_more() {
    let (world, provider) = (World::new(), StandInProvider::start(model_a));
    note(&world, "shop", "memory 1 the cart forgets its items");
    note(&world, "lab", "memory 2 both pumps run hot");
    use_model(&world, "model-a", &provider, &[]);
    let server = serve(&world);
    until(&server, "embedded", |status| status["embedded"] == 2);
    let before = provider.texts();
    use_model(&world, "model-a", &provider, &["--off", "lab"]);
    // The command tries the provider, and the server opens it anew.
    until(&server, "opened anew", |_| provider.texts() >= before + 2);
    both_noted(&world, &server, &provider, ["memory 3 prototype melts", "memory 4 payment waits"]);
    until(&server, "kept here", |status| {
        status["model"]["withheld"] == 2 && status["embedded"] == 2
    });
    get(&server, "search?query=secret%20melting%20point&repo=lab");
    assert!(provider.has_seen("both pumps"), "that was sent before");
    assert!(!provider.has_seen("prototype melts") && !provider.has_seen("melting point"));
    // What is allowed again is sent.
    use_model(&world, "model-a", &provider, &["--off", "nobody"]);
    until(&server, "sent after all", |status| status["embedded"] == 4);
    assert!(provider.has_seen("prototype melts"));
}

// S-PROVIDER-7
#[test]
fn the_model_before_sees_no_more() {
    let world = World::new();
    let (a, b) = (StandInProvider::start(model_a), StandInProvider::start(model_b));
    note(&world, "shop", "memory 1 the cart forgets its items");
    note(&world, "shop", "memory 2 the basket is too small");
    use_model(&world, "model-a", &a, &[]);
    let server = serve(&world);
    until(&server, "embedded", |status| status["embedded"] == 2);
    b.hold(Held::Yes);
    use_model(&world, "model-b", &b, &["--off", "lab"]);
    until(&server, "b is busy", |status| status["model"]["next"]["trouble"].is_string());
    both_noted(&world, &server, &a, ["memory 3 prototype melts", "memory 4 payment waits"]);
    get(&server, "search?query=secret%20melting%20point&repo=lab");
    drop(server);
    let server = serve(&world);
    until(&server, "begun again", |status| status["model"]["next"].is_object());
    both_noted(&world, &server, &a, ["memory 5 isotope decays", "memory 6 invoice is late"]);
    b.hold(Held::No);
    until(&server, "switched", |status| status["model"]["next"].is_null());
    for kept in ["prototype melts", "melting point", "isotope decays"] {
        assert!(!a.has_seen(kept) && !b.has_seen(kept), "{kept}");
    }
    assert!(b.has_seen("payment waits"));
}

// S-PROVIDER-7
#[test]
fn a_short_name_hides_no_repository() {
    let (world, provider) = (World::new(), StandInProvider::start(model_a));
    note(&world, "github.com/acme/lab", "memory 1 both pumps run hot");
    note(&world, "github.com/other/shop", "memory 2 the cart forgets its items");
    use_model(&world, "model-a", &provider, &["--off", "github.com/acme/*"]);
    world.agent_knowledge(&["index"]).done();
    let asked = world.agent_knowledge(&["search", "melting point of pumps", "--repo", "lab"]);
    assert!(asked.output.contains("nothing of this repository"), "{asked:?}");
    world.agent_knowledge(&["context", "--task", "melting point of pumps", "--repo", "lab"]).done();
    let filter = ["search", "repo:lab melting point of pumps"];
    let filtered = world.agent_knowledge(&filter);
    assert!(filtered.output.contains("nothing of this repository"), "{filtered:?}");
    world.agent_knowledge(&["search", "cart of a customer", "--repo", "shop"]).done();
    assert!(provider.has_seen("cart of a customer"), "other repositories are searched by meaning");
    assert!(!provider.has_seen("melting point") && !provider.has_seen("both pumps"));
}

/// Asks the server, which sends each query to the provider.
fn ask(server: &Server, query: &str) {
    let query: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    get(server, &format!("search?query={query}"));
}

// S-PROVIDER-7
#[test]
fn no_secret_of_daily_life_is_sent() {
    let (world, provider) = (World::new(), StandInProvider::start(model_a));
    note(&world, "shop", "memory 1 the cart forgets its items");
    use_model(&world, "model-a", &provider, &[]);
    let planted = one_in_each();
    let runs = SecretRuns::of(secret_runs(&planted));
    let server = serve(&world);
    until(&server, "embedded", |status| status["embedded"] == 1);
    let before = provider.texts();
    let asked: Vec<_> = planted.iter().filter(|one| one.text.len() < 1_000).collect();
    asked.iter().for_each(|one| ask(&server, &one.text));
    for one in &asked {
        note(&world, "shop", &one.text);
    }
    until(&server, "embedded", |status| status["embedded"] == asked.len() + 1);
    assert!(provider.texts() >= before + asked.len(), "{} texts", provider.texts());
    for text in provider.seen() {
        runs.assert_none_in("what a provider is sent", text.as_bytes());
    }
}
