//! How well runs of the same plan agree, as a function of their comparisons alone.

use std::collections::BTreeMap;

use model::analysis::{Comparison, Verdict};
use model::grouped::each_once;

/// What one run found of a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The ratio of the two arms' tolls.
    pub(super) ratio: f64,
    /// The lower bound; 0 where there is none yet.
    pub(super) low: f64,
    /// The upper bound; infinite where there is none yet.
    pub(super) high: f64,
    /// The verdict.
    pub(super) verdict: Verdict,
}

impl Found {
    /// Nothing where nothing was compared, or what was is not to be trusted.
    pub(super) fn of(comparison: &Comparison) -> Option<Self> {
        let Comparison { ratio, ratio_low, ratio_high, verdict, .. } = *comparison;
        if verdict == Verdict::Invalid {
            return None;
        }
        let (low, high) = (ratio_low.unwrap_or(0.0), ratio_high.unwrap_or(f64::INFINITY));
        Some(Self { ratio: ratio?, low, high, verdict })
    }

    fn holds(&self, other: &Self) -> bool {
        (self.low..=self.high).contains(&other.ratio)
    }

    /// The logarithm of the upper bound over the lower one.
    fn width(&self) -> f64 {
        (self.high / self.low).ln()
    }
}

/// Which of a run's intervals is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// That of the run alone.
    ThisRun,
    /// That for another run, learned from all runs but the two.
    AnotherRun,
}

/// What all the runs found of one comparison.
pub(super) struct Series {
    /// The two arms.
    pub(super) name: String,
    /// What each run found by itself, in the order of the runs.
    pub(super) found: Vec<Option<Found>>,
    /// What each run found for each other.
    pub(super) for_another: Vec<Vec<Option<Found>>>,
}

impl Series {
    /// One for each comparison that any of the runs has, in their order. `for_another` has what
    /// the first of two runs finds for the second.
    pub(super) fn of_runs(
        runs: &[Vec<Comparison>],
        for_another: &[Vec<Vec<Comparison>>],
    ) -> Vec<Self> {
        let names = each_once(runs.iter().flatten().map(name));
        let of = |name: String| {
            let found = |run: &Vec<Comparison>| {
                run.iter().find(|comparison| self::name(comparison) == name).and_then(Found::of)
            };
            let another = |runs: &Vec<Vec<Comparison>>| runs.iter().map(found).collect();
            Self {
                found: runs.iter().map(found).collect(),
                for_another: for_another.iter().map(another).collect(),
                name,
            }
        };
        names.into_iter().map(of).collect()
    }

    /// Every two runs that found something, in both directions, with the interval of the first
    /// and whether it holds the ratio of the second.
    fn pairs(&self, which: Which) -> impl Iterator<Item = (usize, usize, &Found, bool)> {
        let found = || self.found.iter().enumerate().filter_map(|(i, f)| Some((i, f.as_ref()?)));
        found().flat_map(move |(i, alone)| {
            let others = found().filter(move |(j, _)| i != *j);
            others.filter_map(move |(j, other)| {
                let one = match which {
                    Which::ThisRun => alone,
                    Which::AnotherRun => self.for_another.get(i)?.get(j)?.as_ref()?,
                };
                Some((i, j, one, one.holds(other)))
            })
        })
    }

    /// The runs whose interval leaves out the ratio of another, with that interval, and that
    /// other.
    pub(super) fn not_held(&self, which: Which) -> impl Iterator<Item = (usize, usize, &Found)> {
        let missed = self.pairs(which).filter(|(.., held)| !held);
        missed.map(|(one, other, found, _)| (one, other, found))
    }

    /// How often each verdict was given.
    pub(super) fn verdicts(&self) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for found in &self.found {
            let verdict = found.map_or("none".to_owned(), |f| format!("{:?}", f.verdict));
            *counts.entry(verdict.to_lowercase()).or_default() += 1;
        }
        let words: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
        words.join(", ")
    }

    /// Whether one run says `faster` and another `slower`.
    pub(super) fn contradicts_itself(&self) -> bool {
        let has = |verdict| self.found.iter().flatten().any(|found| found.verdict == verdict);
        has(Verdict::Faster) && has(Verdict::Slower)
    }
}

fn name(comparison: &Comparison) -> String {
    format!("{} against {}", comparison.other, comparison.base)
}

