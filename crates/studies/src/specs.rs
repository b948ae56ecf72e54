//! Parameters and figures of studies, written short.

use std::time::Duration;

use model::study::{Better, FigureDescription, Fold, ParamDescription, ParamKind, Unit};

/// What values a parameter may have, and its default.
pub(crate) type Values = (ParamKind, &'static str);

/// A directory with files of the user's, in place of generated ones.
pub(crate) const OWN_DIRECTORY: Values =
    (ParamKind::Path("a directory, or empty to use generated files"), "");

/// A parameter with all that there is to it.
pub(crate) fn param(name: &str, about: &str, (kind, default): Values) -> ParamDescription {
    ParamDescription::new(name, about, kind, default)
}

pub(crate) fn count(min: u64, max: u64, default: &'static str) -> Values {
    (ParamKind::Count { min, max }, default)
}

pub(crate) fn size(min: u64, max: u64, default: &'static str) -> Values {
    (ParamKind::Size { min, max }, default)
}

pub(crate) fn duration(min: Duration, max: Duration, default: &'static str) -> Values {
    (ParamKind::Duration { min, max }, default)
}

pub(crate) fn choice(names: &'static [&'static str], default: &'static str) -> Values {
    (ParamKind::Choice(names), default)
}

/// A number of which less is better.
pub(crate) fn figure(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription::new(name, title, about)
}

/// The same in nanoseconds.
pub(crate) fn time(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription { unit: Unit::Nanoseconds, ..figure(name, title, about) }
}

pub(crate) fn bytes(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription { unit: Unit::Bytes, ..figure(name, title, about) }
}

pub(crate) fn percent(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription { unit: Unit::Percent, ..figure(name, title, about) }
}

/// A part of 1.
pub(crate) fn share(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription { unit: Unit::Share, ..figure(name, title, about) }
}

/// How often something is done, of which more is better.
pub(crate) fn per_second(name: &str, title: &str, about: &str) -> FigureDescription {
    let (unit, better) = (Unit::PerSecond, Better::More);
    FigureDescription { unit, better, ..figure(name, title, about) }
}

/// Neither less of it is better nor more.
pub(crate) fn neutral(figure: FigureDescription) -> FigureDescription {
    FigureDescription { better: Better::Neither, ..figure }
}

/// Reports have no column for it.
pub(crate) fn hidden(figure: FigureDescription) -> FigureDescription {
    FigureDescription { shown: false, ..figure }
}

/// A figure of each operation, of which a slice gives the sum.
pub(crate) fn per_operation(figure: FigureDescription) -> FigureDescription {
    FigureDescription { fold: Fold::PerOperation, ..figure }
}

/// The largest of all slices counts.
pub(crate) fn largest(figure: FigureDescription) -> FigureDescription {
    FigureDescription { fold: Fold::Max, ..figure }
}

/// A figure that is added up over all slices and shown only in notes.
pub(crate) fn sum(name: &str, title: &str, about: &str) -> FigureDescription {
    FigureDescription { fold: Fold::Sum, shown: false, ..figure(name, title, about) }
}
