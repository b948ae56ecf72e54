//! Numbers of a calibration: as they were printed, and what lies in their middle.

use std::str::FromStr;

use trace::OverheadNs;

/// The numbers of a line, as many as there have to be.
pub(crate) fn numbers<T: FromStr, const N: usize>(line: &str) -> Option<[T; N]> {
    let numbers: Option<Vec<T>> =
        line.split_whitespace().map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// The middle one.
pub(crate) fn middle(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// From the lowest to the highest of the middle half.
pub(crate) fn middle_half(mut values: Vec<i64>) -> Option<OverheadNs> {
    values.sort_unstable();
    let last = values.len().checked_sub(1)?;
    Some(OverheadNs { low: values[last / 4], high: values[last - last / 4] })
}

/// No less than nothing at both ends: being recorded makes nothing faster.
pub(crate) fn no_less(OverheadNs { low, high }: OverheadNs) -> OverheadNs {
    OverheadNs { low: low.max(0), high: high.max(0) }
}
