//! A path to a file as somebody gives it, and as it is kept: from the top of the work tree on, with `/`. A pure function of the
//! top, the directory somebody stands in, the user's home and the text, except that it looks whether files are there. Not here:
//! where the top is (`locate`), what a kept path matches (`search`).

use std::path::{Component, Path, PathBuf};

use event::without_user_name;

use crate::foreign_path::{is_foreign, lexical, on_this_system};
use crate::place::Place;
use crate::small_file::{small_path, small_text};

/// Longest path that is looked up, in bytes; systems allow few more.
const PATH_BYTES_MAX: usize = 1_024;

/// Where somebody stands who names files.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileViewpoint<'a> {
    /// The top of the work tree, resolved; `None` where the files of another repository are named, or nobody knows where.
    pub top: Option<&'a Path>,
    /// The directory shared by all work trees of the repository, where there is git.
    pub common_dir: Option<&'a Path>,
    /// The working directory; `None` where there is none.
    pub directory: Option<&'a Path>,
    /// The user's home.
    pub home: Option<&'a Path>,
}

/// A path as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPath {
    /// The path, with what stood behind it, such as `:42` or `#L10`.
    pub text: String,
    /// Whether it is there.
    pub presence: FilePresence,
}

/// Whether a path that somebody gave is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePresence {
    /// There is such a file or folder.
    Present,
    /// There is none: neither from where somebody stands nor from the top.
    Missing,
    /// Nobody can tell: a pattern, an address of the web, a path of another machine or another repository.
    Unknown,
}

impl KeptPath {
    fn unknown(text: &str) -> Self {
        Self { text: text.to_owned(), presence: FilePresence::Unknown }
    }
}

impl<'a> FileViewpoint<'a> {
    /// Somebody in a directory of a place; without a place nothing is known but the home.
    #[must_use]
    pub fn new(place: Option<&'a Place>, directory: &'a Path, home: Option<&'a Path>) -> Self {
        Self {
            top: place.map(|place| place.top.as_path()),
            common_dir: place.and_then(|place| Some(place.git()?.common_dir.as_path())),
            directory: place.map(|_| directory),
            home,
        }
    }
}

