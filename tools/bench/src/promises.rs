//! `cargo xtask bench promises`: what a strategy promises at a power failure, tried.
//!
//! A file system stands on a loop device over a disk of our own ([`device`]), which
//! records every write, every flush, and what the application was told meanwhile
//! ([`tape`]). A slice of the strategy runs on it, by the study's own code. Then the power
//! fails, at random moments and as often as wanted: each time the disk becomes what it had
//! at the last flush that it answered, and some of what it took since, in any order and
//! torn in sectors. The file system is mounted from that, which replays its journal, and
//! the study looks at what is there ([`engine::study::PowerTrial`]).
//!
//! In every second recording somebody else syncs the file system now and then, as
//! neighbours do, so that what a strategy does not sync is under way at most moments.
//!
//! Two controls show that this can find anything, and that it finds nothing where there is
//! nothing: with `--lying` the disk answers flushes and keeps nothing, which has to refute
//! every promise that a flush is part of; and after each recording the file system is unmounted as at a
//! shutdown, whereupon nothing may be lost.
//!
//! What this does not show: disks that lie about flushes, sectors of which a part is
//! written, and kernels other than the one that it runs on. A superblock that is longer
//! than a sector may be torn, and is repaired; btrfs counts on a disk that writes 4 KiB
//! whole (`--sector 4096`), and goes back behind a flush where one does not.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::process::StopFlag;
use anyhow::{Context as _, Result, ensure};
use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::{PowerTrial, SliceFolders, StudyError};
use host::clock::Clock;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use xtask::pool::{self, Done, Job};

use self::device::Command as Told;
use self::disk::Disk;
use self::mounts::{FileSystem, Mounted, by_ourselves};
use self::rows::{Row, rows};
use self::tally::{Found, Tally};
use self::tape::{Disk as Kind, Moment};

pub(crate) mod device;
pub(crate) mod disk;
mod mounts;
mod rows;
mod tally;
mod tape;

/// Cuts of one recording; each has other moments, and another order of writing back.
const CUTS_OF_RECORDING: u64 = 100;
/// How long a neighbour waits from sync to sync at the most.
const NEIGHBOUR_MAX: Duration = Duration::from_millis(8);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often the power fails for each strategy
    #[arg(long, default_value_t = 1000)]
    cuts: u64,
    /// The file systems to try
    #[arg(long, value_delimiter = ',', default_value = "ext4")]
    filesystem: Vec<FileSystem>,
    /// Only rows whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// The control: a disk that answers flushes and keeps nothing for sure
    #[arg(long)]
    lying: bool,
    /// What the disk writes whole or not at all, in bytes
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u16).range(512..))]
    sector: u16,
    /// How many are tried at once; each waits for the kernel most of the time
    #[arg(long, default_value_t = 8)]
    at_once: usize,
    /// What the moments and the disks are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let tallies = Mutex::new(BTreeMap::new());
    let rows = rows();
    let chosen =
        || rows.iter().copied().enumerate().filter(|(_, row)| row.name().contains(&args.only));
    let of_one = |system| chosen().map(move |(number, row)| (system, number, row));
    let jobs = args.filesystem.iter().flat_map(|system| of_one(*system));
    let job = |(system, number, row): (FileSystem, usize, Row)| Job {
        name: format!("{} on {}", row.name(), system.name()),
        run: Box::new({
            let tallies = &tallies;
            move || {
                let tally = row_on(system, &row, args)?;
                let examples: Vec<String> = tally.examples().collect();
                let mut tallies = tallies.lock().unwrap_or_else(PoisonError::into_inner);
                tallies.insert((number, system), tally);
                Ok(examples)
            }
        }),
    };
    let done = pool::run(jobs.map(job).collect(), args.at_once, |done: &Done<_>| {
        eprintln!("{}: {:.0} s", done.name, done.took.as_secs_f64());
        done.result.iter().flatten().for_each(|example| eprintln!("  {example}"));
    });
    for Done { name, result, .. } in done {
        result.context(name)?;
    }
    let tallies = tallies.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{}", Tally::HEAD);
    for ((number, system), tally) in &tallies {
        let row = &rows[*number];
        println!("{}", tally.line(&row.name(), system.name(), row.promise()?));
    }
    judge(tallies.values().filter(|tally| tally.is_refuted()).count(), args.lying)
}

/// An honest disk refutes nothing; one that lies has to.
fn judge(refuted: usize, lying: bool) -> Result<()> {
    ensure!(lying || refuted == 0, "{refuted} promises are refuted");
    ensure!(!lying || refuted > 0, "a disk that keeps nothing has refuted no promise");
    Ok(())
}

fn row_on(system: FileSystem, row: &Row, args: &Args) -> Result<Tally> {
    by_ourselves()?;
    let program = std::env::current_exe().context("finding this program")?;
    let kind = Kind { honest: !args.lying, sector: usize::from(args.sector) };
    Bench::new(&program, system, kind)?.row(row, args.cuts, args.seed)
}

/// A disk with a file system, which recordings begin with.
struct Bench {
    system: FileSystem,
    kind: Kind,
    folder: PathBuf,
    /// Holds `folder`.
    _within: tempfile::TempDir,
    disk: Rc<Disk>,
}

