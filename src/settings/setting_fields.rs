//! The fields that the table of settings makes: set by name, from a file or from a variable. Not here: the table (`table`).

use toml::Table;

use super::value_kinds::{ValueSource, WrongValue};

/// A struct with a field for each setting of a table.
pub(crate) trait SettingFields: Default {
    /// Sets the field of a name; `None` if there is none.
    fn set(&mut self, name: &str, source: ValueSource<'_>) -> Option<Result<(), WrongValue>>;

    /// Returns the values that are set, as a file has them.
    fn to_table(&self) -> Table;
}

/// One table of a file that is read into two structs.
impl<A: SettingFields, B: SettingFields> SettingFields for (A, B) {
    fn set(&mut self, name: &str, source: ValueSource<'_>) -> Option<Result<(), WrongValue>> {
        self.0.set(name, source).or_else(|| self.1.set(name, source))
    }

    fn to_table(&self) -> Table {
        self.0.to_table().into_iter().chain(self.1.to_table()).collect()
    }
}
