//! From what was measured to the result.

use std::path::Path;
use std::time::{Duration, Instant};

use model::analysis::{Comparison, Verdict};
use model::trial::{SCHEMA, TriedRow, TriedSyncs, TriedVariant, TryResult};
use trial::{ChangeKind, FolderShare, Missing, Scratch, Trial, Variant};
use units::{counted, percent};

use super::measured::Measured;
use super::recorded::RecordedRun;

/// Syncs stand for a folder's time from this part of it on.
const MOSTLY: f64 = 0.5;

/// From this part of the time on it matters that storage was quicker once.
const QUICKER_MIN: f64 = 0.02;

/// What a result is made of beside what was measured.
pub(crate) struct Context<'a> {
    pub(crate) began: Instant,
    pub(crate) trial: &'a Trial,
    pub(crate) variants: &'a [Variant],
    pub(crate) recorded: &'a RecordedRun,
    /// How long it took as it is, next to the recorded run.
    pub(crate) once: Duration,
    pub(crate) lacks: &'a Missing,
    /// What is not tried, and why.
    pub(crate) left_out: Vec<String>,
}

/// What was found, without advice.
pub(crate) fn result(context: &Context<'_>, measured: &Measured) -> TryResult {
    let Context { trial, recorded, .. } = context;
    let Measured { run, analysis } = measured;
    let rows: Vec<TriedRow> =
        (0..context.variants.len()).map(|at| row(context, measured, at)).collect();
    let (copied, _) = trial.copied();
    let shown = |path: &Path| path.display().to_string();
    let folder = &trial.folder;
    let changes = trial.changes().changes.iter().filter(|change| !change.path.starts_with(folder));
    let syncs = recorded.found.syncs;
    TryResult {
        schema: SCHEMA.to_owned(),
        version: run.run.version.clone(),
        started: run.run.started.clone(),
        command: trial.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        folder: shown(folder),
        seconds: context.began.elapsed().as_secs_f64(),
        rounds: analysis.blocks,
        interrupted: run.run.interrupted,
        status: trial.status(),
        threshold: run.plan.threshold,
        seed: run.run.seed,
        bound: later(context.recorded.bill.bound.share, context, measured),
        bound_complete: recorded.bill.bound.complete,
        syncs: TriedSyncs {
            calls: syncs.calls,
            // Those of threads in parallel add up.
            share: syncs.share.min(1.0),
            at_least: syncs.unfiltered > 0,
        },
        advice: Vec::new(),
        rows,
        copied: copied.iter().map(|path| shown(path)).collect(),
        outside: changes
            .map(|change| match change.kind {
                ChangeKind::Removed => format!("{} (removed)", shown(&change.path)),
                _ => shown(&change.path),
            })
            .collect(),
        notes: notes(context, measured),
    }
}

fn row(context: &Context<'_>, measured: &Measured, at: usize) -> TriedRow {
    let analysis = &measured.analysis;
    let variant = &context.variants[at];
    let comparison = at.checked_sub(1).and_then(|pair| analysis.comparisons.get(pair));
    let failure = analysis.arms.get(at).and_then(|arm| arm.failure.clone());
    let verdict = comparison.map(|comparison| match failure {
        Some(_) => Verdict::Invalid,
        None => comparison.verdict,
    });
    let of = |value: fn(&Comparison) -> Option<f64>| comparison.and_then(value);
    TriedRow {
        variant: kind(variant),
        folder: variant.folder().map(|path| relative(&path, &context.trial.folder)),
        time_ns: analysis.arms.get(at).and_then(|arm| arm.typical_ns),
        ratio: of(|comparison| comparison.ratio),
        ratio_low: of(|comparison| comparison.ratio_low),
        ratio_high: of(|comparison| comparison.ratio_high),
        verdict,
        why: failure.or_else(|| comparison.and_then(|comparison| comparison.why.clone())),
        cause: cause(variant, context, measured),
        is_bound: *variant == Variant::SyncsFree,
        scratch: variant
            .folder()
            .and_then(|folder| scratch_of(&folder, context.recorded))
            .map(|scratch| later(scratch.share.min(1.0), context, measured)),
    }
}

fn kind(variant: &Variant) -> TriedVariant {
    match variant {
        Variant::AsNow => TriedVariant::AsNow,
        Variant::AllInRam => TriedVariant::AllInRam,
        Variant::InRam(_) => TriedVariant::InRam,
        Variant::SyncsFree => TriedVariant::SyncsFree,
        Variant::Cold => TriedVariant::Cold,
    }
}

/// A folder as its user would name it.
pub(crate) fn relative(path: &Path, folder: &Path) -> String {
    match path.strip_prefix(folder) {
        Ok(within) if within.as_os_str().is_empty() => path.display().to_string(),
        Ok(within) => format!("{}/", within.display()),
        Err(_) => path.display().to_string(),
    }
}

