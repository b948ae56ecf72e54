//! Intervals on one log axis of characters, faster to the left, for every row the same.

use units::count;

/// The factors at which the axis may end and be marked, the farthest first.
pub(crate) const MARKS: [f64; 12] =
    [1e4, 5e3, 2e3, 1e3, 500.0, 200.0, 100.0, 50.0, 20.0, 10.0, 5.0, 2.0];
/// The axis reaches at least from twice as fast to a quarter slower.
const LEAST: [f64; 2] = [0.5, 1.25];

/// An axis of so many columns.
pub(super) struct Axis {
    columns: usize,
    low: f64,
    high: f64,
}

impl Axis {
    /// One on which these ratios lie.
    pub(super) fn of(ratios: impl Iterator<Item = f64>, columns: usize) -> Self {
        let known = ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
        let [low, high] = known.fold(LEAST, |[low, high], r| [low.min(r), high.max(r)]);
        let end = MARKS.into_iter().rev().find(|mark| *mark >= 1.0 / low).unwrap_or(MARKS[0]);
        let (low, high) = (1.0 / end, high.min(MARKS[0]));
        Self { columns, low: low.ln(), high: high.ln() }
    }

    /// The column of a ratio, from 0; those beyond an end are at that end.
    pub(super) fn at(&self, ratio: f64) -> usize {
        let share = (ratio.ln() - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * (self.columns - 1) as f64).round() as usize
    }

    /// `20×   5× 2×  same`, each mark above its column.
    pub(super) fn heads(&self) -> String {
        let mut line = vec![' '; self.columns];
        let mut put = |text: &str, at: usize| {
            let width = text.chars().count();
            let from = at.saturating_sub(width / 2).min(self.columns.saturating_sub(width));
            let around = from.saturating_sub(1)..(from + width + 1).min(self.columns);
            if line[around].iter().all(|c| *c == ' ') {
                text.chars().enumerate().for_each(|(n, c)| line[from + n] = c);
            }
        };
        put("same", self.at(1.0));
        let end = (-self.low).exp() * 1.001;
        for factor in MARKS.into_iter().filter(|factor| *factor <= end) {
            put(&format!("{}×", count(factor as u64)), self.at(1.0 / factor));
        }
        line.into_iter().collect::<String>().trim_end().to_owned()
    }

    /// `├─●─┤`, with a line at "same".
    pub(super) fn bar(&self, ratio: f64, low: Option<f64>, high: Option<f64>) -> Vec<char> {
        let mut line = vec![' '; self.columns];
        line[self.at(1.0)] = '│';
        let [from, to] =
            [low.map_or(0, |r| self.at(r)), high.map_or(self.columns - 1, |r| self.at(r))];
        line[from..=to].fill('─');
        if from < to {
            line[from] = if low.is_some() { '├' } else { '◂' };
            line[to] = if high.is_some() { '┤' } else { '▸' };
        }
        line[self.at(ratio)] = '●';
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faster_is_left_and_marks_stand_above_their_ratios() {
        let axis = Axis::of([0.05, 2.0].into_iter(), 20);
        assert_eq!((axis.at(0.05), axis.at(0.001), axis.at(2.0), axis.at(1.0)), (0, 0, 19, 15));
        assert_eq!(axis.heads(), "20×   5×     same");
        let bar: String = axis.bar(0.2, Some(0.1), Some(0.3)).into_iter().collect();
        assert_eq!(bar, "    ├──●─┤     │    ");
    }

    #[test]
    fn an_interval_without_a_bound_reaches_the_end() {
        let axis = Axis::of([0.5].into_iter(), 9);
        let bar: String = axis.bar(1.0, None, Some(1.1)).into_iter().collect();
        assert!(bar.starts_with('◂') && bar.contains('●'), "{bar}");
        assert_eq!(axis.bar(0.7, Some(0.7), Some(0.7)).iter().filter(|c| **c == '─').count(), 0);
    }
}
