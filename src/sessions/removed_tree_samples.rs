//! Samples of sessions that belong to one repository though their directory is gone. Not here: those that belong to none
//! (`removed_tree_tests`).

use serde_json::json;

use super::removed_tree_disk::{Call, Disk};

/// The name of a sample, and its disk before the import. The session is called `past`.
pub(crate) type Sample = (&'static str, fn() -> Disk);

pub(crate) const IN_SHOP: &[Sample] = &[
    ("Claude Code keeps work trees in the repository", || {
        let disk = Disk::with_shop();
        disk.claude(
            "past",
            "~/code/shop/.claude/worktrees/calm-otter",
            Some("worktree-calm-otter"),
            &[],
        );
        disk
    }),
    ("Crystal's folder of work trees is gone with them", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop/worktrees/fix-cart/packages/web", Some("fix-cart"), &[]);
        disk
    }),
    ("Conductor's newer folder", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop/.conductor/lisbon", Some("ana/lisbon"), &[]);
        disk
    }),
    ("Codex, where another session worked in the repository", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.codex("past", "~/.codex/worktrees/1a4b/shop", &json!({}));
        disk
    }),
    ("Codex below a package of the work tree", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop/src", Some("main"), &[]);
        disk.codex("past", "~/.codex/worktrees/77aa/shop/packages/api", &json!({}));
        disk
    }),
    ("Codex records the remote", || {
        let disk = Disk::new();
        let git = json!({"git": {"repository_url": "ssh://git@github.com/acme/shop"}});
        disk.codex("past", "~/.codex/worktrees/1a4b/anything", &git);
        disk
    }),
    ("the folder has another name than the remote", || {
        let disk = Disk::new();
        disk.repository("~/code/storefront", Some("https://github.com/acme/shop"));
        disk.claude("other", "~/code/storefront", Some("main"), &[]);
        disk.codex("past", "~/.codex/worktrees/1a4b/storefront", &json!({}));
        disk
    }),
    ("Cursor's work tree, by the paths of its edits", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        let edit = Call::Edit("~/.cursor/worktrees/shop/a1b2c/src/cart.ts");
        disk.cursor("past", "~/.cursor/worktrees/shop/a1b2c", &[edit]);
        disk
    }),
    ("Conductor's folder of workspaces", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.claude("past", "~/conductor/workspaces/shop/lisbon", Some("ana/lisbon"), &[]);
        disk
    }),
    ("Vibe Kanban, which names the repository last", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.claude(
            "past",
            "/var/tmp/vibe-kanban/worktrees/9f2c-fix-login/shop",
            Some("vk/9f2c-fix-login"),
            &[],
        );
        disk
    }),
    ("Vibe Kanban's older folder, by a branch that is still there", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.git("~/code/shop", &["branch", "vk/9f2c-fix-login"]);
        disk.claude(
            "past",
            "/var/tmp/vibe-kanban/worktrees/vk-9f2c-fix-login",
            Some("vk/9f2c-fix-login"),
            &[],
        );
        disk
    }),
    ("a folder beside the repository", || {
        let disk = Disk::with_shop();
        disk.removed_tree("~/code/shop", "~/code/shop-login", "login");
        disk.claude("past", "~/code/shop-login", Some("login"), &[]);
        disk
    }),
    ("a folder beside the repository, whose branch has another name", || {
        let disk = Disk::with_shop();
        disk.removed_tree("~/code/shop", "~/code/shop-2", "ana/queue-retries");
        disk.claude("past", "~/code/shop-2", Some("ana/queue-retries"), &[]);
        disk
    }),
    ("a folder for work trees beside the repository", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/shop.worktrees/login/packages/api", Some("login"), &[]);
        disk
    }),
    ("a folder for all work trees, by repositories", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        disk.claude("past", "~/worktrees/shop/login", Some("login"), &[]);
        disk
    }),
    ("a folder for all work trees, beside the repository", || {
        let disk = Disk::with_shop();
        disk.claude("past", "~/code/worktrees/shop-login", Some("feature/login"), &[]);
        disk
    }),
    ("git still lists the work tree", || {
        let disk = Disk::with_shop();
        let tree = disk.path("~/code/quick-fix");
        disk.git(
            "~/code/shop",
            &["worktree", "add", "--quiet", "-b", "odd", tree.to_str().unwrap()],
        );
        std::fs::remove_dir_all(tree).unwrap();
        disk.codex("past", "~/code/quick-fix/src", &json!({}));
        disk
    }),
    ("the branch is still there, and the folder is called so", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        disk.removed_tree("~/code/shop", "~/tasks/retry-queue", "ana/retry-queue");
        disk.claude("past", "~/tasks/retry-queue", Some("ana/retry-queue"), &[]);
        disk
    }),
    ("the branch was merged and deleted", || {
        let disk = Disk::with_shop();
        disk.claude("other", "~/code/shop", Some("main"), &[]);
        disk.git("~/code/shop", &["checkout", "--quiet", "-b", "ana/retry-queue"]);
        disk.git("~/code/shop", &["commit", "--quiet", "--allow-empty", "-m", "retry"]);
        disk.git("~/code/shop", &["checkout", "--quiet", "main"]);
        disk.git("~/code/shop", &["merge", "--quiet", "ana/retry-queue"]);
        disk.git("~/code/shop", &["branch", "--quiet", "-D", "ana/retry-queue"]);
        disk.claude("past", "~/tasks/retry-queue", Some("ana/retry-queue"), &[]);
        disk
    }),
    ("another tool recorded the remote in the same directory", || {
        let disk = Disk::new();
        let git = json!({"git": {"repository_url": "https://github.com/acme/shop.git"}});
        disk.codex("other", "/srv/agents/7f/ws", &git);
        disk.claude("past", "/srv/agents/7f/ws", Some("main"), &[]);
        disk
    }),
    ("a session on the same branch recorded the remote", || {
        let disk = Disk::new();
        let git = json!({"git": {"repository_url": "https://github.com/acme/shop.git", "branch": "cart-totals"}});
        disk.codex("other", "/srv/agents/7f/ws", &git);
        disk.claude("past", "/srv/agents/cart-totals", Some("cart-totals"), &[]);
        disk
    }),
    ("the session that started it worked in the repository", || {
        let disk = Disk::with_shop();
        disk.codex("other", "~/code/shop", &json!({}));
        let spawn = json!({"git": {"branch": "HEAD"},
            "source": {"subagent": {"thread_spawn": {"parent_thread_id": "other", "depth": 1}}}});
        disk.codex("past", "/srv/scratch/agent-3", &spawn);
        disk
    }),
    ("edits in the repository, from a directory that is gone", || {
        let disk = Disk::with_shop();
        let calls =
            [Call::Edit("~/code/shop/src/cart.ts"), Call::Run("cd ~/code/shop && npm test")];
        disk.claude("past", "~/scratch/x1", None, &calls);
        disk
    }),
    ("commands in the repository, from a directory that is gone", || {
        let disk = Disk::with_shop();
        disk.git("~/code/shop", &["branch", "ws-9"]);
        let calls = [Call::Run("git -C ~/code/shop merge ws-9"), Call::Edit("src/cart.ts")];
        disk.claude("past", "~/scratch/ws-9", Some("ws-9"), &calls);
        disk
    }),
    ("Cursor in the repository itself, by its edits", || {
        let disk = Disk::with_shop();
        disk.cursor("past", "~/code/shop", &[Call::Edit("~/code/shop/src/cart.ts")]);
        disk
    }),
    ("work trees of a bare repository", || {
        let disk = Disk::new();
        disk.git("~/code/shop/.bare", &["init", "--quiet", "--bare"]);
        disk.git(
            "~/code/shop/.bare",
            &["remote", "add", "origin", "https://github.com/acme/shop.git"],
        );
        disk.claude("past", "~/code/shop/login", Some("login"), &[]);
        disk
    }),
    ("two repositories have the name, one the branch", || {
        let disk = Disk::with_shop();
        disk.repository("~/forks/shop", Some("git@github.com:ben/shop.git"));
        disk.git("~/code/shop", &["branch", "task/42"]);
        for (id, directory) in [("one", "~/code/shop"), ("two", "~/forks/shop")] {
            disk.claude(id, directory, Some("main"), &[]);
        }
        disk.claude("past", "~/.codex/worktrees/1a4b/shop", Some("task/42"), &[]);
        disk
    }),
];
