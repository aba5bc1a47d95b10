//! Where clients keep their files on each platform. The platform is an argument, so every table can be tested on
//! every system. Not here: which client has which file (`clients`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::ownership::LOGS;

/// A platform, as clients distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The platform this program was built for.
    pub const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// For whom a client is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetupScope {
    /// For all projects of this user.
    User,
    /// For everybody who works in this project.
    Project,
}

impl SetupScope {
    /// Its name in records and replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// Parses its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::User, Self::Project].into_iter().find(|scope| scope.name() == name)
    }
}

/// What setup knows about the machine.
pub struct Machine<'a> {
    /// The platform.
    pub platform: Platform,
    /// The user's home directory.
    pub home: PathBuf,
    /// The top folder of the project.
    pub project: PathBuf,
    /// The folders of PATH.
    pub folders: Vec<PathBuf>,
    /// The program that clients start: its path, or only its name if PATH leads to it.
    pub program: PathBuf,
    /// The directory of the logs, if a client would not find it by itself: it need not have the variables of the shell.
    pub store: Option<PathBuf>,
    /// Looks up an environment variable.
    pub lookup: &'a dyn Fn(&str) -> Option<OsString>,
}

/// A folder that contains client files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseFolder {
    Home,
    /// `$XDG_CONFIG_HOME`, or `~/.config`, also on macOS and Windows.
    Config,
    /// Where applications keep their data on this platform.
    Application,
    Project,
    /// `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
    Claude,
    /// The folder of `.claude.json`: `$CLAUDE_CONFIG_DIR`, or the home directory.
    ClaudeState,
    /// `$CODEX_HOME`, or `~/.codex`.
    Codex,
    /// `$COPILOT_HOME`, or `~/.copilot`.
    Copilot,
}

/// A file or folder of a client.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileLocation {
    base: BaseFolder,
    below: &'static str,
    /// Its location on Windows, if that differs.
    windows: Option<(BaseFolder, &'static str)>,
}

impl FileLocation {
    pub(super) const fn at(base: BaseFolder, below: &'static str) -> Self {
        Self { base, below, windows: None }
    }

    pub(super) const fn on_windows(self, base: BaseFolder, below: &'static str) -> Self {
        Self { windows: Some((base, below)), ..self }
    }

    pub(super) fn path(self, machine: &Machine<'_>) -> PathBuf {
        let (base, below) = match (machine.platform, self.windows) {
            (Platform::Windows, Some(windows)) => windows,
            _ => (self.base, self.below),
        };
        let root = machine.base_folder(base);
        if below.is_empty() { root } else { root.join(below) }
    }
}

impl Machine<'_> {
    fn set(&self, name: &str) -> Option<PathBuf> {
        (self.lookup)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn base_folder(&self, base: BaseFolder) -> PathBuf {
        let home = |below: &str| self.home.join(below);
        match base {
            BaseFolder::Home => self.home.clone(),
            BaseFolder::Config => self.set("XDG_CONFIG_HOME").unwrap_or_else(|| home(".config")),
            BaseFolder::Application => match self.platform {
                Platform::Linux => self.set("XDG_CONFIG_HOME").unwrap_or_else(|| home(".config")),
                Platform::MacOs => home("Library/Application Support"),
                Platform::Windows => self.set("APPDATA").unwrap_or_else(|| home("AppData/Roaming")),
            },
            BaseFolder::Project => self.project.clone(),
            BaseFolder::Claude => self.set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home(".claude")),
            BaseFolder::ClaudeState => {
                self.set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| self.home.clone())
            }
            BaseFolder::Codex => self.set("CODEX_HOME").unwrap_or_else(|| home(".codex")),
            BaseFolder::Copilot => self.set("COPILOT_HOME").unwrap_or_else(|| home(".copilot")),
        }
    }

    /// Returns the file that starts when a program is called by its name. Relative folders of PATH are skipped, since
    /// they lead to a different program in each working directory.
    pub(super) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let endings: &[&str] = match self.platform {
            Platform::Windows => &[".exe", ".cmd", ".bat", ""],
            Platform::Linux | Platform::MacOs => &[""],
        };
        let names = || endings.iter().map(|ending| format!("{name}{ending}"));
        let folders = self.folders.iter().filter(|folder| folder.is_absolute());
        let mut all = folders.flat_map(|folder| names().map(|name| folder.join(name)));
        all.find(|path| path.is_file())
    }

    /// The machine as the files of a scope name it. People who share a project have the program in different folders,
    /// so project files name it without its path if that starts this program.
    pub(super) fn for_scope(&self, scope: SetupScope) -> Self {
        let name = self.program.file_stem().and_then(OsStr::to_str);
        let name =
            name.filter(|name| scope == SetupScope::Project && self.name_starts_this_program(name));
        Self {
            platform: self.platform,
            home: self.home.clone(),
            project: self.project.clone(),
            folders: self.folders.clone(),
            program: name.map_or_else(|| self.program.clone(), PathBuf::from),
            // People who share a project have their stores in different folders.
            store: self.store.clone().filter(|_| scope == SetupScope::User),
            lookup: self.lookup,
        }
    }

    fn name_starts_this_program(&self, name: &str) -> bool {
        self.find_program(name).is_some_and(|found| self.is_this_program(&found))
    }

    /// Tells whether a file is this program, through any links.
    pub(super) fn is_this_program(&self, file: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        real(file).is_some_and(|file| real(&self.program) == Some(file))
    }

    /// Returns the file of a program that is named by its path or its name.
    pub(super) fn program_file(&self, program: &Path) -> Option<PathBuf> {
        match program.to_str().filter(|_| program.components().count() == 1) {
            Some(name) => self.find_program(name),
            None => program.is_file().then(|| program.to_owned()),
        }
    }

    /// The program as text.
    pub(super) fn program_text(&self) -> String {
        self.program.display().to_string()
    }

    /// The directory of the logs as an argument, where clients must be told it.
    pub(super) fn store_text(&self) -> Option<String> {
        self.store.as_ref().map(|store| store.display().to_string())
    }

    /// The arguments of a hook as words of a shell line.
    pub(super) fn hook_line(&self, arguments: &str) -> String {
        match &self.store {
            Some(store) => {
                self.command_line(&format!("{arguments} {LOGS} {}", quoted(store, self.platform)))
            }
            None => self.command_line(arguments),
        }
    }

    /// The program and its arguments as one shell line. The line succeeds even if the program was removed: some
    /// clients stop when a hook fails.
    pub(super) fn command_line(&self, arguments: &str) -> String {
        let line = format!("{} {arguments}", quoted(&self.program, self.platform));
        match self.platform {
            // Not every PowerShell knows `||`.
            Platform::Windows => line,
            Platform::Linux | Platform::MacOs => format!("{line} || exit 0"),
        }
    }
}

