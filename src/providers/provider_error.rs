//! What can go wrong with a provider, each in one line that says who and what to do, and which of it may pass. Not here: what search
//! does meanwhile (it goes on with words, or with the vectors there are).

use index::embed::EmbedError;

/// The longest answer: 512 vectors of 4,096 numbers, each with twenty characters, take 42 MB.
pub(crate) const ANSWER_BYTES_MAX: u64 = 48 * MIB;

const MIB: u64 = 1024 * 1024;

/// Why there is no answer of a provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The address cannot be used.
    #[error("{0}")]
    Url(String),
    /// The variable with the key is empty.
    #[error("the variable {0}, which key_env names, is not set where the retriever was started")]
    NoKey(String),
    /// Nobody answers there.
    #[error("failed to reach {who}: {why}")]
    Unreachable {
        /// The host.
        who: String,
        /// The system's words.
        why: String,
    },
    /// No whole answer came in time.
    #[error("{who} did not answer within {seconds} s")]
    TimedOut {
        /// The host or program.
        who: String,
        /// The deadline.
        seconds: u64,
    },
    /// Too many requests, by its own count, and waiting did not help.
    #[error("{who} takes no more requests for now (429): {said}")]
    Busy {
        /// The host.
        who: String,
        /// Its words.
        said: String,
        /// After how many seconds to ask again, where it said so.
        after_seconds: Option<u64>,
    },
    /// It failed by itself.
    #[error("{who} failed ({status}): {said}")]
    Broken {
        /// The host.
        who: String,
        /// The status, 500 to 599.
        status: u16,
        /// Its words.
        said: String,
        /// After how many seconds to ask again, where it said so.
        after_seconds: Option<u64>,
    },
    /// It refuses the request.
    #[error("{who} refused the request ({status}): {said}")]
    Refused {
        /// The host.
        who: String,
        /// The status, 400 to 499.
        status: u16,
        /// Its words.
        said: String,
    },
    /// It sends the request elsewhere, where neither texts nor keys go.
    #[error("{who} wants the request elsewhere ({status}); set url to the right address")]
    Redirect {
        /// The host.
        who: String,
        /// The status, 300 to 399.
        status: u16,
    },
    /// It reported an error as a success.
    #[error("{who} answered with an error: {said}")]
    ReportedError {
        /// The host or program.
        who: String,
        /// Its words.
        said: String,
    },
    /// The answer is too long.
    #[error("{who} answered with more than {}", size(*bytes_max))]
    TooLong {
        /// The host or program.
        who: String,
        /// The bound.
        bytes_max: u64,
    },
    /// The answer is no JSON.
    #[error("{who} answered with something that is no JSON; is url the right address?")]
    NotJson {
        /// The host or program.
        who: String,
    },
    /// The answer is JSON of another form.
    #[error("{who} answered with JSON without {what}; is it the right provider?")]
    OtherForm {
        /// The host or program.
        who: String,
        /// What is missing.
        what: &'static str,
    },
    /// Another number of vectors than texts.
    #[error("{who} returned {got} vectors for {sent} texts")]
    Count {
        /// The host or program.
        who: String,
        /// The number of texts.
        sent: usize,
        /// The number of vectors.
        got: usize,
    },
    /// Something in a vector is no finite number.
    #[error("{who} returned a vector with something in it that is no number")]
    NotNumbers {
        /// The host or program.
        who: String,
    },
    /// A vector without direction.
    #[error("{who} returned a vector of zeros")]
    Zeros {
        /// The host or program.
        who: String,
    },
    /// A vector of another width.
    #[error("{who} returned a vector of {got} numbers where {expected} were expected")]
    Width {
        /// The host or program.
        who: String,
        /// The width.
        got: usize,
        /// What was expected, in words.
        expected: String,
    },
    /// No whole answer came within a wait that is told in milliseconds.
    #[error("{who} did not answer in {ms} ms")]
    Late {
        /// The host or program.
        who: String,
        /// The deadline.
        ms: u128,
    },
    /// Another number of scores than texts.
    #[error("{who} returned {got} scores for {sent} texts")]
    ScoreCount {
        /// The host or program.
        who: String,
        /// The number of texts.
        sent: usize,
        /// The number of scores.
        got: usize,
    },
    /// A score that cannot be compared, or is of no text.
    #[error("{who} returned {what}")]
    OddScore {
        /// The host or program.
        who: String,
        /// What is odd.
        what: &'static str,
    },
    /// A program could not be run, or failed.
    #[error("the program {who} {why}")]
    Program {
        /// The program.
        who: String,
        /// What happened.
        why: String,
    },
}

impl ProviderError {
    /// Tells whether the same request may succeed later, or once the settings are right; then texts wait. Otherwise it is about
    /// these texts.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused { status, .. } => !is_about_texts(*status),
            Self::Count { .. }
            | Self::NotNumbers { .. }
            | Self::Zeros { .. }
            | Self::Width { .. }
            | Self::ScoreCount { .. }
            | Self::OddScore { .. } => false,
            _ => true,
        }
    }
}

/// Returns a bound as people write it.
fn size(bytes: u64) -> String {
    if bytes < MIB { format!("{} KiB", bytes / 1024) } else { format!("{} MiB", bytes / MIB) }
}

/// 400, 413 and 422 are what providers answer to too many or too long texts.
fn is_about_texts(status: u16) -> bool {
    matches!(status, 400 | 413 | 422)
}

impl From<ProviderError> for EmbedError {
    fn from(error: ProviderError) -> Self {
        let why = error.to_string();
        if error.is_passing() { Self::ProviderAway { why } } else { Self::ProviderRefused { why } }
    }
}
