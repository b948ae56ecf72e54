//! `--dry-run`: what a run would measure, and what it would take.

use std::fmt::Write as _;

use engine::job::Job;
use engine::study::Footprint;
use host::machine;
use model::place::{PlaceFacts, StorageKind};
use units::{count, counted, exact_duration, exact_size, percent, rough_size};

use crate::measuring::preflight::at_once;

/// The places, the arms and comparisons that a run would have, and its limits.
pub(crate) fn describe(
    job: &Job,
    places: &[PlaceFacts],
    needs: &[Footprint],
    width: usize,
) -> String {
    let mut out = report::places(places, &machine::describe(), width);
    out += &report::planned(&job.arms, &job.materials, &job.pairs, places, width);
    let bold = anstyle::Style::new().bold();
    let _ = writeln!(out, "\n{bold}At most{bold:#}");
    out += &limit("time", &time(job), width);
    for (place, needs) in places.iter().zip(needs) {
        out += &limit(&place.label, &writes(job, place, needs), width);
    }
    out.push('\n');
    let text = format!(
        "{}, {}; threshold {}, error rate {}, seed {}. Nothing was measured.",
        counted(job.arms.len() as u64, "arm"),
        counted(job.pairs.len() as u64, "comparison"),
        percent(job.threshold),
        percent(job.error_rate),
        job.seed
    );
    out + &report::paragraph("", "", &text, width)
}

fn limit(what: &str, text: &str, width: usize) -> String {
    report::paragraph(&format!("  {what:<10}"), "            ", text, width)
}

fn time(job: &Job) -> String {
    let mut text = exact_duration(job.budget);
    if let Some(rounds) = job.rounds {
        text += &format!(", or {}", counted(u64::from(rounds.get()), "round"));
    }
    if !job.pairs.is_empty() {
        text += "; the run ends sooner if every comparison is decided and precise by then";
    }
    text
}

/// What a run takes and writes at a place at the most.
fn writes(job: &Job, place: &PlaceFacts, needs: &Footprint) -> String {
    let there = at_once(place, needs);
    let limit_bytes = job.run_limits.write_limit_bytes;
    let in_all = match place.kind {
        StorageKind::Memory => "what it writes goes to memory, which does not wear".to_owned(),
        _ if needs.written_bytes < limit_bytes => {
            format!("{} written over the run", rough_size(needs.written_bytes))
        }
        _ => format!("{} written over the run (--write-limit)", exact_size(limit_bytes)),
    };
    format!("{} and {} inodes at once; {in_all}", rough_size(there.bytes), count(there.files))
}