/// Returns a program's path as one word of the client's shell.
fn quoted(program: &Path, platform: Platform) -> String {
    let text = program.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=,\\".contains(c);
    match platform {
        // A quoted path works in cmd but not in PowerShell, so only paths that need quotes get them.
        Platform::Windows if text.chars().all(plain) => text,
        Platform::Windows => format!("\"{text}\""),
        Platform::Linux | Platform::MacOs if text.chars().all(|c| plain(c) && c != '\\') => text,
        Platform::Linux | Platform::MacOs => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_the_shell() {
        for (path, platform, expected) in [
            ("/usr/bin/ak", Platform::Linux, "/usr/bin/ak"),
            ("/my programs/ak", Platform::MacOs, "'/my programs/ak'"),
            ("/it's/ak", Platform::Linux, r"'/it'\''s/ak'"),
            (r"C:\bin\ak.exe", Platform::Windows, r"C:\bin\ak.exe"),
            (r"C:\Program Files\ak.exe", Platform::Windows, "\"C:\\Program Files\\ak.exe\""),
        ] {
            assert_eq!(quoted(Path::new(path), platform), expected);
        }
    }

    #[test]
    fn project_files_name_the_program_without_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for name in ["bin", "other"] {
            std::fs::create_dir(place(name)).unwrap();
            std::fs::write(place(name).join("agent-knowledge"), "").unwrap();
        }
        let machine = |folders: &[&str]| Machine {
            platform: Platform::Linux,
            home: "/h".into(),
            project: "/p".into(),
            folders: folders.iter().map(|name| place(name)).collect(),
            program: place("bin/agent-knowledge"),
            store: None,
            lookup: &|_| None,
        };
        let (bare, path) = (PathBuf::from("agent-knowledge"), place("bin/agent-knowledge"));
        for (folders, scope, expected) in [
            (&["none", "bin", "other"][..], SetupScope::Project, &bare),
            (&["other", "bin"], SetupScope::Project, &path),
            (&[], SetupScope::Project, &path),
            (&["bin"], SetupScope::User, &path),
        ] {
            let machine = machine(folders).for_scope(scope);
            assert_eq!(machine.program, *expected, "{folders:?}");
            assert_eq!(machine.program_file(&machine.program), Some(path.clone()));
            assert_eq!(machine.for_scope(scope).program, *expected);
        }
        assert_eq!(machine(&[]).program_file(&bare), None);
    }

    #[test]
    fn relative_folders_of_path_are_skipped() {
        let machine = |folder: PathBuf| Machine {
            platform: Platform::Linux,
            home: "/h".into(),
            project: "/p".into(),
            folders: vec![folder],
            program: "/ak".into(),
            store: None,
            lookup: &|_| None,
        };
        // Tests run in the folder of the manifest.
        let crate_folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(
            machine(crate_folder.clone()).find_program("Cargo.toml"),
            Some(crate_folder.join("Cargo.toml"))
        );
        for folder in ["", ".", "src/.."] {
            assert_eq!(machine(folder.into()).find_program("Cargo.toml"), None, "{folder}");
        }
    }

    #[test]
    fn moved_clients_are_found() {
        let lookup = |name: &str| (name == "CODEX_HOME").then(|| OsString::from("/c"));
        let machine = |platform| Machine {
            platform,
            home: "/h".into(),
            project: "/p".into(),
            folders: Vec::new(),
            program: "/ak".into(),
            store: None,
            lookup: &lookup,
        };
        let linux = machine(Platform::Linux);
        assert_eq!(
            FileLocation::at(BaseFolder::Codex, "config.toml").path(&linux),
            Path::new("/c/config.toml")
        );
        assert_eq!(FileLocation::at(BaseFolder::Claude, "").path(&linux), Path::new("/h/.claude"));
        let location =
            FileLocation::at(BaseFolder::Config, "zed").on_windows(BaseFolder::Application, "Zed");
        assert_eq!(location.path(&linux), Path::new("/h/.config/zed"));
        assert_eq!(location.path(&machine(Platform::MacOs)), Path::new("/h/.config/zed"));
        let windows = machine(Platform::Windows);
        assert_eq!(location.path(&windows), Path::new("/h/AppData/Roaming/Zed"));
    }
}
