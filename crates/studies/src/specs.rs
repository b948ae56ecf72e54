//! Parameters and figures of studies, written short.

use model::study::{Better, FigureSpec, Fold, ParamKind, ParamSpec, Unit};

/// A parameter with all that there is to it.
pub(crate) const fn param(
    name: &'static str,
    about: &'static str,
    kind: ParamKind,
    default: &'static str,
) -> ParamSpec {
    ParamSpec { name, about, kind, default }
}

/// A number of which less is better.
pub(crate) const fn figure(
    name: &'static str,
    title: &'static str,
    about: &'static str,
) -> FigureSpec {
    let (unit, better, fold) = (Unit::Count, Better::Less, Fold::Mean);
    FigureSpec { name, title, about, unit, better, fold, shown: true }
}

/// The same in nanoseconds.
pub(crate) const fn time(
    name: &'static str,
    title: &'static str,
    about: &'static str,
) -> FigureSpec {
    FigureSpec { unit: Unit::Nanoseconds, ..figure(name, title, about) }
}
