//! `cargo xtask bench fio`: the study `blocks` and fio, side by side on one place.
//!
//! Both read or write blocks of 4 KiB, at random or in order, buffered or with `O_DIRECT`,
//! one at a time or sixteen by `io_uring`, in files of one size whose cache is brought to
//! the same state. Where a device takes part, fio has as many operations at a time as a
//! slice, and what was written is forced to the device after each, untimed. In each round
//! every kind of I/O has both, so that whatever else the machine does meets both alike. What is judged
//! is the ratio of the two rates within a round: the interval of its median must hold 1,
//! or lie within 5% of it.
//!
//! fio's bookkeeping takes time for each operation, which is part of its rate: some
//! hundreds of nanoseconds, of which its engine `null` shows a part. A read from memory
//! takes no more than that. Where our rate is above fio's, it must therefore be that of a
//! bare loop over the system calls, or of fio with each program's own cost taken off.

mod contenders;
mod kinds;
mod spread;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use model::units::{count, parse_size};
use rand::seq::SliceRandom as _;

use crate::process;
use contenders::{Stage, Turn, fio_version};
use kinds::Kind;
use spread::{ROUNDS_MIN, Spread};

/// Rates that differ by no more than this are taken to be the same.
const ALIKE: f64 = 0.05;
/// An interval that is wider than this, up or down from its median, does not say that two
/// rates are the same because it holds 1.
const WIDTH_MAX: f64 = 0.15;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory to measure in
    #[arg(long, value_name = "DIR", default_value = ".")]
    place: PathBuf,

    /// Rounds, each with every kind of I/O by both
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = enough)]
    rounds: usize,

    /// Size of the files
    #[arg(long, value_name = "SIZE", default_value = "256 MiB", value_parser = parse_size)]
    file: u64,

    /// Only kinds whose name contains this
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

/// Reads a number of rounds of which an interval can be made.
fn enough(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rounds) if rounds >= ROUNDS_MIN => Ok(rounds),
        _ => Err(format!("an interval takes {ROUNDS_MIN} rounds or more")),
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(
        process::find_program("fio").is_some(),
        "there is no fio; on Debian and Ubuntu `apt-get install fio` installs it"
    );
    let iotoll = process::release_iotoll()?;
    let kinds = Kind::all().filter(|kind| kind.is_wanted(args.only.as_deref()));
    let mut rows: Vec<Row> = kinds.map(Row::of).collect();
    ensure!(!rows.is_empty(), "no kind of I/O has that in its name");
    let folder = tempfile::tempdir_in(&args.place).context("making a folder for both")?;
    let stage = Stage::new(&iotoll, folder.path(), args.file)?;
    println!("{} rounds in {}; {}", args.rounds, args.place.display(), fio_version()?);
    let begun = (0..=args.rounds).try_for_each(|round| {
        // The first is for getting warm, and counts for nothing.
        eprint!("\rround {round} of {}", args.rounds);
        one_round(&stage, &mut rows, round > 0)
    });
    eprintln!();
    begun?;
    folder.close()?;
    tell(&rows)
}

/// Every kind by both programs, in an order that is drawn anew.
fn one_round(stage: &Stage<'_>, rows: &mut [Row], counts: bool) -> Result<()> {
    rows.shuffle(&mut rand::rng());
    for row in rows {
        let turns = all(stage, row).with_context(|| row.kind.name())?;
        if counts {
            row.turns.push(turns);
        }
    }
    Ok(())
}

/// One turn of each, in any order once it is known how many operations a slice has.
fn all(stage: &Stage<'_>, row: &Row) -> Result<Turns> {
    let kind = row.kind;
    let fio_first = row.turns.last().filter(|_| rand::random());
    let early = fio_first.map(|turns| stage.fio(kind, turns.ours.stretch)).transpose()?;
    let ours = stage.iotoll(kind)?;
    let fio = early.map_or_else(|| stage.fio(kind, ours.stretch), Ok)?;
    let fio_alone = stage.fio_alone(kind, ours.stretch)?;
    let is_loop = !kind.queued && !kind.direct;
    let bare_loop = is_loop.then(|| stage.bare_loop(kind, ours.stretch)).transpose()?;
    Ok(Turns { ours, fio, fio_alone, bare_loop })
}

/// A kind of I/O, and what both came to in each round.
struct Row {
    kind: Kind,
    turns: Vec<Turns>,
}

struct Turns {
    ours: Turn,
    fio: Turn,
    /// fio without any I/O.
    fio_alone: Turn,
    /// The system calls alone, where that is a loop.
    bare_loop: Option<Turn>,
}

/// How two rates compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    SameAsLoop,
    SameWithoutOwnCost,
    Unclear,
    Differs,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::SameAsLoop => "same as a bare loop",
            Self::SameWithoutOwnCost => "same but for fio's own cost",
            Self::Unclear => "UNCLEAR, for the rounds differ too much",
            Self::Differs => "DIFFERS",
        }
    }

    fn of(ratio: &Spread, net: &Spread, to_loop: Option<&Spread>) -> Self {
        if is_same(ratio) {
            Self::Same
        } else if ratio.low > 1.0 && to_loop.is_some_and(is_same) {
            Self::SameAsLoop
        } else if ratio.width() > WIDTH_MAX {
            Self::Unclear
        } else if ratio.low > 1.0 && is_same(net) {
            Self::SameWithoutOwnCost
        } else {
            Self::Differs
        }
    }
}

