//! What marks a folder as a project where no version control does: rules for agents, manifests of package managers, and other
//! programs' folders. Not here: repositories, and whether a folder has memories (`locate`).

use std::path::Path;

use crate::small_file::small_text;

/// Most entries of a folder that are looked at. A folder with more is a heap of files.
const ENTRIES_MAX: usize = 4_096;

/// How strong a mark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkKind {
    /// A file that projects have in many of their folders: the highest in a row of folders counts.
    Part,
    /// One package, which a workspace above it may contain.
    Package,
    /// The top of a project.
    Top,
    /// A workspace of several packages.
    Workspace,
}

/// Names of files and folders that mark the top of a project.
const TOPS: &[&str] = &[
    // Version control that this program does not read.
    ".bzr",
    "_darcs",
    ".pijul",
    ".fslckout",
    "_FOSSIL_",
    ".p4config",
    ".repo",
    // Rules for agents.
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENT.md",
    "GEMINI.md",
    "CONVENTIONS.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".roorules",
    ".goosehints",
    ".aider.conf.yml",
    ".mcp.json",
    "opencode.json",
    ".claude",
    ".cursor",
    ".windsurf",
    ".roo",
    ".kiro",
    ".codex",
    ".gemini",
    ".junie",
    ".github",
    // Editors and environments.
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".devcontainer.json",
    "flake.nix",
    "devenv.nix",
    ".envrc",
    "mise.toml",
    ".tool-versions",
    "Vagrantfile",
];

/// Folders that old versions of a program make in each folder of a project: the highest in a row counts.
const IN_EACH_FOLDER: &[&str] = &[".svn", "CVS"];

/// Names that mark a workspace of packages.
const WORKSPACES: &[&str] = &[
    "pnpm-workspace.yaml",
    "lerna.json",
    "nx.json",
    "turbo.json",
    "rush.json",
    "go.work",
    "settings.gradle",
    "settings.gradle.kts",
    "WORKSPACE",
    "WORKSPACE.bazel",
    "MODULE.bazel",
    "pants.toml",
    "BUCK",
    ".buckconfig",
    "melos.yaml",
];

/// Manifests of one package.
const PACKAGES: &[&str] = &[
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "environment.yml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "build.xml",
    "Gemfile",
    "composer.json",
    "mix.exs",
    "rebar.config",
    "deno.json",
    "deno.jsonc",
    "bun.lockb",
    "configure.ac",
    "build.zig",
    "Package.swift",
    "pubspec.yaml",
    "stack.yaml",
    "cabal.project",
    "dune-project",
    "shard.yml",
    "Project.toml",
    "DESCRIPTION",
    "project.clj",
    "deps.edn",
    "elm.json",
    "foundry.toml",
    "hardhat.config.ts",
    "Chart.yaml",
    "ansible.cfg",
    "dbt_project.yml",
    "manage.py",
    "artisan",
    "project.godot",
    "Justfile",
    "justfile",
    "Taskfile.yml",
];

/// Files that stand in many folders of one project.
const PARTS: &[&str] = &[
    "Makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "meson.build",
    "Dockerfile",
    "Containerfile",
    ".editorconfig",
    "main.tf",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yaml",
    "compose.yml",
    "README.md",
    "README",
    ".gitignore",
];

/// Endings of files that mark a package.
const PACKAGE_ENDINGS: &[&str] = &[
    ".sln",
    ".slnx",
    ".csproj",
    ".fsproj",
    ".vbproj",
    ".xcodeproj",
    ".xcworkspace",
    ".cabal",
    ".gemspec",
    ".Rproj",
    ".uproject",
    ".nimble",
    ".opam",
    ".code-workspace",
];

/// Manifests that are those of a workspace if they say so.
const MAYBE_WORKSPACES: &[(&str, &str)] = &[
    ("package.json", "\"workspaces\""),
    ("Cargo.toml", "[workspace"),
    ("pyproject.toml", "[tool.uv.workspace"),
    ("pom.xml", "<modules>"),
];

/// Tells whether a file is the manifest of a package.
pub(crate) fn is_package_manifest(name: &str) -> bool {
    PACKAGES.contains(&name) || PACKAGE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The strongest mark of a folder, with its name.
pub(crate) fn mark_of(folder: &Path) -> Option<(MarkKind, String)> {
    let entries = std::fs::read_dir(folder).ok()?.take(ENTRIES_MAX).flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let marks = names.filter_map(|name| Some((kind_of(folder, &name)?, name)));
    // The first by name among equals, so that every call names the same.
    marks.max_by(|(kind, name), (other, other_name)| kind.cmp(other).then(other_name.cmp(name)))
}

fn kind_of(folder: &Path, name: &str) -> Option<MarkKind> {
    if WORKSPACES.contains(&name) {
        return Some(MarkKind::Workspace);
    }
    if let Some((_, sign)) = MAYBE_WORKSPACES.iter().find(|(manifest, _)| *manifest == name) {
        let is_workspace = small_text(&folder.join(name)).is_some_and(|text| text.contains(sign));
        return Some(if is_workspace { MarkKind::Workspace } else { MarkKind::Package });
    }
    if IN_EACH_FOLDER.contains(&name) {
        let is_above = folder.parent().is_some_and(|parent| parent.join(name).is_dir());
        return (!is_above).then_some(MarkKind::Top);
    }
    if TOPS.contains(&name) {
        return Some(MarkKind::Top);
    }
    let part = PARTS.contains(&name).then_some(MarkKind::Part);
    is_package_manifest(name).then_some(MarkKind::Package).or(part)
}
