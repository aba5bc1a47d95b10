//! The limit on memory, in MiB. Not here: what it limits (`memory::Bound`).

/// The memory limit of a retriever's memories and indexes, in MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryMib(u32);

impl MemoryMib {
    /// Enough for some thousands of memories. A lower limit would exclude recent memories.
    pub const MIN: u32 = 16;
    /// 1 TiB: more than any machine this program is made for has.
    pub const MAX: u32 = 1024 * 1024;
    /// Enough for more than half a million memories of usual size, without vectors.
    pub const DEFAULT: Self = Self(1024);

    /// Checks a number of MiB.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn of(mib: i64) -> Result<Self, String> {
        let allowed = Self::MIN..=Self::MAX;
        let mib = u32::try_from(mib).ok().filter(|mib| allowed.contains(mib));
        mib.map(Self).ok_or_else(Self::allowed)
    }

    /// Parses a number of MiB from the environment.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        text.trim().parse().map_err(|_| Self::allowed()).and_then(Self::of)
    }

    /// Returns the limit in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.0) * 1024 * 1024
    }

    pub(super) fn allowed() -> String {
        let (min, max) = (Self::MIN, Self::MAX);
        format!("must be a whole number of MiB from {min} to {max}, for example 1024")
    }
}
