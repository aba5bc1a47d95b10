//! Every bound on a line, with its reason. Not here: bounds on replies (`reply`) and on waiting
//! (`store::lock`).

/// The longest line we write, in bytes. Longer lines make all other writers wait for the lock, and no useful
/// lesson is longer.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// The longest line we read, in bytes. Other programs may write longer lines than we do. A line past this bound
/// is damage, not a lesson, and reading it would let one bad file exhaust memory.
pub const READ_LINE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Longest `lesson`, in bytes: about 8,000 tokens, far more than a reply can carry.
pub const LESSON_BYTES_MAX: usize = 32 * 1024;

/// Longest `context`, in bytes: a long stack trace fits.
pub const CONTEXT_BYTES_MAX: usize = 16 * 1024;

/// Longest `command`, in bytes.
pub const COMMAND_BYTES_MAX: usize = 8 * 1024;

/// Longest single `symptoms` entry, in bytes: one terminal screen of error text.
pub const SYMPTOM_BYTES_MAX: usize = 4 * 1024;

/// Most `symptoms` of one event. A longer list is a log file, not a way to find a lesson.
pub const SYMPTOMS_MAX: usize = 16;

/// Most `tags` of one event. With more tags than this, a tag no longer distinguishes lessons.
pub const TAGS_MAX: usize = 32;

/// Longest single tag, in bytes.
pub const TAG_BYTES_MAX: usize = 64;

/// Most `files` of one event.
pub const FILES_MAX: usize = 64;

/// Longest single entry of `files`, in bytes.
pub const FILE_BYTES_MAX: usize = 1024;

/// Longest short field (`agent_id`, `session_id`, `branch`, `host`, …), in bytes.
pub const SHORT_BYTES_MAX: usize = 256;

/// Longest foreign id we accept, in bytes; our own ids have 26.
pub const ID_BYTES_MAX: usize = 128;

/// Longest `event_type`, in bytes.
pub const KIND_BYTES_MAX: usize = 32;

/// Longest repo key, in bytes: with `.jsonl.lock` it must fit in a 255-byte file name.
pub const REPO_KEY_BYTES_MAX: usize = 200;

/// Most attempts a success rate may count: keeps the arithmetic exact in `f64`.
pub const ATTEMPTS_MAX: u32 = 1_000_000;