impl FileViewpoint<'_> {
    /// Reads a list of paths. A text with commas is several paths where no file has that name.
    #[must_use]
    pub fn kept_paths(&self, texts: &[String]) -> Vec<KeptPath> {
        let mut kept: Vec<KeptPath> = Vec::new();
        for text in texts.iter().flat_map(|text| self.split_list(text)) {
            let path = self.kept_path(text);
            if !kept.iter().any(|other| other.text == path.text) {
                kept.push(path);
            }
        }
        kept
    }

    /// Reads one path.
    #[must_use]
    pub fn kept_path(&self, text: &str) -> KeptPath {
        let text = text.trim();
        let (bare, behind) = if self.is_there(text) { (text, "") } else { split_position(text) };
        let Some(path) = plain_path(bare) else { return KeptPath::unknown(text) };
        if path.len() > PATH_BYTES_MAX {
            return KeptPath::unknown(text);
        }
        // On most systems a file may have such a name.
        let path = if self.is_there(&path) { path } else { path.replace('\\', "/") };
        let mut kept = match self.absolute(&path) {
            Some(absolute) => self.of_absolute(&absolute),
            None if is_foreign(Path::new(&path)) => KeptPath::unknown(&without_user_name(&path)),
            None => self.of_relative(&path),
        };
        kept.text.push_str(behind);
        kept
    }

    /// Reads the path of a folder. A link is the folder of the tree that it leads to.
    #[must_use]
    pub fn kept_folder(&self, text: &str) -> KeptPath {
        let kept = self.kept_path(text);
        match self.folder_behind(&kept.text) {
            Some(folder) => KeptPath { text: folder, ..kept },
            None => kept,
        }
    }

    /// Returns the folder of the tree that a link in it leads to.
    #[must_use]
    pub fn folder_behind(&self, link: &str) -> Option<String> {
        let path = self.top?.join(link);
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let folder = path.canonicalize().ok().filter(|folder| is_link && folder.is_dir())?;
        self.below_top(&folder)
    }

    /// Splits a list of paths at its commas; a text that is no list is one path.
    #[must_use]
    pub fn split_list<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let pieces: Vec<&str> = text.split(',').map(str::trim).collect();
        let is_line =
            |piece: &&str| piece.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let is_whole = pieces.len() < 2
            || pieces.iter().any(is_line)
            || is_pattern(text)
            || text.contains("://")
            || self.is_there(text.trim());
        if is_whole { vec![text] } else { pieces }
    }

    /// Whether a file has exactly this name.
    fn is_there(&self, text: &str) -> bool {
        let starts = [self.directory, self.top].into_iter().flatten();
        !text.is_empty()
            && text.len() <= PATH_BYTES_MAX
            && !text.contains('\0')
            && starts.into_iter().any(|start| start.join(text).symlink_metadata().is_ok())
    }

    /// Returns an absolute path of this system; `None` for one that is relative, or of another system.
    fn absolute(&self, path: &str) -> Option<PathBuf> {
        if let (Some(below), Some(home)) = (path.strip_prefix("~/"), self.home) {
            return Some(home.join(below));
        }
        let here = on_this_system(Path::new(path));
        (here.is_absolute() && !is_foreign(&here)).then_some(here)
    }

    fn of_absolute(&self, path: &Path) -> KeptPath {
        let presence = match (path.symlink_metadata().is_ok(), self.top) {
            (true, _) => FilePresence::Present,
            (false, Some(_)) => FilePresence::Missing,
            (false, None) => FilePresence::Unknown,
        };
        let text = self.below_top(path).unwrap_or_else(|| self.outside(path));
        KeptPath { text, presence }
    }

    fn of_relative(&self, path: &str) -> KeptPath {
        let starts = [self.directory, self.top].into_iter().flatten();
        let there =
            starts.map(|start| start.join(path)).find(|path| path.symlink_metadata().is_ok());
        match (there, self.top) {
            (Some(there), Some(_)) => self.of_absolute(&there),
            (None, Some(_)) => KeptPath { text: path.to_owned(), presence: FilePresence::Missing },
            (_, None) => KeptPath::unknown(path),
        }
    }

    /// Returns a path from the top of its work tree on, `.` for the top; `None` for one that lies in no work tree of this repository.
    fn below_top(&self, path: &Path) -> Option<String> {
        let top = self.top?;
        // Git knows a file by its real folder; a link that leads out of the tree is a folder of the tree.
        let forms = [real_path(path), lexical(path)];
        let own = |path: &PathBuf| self.own_top(path).and_then(|top| slashed_below(&top, path));
        let below = |path: &PathBuf| slashed_below(top, path);
        let found = forms.iter().find_map(own).or_else(|| forms.iter().find_map(below))?;
        Some(if found.is_empty() { ".".to_owned() } else { found })
    }

    /// Finds the top of the work tree that a path lies in, where that is one of this repository.
    fn own_top(&self, path: &Path) -> Option<PathBuf> {
        let common_dir = self.common_dir?;
        let top = path.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
        (common_dir_at(top)? == common_dir).then(|| top.to_owned())
    }

    /// Returns a path outside of the work tree: below the home as `~/…`.
    fn outside(&self, path: &Path) -> String {
        let forms = [real_path(path), lexical(path)];
        let below = self.home.and_then(|home| {
            let homes = [home.to_owned(), real_path(home)];
            let below = |home: &PathBuf| forms.iter().find_map(|path| slashed_below(home, path));
            homes.iter().find_map(below)
        });
        let whole =
            || slashed(&lexical(path)).unwrap_or_else(|| path.to_string_lossy().into_owned());
        match below {
            Some(below) if below.is_empty() => "~".to_owned(),
            Some(below) => format!("~/{below}"),
            None => whole(),
        }
    }
}

/// Returns the path in a text, without the form of a URI; `None` for a pattern, a variable or a page of the web.
fn plain_path(text: &str) -> Option<String> {
    if text.is_empty() || is_pattern(text) || text.starts_with(['$', '%']) {
        return None;
    }
    match text.split_once("://") {
        Some((scheme, below)) if scheme.eq_ignore_ascii_case("file") => {
            let path = below.strip_prefix("localhost").unwrap_or(below);
            let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
            path.starts_with('/').then(|| path.into_owned())
        }
        Some(_) => None,
        None => Some(text.to_owned()),
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '<', '{', '\0', '\n'])
}

/// Splits off what tools write behind a path: a line, a range, a symbol.
fn split_position(text: &str) -> (&str, &str) {
    let end = text.find("::").or_else(|| text.find("#L"));
    let (path, behind) = text.split_at(end.unwrap_or(text.len()));
    let numbers = |c: char| c.is_ascii_digit() || c == ':' || c == '-';
    let bare = path.trim_end_matches(numbers);
    match path.get(bare.len()..) {
        Some(line) if line.starts_with(':') && bare.len() > 1 => text.split_at(bare.len()),
        _ => (path, behind),
    }
}

