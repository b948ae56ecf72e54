//! `cargo xtask bench fio`: the study `blocks` and fio, side by side on one place.
//!
//! Both read or write blocks of 4 KiB, at random or in order, buffered or with `O_DIRECT`,
//! one at a time or sixteen by `io_uring`, in files of one size whose cache is brought to
//! the same state. fio does in one job, as people run it, as many operations as our slices
//! do together. In each round every kind of I/O has both, so that whatever else the machine
//! does meets both alike. What is judged is the ratio of the two rates within a round: the
//! interval of its median must hold 1, or lie within 5% of it. Where the rounds differ too
//! much for that, our rate must lie in the interval of fio's.
//!
//! fio's bookkeeping takes time for each operation, which is part of its rate: some
//! hundreds of nanoseconds, of which its engine `null` shows a part, and less where it is
//! told to look at the clock less often, as it is here for I/O in memory. A read from memory
//! takes no more than that. Where our rate is above fio's, it must therefore be that of a
//! bare loop over the system calls, or of fio with each program's own cost taken off.

mod contenders;
mod kinds;

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use rand::seq::SliceRandom as _;
use units::{count, parse_size};

use crate::spread::{Spread, enough};
use contenders::{Stage, Turn, fio_version};
use kinds::Kind;
use xtask::process;

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

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(
        process::find_program("fio").is_some(),
        "there is no fio; on Debian and Ubuntu `apt-get install fio` installs it"
    );
    let iotoll = process::build_release_iotoll()?;
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
    let early = fio_first.map(|turns| stage.fio(kind, turns.ours.slice)).transpose()?;
    let ours = stage.iotoll(kind)?;
    let fio = early.map_or_else(|| stage.fio(kind, ours.slice), Ok)?;
    // Beside what a device takes it is nothing.
    let fio_alone = (!kind.direct).then(|| stage.fio_alone(kind, ours.slice)).transpose()?;
    let is_loop = !kind.queued && !kind.direct;
    let bare_loop = is_loop.then(|| stage.bare_loop(kind, ours.slice)).transpose()?;
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
    /// fio without any I/O, where that counts.
    fio_alone: Option<Turn>,
    /// The system calls alone, where that is a loop.
    bare_loop: Option<Turn>,
}

impl Row {
    fn of(kind: Kind) -> Self {
        Self { kind, turns: Vec::new() }
    }

    fn over(&self, of: impl Fn(&Turns) -> f64) -> Spread {
        Spread::of(self.turns.iter().map(of))
    }

    /// Of what not every round has.
    fn over_some(&self, of: impl Fn(&Turns) -> Option<f64>) -> Option<Spread> {
        let values: Option<Vec<f64>> = self.turns.iter().map(of).collect();
        values.map(Spread::of)
    }

    fn rates(&self) -> Rates {
        Rates {
            ours: self.over(|turns| 1e9 / turns.ours.op_ns),
            fio: self.over(|turns| 1e9 / turns.fio.op_ns),
            ratio: self.over(|turns| turns.fio.op_ns / turns.ours.op_ns),
            net: self.over_some(|Turns { ours, fio, fio_alone, .. }| {
                Some((fio.op_ns - fio_alone.as_ref()?.op_ns) / (ours.op_ns - ours.own_ns))
            }),
            to_loop: self.over_some(|Turns { ours, bare_loop, .. }| {
                Some(bare_loop.as_ref()?.op_ns / (ours.op_ns - ours.own_ns))
            }),
        }
    }

    /// What fio takes by itself, where that counts.
    fn fio_own_ns(&self) -> Option<f64> {
        let own = self.over_some(|turns| turns.fio_alone.as_ref().map(|alone| alone.op_ns));
        own.map(|own| own.median)
    }
}

/// What the rounds of a kind came to.
struct Rates {
    /// Operations a second.
    ours: Spread,
    fio: Spread,
    /// Our rate over fio's.
    ratio: Spread,
    /// The same with what each program takes by itself taken off.
    net: Option<Spread>,
    /// Our rate, without our own cost, over that of a bare loop.
    to_loop: Option<Spread>,
}

impl Rates {
    /// How the two compare, and whether they are the same.
    fn verdict(&self) -> (&'static str, bool) {
        let Self { ours, fio, ratio, net, to_loop } = self;
        if ratio.is_same() {
            ("same", true)
        } else if ratio.holds(1.0) && fio.holds(ours.median) {
            ("in fio's interval", true)
        } else if ratio.low > 1.0 && to_loop.as_ref().is_some_and(Spread::is_same) {
            ("same as a bare loop", true)
        } else if ratio.low > 1.0 && net.as_ref().is_some_and(Spread::is_same) {
            ("same but for fio's own cost", true)
        } else if ratio.is_wide() {
            ("UNCLEAR, for the rounds differ too much", false)
        } else {
            ("DIFFERS", false)
        }
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
    let if_any = |ratio: Option<Spread>| ratio.map_or_else(String::new, |r| r.show(as_ratio));
    let iops = |rate: &Spread| rate.show(|iops| count(iops as u64));
    let mut missed = 0;
    for row in rows {
        let rates = row.rates();
        let (word, is_same) = rates.verdict();
        let own = row.fio_own_ns().map_or_else(String::new, |ns| format!("{ns:.0}"));
        missed += usize::from(!is_same);
        println!(
            "{:<42} {:>31} {:>31} {:>22} {own:>7} {:>22} {:>22}  {word}",
            row.kind.name(),
            iops(&rates.ours),
            iops(&rates.fio),
            rates.ratio.show(as_ratio),
            if_any(rates.net),
            if_any(rates.to_loop)
        );
    }
    ensure!(missed == 0, "{missed} kinds of I/O are not the same by both");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(median: f64, low: f64, high: f64) -> Spread {
        Spread { median, low, high }
    }

    /// With rates of fio between 90 and 110.
    fn verdict(ratio: Spread, net: Option<Spread>, to_loop: Option<Spread>) -> &'static str {
        let ours = spread(100.0 * ratio.median, 0.0, 0.0);
        Rates { ours, fio: spread(100.0, 90.0, 110.0), ratio, net, to_loop }.verdict().0
    }

    #[test]
    fn rates_are_the_same_where_the_interval_is_narrow_and_holds_1_or_near_it() {
        let verdict = |ratio| verdict(ratio, None, None);
        assert_eq!(verdict(spread(1.03, 1.01, 1.04)), "same");
        assert_eq!(verdict(spread(0.95, 0.89, 1.01)), "same");
        assert_eq!(verdict(spread(1.08, 0.7, 1.5)), "in fio's interval");
        assert_eq!(verdict(spread(1.15, 0.7, 1.5)), "UNCLEAR, for the rounds differ too much");
        assert_eq!(verdict(spread(0.92, 0.9, 0.94)), "DIFFERS");
        assert_eq!(verdict(spread(1.2, 1.18, 1.22)), "DIFFERS");
    }

    #[test]
    fn only_a_rate_above_fios_is_explained_by_what_fio_takes_itself() {
        let near = || Some(spread(1.0, 0.99, 1.01));
        let above = || spread(1.3, 1.28, 1.32);
        assert_eq!(verdict(above(), near(), None), "same but for fio's own cost");
        assert_eq!(verdict(spread(0.8, 0.78, 0.82), near(), near()), "DIFFERS");
        let far = Some(spread(2.0, 1.9, 2.1));
        assert_eq!(verdict(above(), far, near()), "same as a bare loop");
    }
}
