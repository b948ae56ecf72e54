//! What a plan's study is called: by its own name, or by a label that the user gave it.

/// A study with its label, where it has one: `log:shop.log`.
pub(crate) fn subject(study: &str, label: Option<&str>) -> String {
    label.map_or_else(|| study.to_owned(), |label| format!("{study}:{label}"))
}