impl Bench {
    fn new(program: &Path, system: FileSystem, kind: Kind) -> Result<Self> {
        let within = tempfile::tempdir()?;
        let folder = within.path().join("mounted");
        fs::create_dir(&folder)?;
        let disk = Rc::new(Disk::start(program, system.disk_bytes())?);
        system.make(&disk.file())?;
        disk.tell(Told::Keep)?;
        Ok(Self { system, kind, folder, _within: within, disk })
    }

    /// Tries one strategy so many times.
    fn row(&self, row: &Row, cuts: u64, seed: u64) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        while tally.cuts < cuts {
            let with_neighbour = tally.recordings % 2 == 0;
            let mut made = row.trial()?.context("the study has nothing to lose")?;
            let moments = self.record(made.as_mut(), row.operations, with_neighbour)?;
            tally.recordings += 1;
            let chosen = CUTS_OF_RECORDING.min(cuts - tally.cuts);
            let mut chosen: Vec<Moment> = (0..chosen)
                .map(|_| moments.choose(&mut rng).copied().context("nothing was recorded"))
                .collect::<Result<_>>()?;
            // What is safe only grows from one to the next.
            chosen.sort_unstable_by_key(|moment| moment.events);
            for Moment { events, acknowledged } in chosen {
                let cut = Told::Cut { events, seed: rng.random(), disk: self.kind };
                self.disk.tell(cut)?;
                tally.add(self.look(made.as_ref(), acknowledged)?);
            }
            self.disk.tell(Told::Whole)?;
            let Found { left, .. } = self.look(made.as_ref(), row.operations)?;
            ensure!(left == Left::default(), "after a shutdown: {left:?}");
        }
        Ok(tally)
    }

    /// Runs a slice; the moments at which the power may fail in it.
    fn record(
        &self,
        made: &mut dyn PowerTrial,
        operations: u64,
        with_neighbour: bool,
    ) -> Result<Vec<Moment>> {
        self.disk.tell(Told::Restore)?;
        let mounted = self.mount()?;
        let [fresh, kept] = ["fresh", "kept"].map(|name| {
            let path = self.folder.join(name);
            fs::create_dir(&path)?;
            File::open(&path)
        });
        let (fresh, kept) = (fresh?, kept?);
        rustix::fs::syncfs(&fresh)?;
        let folders = SliceFolders::alone(fresh.as_fd(), kept.as_fd(), true);
        let moments = self.write(made, folders, operations, with_neighbour);
        drop((fresh, kept));
        mounted.unmount()?;
        moments
    }

    fn write(
        &self,
        made: &mut dyn PowerTrial,
        folders: SliceFolders<'_>,
        operations: u64,
        with_neighbour: bool,
    ) -> Result<Vec<Moment>> {
        let (clock, stop) = (Clock::new(), StopFlag::default());
        let settled = made.starts_settled();
        if !settled {
            self.disk.tell(Told::Record)?;
        }
        let ready =
            made.ready(folders, operations, &SliceTimer::new(clock.clone(), stop.clone()))?;
        if settled {
            rustix::fs::syncfs(folders.fresh)?;
            self.disk.tell(Told::Record)?;
        }
        let disk = Rc::clone(&self.disk);
        let tell = move |done| {
            let told = disk.tell(Told::Acknowledge(done));
            told.map_err(|error| StudyError::Worker(format!("{error:#}")))
        };
        let mut timer = SliceTimer::telling(clock, stop, Box::new(tell));
        let (ended, folder) = (AtomicBool::new(false), folders.fresh);
        std::thread::scope(|scope| {
            if with_neighbour {
                scope.spawn(|| sync_now_and_then(folder, &ended));
            }
            timer.start();
            let ran = ready.run(&mut timer);
            ended.store(true, Ordering::Relaxed);
            // Before files are closed: some are written to by that.
            let moments = self.disk.end();
            ran?;
            moments
        })
    }

    fn mount(&self) -> Result<Mounted> {
        Mounted::new(self.system, &self.disk.file(), &self.folder)
    }

    /// Mounts what is on the disk and looks at what is left.
    fn look(&self, made: &dyn PowerTrial, acknowledged: u64) -> Result<Found> {
        let mut was_repaired = false;
        let mounted = self.mount().or_else(|error| {
            was_repaired = self.system.repair(&self.disk.file())?;
            if was_repaired { self.mount() } else { Err(error) }
        });
        let mounted = match mounted {
            Ok(mounted) => mounted,
            Err(error) => {
                let what = Some(format!("the file system cannot be mounted: {error:#}"));
                let left = Left { lost: acknowledged, damage: what.clone(), against: what };
                return Ok(Found { left, was_repaired });
            }
        };
        let [fresh, kept] = ["fresh", "kept"].map(|name| File::open(self.folder.join(name)));
        let (fresh, kept) = (fresh?, kept?);
        let folders = SliceFolders::alone(fresh.as_fd(), kept.as_fd(), false);
        let left = made.look(folders, acknowledged);
        drop((fresh, kept));
        mounted.unmount()?;
        Ok(Found { left: left?, was_repaired })
    }
}

/// What a neighbour does to a file system: all that was written to it is written back.
fn sync_now_and_then(folder: BorrowedFd<'_>, ended: &AtomicBool) {
    let mut rng = rand::rng();
    while !ended.load(Ordering::Relaxed) {
        std::thread::sleep(NEIGHBOUR_MAX.mul_f64(rng.random()));
        let _ = rustix::fs::syncfs(folder);
    }
}
