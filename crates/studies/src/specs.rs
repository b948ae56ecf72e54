//! Parameters and figures of studies, written short.

use model::study::{FigureDescription, ParamDescription, ParamKind, Unit};

/// A parameter with all that there is to it.
pub(crate) fn param(name: &str, about: &str, kind: ParamKind, default: &str) -> ParamDescription {
    ParamDescription::new(name, about, kind, default)
}

/// A number of which less is better.
pub(crate) fn figure(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription::new(name, title, about)
}

/// The same in nanoseconds.
pub(crate) fn time(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription { unit: Unit::Nanoseconds, ..figure(name, title, about) }
}
