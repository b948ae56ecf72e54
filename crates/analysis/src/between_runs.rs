//! How much the comparisons of a run differ from run to run, as saved runs show it.
//!
//! A comparison is of two arms that took turns, so that most of what differs from run to run
//! is the same for both. Its ratio is followed from run to run, rather than either arm's time.

use model::analysis::Analysis;
use model::between_runs::{BetweenRuns, Learned};
use model::run::Run;
use stats::Variation;

use crate::facts::setting;

/// An arm's time in a run says little with fewer slices.
const SLICES_MIN: u64 = 5;

/// Fewer saved runs would make intervals so wide that the second run of a machine decides less
/// than its first.
const RUNS_MIN: usize = 5;

/// What saved runs told of the arms' times, in the order in which they ran.
pub struct Saved<'a> {
    /// The logarithms that are [`kept`] under a text.
    pub of: &'a dyn Fn(&str) -> Vec<f64>,
    /// The logarithms of the ratio of the second setting's time to the first's, in the runs
    /// that have both.
    pub ratios: &'a dyn Fn(&str, &str) -> Vec<f64>,
}

/// What the saved runs show of each comparison of a run that begins; nothing where they show
/// nothing of any.
pub fn between_runs(run: &Run, saved: &Saved<'_>) -> Vec<BetweenRuns> {
    let settings: Vec<Option<String>> = run.plan.arms.iter().map(|arm| setting(run, arm)).collect();
    let of_pairs = |series: &dyn Fn(&str, &str) -> Vec<f64>| {
        let pairs = run.plan.pairs.iter();
        let settings =
            pairs.map(|pair| settings[pair.base].as_ref().zip(settings[pair.other].as_ref()));
        let series =
            settings.map(|both| both.map_or_else(Vec::new, |(base, other)| series(base, other)));
        learned(&series.collect::<Vec<_>>())
    };
    let times = of_pairs(saved.ratios);
    let tails = of_pairs(&|base, other| (saved.of)(&of_tails(base, other)));
    if times.iter().chain(&tails).all(Option::is_none) {
        return Vec::new();
    }
    times.into_iter().zip(tails).map(|(time, p99)| BetweenRuns { time, p99 }).collect()
}

fn learned(series: &[Vec<f64>]) -> Vec<Option<Learned>> {
    let of_pair = |series: &Vec<f64>| Variation::learned(std::slice::from_ref(series));
    let mut variations: Vec<Option<Variation>> = series.iter().map(of_pair).collect();
    stats::moderate(&mut variations);
    let learned = |(variation, series): (Option<Variation>, &Vec<f64>)| {
        let Variation { deviation, degrees } = variation?;
        let (runs, level) = (series.len(), stats::level(series));
        (runs >= RUNS_MIN).then_some(Learned { deviation, degrees, runs: runs as u64, level })
    };
    variations.into_iter().zip(series).map(learned).collect()
}

/// What is kept of a run for those that follow, each logarithm under its text: the arms' times
/// per operation, and the ratios of their 99th percentiles.
pub fn kept(run: &Run, analysis: &Analysis) -> Vec<(String, f64)> {
    let arms = run.plan.arms.iter().zip(&analysis.arms);
    let known = arms.filter(|(_, result)| result.slices >= SLICES_MIN);
    let times = known.filter_map(|(arm, result)| Some((setting(run, arm)?, result.typical_ns?)));
    let compared = run.plan.pairs.iter().zip(&analysis.comparisons);
    let tails = compared.filter_map(|(pair, comparison)| {
        let [base, other] = [pair.base, pair.other].map(|arm| setting(run, &run.plan.arms[arm]));
        Some((of_tails(&base?, &other?), comparison.p99.ratio?))
    });
    let logs = times.chain(tails).map(|(text, value)| (text, value.ln()));
    logs.filter(|(_, log)| log.is_finite()).collect()
}

/// Under which text the ratio of the 99th percentiles of two settings is kept.
fn of_tails(base: &str, other: &str) -> String {
    format!("p99 of\n{other}\nover\n{base}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// What so many saved runs show of a run of four arms, whose ratios differ by this much.
    fn shown(runs: usize, deviation: f64) -> Vec<BetweenRuns> {
        let run = testing::run(4, Vec::new());
        let series = |sign: f64| -> Vec<f64> {
            (0..runs).map(|run| sign * [0.0, 1.0, -1.0, 0.5][run % 4] * deviation).collect()
        };
        let ratios = |base: &str, other: &str| series(if base < other { 1.0 } else { -1.0 });
        between_runs(&run, &Saved { of: &|_| Vec::new(), ratios: &ratios })
    }

    #[test]
    fn each_comparison_has_what_its_ratio_varied_by_and_none_what_one_run_shows() {
        assert_eq!(shown(1, 0.02), []);
        let found = shown(8, 0.02);
        assert_eq!(found.len(), 3);
        for of in &found {
            let Some(time) = of.time else { panic!("{found:?}") };
            assert!(time.runs == 8 && (0.01..0.03).contains(&time.deviation), "{found:?}");
            assert_eq!(of.p99, None);
        }
    }

    #[test]
    fn few_saved_runs_tell_nothing_and_runs_that_differ_widely_say_so() {
        assert_eq!(shown(RUNS_MIN - 1, 0.02), []);
        assert!(shown(8, 0.5).iter().all(|of| of.time.is_some_and(|time| time.deviation > 0.2)));
        assert!(shown(RUNS_MIN, 0.02).iter().all(|of| of.time.is_some()));
    }

    #[test]
    fn percentiles_are_looked_for_by_both_settings_in_their_order() {
        let run = testing::run(2, Vec::new());
        let settings = [0, 1].map(|arm| setting(&run, &run.plan.arms[arm]).unwrap_or_default());
        let wanted = of_tails(&settings[0], &settings[1]);
        let of =
            |text: &str| if text == wanted { vec![0.0, 0.02, 0.0, 0.02, 0.0] } else { Vec::new() };
        let found = between_runs(&run, &Saved { of: &of, ratios: &|_, _| Vec::new() });
        assert!(found[0].time.is_none() && found[0].p99.is_some(), "{found:?}");
    }
}
