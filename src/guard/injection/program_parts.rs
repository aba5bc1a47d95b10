//! Whether a short text is a lesson about what a program tells its users, or about the mail that it sends. Software is made for mail,
//! calendars and notices, so its lessons name addresses, and say what users are not to be told. They say when or why; an order does
//! not, and it names no part of a program. Not here: the phrases of orders (`phrase_table`).

use super::AnalysedText;

/// Words of a lesson that tells of one thing. A longer text may name a part of a program by chance.
const LESSON_WORDS_MAX: usize = 40;

/// Parts of an address that belongs to a program: `noreply@`, `sync-bot@`.
const OF_PROGRAM: [&str; 32] = [
    "noreply",
    "reply",
    "donotreply",
    "postmaster",
    "mailer",
    "daemon",
    "bounce",
    "bounces",
    "abuse",
    "dmarc",
    "root",
    "bot",
    "robot",
    "svc",
    "service",
    "sync",
    "system",
    "smtp",
    "relay",
    "sink",
    "test",
    "sandbox",
    "staging",
    "dev",
    "ci",
    "parser",
    "parse",
    "ingest",
    "api",
    "import",
    "export",
    "webhook",
];

/// Hosts whose addresses are accounts of programs, rooms and calendars.
const HOSTS_OF_PROGRAMS: [&str; 4] = [
    ".iam.gserviceaccount.com",
    "resource.calendar.google.com",
    "group.calendar.google.com",
    "users.noreply.github.com",
];

impl AnalysedText<'_> {
    /// Tells whether the text is about what a program tells its users.
    pub(super) fn is_of_notices(&self) -> bool {
        let speaks_to_agent = || self.reading.has(&["READER"]) || self.reading.has_word("you");
        let is_of_program = self.reading.has(&["RUNTIME"])
            || self.explains() && self.reading.has(&["PROGRAM", "TRADE"]);
        is_of_program && !speaks_to_agent()
    }

    /// Tells whether the text is about mail of a program, or about an address that belongs to one.
    pub(super) fn is_of_mail(&self) -> bool {
        let names = |of_program: fn(&str) -> bool| self.text.split_whitespace().any(of_program);
        let is_of_program =
            || self.reading.has(&["PROGRAM"]) || names(is_header) || names(has_program_name);
        names(has_program_host) || self.explains() && is_of_program()
    }

    /// Tells whether the text says when, or has a second clause that may say why.
    fn explains(&self) -> bool {
        self.reading.words.len() <= LESSON_WORDS_MAX
            && (super::has_clauses(self.text) || self.reading.has(&["LIMIT"]))
    }
}

/// Tells whether a word is the name of a header: `Reply-To`, `List-Unsubscribe:`.
fn is_header(word: &str) -> bool {
    let name = word.trim_matches(|edge: char| !edge.is_ascii_alphanumeric());
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_uppercase())
            && part.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    name.contains('-') && name.split('-').all(is_part)
}

/// Splits an address into its name and its host.
fn address(word: &str) -> Option<(&str, &str)> {
    word.trim_matches(|edge: char| !edge.is_alphanumeric()).rsplit_once('@')
}

/// Tells whether an address is named as those of programs are.
fn has_program_name(word: &str) -> bool {
    address(word).is_some_and(|(name, _)| {
        let name = name.to_ascii_lowercase();
        name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| OF_PROGRAM.contains(&part))
    })
}

/// Tells whether a provider gives addresses of this host to programs, rooms and calendars only.
fn has_program_host(word: &str) -> bool {
    let is_of = |host: &str| HOSTS_OF_PROGRAMS.iter().any(|of_program| host.ends_with(of_program));
    address(word).is_some_and(|(_, host)| is_of(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_programs_and_names_of_headers_are_known() {
        for word in ["<noreply@acme.example>,", "sync-bot@a.example", "No-Reply@a.example"] {
            assert!(has_program_name(word), "{word}");
        }
        for word in ["eve@mail.example", "noreply", "botany@mail.example", "jane.doe@acme.example"]
        {
            assert!(!has_program_name(word) && !has_program_host(word), "{word}");
        }
        assert!(has_program_host("x@p.iam.gserviceaccount.com,"));
        assert!(!has_program_host("x@iam.gserviceaccount.com.evil.example"));
        assert!(is_header("Reply-To") && is_header("(List-Unsubscribe:"));
        assert!(!is_header("no-reply") && !is_header("Reply") && !is_header("4-To"));
    }
}