/// Resolves the links in the folders of a path, as far as these are there. The last name is kept, since it may be a link itself.
fn real_path(path: &Path) -> PathBuf {
    let Some(Component::Normal(name)) = path.components().next_back() else {
        return path.canonicalize().unwrap_or_else(|_| lexical(path));
    };
    let mut missing = vec![name.to_owned()];
    let mut above = path.parent();
    while let Some(folder) = above {
        if let Ok(real) = folder.canonicalize() {
            return lexical(&missing.iter().rev().fold(real, |path, name| path.join(name)));
        }
        missing.extend(folder.file_name().map(ToOwned::to_owned));
        above = folder.parent();
    }
    lexical(path)
}

/// Returns the directory that the work tree with this top shares with others.
fn common_dir_at(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    let git_dir = match small_text(&dot_git) {
        Some(pointer) => top.join(pointer.trim().strip_prefix("gitdir:")?.trim()),
        None => dot_git,
    };
    let common = small_path(&git_dir.join("commondir")).map(|path| git_dir.join(path));
    common.unwrap_or(git_dir).canonicalize().ok()
}

fn slashed_below(top: &Path, path: &Path) -> Option<String> {
    slashed(path.strip_prefix(top).ok()?)
}

fn slashed(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    Some(if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct TwoTrees {
        _folder: tempfile::TempDir,
        home: PathBuf,
        top: PathBuf,
    }

    impl TwoTrees {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = folder.path().canonicalize().unwrap().join("ana");
            let top = home.join("code/api");
            for file in [
                "src/cart.ts",
                "packages/web/src/cart.ts",
                "packages/web/a,b.ts",
                "packages/api/src/cart.ts",
                "Makefile",
                "odd:7",
                "back\\slash",
            ] {
                let path = top.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            fs::create_dir(top.join(".git")).unwrap();
            fs::write(home.join(".npmrc"), "").unwrap();
            Self { _folder: folder, home, top }
        }

        fn kept(&self, directory: &str, text: &str) -> (String, FilePresence) {
            let directory = self.top.join(directory);
            let common_dir = self.top.join(".git");
            let viewpoint = FileViewpoint {
                top: Some(&self.top),
                common_dir: Some(&common_dir),
                directory: Some(&directory),
                home: Some(&self.home),
            };
            let kept = viewpoint.kept_path(text);
            (kept.text, kept.presence)
        }
    }

    // S-PATH-1, S-PATH-2
    #[test]
    fn a_path_is_kept_from_the_top_on() {
        let tree = TwoTrees::new();
        let absolute = |file: &str| tree.top.join(file).to_str().unwrap().to_owned();
        let (inside, gone) = (absolute("packages/web/src/cart.ts:4"), absolute("src/gone.ts"));
        let uri = format!("file://{}", absolute("Makefile"));
        for (text, expected) in [
            ("src/cart.ts", "packages/web/src/cart.ts"),
            ("./src/cart.ts", "packages/web/src/cart.ts"),
            ("src", "packages/web/src"),
            ("src/", "packages/web/src"),
            ("../api/src/cart.ts", "packages/api/src/cart.ts"),
            ("../../src/cart.ts", "src/cart.ts"),
            ("../../Makefile", "Makefile"),
            ("Makefile", "Makefile"),
            ("packages/api/src/cart.ts", "packages/api/src/cart.ts"),
            ("packages\\web\\src\\cart.ts", "packages/web/src/cart.ts"),
            ("src\\cart.ts", "packages/web/src/cart.ts"),
            ("src/cart.ts:42", "packages/web/src/cart.ts:42"),
            ("src/cart.ts:42:7", "packages/web/src/cart.ts:42:7"),
            ("src/cart.ts#L10-L12", "packages/web/src/cart.ts#L10-L12"),
            ("src/cart.ts::total", "packages/web/src/cart.ts::total"),
            ("~/code/api/Makefile", "Makefile"),
            ("../../odd:7", "odd:7"),
            ("../../back\\slash", "back\\slash"),
            (&inside, "packages/web/src/cart.ts:4"),
            (&uri, "Makefile"),
            ("../..", "."),
            ("~/.npmrc", "~/.npmrc"),
            ("../../../../.npmrc:3", "~/.npmrc:3"),
        ] {
            let found = tree.kept("packages/web", text);
            assert_eq!(found, (expected.to_owned(), FilePresence::Present), "{text}");
        }
        let missing = |text: &str| (text.to_owned(), FilePresence::Missing);
        for text in ["src/none.ts", "../none.ts", "~/none"] {
            assert_eq!(tree.kept("packages/web", text), missing(text));
        }
        assert_eq!(tree.kept("packages/web", "none\\x.ts:3"), missing("none/x.ts:3"));
        assert_eq!(tree.kept("packages/web", &gone), missing("src/gone.ts"));
        for text in ["src/*.ts", "src/{a,b}.ts", "https://example.org/a.ts", "$HOME/x", ""] {
            assert_eq!(tree.kept("packages/web", text), (text.to_owned(), FilePresence::Unknown));
        }
        let foreign = tree.kept("", "D:\\Users\\ana\\x.rs");
        assert_eq!(foreign, ("~/x.rs".to_owned(), FilePresence::Unknown));
    }

    // S-PATH-1
    #[test]
    fn a_list_in_one_text_is_several_files() {
        let tree = TwoTrees::new();
        let directory = tree.top.join("packages/web");
        let viewpoint =
            FileViewpoint { top: Some(&tree.top), directory: Some(&directory), ..<_>::default() };
        for (text, expected) in [
            ("src/cart.ts,Makefile", vec!["packages/web/src/cart.ts", "Makefile"]),
            ("src/cart.ts, none.ts", vec!["packages/web/src/cart.ts", "none.ts"]),
            ("a,b.ts", vec!["packages/web/a,b.ts"]),
            ("src/cart.ts:1,2", vec!["src/cart.ts:1,2"]),
            ("src/{a,b}.ts", vec!["src/{a,b}.ts"]),
            ("src/cart.ts,./src/cart.ts", vec!["packages/web/src/cart.ts"]),
        ] {
            let kept = viewpoint.kept_paths(&[text.to_owned()]);
            assert_eq!(
                kept.into_iter().map(|path| path.text).collect::<Vec<_>>(),
                expected,
                "{text}"
            );
        }
    }

    // S-PATH-1
    #[cfg(unix)]
    #[test]
    fn links_and_linked_work_trees_lead_to_the_same_file() {
        use std::os::unix::fs::symlink;
        let tree = TwoTrees::new();
        let linked = tree.home.join("code/api-fix");
        fs::create_dir_all(linked.join("src")).unwrap();
        fs::write(linked.join("src/cart.ts"), "").unwrap();
        let git_dir = tree.top.join(".git/worktrees/api-fix");
        fs::create_dir_all(&git_dir).unwrap();
        fs::write(git_dir.join("commondir"), "../..").unwrap();
        fs::write(linked.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        symlink(&tree.top, tree.home.join("desk")).unwrap();
        symlink("packages/web", tree.top.join("web")).unwrap();
        symlink("Makefile", tree.top.join("GNUmakefile")).unwrap();
        for (text, expected) in [
            ("../api-fix/src/cart.ts", "src/cart.ts"),
            ("~/code/api-fix/src/new.ts", "src/new.ts"),
            ("~/desk/Makefile", "Makefile"),
            ("~/desk/none/x", "none/x"),
            ("web/src/cart.ts", "packages/web/src/cart.ts"),
            ("GNUmakefile", "GNUmakefile"),
        ] {
            assert_eq!(tree.kept("", text).0, expected, "{text}");
        }
    }

    // S-PATH-5
    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_of_the_tree_is_that_folder() {
        use std::os::unix::fs::symlink;
        let tree = TwoTrees::new();
        symlink("packages/web", tree.top.join("weblink")).unwrap();
        symlink("../weblink", tree.top.join("packages/again")).unwrap();
        symlink("Makefile", tree.top.join("GNUmakefile")).unwrap();
        symlink(&tree.home, tree.top.join("away")).unwrap();
        symlink("nowhere", tree.top.join("broken")).unwrap();
        let at = |directory: &str, text: &str| {
            let directory = tree.top.join(directory);
            let (top, here) = (Some(&*tree.top), Some(&*directory));
            FileViewpoint { top, directory: here, ..<_>::default() }.kept_folder(text).text
        };
        for (directory, text, expected) in [
            ("", "weblink", "packages/web"),
            ("", "./weblink/", "packages/web"),
            ("", "packages/again", "packages/web"),
            ("packages/api", "../again", "packages/web"),
            ("", "weblink/src", "packages/web/src"),
            ("", "packages/api", "packages/api"),
            ("", "GNUmakefile", "GNUmakefile"),
            ("", "away", "away"),
            ("", "broken", "broken"),
        ] {
            assert_eq!(at(directory, text), expected, "{directory} {text}");
        }
    }

    // S-PATH-2
    #[test]
    fn without_a_directory_a_path_is_that_of_the_top() {
        let home = PathBuf::from("/home/ana");
        let viewpoint = FileViewpoint { home: Some(&home), ..<_>::default() };
        for (text, expected) in [
            ("src\\a.rs:3", "src/a.rs:3"),
            ("./src/a.rs", "./src/a.rs"),
            ("/home/ana/x.rs", "~/x.rs"),
            ("/srv/x.rs", "/srv/x.rs"),
        ] {
            let kept = viewpoint.kept_path(text);
            assert_eq!((kept.text.as_str(), kept.presence), (expected, FilePresence::Unknown));
        }
    }
}
