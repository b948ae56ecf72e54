//! Whether a place is good enough for programs, by what their documentation asks.

use model::check::{Fit, Fits, Measured, Need, NeedFigure};

use super::Subject;

/// The answer for each program that was measured at the place. Who asks for quick syncs asks for what
/// they keep: a place in memory is good enough for nobody.
pub(super) fn of(subject: &Subject<'_>, measured: &[Measured], in_memory: bool) -> Vec<Fit> {
    let fit = |(at, measured): (usize, &Measured)| {
        let name = measured.of.program.as_ref()?;
        let program = subject.request.programs.iter().find(|program| program.name == *name)?;
        let needs: Vec<Fits> =
            program.needs.iter().map(|need| is_met(subject, measured, need)).collect();
        let fits = match needs.iter().copied().max() {
            Some(_) if in_memory => Fits::No,
            fits => fits.unwrap_or(Fits::NothingAsked),
        };
        Some(Fit { program: name.clone(), measured: at, fits, needs })
    };
    measured.iter().enumerate().filter_map(fit).collect()
}

fn is_met(subject: &Subject<'_>, measured: &Measured, need: &Need) -> Fits {
    let sure = match need.figure {
        NeedFigure::SyncP99 => subject.latencies[measured.arm].is_at_most(0.99, need.limit),
        NeedFigure::CommitsPerSecond => measured.time_per_op_ns.and_then(|time| {
            let [least, most] = [time.high?, time.low].map(|ns| 1e9 / ns);
            if least > need.limit { Some(true) } else { (most < need.limit).then_some(false) }
        }),
    };
    match sure {
        Some(true) => Fits::Yes,
        Some(false) => Fits::No,
        None => Fits::Undecided,
    }
}
