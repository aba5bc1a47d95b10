//! The names in a memory that others may share: files, symbols in backticks, packages, error codes, and the first
//! words of its command. Pure. Not here: finding others with the same name (`inferred_links`).

use event::Event;

/// A name in a memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NamedEntity {
    /// A file, by its path or the end of it.
    File(String),
    /// A name of code.
    Symbol(String),
    /// An error code: `E0308`, `EACCES`.
    ErrorCode(String),
    /// A package that a command installs.
    Package(String),
    /// The first words of a command.
    Command(String),
    /// A web address, without its scheme, query and fragment.
    Url(String),
    /// A port.
    Port(String),
}

impl NamedEntity {
    /// Returns the name as text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::File(text)
            | Self::Symbol(text)
            | Self::ErrorCode(text)
            | Self::Package(text)
            | Self::Command(text)
            | Self::Url(text)
            | Self::Port(text) => text,
        }
    }
}

/// Names of a memory that count.
const THINGS_MAX: usize = 24;

/// The beginning of a text that is searched for names, in bytes.
const LOOK_BYTES_MAX: usize = 4 * 1024;

/// Longest name that counts, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// Extensions by which a bare name is a file: without a folder only a known one tells it from `e.g.` and `1.2`.
const EXTENSIONS: [&str; 36] = [
    "rs", "py", "js", "ts", "jsx", "tsx", "mjs", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp",
    "cs", "rb", "php", "swift", "sh", "sql", "toml", "yaml", "yml", "json", "lock", "md", "html",
    "css", "vue", "svelte", "tf", "proto", "gradle", "xml", "cfg",
];

/// Words that look like an error code and are none.
const NO_ERRORS: [&str; 14] = [
    "ERROR", "ERRORS", "EVERY", "EXAMPLE", "EMPTY", "EXPORT", "EITHER", "EVENT", "EVENTS",
    "EXCEPT", "ENABLE", "ENABLED", "EXISTS", "EXTRA",
];
/// Letters before a number that make no error code: checksums, standards.
const NO_CODES: [&str; 6] = ["SHA", "MD", "RFC", "ISO", "UTF", "PR"];

/// Names of products that are written like classes.
const PRODUCTS: [&str; 18] = [
    "BitBucket",
    "CentOs",
    "ChatGpt",
    "DevOps",
    "DockerHub",
    "FastApi",
    "GitHub",
    "GitLab",
    "JavaScript",
    "LinkedIn",
    "MongoDb",
    "OpenAi",
    "OpenSsl",
    "PowerShell",
    "PostgreSql",
    "TypeScript",
    "WordPress",
    "YouTube",
];

/// Commands that install packages: a program, and the word after it.
const INSTALLERS: [(&str, &str); 15] = [
    ("npm", "install"),
    ("npm", "i"),
    ("pnpm", "add"),
    ("yarn", "add"),
    ("bun", "add"),
    ("pip", "install"),
    ("pip3", "install"),
    ("uv", "add"),
    ("poetry", "add"),
    ("cargo", "add"),
    ("cargo", "install"),
    ("go", "get"),
    ("apt-get", "install"),
    ("apt", "install"),
    ("brew", "install"),
];

/// Returns the names in an event, each once: first those in its fields, then those in its texts.
#[must_use]
pub fn named_entities(event: &Event) -> Vec<NamedEntity> {
    let mut found = NameCollector::default();
    for file in &event.files {
        found.add(NamedEntity::File(without_place(file.trim()).to_owned()));
    }
    let texts = [&event.context, &event.lesson, &event.command].into_iter().chain(&event.symptoms);
    for text in texts.clone() {
        found.quoted(beginning(text));
    }
    for text in texts {
        let mut before = "";
        for word in beginning(text).split_whitespace() {
            found.word(before, word);
            before = word;
        }
    }
    found.command(beginning(&event.command));
    found.0
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LOOK_BYTES_MAX)).unwrap_or(text)
}

#[derive(Default)]
struct NameCollector(Vec<NamedEntity>);

impl NameCollector {
    fn add(&mut self, thing: NamedEntity) {
        let text = thing.text();
        let fits = !text.is_empty() && text.len() <= NAME_BYTES_MAX;
        if fits && self.0.len() < THINGS_MAX && !self.0.contains(&thing) {
            self.0.push(thing);
        }
    }

