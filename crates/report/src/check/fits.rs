//! Whether the places are good enough for each program.

use anstyle::{AnsiColor, Style};
use model::check::{Fit, Fits, Measured, Need, NeedFigure, PlaceCheck, Program};
use model::printable::printable;
use units::{count, time};

use super::{Shown, times};
use crate::text::styled_paragraph;

pub(super) fn text(shown: Shown<'_>) -> String {
    let several = shown.check.places.len() > 1;
    let mut lines = Vec::new();
    for place in &shown.check.places {
        for fit in &place.fits {
            let Some(program) = shown.request.programs.iter().find(|p| p.name == fit.program)
            else {
                continue;
            };
            let name = printable(&program.name).into_owned();
            let name =
                if several { format!("{name} on {}", printable(&place.place)) } else { name };
            lines.push((name, fit.fits, why(place, fit, program)));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let longest = lines.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat(longest + 13);
    let mut out = String::from("\n");
    for (name, fits, why) in lines {
        let style = style(fits);
        let word = fits.as_str();
        let first =
            format!("{name:longest$}  {style}{word}{style:#}{:1$}", "", 9 - word.chars().count());
        out += &styled_paragraph("", &indent, &format!("{first}  {why}"), shown.width);
    }
    out
}

fn style(fits: Fits) -> Style {
    match fits {
        Fits::Yes => AnsiColor::Green.on_default().bold(),
        Fits::No => AnsiColor::Red.on_default().bold(),
        Fits::Undecided | Fits::NothingAsked => Style::new().bold(),
    }
}

fn why(place: &PlaceCheck, fit: &Fit, program: &Program) -> String {
    let Some(measured) = place.measured.get(fit.measured) else { return String::new() };
    if let Some(failure) = &measured.failure {
        return format!("not measured: {}", printable(failure));
    }
    let mut told: Vec<String> =
        program.needs.iter().map(|need| met(measured, need, program)).collect();
    if program.needs.is_empty() {
        told.push(format!("{}; its documentation names no figure", rate(measured, program)));
    }
    let mut text = told.join("; ");
    if fit.fits == Fits::Undecided {
        text += ". Undecided so far: measure for longer (--budget)";
    }
    if place.in_memory {
        text += ". But a sync keeps nothing in memory: a reboot takes all data";
    }
    text
}

fn met(measured: &Measured, need: &Need, program: &Program) -> String {
    match need.figure {
        NeedFigure::SyncP99 => {
            let p99 = match measured.p99_ns {
                None => "not known: too few were timed".to_owned(),
                p99 => times::with_interval(p99),
            };
            format!("p99 of its syncs is {p99}, needed: below {}", time(need.limit))
        }
        NeedFigure::CommitsPerSecond => {
            format!("{}, needed: {}", rate(measured, program), count(need.limit as u64))
        }
    }
}

/// `2,900 transactions a second by one client`.
fn rate(measured: &Measured, program: &Program) -> String {
    let Some(time) = measured.time_per_op_ns else { return "no figure so far".to_owned() };
    let commits = printable(&program.commit);
    format!("{} {commits}s a second by one client", count((1e9 / time.estimate) as u64))
}