/// The scratch files that a folder has, where nearly all that is done there is theirs.
pub(crate) fn scratch_of<'a>(folder: &Path, recorded: &'a RecordedRun) -> Option<&'a Scratch> {
    let mut all = recorded.found.scratch.iter();
    all.find(|scratch| scratch.is_all && scratch.folder.starts_with(folder))
}

/// What a share of the recorded run's time may be of later ones. Storage may have been quicker then:
/// by how much later runs took longer may all be of files.
fn later(share: f64, Context { once, .. }: &Context<'_>, measured: &Measured) -> f64 {
    let once_ns = once.as_nanos() as f64;
    let now_ns = measured.analysis.arms.first().and_then(|now| now.typical_ns);
    let slower = now_ns.filter(|now_ns| *now_ns > once_ns);
    slower.map_or(share, |now_ns| 1.0 - (1.0 - share) * once_ns / now_ns)
}

/// What explains a row, with the bound beside it.
fn cause(variant: &Variant, context: &Context<'_>, measured: &Measured) -> String {
    let recorded = context.recorded;
    let share = recorded.bill.bound.share;
    let bound = later(share, context, measured);
    let quicker = if bound < share + QUICKER_MIN {
        String::new()
    } else {
        format!(" ({} of the recorded run, which was quicker)", percent(share))
    };
    let bound = percent(bound);
    let syncs = recorded.found.syncs;
    let is_most = syncs.calls > 0 && syncs.share >= MOSTLY * recorded.bill.bound.share;
    let count = counted(syncs.calls, "sync");
    match variant {
        Variant::AsNow => String::new(),
        Variant::AllInRam => {
            let because = if is_most {
                format!(", of which {count} {}", percent(syncs.share.min(1.0)))
            } else {
                String::new()
            };
            let more = if recorded.bill.bound.complete { "" } else { ", as far as seen" };
            format!("bound: its files take {bound}{quicker}{because}{more}")
        }
        Variant::InRam(folder) => of_folder(folder, context, measured),
        Variant::SyncsFree => {
            let least = if syncs.unfiltered > 0 { ", and others that no filter sees" } else { "" };
            let take = if syncs.calls == 1 { "takes" } else { "take" };
            format!("{count} {take} {} of its time{least}", percent(syncs.share.min(1.0)))
        }
        Variant::Cold => "what it uses is read from the device".to_owned(),
    }
}

fn of_folder(folder: &Path, context: &Context<'_>, measured: &Measured) -> String {
    let recorded = context.recorded;
    if let Some(scratch) = scratch_of(folder, recorded) {
        return format!(
            "scratch: {} that it removes again take {}",
            counted(scratch.files, "file"),
            percent(later(scratch.share.min(1.0), context, measured))
        );
    }
    let known = recorded.found.folders.iter().find(|share| share.path == folder);
    known.map_or_else(String::new, |FolderShare { share, syncs, .. }| {
        let most = if *syncs >= MOSTLY {
            format!(", {} of that in syncs", percent(*syncs))
        } else {
            String::new()
        };
        format!("its files take {} of the time{most}", percent(share.min(1.0)))
    })
}

fn notes(context: &Context<'_>, measured: &Measured) -> Vec<String> {
    let mut notes = Vec::new();
    let found = &context.recorded.found;
    if found.syncs.calls == 0 && found.syncs.unfiltered == 0 {
        notes.push("Syncs free: not run, because it forces nothing to the device.".to_owned());
    }
    if found.syncs.unfiltered > 0 {
        notes.push(
            "It also forces data to the device without a call that a filter sees (O_SYNC, \
             RWF_DSYNC or io_uring): without syncs it would save at least what is measured."
                .to_owned(),
        );
    }
    if let Some(why) = &context.lacks.filter {
        notes.push(format!("Syncs free: not run, because {why}."));
    }
    if context.lacks.takes_rights {
        notes.extend(found.privileged.iter().map(|program| {
            format!("{} had no rights of its own: run as root to try it.", program.display())
        }));
    }
    if let Some(refused) = found.refused.first() {
        let more = found.refused.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("It could not write {}{more}.", refused.display()));
    }
    notes.extend(context.trial.copied_otherwise());
    notes.extend(context.trial.left_processes());
    notes.extend(context.left_out.iter().map(|why| format!("Not tried: {why}.")));
    notes.extend(context.trial.uncompared());
    notes.extend(context.recorded.passed_over.clone());
    if let Some(why) = &measured.run.run.ended_early {
        notes.push(format!("Ended early: {why}."));
    }
    notes
}
