//! Which commands a hook may recommend although nobody asked and nobody confirmed them. Whoever wrote a transcript, an agent
//! reads the line at the moment at which it looks for something to run. No list of bad commands is complete, so this is a list
//! of good ones: ordinary commands that build, test, lint, format or install what the repository's own files name, and the
//! command that failed itself with a harmless option more. Not here: whether a command is a lesson (`session_lesson`), what else is
//! shown of a transcript (`guard::disclosure`).

use crate::commands::words;
use crate::same_command::essence;
use crate::shell_line::segments;

/// Longest command that is recommended, in characters. A hook shows no more of one, and what is cut is another command.
pub const ADVICE_CHARACTERS_MAX: usize = 160;

/// What a command is made of besides letters and digits. Without them nothing is chained, redirected, substituted or escaped.
const SIGNS: &str = " _-./:=@,+*?[]'\"";

/// What the words after a command name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// Tests, packages and files of the work tree.
    Places,
    /// A script of the project, then words for it.
    Script,
    /// Targets of the project.
    Targets,
    /// What to install. Only what the project's own files name is ordinary.
    Packages,
}

impl Named {
    /// Each with its heading in the table.
    const HEADINGS: [(Self, &str); 4] = [
        (Self::Places, "places"),
        (Self::Script, "script"),
        (Self::Targets, "targets"),
        (Self::Packages, "packages"),
    ];
}

/// The lists of what is ordinary.
const TABLE: &str = include_str!("advice.txt");

/// The file of packages that a project names itself, as the value of `-r`.
const OWN_LIST: (&str, &str, &str) = ("-r", "requirements", ".txt");

/// Options after which an interpreter runs what stands on the command line.
const INLINE: [&str; 6] = ["-c", "-e", "-p", "--eval", "--print", "-command"];

/// Tells whether a hook may recommend a command of a past session to whoever saw `failed` fail. It may if it is an ordinary
/// command, or the one that failed with a harmless option more. A word that stands in `failed`, with the option before it, is
/// the user's own and may stand here too.
#[must_use]
pub fn may_recommend(command: &str, failed: &str) -> bool {
    let Some(words) = simple_words(command) else { return false };
    is_ordinary(&words, failed) || is_the_failed_one(&words, failed)
}

/// Tells whether the command of a past failure may be shown with its fix: it is the one that failed now, or an
/// ordinary one.
#[must_use]
pub fn may_name(command: &str, failed: &str) -> bool {
    let is_short = command.chars().nth(ADVICE_CHARACTERS_MAX).is_none();
    is_short && essence(command) == essence(failed) || may_recommend(command, failed)
}

/// Files without an ending that projects are built from.
const BUILD_FILES: [&str; 6] =
    ["Dockerfile", "Gemfile", "Justfile", "Makefile", "Procfile", "Rakefile"];

/// Tells whether a text names a source or a setting of a project, by its ending, and nothing else. Files of a person's home and
/// of the system have none: `.bashrc`, `authorized_keys`, `sudoers`.
#[must_use]
pub fn is_project_file(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.+@[]".contains(c);
    let has_ending = name.char_indices().any(|(at, c)| at > 0 && c == '.');
    name.chars().all(is_plain) && (has_ending || BUILD_FILES.contains(&name))
}

/// Returns the words of a line that is one command and nothing else; `None` for any other.
fn simple_words(line: &str) -> Option<Vec<String>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || SIGNS.contains(c);
    if line.len() > ADVICE_CHARACTERS_MAX || !line.chars().all(is_plain) {
        return None;
    }
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Returns the entries under a heading of the table.
fn table_entries(heading: &str) -> impl Iterator<Item = &'static str> {
    let section =
        TABLE.split("\n[").find_map(|section| section.strip_prefix(heading)?.strip_prefix(']'));
    let lines = section.unwrap_or_default().lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| line.split(',')).map(str::trim).filter(|entry| !entry.is_empty())
}

fn is_listed(heading: &str, entry: &str) -> bool {
    table_entries(heading).any(|known| known == entry)
}

/// The words of the failed command of one program, which its user wrote.
struct OwnWords(Vec<String>);

impl OwnWords {
    fn from_failed(failed: &str, program: &str) -> Self {
        let all =
            segments(failed).into_iter().filter(|part| words(&part.text).next() == Some(program));
        let own = all.flat_map(|part| {
            let bare = |word: &str| word.trim_matches(['\'', '"']).to_owned();
            part.text.split_whitespace().map(bare).collect::<Vec<_>>()
        });
        Self(own.collect())
    }

    fn has(&self, word: &str) -> bool {
        self.0.iter().any(|own| own == word)
    }

    /// Tells whether its user set a variable to another value.
    fn has_setting(&self, name: &str) -> bool {
        self.0.iter().any(|own| own.split_once('=').is_some_and(|(own, _)| own == name))
    }

    fn has_pair(&self, first: &str, second: &str) -> bool {
        self.0.windows(2).any(|pair| matches!(pair, [a, b] if a == first && b == second))
    }
}

