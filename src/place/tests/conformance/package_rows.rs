//! Packages of repositories with several, as each build system has them. Not here: how a row is tested (`packages`).

/// One place in a repository with packages.
pub struct PackageRow {
    /// What is set up.
    pub what: &'static str,
    /// The files of the repository; one with `/` at its end is a folder.
    pub files: &'static [(&'static str, &'static str)],
    /// Where somebody stands in it, and the package that is expected.
    pub at: &'static [(&'static str, Option<&'static str>)],
    /// Why a user expects that.
    pub why: &'static str,
}

/// A manifest that says nothing.
pub const E: &str = "{}";

/// The rows of lists that a workspace has; more rows are in `package_file_rows`.
pub const ROWS: &[PackageRow] = &[
    PackageRow {
        what: "pnpm with a list of globs",
        files: &[
            (
                "pnpm-workspace.yaml",
                "# ours\npackages:\n  - 'packages/*'\n  - \"apps/**\"\n  - tools/cli # one\n  - '!packages/old'\n\ncatalog:\n  react: ^19\n",
            ),
            ("package.json", E),
            ("packages/web/package.json", E),
            ("packages/old/package.json", E),
            ("packages/notes/README.md", ""),
            ("apps/shop/admin/package.json", E),
            ("tools/cli/package.json", E),
            ("tools/other/package.json", E),
            ("node_modules/x/package.json", E),
            ("packages/web/node_modules/y/package.json", E),
        ],
        at: &[
            ("", None),
            ("packages", None),
            ("packages/web", Some("packages/web")),
            ("packages/web/src/deep/er", Some("packages/web")),
            ("packages/old", None),
            ("packages/notes", None),
            ("apps/shop/admin/src", Some("apps/shop/admin")),
            ("apps/shop", None),
            ("tools/cli", Some("tools/cli")),
            ("tools/other", None),
            ("node_modules/x", None),
            ("packages/web/node_modules/y", Some("packages/web")),
        ],
        why: "pnpm installs exactly the folders with a package.json that the globs match",
    },
    PackageRow {
        what: "pnpm with a flow list, and without a list",
        files: &[
            ("a/pnpm-workspace.yaml", "packages: ['pkg/*', \"lib\"]\n"),
            ("a/pkg/web/package.json", E),
            ("a/lib/package.json", E),
            ("a/else/package.json", E),
            ("b/pnpm-workspace.yaml", "onlyBuiltDependencies:\n  - esbuild\n"),
            ("b/demo/package.json", E),
        ],
        at: &[
            ("a/pkg/web", Some("a/pkg/web")),
            ("a/lib/src", Some("a/lib")),
            ("a/else", None),
            ("b/demo", Some("b/demo")),
        ],
        why: "both forms of a YAML list say the same, and a file of settings alone makes no workspace",
    },
    PackageRow {
        what: "npm, Yarn and Bun with a list",
        files: &[
            (
                "package.json",
                r#"{"name":"shop","workspaces":["./packages/*/","apps/{web,api}","!packages/legacy"]}"#,
            ),
            ("packages/ui/package.json", E),
            ("packages/legacy/package.json", E),
            ("apps/web/package.json", E),
            ("apps/docs/package.json", E),
        ],
        at: &[
            ("packages/ui/src", Some("packages/ui")),
            ("packages/legacy", None),
            ("apps/web", Some("apps/web")),
            ("apps/docs", None),
        ],
        why: "the list may have a leading ./, a trailing /, braces and exclusions",
    },
    PackageRow {
        what: "Yarn with an object",
        files: &[
            (
                "package.json",
                r#"{"private":true,"workspaces":{"packages":["modules/*"],"nohoist":["**/x"]}}"#,
            ),
            ("modules/cart/package.json", E),
        ],
        at: &[("modules/cart/test", Some("modules/cart"))],
        why: "Yarn 1 accepts the object form, for nohoist",
    },
    PackageRow {
        what: "lerna with and without a list, and Turborepo",
        files: &[
            ("a/lerna.json", r#"{"version":"1.0.0"}"#),
            ("a/packages/core/package.json", E),
            ("b/lerna.json", r#"{"packages":["libs/*"]}"#),
            ("b/libs/core/package.json", E),
            ("c/turbo.json", E),
            ("c/package.json", r#"{"workspaces":["apps/*"]}"#),
            ("c/apps/web/package.json", E),
        ],
        at: &[
            ("a/packages/core", Some("a/packages/core")),
            ("b/libs/core/src", Some("b/libs/core")),
            ("c/apps/web", Some("c/apps/web")),
        ],
        why: "lerna takes packages/* by default, and Turborepo the workspaces of the package manager",
    },
    PackageRow {
        what: "Rush, whose file has comments",
        files: &[
            (
                "rush.json",
                "{ // \"projectFolder\": \"no\"\n /* all */ \"projects\": [{\"packageName\": \"web\", \"projectFolder\": \"apps/web\"}] }",
            ),
            ("apps/web/package.json", E),
            ("apps/api/package.json", E),
            ("no/package.json", E),
        ],
        at: &[("apps/web/src", Some("apps/web")), ("apps/api", None), ("no", None)],
        why: "Rush lists every project, and its file is JSON with comments",
    },
    PackageRow {
        what: "Nx",
        files: &[
            ("nx.json", E),
            ("package.json", E),
            ("libs/cart/project.json", E),
            ("apps/web/package.json", E),
        ],
        at: &[("libs/cart/src/lib", Some("libs/cart")), ("apps/web", Some("apps/web"))],
        why: "a project of Nx is where its project.json or its package.json is",
    },
    PackageRow {
        what: "Cargo with globs, exclusions and path dependencies",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"shop\"\n\n[workspace] # all\nmembers = [\n  \"crates/*\", # libraries\n  'tools/gen',\n]\nexclude = [\"crates/old\", \"fuzz\"]\n\n[workspace.package]\nversion = \"1.0.0\"\n\n[dependencies]\nutil = { path = \"util\", version = \"1\" }\n[dependencies.deep]\npath = \"deep/er\"\n[lib]\npath = \"src/lib.rs\"\n",
            ),
            ("crates/web/Cargo.toml", "[package]"),
            ("crates/old/Cargo.toml", "[package]"),
            ("crates/empty/README.md", ""),
            ("tools/gen/Cargo.toml", "[package]"),
            ("tools/else/Cargo.toml", "[package]"),
            ("util/Cargo.toml", "[package]"),
            ("deep/er/Cargo.toml", "[package]"),
            ("fuzz/Cargo.toml", "[package]\n[workspace]\n"),
            ("own/Cargo.toml", "[package]\n[workspace]\n"),
            ("src/lib.rs", ""),
        ],
        at: &[
            ("src", None),
            ("crates/web/src", Some("crates/web")),
            ("crates/old", None),
            ("crates/empty", None),
            ("tools/gen", Some("tools/gen")),
            ("tools/else", None),
            ("util/src", Some("util")),
            ("deep/er", Some("deep/er")),
            ("fuzz", None),
            ("own", Some("own")),
        ],
        why: "Cargo builds members, their path dependencies, and a workspace of its own; it leaves out what is excluded",
    },
    PackageRow {
        what: "Cargo with dotted keys, and a workspace below the top",
        files: &[
            ("backend/Cargo.toml", "workspace.members = [\"crates/*\"]\n"),
            ("backend/crates/core/Cargo.toml", "[package]"),
            ("backend/docs/README.md", ""),
            ("frontend/package.json", r#"{"workspaces":["packages/*"]}"#),
            ("frontend/packages/ui/package.json", E),
        ],
        at: &[
            ("backend/crates/core/src", Some("backend/crates/core")),
            ("backend/docs", Some("backend")),
            ("frontend/packages/ui", Some("frontend/packages/ui")),
            ("frontend/src", Some("frontend")),
        ],
        why: "a repository of two halves has a workspace in each of them",
    },
    PackageRow {
        what: "Go with go.work",
        files: &[
            (
                "go.work",
                "go 1.25\n\nuse (\n\t./services/api // the server\n\t\"./libs/log\"\n)\nuse ./cmd/tool\n\nreplace example.com/x => ./x\n",
            ),
            ("services/api/go.mod", "module a"),
            ("libs/log/go.mod", "module l"),
            ("cmd/tool/go.mod", "module t"),
            ("x/go.mod", "module x"),
        ],
        at: &[
            ("services/api/handlers", Some("services/api")),
            ("libs/log", Some("libs/log")),
            ("cmd/tool/internal", Some("cmd/tool")),
            ("x", None),
        ],
        why: "go.work names the modules that are worked on, in a block or one by one",
    },
    PackageRow {
        what: "Gradle in Groovy",
        files: &[
            (
                "settings.gradle",
                "rootProject.name = 'shop'\n// include ':no'\ninclude ':api', ':libs:core'\ninclude 'web',\n    'old:part'\nproject(':web').projectDir = new File(settingsDir, 'apps/web')\nincludeBuild 'build-logic'\n",
            ),
            ("api/src/Main.java", ""),
            ("libs/core/build.gradle", ""),
            ("apps/web/build.gradle", ""),
            ("old/part/build.gradle", ""),
            ("no/build.gradle", ""),
            ("build-logic/settings.gradle", ""),
        ],
        at: &[
            ("api/src", Some("api")),
            ("libs/core", Some("libs/core")),
            ("libs", None),
            ("apps/web/src", Some("apps/web")),
            ("old/part", Some("old/part")),
            ("no", None),
            ("build-logic", Some("build-logic")),
        ],
        why: "Gradle turns colons into folders, a project may be moved, and it needs no build file",
    },
    PackageRow {
        what: "Gradle in Kotlin",
        files: &[
            (
                "settings.gradle.kts",
                "include(\":app\", \":core:data\")\ninclude(\n    \":feature:cart\",\n)\nproject(\":app\").projectDir = file(\"mobile/app\")\nincludeBuild(\"tooling\")\n",
            ),
            ("mobile/app/build.gradle.kts", ""),
            ("core/data/build.gradle.kts", ""),
            ("feature/cart/build.gradle.kts", ""),
            ("tooling/build.gradle.kts", ""),
        ],
        at: &[
            ("mobile/app/src/main", Some("mobile/app")),
            ("core/data", Some("core/data")),
            ("feature/cart/src", Some("feature/cart")),
            ("tooling", Some("tooling")),
        ],
        why: "the Kotlin form has parentheses and double quotes",
    },
];