    /// Takes names of code out of backticks.
    fn quoted(&mut self, text: &str) {
        for piece in text.split('`').skip(1).step_by(2) {
            let name = piece.trim().trim_end_matches("()");
            if is_symbol(name, piece) {
                self.add(NamedEntity::Symbol(name.to_owned()));
            }
        }
    }

    fn word(&mut self, before: &str, word: &str) {
        if let Some(url) = url(word) {
            self.port(url);
            self.add(NamedEntity::Url(url.to_owned()));
            return;
        }
        let name = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '@');
        if is_scoped_package(name) {
            self.add(NamedEntity::Package(package(name)));
            return;
        }
        if is_class(name) {
            self.add(NamedEntity::Symbol(name.to_owned()));
        }
        self.port(word);
        if before.eq_ignore_ascii_case("port") && is_port(name) {
            self.add(NamedEntity::Port(name.to_owned()));
        }
        let bare = word
            .trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '~'));
        let bare = without_place(bare.trim_end_matches('.'));
        if is_file(bare) {
            self.add(NamedEntity::File(bare.trim_start_matches("./").to_owned()));
        }
        for part in word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| is_error(part)) {
            self.add(NamedEntity::ErrorCode(part.to_owned()));
        }
    }

    /// Takes the port of `localhost:5432` or `0.0.0.0:8080/path`.
    fn port(&mut self, word: &str) {
        let host = word.split('/').next().unwrap_or(word);
        let host = host.trim_matches(|c: char| !c.is_alphanumeric() && c != ':');
        let Some((name, port)) = host.rsplit_once(':') else { return };
        let is_host =
            name == "localhost" || (name.contains('.') && !is_file(name)) || name.is_empty();
        if is_host && is_port(port) {
            self.add(NamedEntity::Port(port.to_owned()));
        }
    }

    fn command(&mut self, command: &str) {
        for part in command.split(['\n', ';', '|', '&']) {
            let mut words =
                part.split_whitespace().skip_while(|word| *word == "sudo" || word.contains('='));
            let (Some(program), Some(verb)) = (words.next(), words.next()) else { continue };
            let is_plain =
                |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            if is_plain(program) && is_plain(verb) && !verb.starts_with('-') {
                self.add(NamedEntity::Command(format!("{program} {verb}")));
            }
            if INSTALLERS.contains(&(program, verb)) {
                words
                    .filter(|word| is_package(word))
                    .for_each(|word| self.add(NamedEntity::Package(package(word))));
            }
        }
    }
}

/// Returns a path without the line number that tools append.
fn without_place(path: &str) -> &str {
    let bare = path.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    if path.get(bare.len()..).is_some_and(|rest| rest.starts_with(':')) { bare } else { path }
}

fn is_file(word: &str) -> bool {
    if word.contains("://") || word.contains(['*', '<', '$', '(', '=', ',']) {
        return false;
    }
    let (has_folder, name) = match word.rsplit_once('/') {
        Some((_, name)) => (true, name),
        None => (false, word),
    };
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_short = (1..=8).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_word = extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    !stem.is_empty() && is_short && is_word && (has_folder || EXTENSIONS.contains(&extension))
}

/// Tells whether text in backticks is a name of code instead of a common word.
fn is_symbol(name: &str, quoted: &str) -> bool {
    let is_plain =
        name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '-' | '@' | '/'));
    let has_hump =
        name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    let is_telling =
        name.contains(['_']) || name.contains("::") || quoted.ends_with("()") || has_hump;
    name.len() >= 3 && is_plain && is_telling && !is_file(name)
}

fn is_error(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_name =
        word.len() >= 5 && bytes.first() == Some(&b'E') && bytes.iter().all(u8::is_ascii_uppercase);
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let digits = bytes.len() - letters;
    let is_number = (1..=3).contains(&letters)
        && (3..=6).contains(&digits)
        && bytes.iter().skip(letters).all(u8::is_ascii_digit)
        && !word.get(..letters).is_some_and(|letters| NO_CODES.contains(&letters));
    (is_name && !NO_ERRORS.contains(&word)) || is_number
}

fn is_package(word: &str) -> bool {
    let begins = word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@');
    let is_plain = !word.contains(['=', '$', '<', '(', '"', '\'']);
    begins && (is_plain || word.contains("=="))
}

/// Returns a web address without its scheme, query, fragment and the punctuation around it.
fn url(word: &str) -> Option<&str> {
    let (_, rest) = word.split_once("https://").or_else(|| word.split_once("http://"))?;
    let end = rest.find(['?', '#', ')', '>', '"', '\'', '`', ',', ']']).unwrap_or(rest.len());
    let url = rest.get(..end)?.trim_end_matches(['.', ':', ';', '/']);
    (!url.is_empty()).then_some(url)
}

