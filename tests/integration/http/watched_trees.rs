//! Memories that a work tree contradicts, told before anybody asks: by real git, a real retriever and a listener. Not here:
//! whether a memory is stale (`staleness`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::client::Server;
use super::events::{Listener, listen, read, start};
use crate::world::World;

/// A repository with two memories that name a file each, and a branch without the first file.
struct Repository<'w> {
    world: &'w World,
    top: PathBuf,
    ids: [String; 2],
}

impl<'w> Repository<'w> {
    fn new(world: &'w World) -> Self {
        let top = world.path("api");
        let this = |ids| Self { world, top: top.clone(), ids };
        let bare = this([String::new(), String::new()]);
        bare.git(&["init", "--quiet"]);
        bare.git(&["remote", "add", "origin", "https://github.com/acme/api.git"]);
        for name in ["src/a.rs", "src/b.rs", "src/other.rs"] {
            bare.write(name, "fn open_it() {}\nfn close_it() {}\n");
        }
        bare.commit();
        bare.git(&["checkout", "--quiet", "-b", "without-a"]);
        std::fs::remove_file(top.join("src/a.rs")).unwrap();
        bare.commit();
        bare.git(&["checkout", "--quiet", "main"]);
        this(["src/a.rs", "src/b.rs"].map(|file| {
            let lesson = format!("call `open_it` before `close_it`, see {file}");
            let saved = world.log_memory_in(&top, &["--type", "error", "--lesson", &lesson]);
            saved.done().trim().to_owned()
        }))
    }

    fn git(&self, args: &[&str]) {
        self.world.git(&self.top, args);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.top.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "x"]);
    }

    /// An agent works here: from now on the retriever knows the work tree.
    fn is_worked_in(&self) {
        self.world.agent_knowledge_in(&self.top, &["search", "open_it"]).done();
    }
}

/// The next event, which must be of this kind and about this memory.
#[track_caller]
fn told(listener: &mut Listener, kind: &str, id: &str) -> Value {
    let told = listener.told();
    assert_eq!((&*told.kind, &told.data["id"]), (kind, &json!(id)), "{told:?}");
    told.data
}

fn found(server: &Server, repo: &str) -> Vec<Value> {
    let answer = read(server, &format!("stale?repo={repo}"));
    answer["work_trees"].as_array().unwrap().clone()
}

// S-STALE-7, S-STALE-9, S-REST-13
#[test]
fn http_a_checkout_is_told_before_anybody_asks() {
    let world = World::sharing();
    let here = Repository::new(&world);
    let [a, b] = here.ids.clone();
    let server = start(&world);
    assert!(found(&server, "api").is_empty());
    here.is_worked_in();
    let mut listener = listen(&server);
    here.git(&["checkout", "--quiet", "without-a"]);
    let stale = told(&mut listener, "stale", &a);
    assert_eq!((&stale["gone"], &stale["work_tree"]), (&json!(["src/a.rs"]), &json!("api")));
    assert_eq!(
        (&stale["repo"], &stale["confidence"]),
        (&json!("github.com/acme/api"), &json!(1.0))
    );
    let path = here.top.to_str().unwrap();
    assert!(!stale.to_string().contains(path) && stale.get("tree").is_none(), "{stale}");
    let trees = found(&server, "api");
    assert_eq!((trees.len(), &trees[0]["work_tree"]), (1, &json!("api")), "{trees:?}");
    assert_eq!((&trees[0]["found"], &trees[0]["checked"]), (&json!(1), &json!(2)), "{trees:?}");
    assert_eq!(trees[0]["stale"][0]["memory"]["id"], json!(a));
    // What no memory names is no news, wherever it happens.
    here.write("src/other.rs", "other");
    here.write("src/new.rs", "new");
    here.commit();
    here.git(&["checkout", "--quiet", "main"]);
    told(&mut listener, "fresh", &a);
    assert_eq!(found(&server, "api")[0]["found"], 0);
    // A commit, and then a file alone.
    here.write("src/b.rs", "fn open_it(at: u8) {}\nfn close_it() {}\n");
    here.commit();
    let stale = told(&mut listener, "stale", &b);
    assert_eq!((&stale["changed"], &stale["missing"]), (&json!(["src/b.rs"]), &json!([])));
    here.write("src/b.rs", "fn open_it(at: u8) {}\n");
    let stale = told(&mut listener, "stale", &b);
    assert_eq!((&stale["missing"], &stale["first"]), (&json!(["close_it"]), &Value::Null));
    // Somebody looked at it, and it is still true.
    world.agent_knowledge_in(&here.top, &["feedback", &b, "confirmed"]).done();
    let mut kinds = [listener.told().kind, listener.told().kind];
    kinds.sort_unstable();
    assert_eq!(kinds, ["feedback", "fresh"]);
}

