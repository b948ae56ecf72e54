//! `--dry-run`: what a run would measure.

use std::fmt::Write as _;

use engine::job::Job;
use engine::needs::PlaceNeeds;
use host::machine;
use model::place::{PlaceFacts, StorageKind};
use model::printable::printable;
use model::units::{count, exact_duration, exact_size, percent, rough_size};

use crate::preflight::at_once;

/// The places, the arms and the comparisons that a run would have.
pub(crate) fn describe(
    job: &Job,
    places: &[PlaceFacts],
    needs: &[PlaceNeeds],
    width: usize,
) -> String {
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
        let [other, base] = [pair.other, pair.base].map(|arm| printable(&arms[arm].id));
        let _ = writeln!(out, "  {other} against {base}");
    }
    let _ = writeln!(out, "\n{bold}Writes{bold:#}");
    for (place, needs) in places.iter().zip(needs) {
        out += &writes(job, place, needs);
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

/// What a run writes to a place at the most, on a line.
fn writes(job: &Job, place: &PlaceFacts, needs: &PlaceNeeds) -> String {
    let there = at_once(place, needs);
    let limit_bytes = job.manners.write_limit_bytes;
    let in_all = match place.kind {
        StorageKind::Memory => "memory, which does not wear".to_owned(),
        _ if needs.written_bytes < limit_bytes => {
            format!("{} over the run", rough_size(needs.written_bytes))
        }
        _ => format!("{} over the run (--write-limit)", exact_size(limit_bytes)),
    };
    format!(
        "  {:<10} at most {} in {} files at once; {in_all}\n",
        place.label,
        rough_size(there.bytes),
        count(there.files)
    )
}
