//! Halving an interval, for what has no formula.

/// Between which of its numbers an interval stops being too small: the greatest that was found to be
/// so, or its lower end, and the smallest that was not, or its upper end.
pub(crate) fn bisect(
    mut low: f64,
    mut high: f64,
    halvings: usize,
    is_too_small: impl Fn(f64) -> bool,
) -> (f64, f64) {
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        if is_too_small(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}