// S-STALE-7, S-STALE-9
#[test]
fn http_another_retriever_tells_no_news_again() {
    let world = World::sharing();
    let here = Repository::new(&world);
    let [a, b] = here.ids.clone();
    let server = start(&world);
    here.git(&["checkout", "--quiet", "without-a"]);
    let mut listener = listen(&server);
    here.is_worked_in();
    // What is stale already when a work tree is seen for the first time, is marked.
    let stale = told(&mut listener, "stale", &a);
    assert_eq!(stale["first"], true, "{stale}");
    drop(server);
    here.write("src/b.rs", "other");
    here.commit();
    let server = start(&world);
    let mut listener = listen(&server);
    here.is_worked_in();
    let stale = told(&mut listener, "stale", &b);
    assert_eq!(stale["first"], Value::Null, "{stale}");
    here.git(&["checkout", "--quiet", "main"]);
    let mut fresh = [listener.told(), listener.told()];
    fresh.sort_by_key(|told| told.data["id"] == json!(b));
    assert_eq!((&*fresh[0].kind, &fresh[0].data["id"]), ("fresh", &json!(a)), "{fresh:?}");
    assert_eq!((&*fresh[1].kind, &fresh[1].data["id"]), ("fresh", &json!(b)), "{fresh:?}");
}

// S-STALE-7
#[test]
fn http_linked_work_trees_are_told_apart() {
    let world = World::sharing();
    let here = Repository::new(&world);
    let server = start(&world);
    let linked = world.path("api-next");
    here.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "without-a"]);
    let mut listener = listen(&server);
    here.is_worked_in();
    world.agent_knowledge_in(&linked, &["search", "open_it"]).done();
    let stale = told(&mut listener, "stale", &here.ids[0]);
    assert_eq!(stale["work_tree"], "api-next");
    world.git(&linked, &["checkout", "--quiet", "--detach", "main"]);
    let fresh = told(&mut listener, "fresh", &here.ids[0]);
    assert_eq!(fresh["work_tree"], "api-next");
    let names = |trees: &[Value]| -> Vec<String> {
        trees.iter().map(|tree| tree["work_tree"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&found(&server, "api")), ["api-next", "api"]);
    std::fs::remove_dir_all(&linked).unwrap();
    assert_eq!(names(&found(&server, "api")), ["api"], "a folder that is gone is forgotten");
}

// S-STALE-7
#[test]
fn http_a_folder_without_git_is_watched_too() {
    let world = World::sharing();
    let work = world.work();
    let save = |file: &Path| {
        std::fs::create_dir_all(work.join(file).parent().unwrap()).unwrap();
        std::fs::write(work.join(file), "x").unwrap();
        let lesson = format!("see {}", file.display());
        world.log_memory(&["--type", "error", "--lesson", &lesson]).done().trim().to_owned()
    };
    let id = save(Path::new("src/deep/a.rs"));
    save(Path::new("src/b.rs"));
    let server = start(&world);
    let mut listener = listen(&server);
    world.agent_knowledge(&["search", "see"]).done();
    std::fs::remove_dir_all(work.join("src/deep")).unwrap();
    assert_eq!(told(&mut listener, "stale", &id)["gone"], json!(["src/deep/a.rs"]));
    std::fs::create_dir(work.join("src/deep")).unwrap();
    std::fs::write(work.join("src/deep/a.rs"), "x").unwrap();
    told(&mut listener, "fresh", &id);
}