/// Tells whether this is a port that somebody chose: three to five digits, up to 65535.
fn is_port(text: &str) -> bool {
    (3..=5).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse::<u32>().is_ok_and(|port| port <= u16::MAX.into())
}

/// Tells whether this is a package of a scope, such as `@types/node@20`.
fn is_scoped_package(word: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    word.strip_prefix('@').and_then(|rest| rest.split_once('/')).is_some_and(|(scope, name)| {
        is_part(scope) && is_part(name.split('@').next().unwrap_or(name))
    })
}

/// Tells whether a word of prose is a class: two or more humps, as in `ConnectionPool`, and no product.
fn is_class(word: &str) -> bool {
    let humps = word.bytes().filter(u8::is_ascii_uppercase).count();
    let is_camel = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && word.as_bytes().get(1).is_some_and(u8::is_ascii_lowercase)
        && word.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    is_camel && humps >= 2 && !PRODUCTS.contains(&word)
}

/// A package without its version.
fn package(word: &str) -> String {
    let end = word.char_indices().skip(1).find(|(_, c)| matches!(c, '@' | '=' | '>' | '~' | '['));
    word.get(..end.map_or(word.len(), |(at, _)| at)).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::{DecodedLine, codec};

    fn things(value: &serde_json::Value) -> Vec<String> {
        let DecodedLine::Event(event) = codec::decode(value.to_string().as_bytes(), "api") else {
            panic!()
        };
        named_entities(&event).iter().map(|thing| format!("{thing:?}")).collect()
    }

    // S-LINK-8
    #[test]
    fn what_a_memory_names_is_found_in_all_it_says() {
        let found = things(&serde_json::json!({
            "context": "error[E0308]: mismatched types at ./src/db/pool.rs:12:5, see https://example.org/a.html and e.g. v1.2",
            "lesson": "`PoolGuard` must outlive `run_all()`; use `the` lock in config.toml. ERROR is no name, EACCES is.",
            "command": "cd /w && sudo npm install --save left-pad@1.3 @types/node && FOO=1 cargo build",
            "files": ["src/main.rs:7"],
        }));
        let expected = [
            "File(\"src/main.rs\")",
            "Symbol(\"PoolGuard\")",
            "Symbol(\"run_all\")",
            "ErrorCode(\"E0308\")",
            "File(\"src/db/pool.rs\")",
            "Url(\"example.org/a.html\")",
            "File(\"config.toml\")",
            "ErrorCode(\"EACCES\")",
            "Package(\"@types/node\")",
            "Command(\"npm install\")",
            "Package(\"left-pad\")",
            "Command(\"cargo build\")",
        ];
        assert_eq!(found, expected);
    }

    // S-LINK-8
    #[test]
    fn addresses_ports_classes_and_scoped_packages_are_names() {
        let found = things(&serde_json::json!({
            "context": "(see https://docs.example.org/guide/setup?x=1#top), the ConnectionPool listens on localhost:5432",
            "lesson": "port 8080 is taken; use http://127.0.0.1:9090/health. Pin @types/node@20, @acme/ui.",
        }));
        let expected = [
            "Url(\"docs.example.org/guide/setup\")",
            "Symbol(\"ConnectionPool\")",
            "Port(\"5432\")",
            "Port(\"8080\")",
            "Port(\"9090\")",
            "Url(\"127.0.0.1:9090/health\")",
            "Package(\"@types/node\")",
            "Package(\"@acme/ui\")",
        ];
        assert_eq!(found, expected);
    }

    // S-LINK-8
    #[test]
    fn common_words_are_no_things() {
        for text in [
            "EVERY test",
            "SHA256 and UTF-8, ISO8601",
            "GitHub runs JavaScript at 10:30 in 2026",
            "at noon: 8080 of them, a:b and me@example.org/x",
            "and/or `true` `x` `cargo`",
            "1.2.3 a.b",
            "fix it...",
        ] {
            assert!(things(&serde_json::json!({ "lesson": text })).is_empty(), "{text}");
        }
        let many: String = (0..99).map(|number| format!("src/f{number}.rs ")).collect();
        assert_eq!(things(&serde_json::json!({ "lesson": many })).len(), THINGS_MAX);
    }
}
