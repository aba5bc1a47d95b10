//! The fields that the table of settings makes: set by name, from a file or from a variable. Not here: the table (`table`).

use std::ffi::OsStr;

use toml::{Table, Value};

use super::value_kinds::WrongValue;

/// A struct with a field for each setting of a table.
pub(crate) trait SettingFields: Default {
    /// Sets the field of a name; `None` where there is none.
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), WrongValue>>;

    /// Sets the field over which a variable wins; `None` where there is none.
    fn set_variable(&mut self, name: &str, content: &OsStr) -> Option<Result<(), WrongValue>>;

    /// Returns what is set, as a file has it.
    fn to_table(&self) -> Table;
}

/// One table of a file that is read into two structs.
impl<A: SettingFields, B: SettingFields> SettingFields for (A, B) {
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), WrongValue>> {
        self.0.set(name, value).or_else(|| self.1.set(name, value))
    }

    fn set_variable(&mut self, name: &str, content: &OsStr) -> Option<Result<(), WrongValue>> {
        self.0.set_variable(name, content).or_else(|| self.1.set_variable(name, content))
    }

    fn to_table(&self) -> Table {
        let mut table = self.0.to_table();
        table.extend(self.1.to_table());
        table
    }
}
