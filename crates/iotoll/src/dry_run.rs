//! `--dry-run`: what a run would measure.

use std::fmt::Write as _;

use model::arm::{Arm, Pair};
use model::noise::Noise;
use model::place::PlaceFacts;
use model::plan::Plan;
use model::units::{exact_duration, percent};

use crate::machine;

/// The places, the arms and the comparisons that a run would have.
pub(crate) fn describe(
    plan: &Plan,
    arms: &[Arm],
    pairs: &[Pair],
    places: &[PlaceFacts],
    width: usize,
) -> String {
    let mut out = report::places(places, &machine::describe(Noise::default()), width);
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(out, "\n{bold}Arms{bold:#}");
    for arm in arms {
        let params: Vec<String> = arm.params.0.iter().map(|(k, v)| format!("{k} {v}")).collect();
        let _ = writeln!(out, "  {:<28} {}", arm.id, params.join(", "));
    }
    let _ = writeln!(out, "\n{bold}Comparisons{bold:#}");
    for pair in pairs {
        let _ = writeln!(out, "  {} against {}", arms[pair.other].id, arms[pair.base].id);
    }
    let _ = writeln!(
        out,
        "\nAt most {}, differences from {} count, seed {}. Nothing was measured.",
        exact_duration(plan.budget),
        percent(plan.worth),
        plan.seed
    );
    out
}
