//! A field of a message before it has its number. Not here: which fields there are (`contract`, `watch_kind`).

/// The name of the field that carries further fields, where an endpoint takes some.
pub(super) const MORE: &str = "more";

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldType {
    Text,
    Texts,
    Whole,
    Share,
    Switch,
    Object,
}

/// A field without a number: its name, its type and what it is for.
pub(super) type Unnumbered = (String, FieldType, String);

/// Makes a field without a number.
pub(super) fn field(name: &str, field_type: FieldType, about: &str) -> Unnumbered {
    (name.to_owned(), field_type, about.to_owned())
}
