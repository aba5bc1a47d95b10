//! The names of files that hold settings. Not here: which parts of an exchange name one (`scope`).

/// Whole names, in lower case.
const NAMES: &[&str] = &[
    "package.json",
    "composer.json",
    "deno.json",
    "biome.json",
    "turbo.json",
    "nx.json",
    "vercel.json",
    "renovate.json",
    "launch.json",
    "tasks.json",
    "settings.json",
    "settings.local.json",
    "opencode.json",
    ".mcp.json",
    "mcp.json",
    "manifest.json",
    "dockerfile",
    "containerfile",
    "makefile",
    "justfile",
    "procfile",
    "gemfile",
    "vagrantfile",
    "jenkinsfile",
    "cmakelists.txt",
    "requirements.txt",
    "go.mod",
    "go.work",
    "setup.py",
    "build.gradle",
    "build.gradle.kts",
    "pom.xml",
    "hosts",
    "crontab",
    "codeowners",
];

/// Extensions, in lower case.
const EXTENSIONS: &[&str] = &[
    "toml",
    "yaml",
    "yml",
    "ini",
    "cfg",
    "conf",
    "config",
    "env",
    "properties",
    "plist",
    "tf",
    "tfvars",
    "service",
    "csproj",
    "editorconfig",
];

/// Beginnings of a name that a dot or the end follows.
const BEGINNINGS: &[&str] = &["tsconfig", "jsconfig", ".env", "docker-compose", "compose"];

/// Tells whether a path is that of a file with settings.
#[must_use]
pub(super) fn is_config(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let begins = |beginning: &&str| {
        let rest = name.strip_prefix(*beginning);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(begins)
        || is_dotfile(&name)
        || name.contains(".config.")
        || name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

/// Tells whether a word of a command is the name of such a file.
#[must_use]
pub(super) fn names_config(command: &str) -> bool {
    let is_mark = |next: char| next.is_whitespace() || "'\"`=;|&<>()".contains(next);
    command.split(is_mark).any(|word| word.contains(['.', '/']) && is_config(word))
}

/// Names such as `.npmrc`, `.eslintrc.json`, `.gitignore` and `.prettierignore`.
fn is_dotfile(name: &str) -> bool {
    let Some(name) = name.strip_prefix('.') else { return false };
    let stem = name.split('.').next().unwrap_or(name);
    !stem.is_empty()
        && (stem.ends_with("rc") || stem.starts_with("git") || stem.ends_with("ignore"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_recognised_by_their_names() {
        for path in [
            "Cargo.toml",
            "/w/.env.local",
            "web/vite.config.ts",
            ".eslintrc.json",
            "C:\\w\\tsconfig.base.json",
            ".github/workflows/ci.yml",
            "Dockerfile",
            ".gitignore",
            "docker-compose.yaml",
        ] {
            assert!(is_config(path), "{path}");
        }
        for path in [
            "src/config.rs",
            "README.md",
            "environment.ts",
            "src/main.rs",
            "composer",
            ".hidden",
            "data.json",
        ] {
            assert!(!is_config(path), "{path}");
        }
    }

    #[test]
    fn a_command_names_settings_as_a_word() {
        assert!(names_config("cat ./Cargo.toml | head"));
        assert!(names_config("tsc -p 'web/tsconfig.json'"));
        assert!(!names_config("make config && ls hosts"));
    }
}
