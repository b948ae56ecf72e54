//! What a plan's study is called: by its own name, or by a label that the user gave it.

use thiserror::Error;

use crate::place::{LABEL_CHARS_MAX, is_label_char};

/// A label that would not read well in an arm's name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a label: use letters, digits, `-`, `_` and `.`, at most 32 of them")]
pub struct LabelError(String);

/// Reads a study's label. It has what a place's label may have.
pub fn parse_label(text: &str) -> Result<String, LabelError> {
    if text.is_empty() || text.len() > LABEL_CHARS_MAX || !text.chars().all(is_label_char) {
        return Err(LabelError(text.to_owned()));
    }
    Ok(text.to_owned())
}

/// A study with its label, where it has one: `log:shop.log`.
pub(crate) fn subject(study: &str, label: Option<&str>) -> String {
    label.map_or_else(|| study.to_owned(), |label| format!("{study}:{label}"))
}
