//! Which folders a workspace names as its packages: a row for each kind of file. Not here: the formats without a library
//! (`workspace_text`), which package counts (`package`).

use std::path::Path;

use serde_json::Value;

use crate::folder_entries::FolderEntries;
use crate::small_file::small_text;
use crate::wild_pattern::{Star, matches};
use crate::workspace_text::{
    go_uses, gradle_projects, maven_modules, path_values, quoted_values, toml_section,
    without_comments, yaml_list,
};

/// Most patterns of one workspace. A longer list names what it names up to here.
const PATTERNS_MAX: usize = 4_096;

/// Most patterns that one with braces becomes.
const BRACES_MAX: usize = 64;

/// A workspace file.
struct WorkspaceForm {
    file: &'static str,
    /// The files of which a package of it has one.
    manifests: &'static [&'static str],
    need: ManifestNeed,
    /// Reads the patterns; `None` where the file makes no workspace.
    read: fn(&str) -> Option<Vec<String>>,
}

/// Whether a folder that a workspace names needs a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ManifestNeed {
    /// It does: patterns match other folders too.
    Required,
    /// It does not.
    Optional,
}

const JAVASCRIPT: &[&str] = &["package.json", "package.json5", "package.yaml"];
const BAZEL: &[&str] = &["BUILD.bazel", "BUILD"];
const GRADLE: &[&str] = &["build.gradle", "build.gradle.kts"];
const CARGO: &[&str] = &["Cargo.toml"];
const DENO: &[&str] = &["deno.json", "deno.jsonc", "package.json"];

const fn form(
    file: &'static str,
    manifests: &'static [&'static str],
    read: fn(&str) -> Option<Vec<String>>,
) -> WorkspaceForm {
    WorkspaceForm { file, manifests, need: ManifestNeed::Required, read }
}

const fn gradle(file: &'static str) -> WorkspaceForm {
    WorkspaceForm {
        need: ManifestNeed::Optional,
        ..form(file, GRADLE, |text| Some(gradle_projects(text)))
    }
}

/// The forms, each as the documentation of its program has it.
const FORMS: &[WorkspaceForm] = &[
    // `packages:`, a list of globs; `!` leaves out. Newer files without it only hold settings.
    form("pnpm-workspace.yaml", JAVASCRIPT, |text| yaml_list(text, "packages")),
    // npm, Yarn and Bun: `workspaces`, a list, or an object with `packages`.
    form("package.json", JAVASCRIPT, npm_workspaces),
    // `packages`; without it those of `workspaces`, and before these were known `packages/*`.
    form("lerna.json", JAVASCRIPT, lerna_packages),
    // `projects`, each with its `projectFolder`; the file has comments.
    form("rush.json", JAVASCRIPT, |text| {
        Some(quoted_values(&without_comments(text), "projectFolder"))
    }),
    // A project is where its `project.json` is.
    form("nx.json", &["project.json"], everywhere),
    form("deno.json", DENO, deno_workspace),
    form("deno.jsonc", DENO, deno_workspace),
    // `members` and `exclude`; folders of path dependencies are members by themselves (`cargo_dependencies`).
    form("Cargo.toml", CARGO, cargo_members),
    form("pyproject.toml", &["pyproject.toml"], |text| table_members(text, "tool.uv.workspace")),
    // `use`, one or several.
    form("go.work", &["go.mod"], |text| Some(go_uses(text))),
    // `include`, `includeBuild` and `projectDir`; a project needs no build file.
    gradle("settings.gradle"),
    gradle("settings.gradle.kts"),
    // A package is where a BUILD file is.
    form("MODULE.bazel", BAZEL, everywhere),
    form("WORKSPACE.bazel", BAZEL, everywhere),
    form("WORKSPACE", BAZEL, everywhere),
    form("pants.toml", &["BUILD", "BUILD.pants"], everywhere),
    form(".buckconfig", &["BUCK", "TARGETS"], everywhere),
    form("pom.xml", &["pom.xml"], maven_modules),
    // Dart: `workspace:`, and before that `packages:` of melos.
    form("pubspec.yaml", &["pubspec.yaml"], |text| yaml_list(text, "workspace")),
    form("melos.yaml", &["pubspec.yaml"], |text| yaml_list(text, "packages")),
];

/// A workspace of packages.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) manifests: &'static [&'static str],
    pub(crate) need: ManifestNeed,
    named: Vec<String>,
    left_out: Vec<String>,
}

