//! A field of a message before it has its number. Not here: which fields there are (`contract`, `watch_kind`).

/// The name of the field that carries further fields, where an verb takes some.
pub const MORE: &str = "more";

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Texts,
    Whole,
    Share,
    Switch,
    Object,
}

/// A field without a number: its name, its type and what it is for.
pub type UnnumberedField = (String, FieldType, String);

/// Makes a field without a number.
pub fn unnumbered_field(name: &str, field_type: FieldType, about: &str) -> UnnumberedField {
    (name.to_owned(), field_type, about.to_owned())
}