/// Tells whether words are a command of the table, with nothing new in it but places, tests and harmless options. What stands
/// in the failed command of the same program is its user's own.
fn is_ordinary(words: &[String], failed: &str) -> bool {
    let before = words.iter().take_while(|word| is_variable(word)).count();
    let (variables, rest) = words.split_at_checked(before).unwrap_or_default();
    let own = OwnWords::from_failed(failed, rest.first().map_or("", String::as_str));
    if !variables
        .iter()
        .all(|word| own.has(word) || is_ordinary_variable(word) || is_choice(word, &own))
    {
        return false;
    }
    let Some(named) = without_options(rest, &own) else { return false };
    let heads = Named::HEADINGS
        .iter()
        .flat_map(|(meaning, list)| table_entries(list).map(move |head| (head, *meaning)));
    let known = heads.filter_map(|(head, meaning)| Some((after_head(&named, head)?, meaning)));
    // "npm test" says more than "npm".
    let Some((arguments, meaning)) = known.min_by_key(|(arguments, _)| arguments.len()) else {
        return false;
    };
    let head = named.len().saturating_sub(arguments.len());
    let own_tasks = own_tasks(failed, named.get(..head).unwrap_or_default());
    let is_own = |name: &str, own: &[String]| {
        is_name(name) && !has_grave(name) && own.iter().any(|own| own == name)
    };
    let own_script = own_tasks.get(..1).unwrap_or_default();
    let is_place = |word: &&str| own.has(word) || is_place(word) && !word.contains(' ');
    match (meaning, arguments) {
        (Named::Places, places) => places.iter().all(is_place),
        (Named::Script, []) => true,
        (Named::Script, [script, rest @ ..]) => {
            (is_target(script) || is_own(script, own_script)) && rest.iter().all(is_place)
        }
        (Named::Targets, targets) => targets.iter().all(|target| {
            is_target(target) || is_own(target, &own_tasks) || is_choice(target, &own)
        }),
        // What chooses among things of the project chooses among packages here.
        (Named::Packages, packages) => {
            packages.iter().all(|package| own.has(package))
                && !rest.iter().any(|word| !own.has(word) && is_choice(word, &own))
        }
    }
}

/// Returns the words of the failed command behind the same program and task: its scripts and targets. The value of an option is none.
fn own_tasks(failed: &str, head: &[&str]) -> Vec<String> {
    let all = segments(failed).into_iter().filter_map(|part| {
        let words = simple_words(&part.text)?;
        let mut named: Vec<&str> = Vec::new();
        let mut is_value = false;
        for word in words.iter().map(String::as_str).skip_while(|word| is_variable(word)) {
            let is_option = word.starts_with('-');
            if !is_option && !is_value {
                named.push(word);
            }
            is_value = is_option && !word.contains('=') && !is_harmless(word);
        }
        let (first, rest) = named.split_at_checked(head.len())?;
        (first == head).then(|| rest.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    });
    all.flatten().collect()
}

/// Returns the words that are no options, if every option is harmless.
fn without_options<'a>(words: &'a [String], own: &OwnWords) -> Option<Vec<&'a str>> {
    let mut named: Vec<&str> = Vec::new();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let is_module = word == "-m" && matches!(named.as_slice(), ["python" | "python3"]);
        if !word.starts_with('-') || is_module {
            named.push(word);
            continue;
        }
        let value = words.peek().copied().filter(|next| !next.starts_with('-'));
        let is_switch = || value.is_none() && (own.has(word) || is_new_switch(word));
        if value.is_some_and(|value| is_known_value(word, value, own)) {
            words.next();
        } else if !is_harmless(word) && !is_switch() && !is_choice(word, own) {
            return None;
        }
    }
    Some(named)
}

/// Tells whether a word is the value of an option: the user's own, or one that only selects something of the project.
fn is_known_value(option: &str, value: &str, own: &OwnWords) -> bool {
    let (list, begin, end) = OWN_LIST;
    let is_own_list = option == list && value.starts_with(begin) && value.ends_with(end);
    let selects = is_own_list || is_listed("selecting", option);
    let chooses = || option.starts_with("--") && is_choice(&format!("{option}={value}"), own);
    own.has_pair(option, value) || selects && is_place(value) || chooses()
}

/// Tells whether a word chooses among things of the project by a plain value: `QUEUE=local`, `--workers=2`, `-Dcache.mode=memory`. Its name
/// ends with a listed noun or is its user's own, and its value is a number or listed, so it names no program, package or place.
fn is_choice(word: &str, own: &OwnWords) -> bool {
    let Some((name, value)) = word.split_once('=') else { return false };
    let bare = ["-D", "-P", "--"].iter().find_map(|begin| name.strip_prefix(begin)).unwrap_or(name);
    let parts = parts(bare);
    let is_plain = bare.starts_with(|c: char| c.is_ascii_alphabetic())
        && bare.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let is_noun =
        || parts.last().is_some_and(|noun| is_listed("choosing", noun)) || own.has_setting(name);
    let is_number =
        || !value.is_empty() && value.len() <= 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_harmless =
        || parts.iter().all(|part| !is_listed("grave", part) && !is_listed("negations", part));
    is_plain
        && is_noun()
        && is_harmless()
        && (is_number() || is_listed("choices", &value.to_ascii_lowercase()))
}

