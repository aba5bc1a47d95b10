//! The fields of a memory outside a log: one table, by which notes, lines and tables are written and read. Not here: what
//! a field means (`event`).

/// How a field stands outside a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldForm {
    /// One text.
    Text,
    /// One text that is a time.
    Time,
    /// Several texts.
    List,
    /// The text below the front matter of a note.
    Body,
}

/// The field that is the text of a note.
pub(crate) const LESSON: &str = "lesson";

/// The field that says of which package a memory is.
pub(crate) const FOLDER: &str = "folder";

/// The fields of a memory that leave it, in the order of a table.
pub(crate) const FIELD_NAMES: [(&str, FieldForm); 21] = [
    ("id", FieldForm::Text),
    ("timestamp", FieldForm::Time),
    ("agent_id", FieldForm::Text),
    ("repo", FieldForm::Text),
    ("event_type", FieldForm::Text),
    ("context", FieldForm::Text),
    (LESSON, FieldForm::Body),
    ("command", FieldForm::Text),
    ("success_rate", FieldForm::Text),
    ("tags", FieldForm::List),
    ("symptoms", FieldForm::List),
    ("files", FieldForm::List),
    ("commit", FieldForm::Text),
    ("branch", FieldForm::Text),
    ("session_id", FieldForm::Text),
    ("host", FieldForm::Text),
    ("source", FieldForm::Text),
    ("confidence", FieldForm::Text),
    ("expires", FieldForm::Time),
    ("scope", FieldForm::Text),
    (FOLDER, FieldForm::Text),
];

/// Returns the fields that are properties of a note.
pub(crate) fn properties() -> impl Iterator<Item = (&'static str, FieldForm)> {
    FIELD_NAMES.into_iter().filter(|(_, form)| *form != FieldForm::Body)
}

/// Returns the names of the fields of one form.
pub(crate) fn names_of_form(form: FieldForm) -> impl Iterator<Item = &'static str> {
    FIELD_NAMES.into_iter().filter(move |(_, other)| *other == form).map(|(name, _)| name)
}

/// Tells whether a field leaves its log.
pub(crate) fn is_field(name: &str) -> bool {
    FIELD_NAMES.iter().any(|(known, _)| *known == name)
}
