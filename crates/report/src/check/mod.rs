//! Whether storage is good enough, on one screen: what each place takes for one thing at a time,
//! beside the page cache; the answer for each program; and why.

mod fits;
mod scale;
mod times;

use anstyle::Style;
use model::analysis::Analysis;
use model::check::{Check, CheckRequest, Fits, Measure, PlaceCheck};
use model::place::PlaceFacts;
use model::run::Run;
use units::{capitalised, time};

use crate::rest::Rest;
use crate::text::{PROSE, Width, head_with, heading, paragraph};
use crate::{answer, manners};

/// Reasons of a place that are shown unless all is asked for.
const REASONS_MAX: usize = 4;

/// What a part of the screen is made of.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) request: &'a CheckRequest,
    pub(crate) check: &'a Check,
    pub(crate) full: bool,
    pub(crate) width: Width,
}

/// Whether a run is shown as a check: not where nothing was measured.
pub(crate) fn is_shown(run: &Run, analysis: &Analysis) -> bool {
    run.checks.is_some() && analysis.check.is_some() && analysis.blocks > 0
}

/// What a check says; nothing where the run is none, or nothing was measured.
pub(crate) fn text(run: &Run, analysis: &Analysis, rest: Rest<'_>, width: Width) -> Option<String> {
    let found = findings(run, analysis, rest, width)?;
    let width = width.min(PROSE);
    let early = manners::ended_early(&run.run, width);
    Some([title(run, width), early, manners::left_out(&run.run, width), found].concat())
}

/// The same without its title, and without what must be known of the run as a whole.
pub(crate) fn findings(
    run: &Run,
    analysis: &Analysis,
    rest: Rest<'_>,
    width: Width,
) -> Option<String> {
    let (request, check) = run.checks.as_ref().zip(analysis.check.as_ref())?;
    if !is_shown(run, analysis) {
        return None;
    }
    let (full, width) = (rest.is_below(), width.min(PROSE));
    let shown = Shown { request, check, full, width };
    let mut out = times::text(shown);
    out += &fits::text(shown);
    for (place, facts) in check.places.iter().zip(&run.places) {
        out += &explained(shown, place, facts);
    }
    let cautions = if full { String::new() } else { answer::cautions(run, analysis, width) };
    if !cautions.is_empty() {
        out += &format!("\n{cautions}");
    }
    Some(out + &more(rest, width))
}

/// `iotoll check  srv=/srv (ext4 on vda)                    20 s`.
fn title(run: &Run, width: Width) -> String {
    let place = |place: &PlaceFacts| {
        let first = place.devices.first().map(|device| device.name.as_str());
        let below = place.bottom_devices().map(|device| device.name.as_str());
        let mut devices: Vec<&str> = first.into_iter().chain(below).collect();
        devices.dedup();
        let on =
            if devices.is_empty() { String::new() } else { format!(" on {}", devices.join(", ")) };
        format!("  {}={} ({}{on})", place.label, place.shown(), place.filesystem)
    };
    let places: String = run.places.iter().map(place).collect();
    let head = format!("iotoll check{places}");
    let state = if run.run.interrupted { "interrupted after " } else { "" };
    let extent = format!("{state}{:.0} s", run.run.seconds);
    head_with(&head, &extent, width).unwrap_or_else(|| {
        let wrapped = paragraph("", "              ", &format!("{head}  {extent}"), width);
        wrapped.lines().map(heading).collect()
    })
}

/// What explains a place's figures, and where they lie among kinds of storage.
fn explained(shown: Shown<'_>, place: &PlaceCheck, facts: &PlaceFacts) -> String {
    let Shown { full, width, check, .. } = shown;
    let of = if check.places.len() > 1 { format!("Why {}", facts.label) } else { "Why".to_owned() };
    let mut out = format!("\n{}", heading(&of));
    out += &scale::text(place, width);
    let most = if full { usize::MAX } else { REASONS_MAX };
    for reason in place.why.iter().take(most) {
        out += &paragraph("  ", "    ", &capitalised(&reason.text), width);
        for command in &reason.try_this {
            let dim = Style::new().dimmed();
            out += &format!("{dim}{}{dim:#}", paragraph("      ", "      ", command, width));
        }
    }
    for measured in &place.measured {
        if let Some(from) = measured.from_device.as_ref().filter(|from| full || !from.proved)
            && !place.in_memory
        {
            let what = times::name(measured.of.measure);
            let depth = measured.of.depth.filter(|depth| *depth > 1);
            let depth = depth.map_or_else(String::new, |depth| format!(", {depth} at a time"));
            let text = format!("{}{depth}: {}.", capitalised(what), from.text);
            out += &paragraph("  ", "    ", &text, width);
            if !full {
                break;
            }
        }
    }
    if let Some(proof) = place.of(Measure::Read).and_then(|read| read.from_device.as_ref())
        && proof.proved
        && !full
    {
        out += &paragraph("  ", "    ", &format!("Cold reads are proved: {}.", proof.text), width);
    }
    out
}

fn more(rest: Rest<'_>, width: Width) -> String {
    let text = match rest.command("show", "--full") {
        Some(full) => format!(
            "All of it: {full}   Watch it: iotoll diff, iotoll history   Sources: docs/check.md"
        ),
        None => {
            "docs/check.md says what is measured, and where the requirements come from.".to_owned()
        }
    };
    let dim = Style::new().dimmed();
    format!("\n{dim}{}{dim:#}", paragraph("", "", &text, width))
}

/// The same in a few words, for a list of runs.
pub(crate) fn in_short(check: &Check) -> Option<String> {
    let place = check.places.first()?;
    let fits: Vec<String> = place
        .fits
        .iter()
        .filter(|fit| fit.fits != Fits::NothingAsked)
        .map(|fit| format!("{} {}", fit.program, fit.fits.as_str()))
        .collect();
    let p99 = place.of(Measure::Fsync).and_then(|fsync| fsync.p99_ns);
    let p99 = p99.map(|p99| format!("p99 of fsync {}", time(p99.estimate)));
    let all: Vec<String> = fits.into_iter().chain(p99).collect();
    (!all.is_empty()).then(|| format!("check: {}", all.join(", ")))
}
