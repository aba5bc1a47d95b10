//! The limit on memory, in MiB. Not here: what it limits (`memory::MemoryBound`).

use super::setting::SettingForm;
use super::value_kinds::{Number, ValueKind, WrongValue};

/// The memory limit of a retriever's memories and indexes, in MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryMib(u32);

/// From enough for some thousands of memories, since a lower limit would exclude recent memories, to 1 TiB: more than any
/// machine this program is made for has.
type Mib = Number<16, { 1024 * 1024 }>;

impl MemoryMib {
    /// Returns the limit in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.0) * 1024 * 1024
    }
}

/// Enough for more than half a million memories of usual size, without vectors.
impl Default for MemoryMib {
    fn default() -> Self {
        Self(1024)
    }
}

impl ValueKind for MemoryMib {
    type Value = Self;
    const FORM: SettingForm = SettingForm::Number;

    fn read(value: &toml::Value) -> Result<Self, WrongValue> {
        Mib::read(value).map(Self)
    }

    fn write(value: &Self) -> Option<toml::Value> {
        Mib::write(&value.0)
    }

    fn schema() -> serde_json::Value {
        Mib::schema()
    }
}
