//! `cargo xtask bench clients`: ranks of MPI on this machine, beside what others get done.
//!
//! In each round, every kind of I/O by both, in an order that is drawn anew: ranks that read or
//! write blocks, each in a file of its own or all in one, beside as many clients of fio
//! (`fio --client`), each with a server of its own; and ranks that append to one log beside as
//! many native writers of one process (`log.writers`).
//!
//! Of blocks the ratio of the times per operation that a client sees is judged within a round, as
//! `bench fio` does: the interval of its median must hold 1, or lie within 5% of it, with fio's
//! own cost taken off where that counts. Of the log, ranks must get done together at least 0.95
//! of what the writers do. How far apart the ranks began is told of all slices.

mod fio;
mod ours;

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use rand::seq::SliceRandom as _;
use units::{count, time};

use crate::spread::{ALIKE, Spread, enough};
use fio::Fio;
use ours::{Done, Ours};
use xtask::process;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory to measure in
    #[arg(long, value_name = "DIR", default_value = ".")]
    place: PathBuf,

    /// How many clients
    #[arg(long, value_name = "N", default_value_t = 4)]
    clients: usize,

    /// Rounds, each with every kind by both
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = enough)]
    rounds: usize,

    /// Only kinds whose name contains this
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

/// What both do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blocks { writes: bool, random: bool, one_file: bool },
    Appends,
}

impl Kind {
    fn all() -> impl Iterator<Item = Self> {
        let blocks = (0..8_u8).map(|bits| Self::Blocks {
            writes: bits & 1 != 0,
            random: bits & 2 != 0,
            one_file: bits & 4 != 0,
        });
        blocks.chain([Self::Appends])
    }

    /// As `random reads, a file each`.
    fn name(self) -> String {
        let Self::Blocks { writes, random, one_file } = self else {
            return "appends to one log, beside log.writers".to_owned();
        };
        let order = if random { "random" } else { "sequential" };
        let access = if writes { "writes" } else { "reads" };
        let files = if one_file { "one file" } else { "a file each" };
        format!("{order} {access}, {files}")
    }
}

/// A kind, and what both came to in each round.
struct Row {
    kind: Kind,
    rounds: Vec<Round>,
}

struct Round {
    ours: Done,
    /// What the others came to: the time per operation of fio's clients, or what writers get
    /// done in a second.
    theirs: f64,
    /// The time per operation of fio without any I/O.
    fio_alone_ns: Option<f64>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.clients > 1, "--clients {}: give 2 or more", args.clients);
    for (program, package) in [("mpirun", "openmpi-bin"), ("fio", "fio")] {
        let is_there = process::find_program(program).is_some();
        ensure!(is_there, "there is no {program}; on Debian `apt-get install {package}`");
    }
    let is_wanted = |kind: &Kind| args.only.as_ref().is_none_or(|part| kind.name().contains(part));
    let kinds = Kind::all().filter(is_wanted);
    let mut rows: Vec<Row> = kinds.map(|kind| Row { kind, rounds: Vec::new() }).collect();
    ensure!(!rows.is_empty(), "no kind has that in its name");
    let iotoll = process::build_release_iotoll_with_mpi()?;
    let folder = tempfile::tempdir_in(&args.place).context("making a folder for both")?;
    let ours = Ours::new(iotoll, folder.path(), args.clients);
    let fio = Fio::new(folder.path(), args.clients)?;
    println!("{} clients, {} rounds in {}", args.clients, args.rounds, args.place.display());
    for round in 0..args.rounds {
        eprint!("\rround {} of {}", round + 1, args.rounds);
        rows.shuffle(&mut rand::rng());
        for row in &mut rows {
            let round = both(row.kind, &ours, &fio).with_context(|| row.kind.name())?;
            row.rounds.push(round);
        }
    }
    eprintln!();
    drop(fio);
    folder.close()?;
    let all: Vec<Kind> = Kind::all().collect();
    rows.sort_by_key(|row| all.iter().position(|kind| *kind == row.kind));
    let differ = rows.iter().filter(|row| !row.tell()).count();
    tell_skew(&rows);
    ensure!(differ == 0, "{differ} kinds are not the same by both");
    Ok(())
}

