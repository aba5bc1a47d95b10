//! Writes the table of the page's files: those below `page`, and the parts that `scripts/fetch-dashboard` put below the
//! target directory. A file of an unknown kind fails the build. Not here: fetching them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// The kinds of files, and how a browser is told.
const KINDS: &[(&str, &str)] = &[
    ("css", "text/css; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
];

fn main() -> Result<()> {
    let page = Path::new("page").canonicalize()?;
    let out = PathBuf::from(variable("OUT_DIR")?);
    let parts = folder_of_parts(&out)?;
    // A missing folder would count as changed at every build.
    fs::create_dir_all(&parts)?;
    let mut files = BTreeMap::new();
    for folder in [&page, &parts] {
        println_to_cargo(&format!("cargo::rerun-if-changed={}", folder.display()));
        collect(folder, "", &mut files)?;
    }
    let mut table = String::from("pub(super) const ASSETS: &[(&str, super::Asset)] = &[\n");
    for (name, path) in &files {
        let bytes = fs::read(path)?;
        let (kind, etag) = (kind(name)?, etag(&bytes));
        let _ = writeln!(
            table,
            "    ({name:?}, super::Asset {{ content_type: {kind:?}, bytes: include_bytes!({path:?}), etag: {etag:?} }}),"
        );
    }
    table.push_str("];\n");
    fs::write(out.join("table.rs"), table)
}

/// The folder `dashboard` of the target directory. The build gets TARGET/[TRIPLE/]PROFILE/build/PACKAGE/out.
fn folder_of_parts(out: &Path) -> Result<PathBuf> {
    let above = out.ancestors().nth(4).ok_or_else(|| Error::other("OUT_DIR is too short"))?;
    let is_of_triple = above.ends_with(variable("TARGET")?);
    let target = if is_of_triple { above.parent().unwrap_or(above) } else { above };
    Ok(target.join("dashboard"))
}

/// Adds the files of a folder by their paths below the page. Hidden files, such as those of editors, do not belong to it.
fn collect(folder: &Path, above: &str, files: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name =
            entry.file_name().into_string().map_err(|_| Error::other("a name is not UTF-8"))?;
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        let path = entry.path();
        if path.is_dir() {
            collect(&path, &format!("{above}{name}/"), files)?;
        } else {
            files.insert(format!("{above}{name}"), path);
        }
    }
    Ok(())
}

fn kind(name: &str) -> Result<&'static str> {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = KINDS.iter().find(|(known, _)| *known == extension);
    known.map(|(_, kind)| *kind).ok_or_else(|| {
        Error::other(format!("src/dashboard/build.rs knows no kind of file for {name}"))
    })
}

/// A mark that changes with the content. It protects nothing, so it need not be hard to imitate.
fn etag(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("\"{:016x}\"", hasher.finish())
}

fn variable(name: &str) -> Result<String> {
    let value = std::env::var_os(name).and_then(|value| value.into_string().ok());
    value.ok_or_else(|| Error::other(format!("{name} is not set")))
}

/// What a build script prints, Cargo reads.
fn println_to_cargo(line: &str) {
    println!("{line}");
}
