//! A made-up machine for one row. Not here: the rows, and what they expect (`row`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use event::RepoKey;
use place::{DirectoryOrigin, KnownDirectory, Locator, Machine, Place, Steps, StoredPlaces};

/// The made-up machine.
pub struct Scene {
    root: PathBuf,
    _folder: tempfile::TempDir,
    variables: Vec<(String, OsString)>,
    known: Vec<(DirectoryOrigin, String)>,
    memories: Vec<RepoKey>,
    identities: Vec<(PathBuf, RepoKey)>,
    names: Vec<(String, RepoKey)>,
    aliases: Vec<(RepoKey, RepoKey)>,
}

impl Scene {
    /// Makes an empty machine.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/ana/code", "etc/ssh", "scratch"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let variables = vec![
            ("HOME".to_owned(), root.join("home/ana").into()),
            ("TMPDIR".to_owned(), root.join("scratch").into()),
        ];
        let (known, memories, identities) = (Vec::new(), Vec::new(), Vec::new());
        let (names, aliases) = (Vec::new(), Vec::new());
        Self { root, _folder: folder, variables, known, memories, identities, names, aliases }
    }

    /// A path: `~` is the home, all others count from `~/code`, and `//` from the root of the scene.
    pub fn path(&self, path: &str) -> PathBuf {
        if let Some(below) = path.strip_prefix("//") {
            return self.root.join(below);
        }
        let home = self.root.join("home/ana");
        match path.strip_prefix('~') {
            Some("") => home,
            Some(below) => home.join(below.trim_start_matches('/')),
            None => home.join("code").join(path),
        }
    }

    /// Makes a folder.
    pub fn dir(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// Writes a file; `$ROOT` in its text is the root of the scene, `$HOME` the home.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, self.filled(text)).unwrap();
    }

    fn filled(&self, text: &str) -> String {
        let home = self.path("~");
        text.replace("$HOME", home.to_str().unwrap()).replace("$ROOT", self.root.to_str().unwrap())
    }

    /// Runs git in a folder, with nothing of this machine's settings.
    pub fn git(&self, directory: &str, args: &[&str]) {
        let directory = self.dir(directory);
        self.ran("git", &directory, args);
    }

    fn ran(&self, program: &str, directory: &Path, args: &[&str]) {
        let args: Vec<String> = args.iter().map(|arg| self.filled(arg)).collect();
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // The settings of the row's user are for the row; git itself works without them.
        command.env("HOME", self.path("//etc")).env("GIT_CONFIG_NOSYSTEM", "1").env("HGPLAIN", "1");
        let settings = [
            ("user.name", "Ana"),
            ("user.email", "ana@example.org"),
            ("init.defaultBranch", "main"),
            ("protocol.file.allow", "always"),
            ("advice.detachedHead", "false"),
        ];
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (number, (name, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        let output = command.current_dir(directory).args(&args).output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {messages}");
    }

    /// Asks git for the directory of its files, in a directory and with the variables of the scene.
    pub fn git_dir_of(&self, directory: &Path) -> Option<PathBuf> {
        let mut command = Command::new("git");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("GIT_CONFIG_SYSTEM", self.path("//etc/gitconfig"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(directory).args(["rev-parse", "--absolute-git-dir"]);
        let output = command.output().ok()?;
        let path =
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned());
        path.map(|path| PathBuf::from(path.trim_end()))
    }

    /// Makes a repository of Mercurial, with the program where there is one, and a remote where one is given.
    pub fn hg(&self, directory: &str, remote: Option<&str>) {
        let top = self.dir(directory);
        let has_program = Command::new("hg").arg("--version").output().is_ok();
        if has_program {
            self.ran("hg", &top, &["init"]);
        } else {
            // As `hg init` of 7.2 leaves it.
            self.write(&format!("{directory}/.hg/requires"), "share-safe\n");
            self.write(&format!("{directory}/.hg/00changelog.i"), " dummy changelog\n");
            self.dir(&format!("{directory}/.hg/store"));
        }
        if let Some(url) = remote {
            self.write(&format!("{directory}/.hg/hgrc"), &format!("[paths]\ndefault = {url}\n"));
        }
    }

    /// Makes a repository with a commit, and a remote where one is given.
    pub fn repository(&self, directory: &str, remote: Option<&str>) -> PathBuf {
        let top = self.dir(directory);
        copy(&self.blueprint(), &top);
        if let Some(url) = remote {
            self.git(directory, &["config", "remote.origin.url", url]);
        }
        self.path(directory)
    }

    /// A repository with a commit, made by git once for all rows.
    fn blueprint(&self) -> PathBuf {
        static BLUEPRINT: OnceLock<tempfile::TempDir> = OnceLock::new();
        let folder = BLUEPRINT.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            self.ran("git", folder.path(), &["init", "--quiet"]);
            let commit = ["commit", "--quiet", "--allow-empty", "--message", "first"];
            self.ran("git", folder.path(), &commit);
            folder
        });
        folder.path().to_owned()
    }

    /// Makes a repository of jj as its files: `git_target` leads to the git repository behind it.
    pub fn jj(&self, directory: &str, git_target: &str) {
        self.write(&format!("{directory}/.jj/repo/store/type"), "git");
        self.write(&format!("{directory}/.jj/repo/store/git_target"), git_target);
        self.dir(&format!("{directory}/.jj/working_copy"));
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: &str) {
        let value = self.filled(value);
        self.variables.push((name.to_owned(), value.into()));
    }

    /// Names a directory beside the one in which somebody stands.
    pub fn names(&mut self, origin: DirectoryOrigin, text: &str) {
        let text = self.filled(text);
        self.known.push((origin, text));
    }

    /// Makes the folder of a path have memories.
    pub fn memories(&mut self, name: &str, path: &str) {
        let path = self.path(path);
        self.memories.push(RepoKey::from_place(name, path.to_str().unwrap()));
    }

    /// Makes the store remember a common directory.
    pub fn remember(&mut self, common_dir: &str, key: &str) {
        let path = PathBuf::from(self.filled(common_dir));
        self.identities.push((path, RepoKey::parse(key).unwrap()));
    }

    /// Makes the store know a repository by its short name.
    pub fn stored(&mut self, name: &str, key: &str) {
        self.names.push((name.to_owned(), RepoKey::parse(key).unwrap()));
    }

    /// Makes an alias.
    pub fn alias(&mut self, old: &str, new: &str) {
        self.aliases.push((RepoKey::parse(old).unwrap(), RepoKey::parse(new).unwrap()));
    }

    fn lookup(&self, name: &str) -> Option<OsString> {
        let own = self.variables.iter().rev().find(|(own, _)| own == name);
        own.map(|(_, value)| value.clone())
    }

    /// The same machine for a question beside the row's.
    pub fn alone(&self) -> Self {
        let variables = self.variables.iter().filter(|(name, _)| !name.starts_with("GIT_"));
        Self {
            root: self.root.clone(),
            _folder: tempfile::tempdir().unwrap(),
            variables: variables.filter(|(name, _)| !name.contains("PROJECT")).cloned().collect(),
            known: Vec::new(),
            memories: self.memories.clone(),
            identities: self.identities.clone(),
            names: self.names.clone(),
            aliases: self.aliases.clone(),
        }
    }

    /// Finds the place of a directory, and adds the steps.
    pub fn place(&self, directory: &Path, explained: &mut Vec<String>) -> Place {
        let lookup = |name: &str| self.lookup(name);
        let mut machine = Machine::from_environment(&lookup);
        machine.system = self.root.join("etc");
        let mut locator = Locator::new(&machine, self, Steps::enabled());
        let mut known = vec![KnownDirectory::new(DirectoryOrigin::Process, directory)];
        let named = self.known.iter();
        known.extend(
            named.filter_map(|(origin, text)| KnownDirectory::from_text(*origin, text, &machine)),
        );
        known.extend(KnownDirectory::declared(&lookup, &machine));
        let place = locator.best(&known);
        explained.extend(locator.steps().texts().iter().cloned());
        place
    }
}

impl StoredPlaces for Scene {
    fn current(&self, key: &RepoKey) -> RepoKey {
        let alias = self.aliases.iter().find(|(old, _)| old == key);
        alias.map_or_else(|| key.clone(), |(_, new)| new.clone())
    }

    fn has_memories(&self, key: &RepoKey) -> bool {
        self.memories.contains(key)
    }

    fn key_of_common_dir(&self, common_dir: &Path) -> Option<RepoKey> {
        let known = self.identities.iter().find(|(path, _)| path == common_dir);
        known.map(|(_, key)| key.clone())
    }

    fn only_named(&self, short_name: &str) -> Option<RepoKey> {
        let known = self.names.iter().find(|(name, _)| name == short_name);
        known.map(|(_, key)| key.clone())
    }
}

/// Copies all below a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
