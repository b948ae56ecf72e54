//! `--dry-run`: what a run would measure.

use std::fmt::Write as _;

use engine::job::Job;
use host::machine;
use model::place::PlaceFacts;
use model::printable::printable;
use model::units::{exact_duration, percent};

/// The places, the arms and the comparisons that a run would have.
pub(crate) fn describe(job: &Job, places: &[PlaceFacts], width: usize) -> String {
    let Job { arms, pairs, .. } = job;
    let mut out = report::places(places, &machine::describe(), width);
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(out, "\n{bold}Arms{bold:#}");
    for arm in arms {
        let given = arm.params.0.iter().map(|(name, value)| (name, value.to_string()));
        let given = given.filter(|(_, value)| !value.is_empty());
        let params: Vec<String> = given.map(|(name, value)| format!("{name} {value}")).collect();
        let _ = writeln!(out, "  {:<28} {}", printable(&arm.id), printable(&params.join(", ")));
    }
    let _ = writeln!(out, "\n{bold}Comparisons{bold:#}");
    for pair in pairs {
        let _ = {
            let [other, base] = [pair.other, pair.base].map(|arm| printable(&arms[arm].id));
            writeln!(out, "  {other} against {base}")
        };
    }
    let _ = writeln!(
        out,
        "\nBudget {}, worth {}, error rate {}, seed {}. Nothing was measured.",
        exact_duration(job.budget),
        percent(job.worth),
        percent(job.error_rate),
        job.seed
    );
    out
}