fn after_head<'a, 'b>(named: &'b [&'a str], head: &str) -> Option<&'b [&'a str]> {
    let (first, rest) = named.split_at_checked(head.split(' ').count())?;
    head.split(' ').eq(first.iter().copied()).then_some(rest)
}

fn is_harmless(option: &str) -> bool {
    let jobs = option.strip_prefix("-j");
    let is_jobs = jobs.is_some_and(|jobs| jobs.bytes().all(|byte| byte.is_ascii_digit()));
    option == "--" || is_jobs || ["neutral", "harmless"].iter().any(|list| is_listed(list, option))
}

/// Tells whether an option that nobody listed is one of the project's own, which takes no value.
fn is_new_switch(option: &str) -> bool {
    let name = option.strip_prefix("--").unwrap_or_default();
    let is_lower = name.starts_with(|c: char| c.is_ascii_lowercase());
    is_lower && is_name(name) && !has_grave(name) && !INLINE.contains(&option)
}

fn is_variable(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_ordinary_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        let is_value = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        is_listed("variables", name) && value.chars().all(is_value) && !has_grave(value)
    })
}

/// Tells whether a word names something inside the work tree: a relative path, a package, a test. An address, a place outside
/// and a version from elsewhere do not.
fn is_place(word: &str) -> bool {
    let path = word.replace("::", "/");
    let first = path.split('/').next().unwrap_or_default();
    let is_address = path.contains('/') && first.trim_start_matches('.').contains('.');
    let is_inside = !first.is_empty() && path.split('/').all(|folder| folder != "..");
    let has_more =
        path.contains(['=', '@', ',']) || path.contains(':') && path.contains(['/', '.']);
    !word.starts_with('-') && is_inside && !is_address && !has_more
}

/// Tells whether a script or a target of the project builds, tests, lints or formats, by its name.
fn is_target(name: &str) -> bool {
    let first = parts(name).into_iter().next().unwrap_or_default();
    is_name(name) && is_listed("tasks", &first) && !has_grave(name)
}

fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || ":-_".contains(c))
}

fn has_grave(word: &str) -> bool {
    parts(word).iter().any(|part| is_listed("grave", part))
}

/// Returns the words that a name is made of, in lower case; one begins also at a capital letter after a small one.
fn parts(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for c in name.chars() {
        if was_small && c.is_ascii_uppercase() {
            spaced.push(' ');
        }
        spaced.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
        was_small = c.is_ascii_lowercase();
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Tells whether words are the failed command, all of it in its order, with neutral options and variables more.
fn is_the_failed_one(words: &[String], failed: &str) -> bool {
    let Some(failed) = simple_words(&essence(failed)) else { return false };
    let is_neutral = |word: &String| is_listed("neutral", word);
    let is_inline = |word: &String| INLINE.contains(&word.to_lowercase().as_str());
    let is_grave = |word: &String| !is_neutral(word) && (is_inline(word) || has_grave(word));
    if failed.is_empty() || words.iter().any(is_grave) {
        return false;
    }
    let own = OwnWords(failed.clone());
    let before = words.iter().take_while(|word| is_variable(word)).count();
    let mut kept = failed.iter().peekable();
    let is_more = |at: usize, word: &String| {
        is_neutral(word) || is_ordinary_variable(word) || at < before && is_choice(word, &own)
    };
    words.iter().enumerate().all(|(at, word)| kept.next_if_eq(&word).is_some() || is_more(at, word))
        && kept.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(file: &'static str) -> Vec<(&'static str, &'static str)> {
        file.lines().filter_map(|line| line.split_once('\t')).collect()
    }

    // S-SESS-14
    #[test]
    fn nothing_that_reaches_beyond_the_work_tree_is_recommended() {
        let attacks = pairs(include_str!("advice_attacks.txt"));
        assert!(attacks.len() > 180);
        let passed: Vec<_> = attacks
            .into_iter()
            .filter(|(failed, command)| may_recommend(command, failed))
            .collect();
        assert!(passed.is_empty(), "{passed:#?}");
    }

    #[test]
    fn files_of_a_project_have_an_ending() {
        for name in
            ["main.rs", "package.json", "[id].tsx", "Makefile", "a.test.ts", ".eslintrc.json"]
        {
            assert!(is_project_file(name), "{name}");
        }
        for name in [
            "",
            ".bashrc",
            ".npmrc",
            "authorized_keys",
            "sudoers",
            "x",
            "a b.rs",
            "a;b.rs",
            "~",
            "C:.x",
        ] {
            assert!(!is_project_file(name), "{name}");
        }
    }

    // S-SESS-14
    #[test]
    fn ordinary_commands_are_recommended() {
        let kept = pairs(include_str!("advice_kept.txt"));
        assert!(kept.len() > 45);
        let lost: Vec<_> =
            kept.into_iter().filter(|(failed, command)| !may_recommend(command, failed)).collect();
        assert!(lost.is_empty(), "{lost:#?}");
    }
}