/// What many comparisons come to.
#[derive(Debug, PartialEq)]
pub(super) struct Agreement {
    /// Ordered pairs of runs, over all comparisons.
    pub(super) pairs: usize,
    /// Those in which the first's interval holds the second's ratio.
    pub(super) held: usize,
    /// The median width of all intervals: infinite where most have no bound.
    pub(super) width: f64,
    /// Comparisons that are faster in one run and slower in another.
    pub(super) contradictions: usize,
}

impl Agreement {
    pub(super) fn of(all: &[Series], which: Which) -> Self {
        let pairs = || all.iter().flat_map(|series| series.pairs(which));
        let mut widths: Vec<f64> = pairs().map(|(_, _, found, _)| found.width()).collect();
        Self {
            pairs: pairs().count(),
            held: pairs().filter(|(.., held)| *held).count(),
            width: if widths.is_empty() { f64::INFINITY } else { stats::median(&mut widths) },
            contradictions: all.iter().filter(|series| series.contradicts_itself()).count(),
        }
    }

    /// The share of the pairs that held; none of none.
    pub(super) fn share_held(&self) -> f64 {
        self.held as f64 / self.pairs.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ratio: f64, low: f64, high: f64, verdict: Verdict) -> Found {
        Found { ratio, low, high, verdict }
    }

    fn series(found: Vec<Option<Found>>) -> Series {
        let for_another = vec![found.clone(); found.len()];
        Series { name: "log/held@ram against log/held@disk".to_owned(), found, for_another }
    }

    #[test]
    fn each_run_is_asked_about_each_other_and_never_about_itself() {
        let series = series(vec![
            Some(found(0.70, 0.60, 0.80, Verdict::Faster)),
            Some(found(0.81, 0.69, 0.93, Verdict::Unclear)),
            None,
            Some(found(0.75, 0.72, 0.78, Verdict::Faster)),
        ]);
        let not_held: Vec<_> =
            series.not_held(Which::ThisRun).map(|(one, other, _)| (one, other)).collect();
        assert_eq!(not_held, [(0, 1), (3, 0), (3, 1)]);
        let agreement = Agreement::of(&[series], Which::ThisRun);
        assert_eq!((agreement.pairs, agreement.held), (6, 3));
        assert!((agreement.share_held() - 0.5).abs() < 1e-12);
        assert!((agreement.width - (0.80_f64 / 0.60).ln()).abs() < 1e-12, "{agreement:?}");
    }

    #[test]
    fn a_missing_bound_holds_everything_and_is_infinitely_wide() {
        let open = found(1.0, 0.0, 1.1, Verdict::Unclear);
        let none = found(1e-9, 0.0, f64::INFINITY, Verdict::Unclear);
        let series = series([open, none, open].map(Some).into());
        let agreement = Agreement::of(&[series], Which::ThisRun);
        assert_eq!((agreement.pairs, agreement.held), (6, 6));
        assert_eq!(agreement.width.to_bits(), f64::INFINITY.to_bits());
    }

    #[test]
    fn opposite_verdicts_contradict_and_none_or_unclear_do_not() {
        let of = |verdict| Some(found(1.0, 0.9, 1.1, verdict));
        let against = |verdict| series(vec![of(Verdict::Faster), None, of(verdict)]);
        let all = [Verdict::Slower, Verdict::Unclear, Verdict::Same].map(against);
        assert_eq!(Agreement::of(&all, Which::ThisRun).contradictions, 1);
        assert_eq!(all[0].verdicts(), "1 faster, 1 none, 1 slower");
    }

    #[test]
    fn what_a_run_finds_for_another_is_asked_of_that_one_alone() {
        let at = |ratio| Some(found(ratio, ratio - 0.01, ratio + 0.01, Verdict::Faster));
        let wide = Some(found(0.7, 0.5, 0.9, Verdict::Faster));
        let mut series = series(vec![at(0.7), at(0.8)]);
        series.for_another = vec![vec![None, wide], vec![None, None]];
        assert_eq!(Agreement::of(std::slice::from_ref(&series), Which::ThisRun).held, 0);
        let another = Agreement::of(&[series], Which::AnotherRun);
        assert_eq!((another.pairs, another.held), (1, 1));
    }

    #[test]
    fn without_runs_nothing_holds() {
        let none = Agreement::of(&[], Which::ThisRun);
        assert!(none.share_held() < 0.5 && none.width > 1.0);
    }
}
