//! What the colours of a chart stand for.

use super::chart::percent;
use super::markup::{Element, Markup, classed, el};

/// The classes of what is told apart by its colour.
pub(super) const SERIES: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];
/// Two entries stand beside each other.
const BESIDE: usize = 2;
const LINE: f64 = 18.0;
const BELOW: f64 = 8.0;

/// The room that so many entries take.
pub(super) fn height(entries: usize) -> f64 {
    entries.div_ceil(BESIDE) as f64 * LINE + BELOW
}

/// Entries, each a class and what it stands for, given where their upper end is.
pub(super) fn legend<T: AsRef<str>>(
    entries: impl IntoIterator<Item = (&'static str, T)>,
    y: f64,
) -> Markup {
    let entry = |(position, (class, text)): (usize, (&'static str, T))| {
        let at = (position % BESIDE) as f64 / BESIDE as f64;
        let y = y + (position / BESIDE) as f64 * LINE;
        self::entry(at, y, class, text.as_ref())
    };
    entries.into_iter().enumerate().flat_map(entry).collect()
}

/// A swatch, and what it stands for.
pub(super) fn entry(at: f64, y: f64, class: &'static str, text: &str) -> [Element; 2] {
    let swatch = classed("rect", class).attr("x", percent(at)).attr("y", y + 3.0);
    let words = el("text").attr("x", percent(at)).attr("dx", 18).attr("y", y + 13.0);
    [swatch.attr("width", 12).attr("height", 12), words.text(text)]
}
