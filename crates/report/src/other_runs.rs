//! What other runs would find: each comparison's interval for another run and that of this
//! run alone.

use model::analysis::{Analysis, Comparison, OtherRuns, TailComparison};
use units::{counted, percent};

use crate::difference::Difference;
use crate::text::{Width, bullet, heading, paragraph, shortened_list};

/// More comparisons than this are in the result file alone.
const LINES_MAX: usize = 12;

/// The section; nothing where no saved runs told how much runs vary.
pub(crate) fn section(analysis: &Analysis, width: Width) -> String {
    let mut learned: Vec<(&Comparison, OtherRuns)> =
        analysis.comparisons.iter().filter_map(|c| Some((c, c.other_runs?))).collect();
    if learned.is_empty() {
        return String::new();
    }
    let without = analysis.comparisons.len() - learned.len();
    learned.sort_by(|a, b| b.1.runs_vary_by.total_cmp(&a.1.runs_vary_by));
    let mut out = format!("\n{}", heading("What another run would find"));
    out += &paragraph("", "", INTRODUCTION, width);
    let lines = learned.iter().map(|(comparison, other_runs)| line(comparison, other_runs));
    let lines = shortened_list(lines.collect(), LINES_MAX);
    out.extend(lines.iter().map(|text| bullet(text, width)));
    if without > 0 {
        let text = format!(
            "For {}, too few runs are saved: their intervals are of this run alone.",
            counted(without as u64, "comparison")
        );
        out += &paragraph("", "", &text, width);
    }
    out
}

const INTRODUCTION: &str = "\
All intervals in this report hold what another run would find, as far as saved runs of the \
same comparisons show how much runs vary. Verdicts follow from these intervals. Those of this \
run alone are narrower:";

/// `log/held@ram against log/held@disk: 14% less (10–18%); in this run alone 12–16%. 6 saved runs
/// vary by 1.9%.`
fn line(comparison: &Comparison, other_runs: &OtherRuns) -> String {
    let Comparison { base, other, ratio, ratio_low, ratio_high, p99, .. } = comparison;
    let both = both(&Difference::new(*ratio, *ratio_low, *ratio_high), *ratio, other_runs);
    let OtherRuns { runs_vary_by, learned_from, .. } = other_runs;
    let text = format!(
        "{other} against {base}: {both}. {} vary by {}.",
        counted(*learned_from, "saved run"),
        percent(*runs_vary_by)
    );
    text + &tail(p99)
}

fn both(another: &Difference, ratio: Option<f64>, other_runs: &OtherRuns) -> String {
    let OtherRuns { this_run_low, this_run_high, .. } = *other_runs;
    let this = Difference::new(ratio, this_run_low, this_run_high);
    let told = |interval: &str| {
        if interval.is_empty() { "no bound yet".to_owned() } else { interval.to_owned() }
    };
    let (whole, own) = (told(&another.interval), told(&this.interval));
    format!("{} ({whole}); in this run alone {own}", another.ratio)
}

fn tail(p99: &TailComparison) -> String {
    let TailComparison { ratio, ratio_low, ratio_high, other_runs, .. } = *p99;
    other_runs.map_or_else(String::new, |of| {
        let both = both(&Difference::new(ratio, ratio_low, ratio_high), ratio, &of);
        format!(
            " 99th percentile: {both}. {} vary by {}.",
            counted(of.learned_from, "saved run"),
            percent(of.runs_vary_by)
        )
    })
}
