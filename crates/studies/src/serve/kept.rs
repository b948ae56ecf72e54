//! What an arm keeps from slice to slice.

use crate::sqlite::database::Template;

/// What an arm keeps from slice to slice.
pub(super) struct Kept {
    /// The highest rate found the last time, from where the next search starts: a few
    /// tries then do what takes a dozen from nowhere. A search that starts wrong still
    /// ends right, only later.
    pub(super) max_rate: Option<f64>,
    /// What the database starts from.
    pub(super) template: Template,
}