/// One turn of each, in any order.
fn both(kind: Kind, ours: &Ours, fio: &Fio) -> Result<Round> {
    let theirs = || match kind {
        Kind::Blocks { .. } => fio.op_ns(kind),
        Kind::Appends => ours.writers_per_s(),
    };
    let early = rand::random::<bool>().then(theirs).transpose()?;
    let ours = ours.turn(kind)?;
    let theirs = early.map_or_else(theirs, Ok)?;
    let fio_alone_ns = if kind == Kind::Appends { None } else { Some(fio.alone_op_ns(kind)?) };
    Ok(Round { ours, theirs, fio_alone_ns })
}

impl Row {
    fn over(&self, of: impl Fn(&Round) -> f64) -> Spread {
        Spread::of(self.rounds.iter().map(of))
    }

    /// Prints what came of it; whether it is as it should be.
    fn tell(&self) -> bool {
        println!("{}", self.kind.name());
        let as_ratio = |ratio: f64| format!("{ratio:.3}");
        if self.kind == Kind::Appends {
            let rate = |per_s: f64| format!("{}/s", count(per_s as u64));
            let ratio = self.over(|round| round.ours.per_s / round.theirs);
            println!("  ranks    {}", self.over(|round| round.ours.per_s).show(rate));
            println!("  writers  {}", self.over(|round| round.theirs).show(rate));
            println!("  ratio    {}", ratio.show(as_ratio));
            let is_enough = ratio.median >= 1.0 - ALIKE;
            println!("  {}", if is_enough { "at least as fast" } else { "SLOWER" });
            return is_enough;
        }
        let (ours, theirs) = (self.over(|round| round.ours.op_ns), self.over(|round| round.theirs));
        let ratio = self.over(|round| round.ours.op_ns / round.theirs);
        let net = self.over(|round| {
            let fio_ns = round.theirs - round.fio_alone_ns.unwrap_or_default();
            (round.ours.op_ns - round.ours.own_ns) / fio_ns
        });
        println!("  iotoll   {}", ours.show(time));
        println!("  fio      {}", theirs.show(time));
        println!("  ratio    {}; {} without own costs", ratio.show(as_ratio), net.show(as_ratio));
        let (word, is_same) = verdict(&ratio, &net, theirs.holds(ours.median));
        println!("  {word}");
        is_same
    }
}

/// How two times compare, and whether that is as it should be.
fn verdict(ratio: &Spread, net: &Spread, is_in_theirs: bool) -> (&'static str, bool) {
    if ratio.is_same() {
        ("same", true)
    } else if net.is_same() {
        ("same but for own costs", true)
    } else if ratio.holds(1.0) && is_in_theirs {
        ("in fio's interval", true)
    } else if ratio.is_wide() {
        ("UNCLEAR, for the rounds differ too much", false)
    } else {
        ("DIFFERS", false)
    }
}

/// Within what the ranks began, of all slices.
fn tell_skew(rows: &[Row]) {
    let slices = rows.iter().flat_map(|row| &row.rounds).flat_map(|round| &round.ours.skews_ns);
    let mut skews: Vec<f64> = slices.copied().collect();
    skews.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| skews.get((share * skews.len() as f64) as usize).copied();
    if let [Some(median), Some(high), Some(max)] =
        [at(0.5), at(0.95), skews.last().copied()].map(|skew| skew.map(time))
    {
        let slices = count(skews.len() as u64);
        println!("skew of {slices} slices: median {median}, 95% within {high}, most {max}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(median: f64, low: f64, high: f64) -> Spread {
        Spread { median, low, high }
    }

    #[test]
    fn times_are_the_same_where_the_interval_is_narrow_and_holds_1_or_near_it() {
        let off = || spread(1.5, 1.4, 1.6);
        let same = |ratio: Spread| verdict(&ratio, &off(), false).1;
        assert!(same(spread(1.03, 1.01, 1.04)) && same(spread(0.95, 0.89, 1.01)));
        assert!(!same(spread(1.07, 1.06, 1.08)) && !same(spread(1.0, 0.7, 1.4)));
        assert_eq!(verdict(&off(), &spread(1.0, 0.98, 1.02), false).0, "same but for own costs");
        assert_eq!(verdict(&spread(1.0, 0.7, 1.4), &off(), true).0, "in fio's interval");
        assert!(verdict(&spread(1.0, 0.7, 1.4), &off(), false).0.starts_with("UNCLEAR"));
        assert_eq!(verdict(&spread(1.07, 1.06, 1.08), &off(), true).0, "DIFFERS");
    }
}