fn is_same(ratio: &Spread) -> bool {
    let within = ratio.low >= 1.0 - ALIKE && ratio.high <= 1.0 + ALIKE;
    within || (ratio.low <= 1.0 && ratio.high >= 1.0 && ratio.width() <= WIDTH_MAX)
}

impl Row {
    fn of(kind: Kind) -> Self {
        Self { kind, turns: Vec::new() }
    }

    fn over(&self, of: impl Fn(&Turns) -> f64) -> Spread {
        Spread::of(self.turns.iter().map(of))
    }

    /// Our rate over fio's.
    fn ratio(&self) -> Spread {
        self.over(|turns| turns.fio.op_ns / turns.ours.op_ns)
    }

    /// The same with what each program takes by itself taken off.
    fn net(&self) -> Spread {
        self.over(|Turns { ours, fio, fio_alone, .. }| {
            (fio.op_ns - fio_alone.op_ns) / (ours.op_ns - ours.own_ns)
        })
    }

    /// Our rate, without our own cost, over that of a bare loop.
    fn to_loop(&self) -> Option<Spread> {
        let ratio = |turns: &Turns| {
            let ours = &turns.ours;
            turns.bare_loop.as_ref().map(|bare| bare.op_ns / (ours.op_ns - ours.own_ns))
        };
        let ratios: Option<Vec<f64>> = self.turns.iter().map(ratio).collect();
        ratios.map(Spread::of)
    }
}

/// Prints what came of it; an error where any kind is not the same.
fn tell(rows: &[Row]) -> Result<()> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| row.kind);
    println!(
        "{:<42} {:>31} {:>31} {:>22} {:>7} {:>22} {:>22}",
        "blocks of 4 KiB",
        "iotoll, IOPS",
        "fio, IOPS",
        "ratio",
        "own, ns",
        "without that",
        "to a bare loop"
    );
    let as_ratio = |ratio: f64| format!("{ratio:.3}");
    let mut missed = 0;
    for row in rows {
        let iops = |of: fn(&Turns) -> &Turn| row.over(|turns| 1e9 / of(turns).op_ns);
        let (ours, fio) = (iops(|turns| &turns.ours), iops(|turns| &turns.fio));
        let (ratio, net) = (row.ratio(), row.net());
        let to_loop = row.to_loop();
        let verdict = Verdict::of(&ratio, &net, to_loop.as_ref());
        let own_ns = row.over(|turns| turns.fio_alone.op_ns).median;
        missed += usize::from(matches!(verdict, Verdict::Unclear | Verdict::Differs));
        println!(
            "{:<42} {:>31} {:>31} {:>22} {own_ns:>7.0} {:>22} {:>22}  {}",
            row.kind.name(),
            ours.show(|iops| count(iops as u64)),
            fio.show(|iops| count(iops as u64)),
            ratio.show(as_ratio),
            net.show(as_ratio),
            to_loop.map_or_else(String::new, |ratio| ratio.show(as_ratio)),
            verdict.word()
        );
    }
    if missed > 0 {
        bail!("{missed} kinds of I/O are not the same by both");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(median: f64, low: f64, high: f64) -> Spread {
        Spread { median, low, high }
    }

    #[test]
    fn rates_are_the_same_where_the_interval_is_narrow_and_holds_1_or_near_it() {
        let far = spread(2.0, 1.9, 2.1);
        let verdict = |ratio| Verdict::of(&ratio, &far, None);
        assert_eq!(verdict(spread(1.03, 1.01, 1.04)), Verdict::Same);
        assert_eq!(verdict(spread(0.95, 0.89, 1.01)), Verdict::Same);
        assert_eq!(verdict(spread(1.1, 0.7, 1.5)), Verdict::Unclear);
        assert_eq!(verdict(spread(0.9, 0.88, 0.92)), Verdict::Differs);
        assert_eq!(verdict(spread(1.2, 1.18, 1.22)), Verdict::Differs);
    }

    #[test]
    fn only_a_rate_above_fios_is_explained_by_what_fio_takes_itself() {
        let near = spread(1.0, 0.99, 1.01);
        let above = Verdict::of(&spread(1.3, 1.28, 1.32), &near, None);
        assert_eq!(above, Verdict::SameWithoutOwnCost);
        let below = Verdict::of(&spread(0.8, 0.78, 0.82), &near, Some(&near));
        assert_eq!(below, Verdict::Differs);
        let far = spread(2.0, 1.9, 2.1);
        let as_loop = Verdict::of(&spread(1.3, 1.28, 1.32), &far, Some(&near));
        assert_eq!(as_loop, Verdict::SameAsLoop);
    }
}