/// Reads the workspaces whose files lie in a folder.
pub(crate) fn workspaces_at(folder: &Path, entries: &FolderEntries) -> Vec<Workspace> {
    let present = FORMS.iter().filter(|form| entries.has(folder, form.file));
    let read = |form: &WorkspaceForm| {
        let patterns = (form.read)(&small_text(&folder.join(form.file))?)?;
        // A file that names nothing, or that nobody can read as meant, decides nothing.
        (!patterns.is_empty()).then(|| Workspace::new(form, &patterns))
    };
    present.filter_map(read).collect()
}

impl Workspace {
    fn new(form: &WorkspaceForm, patterns: &[String]) -> Self {
        let (mut named, mut left_out) = (Vec::new(), Vec::new());
        for pattern in
            patterns.iter().flat_map(|pattern| without_braces(pattern)).take(PATTERNS_MAX)
        {
            let (list, pattern) = match pattern.strip_prefix('!') {
                Some(pattern) => (&mut left_out, pattern),
                None => (&mut named, pattern.as_str()),
            };
            let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
            // Windows writes them so in files that no other system reads.
            let pattern = pattern.replace('\\', "/");
            if !pattern.is_empty() && pattern != "." && !pattern.starts_with("../") {
                list.push(pattern);
            }
        }
        Self { manifests: form.manifests, need: form.need, named, left_out }
    }

    /// Tells whether it names a folder, given by its path below the workspace.
    pub(crate) fn names(&self, below: &str) -> bool {
        let is_listed = self.named.iter().any(|pattern| pattern == below);
        let is_matched = || self.named.iter().any(|pattern| matches(pattern, below, Star::OnePart));
        is_listed || is_matched() && !self.leaves_out(below)
    }

    /// Tells whether it is one of Cargo.
    pub(crate) fn is_of_cargo(&self) -> bool {
        self.manifests == CARGO
    }

    /// The patterns and paths of the folders that it names.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(String::as_str)
    }

    /// Tells whether it leaves out a folder, or one above it.
    pub(crate) fn leaves_out(&self, below: &str) -> bool {
        let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
        let mut folders = ends.filter_map(|end| below.get(..end));
        folders.any(|folder| {
            self.left_out.iter().any(|pattern| matches(pattern, folder, Star::OnePart))
        })
    }
}

/// Returns the patterns that one with braces stands for: `{a,b}/*` is `a/*` and `b/*`.
fn without_braces(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.trim().to_owned()];
    while let Some(pattern) = open.pop() {
        let braces = pattern
            .find('{')
            .and_then(|start| Some((start, start + pattern.get(start..)?.find('}')?)));
        let Some((start, end)) = braces.filter(|_| done.len() + open.len() < BRACES_MAX) else {
            done.push(pattern);
            continue;
        };
        let part = |range: std::ops::Range<usize>| pattern.get(range).unwrap_or_default();
        let (before, after) = (part(0..start), part(end + 1..pattern.len()));
        open.extend(part(start + 1..end).split(',').map(|one| format!("{before}{one}{after}")));
    }
    done
}

#[expect(clippy::unnecessary_wraps, reason = "each reader may say that there is no workspace")]
fn everywhere(_: &str) -> Option<Vec<String>> {
    Some(vec!["**".to_owned()])
}

fn npm_workspaces(text: &str) -> Option<Vec<String>> {
    if !text.contains("\"workspaces\"") {
        return None;
    }
    let package: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let workspaces = package.get("workspaces")?;
    texts(workspaces.get("packages").unwrap_or(workspaces))
}

fn lerna_packages(text: &str) -> Option<Vec<String>> {
    let lerna: Value = serde_json::from_str(&without_comments(text)).ok()?;
    match lerna.get("packages") {
        Some(packages) => texts(packages),
        None => Some(vec!["packages/*".to_owned()]),
    }
}

fn deno_workspace(text: &str) -> Option<Vec<String>> {
    if !text.contains("\"workspace\"") {
        return None;
    }
    let deno: Value = serde_json::from_str(&without_comments(text)).ok()?;
    let workspace = deno.get("workspace")?;
    texts(workspace.get("members").unwrap_or(workspace))
}

fn texts(list: &Value) -> Option<Vec<String>> {
    Some(list.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn cargo_members(text: &str) -> Option<Vec<String>> {
    let mut members = table_members(text, "workspace")?;
    members.extend(path_values(text));
    // The package at the root is a member, also where no other is named.
    members.push(".".to_owned());
    Some(members)
}

/// Returns `members` and `exclude` of a table of TOML.
fn table_members(text: &str, name: &str) -> Option<Vec<String>> {
    let table = toml_section(text, name)?;
    let list = |key: &str| {
        let list = table.get(key).and_then(toml::Value::as_array).into_iter().flatten();
        list.filter_map(toml::Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let left_out =
        list("exclude").into_iter().map(|pattern| format!("!{}", pattern.trim_start_matches("./")));
    Some(list("members").into_iter().chain(left_out).collect())
}
