//! A command as one of several processes that a launcher of MPI started.
//!
//! Rank 0 does what the user asked for and speaks for all. Of the other ranks none prints:
//! what is wrong is wrong for each of them, and is said once.

use anyhow::bail;
use ranks::{Launch, Leader};

use crate::exit::{Exit, UsageError};

/// Whether this process is the one that speaks.
pub(crate) fn is_rank_zero() -> bool {
    Launch::here().is_none_or(|launch| launch.rank == 0)
}

/// How those end that do not speak where rank 0 tells what is wrong: a launcher ends all others as
/// soon as one ends with anything else, and rank 0 might not have spoken by then.
pub(crate) const UNSPOKEN: Exit = Exit::Done;

/// What rank 0 does with the others as its clients, where there are any.
type Leading<'a> = &'a dyn Fn(Option<&Leader>) -> anyhow::Result<Exit>;

/// A command that measures with all of them.
pub(crate) fn with_all(lead: Leading<'_>) -> anyhow::Result<Exit> {
    match Launch::here() {
        None => lead(None),
        Some(launch) => {
            without_styles();
            together(lead, launch)
        }
    }
}

/// Launchers give processes a terminal of their own, wherever what they print goes.
fn without_styles() {
    if std::env::var_os("CLICOLOR_FORCE").is_none_or(|forced| forced == "0") {
        anstream::ColorChoice::Never.write_global();
    }
}

/// A command that measures with one process.
pub(crate) fn alone(
    command: &str,
    run: impl FnOnce() -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    match Launch::here() {
        None => run(),
        Some(launch) if launch.rank > 0 => Ok(UNSPOKEN),
        Some(Launch { launcher, ranks, .. }) => bail!(UsageError(format!(
            "{launcher} started {ranks} processes, but `iotoll {command}` measures with one: run \
             it without {launcher}; only `iotoll compare` measures with several"
        ))),
    }
}

#[cfg(not(feature = "mpi"))]
fn together(_: Leading<'_>, launch: Launch) -> anyhow::Result<Exit> {
    if launch.rank > 0 {
        return Ok(UNSPOKEN);
    }
    let Launch { launcher, ranks, .. } = launch;
    bail!(UsageError(format!(
        "{launcher} started {ranks} processes, but this iotoll was built without MPI: build it \
         with `cargo build --release --features mpi`, which needs an MPI library and libclang (on \
         Debian: libopenmpi-dev, libclang-dev), or run it without {launcher}"
    )))
}

#[cfg(feature = "mpi")]
fn together(lead: Leading<'_>, launch: Launch) -> anyhow::Result<Exit> {
    use process::worker::{Program, WorkerKind};
    use ranks::{Comm as _, World};

    let (version, kind) = (env!("CARGO_PKG_VERSION"), WorkerKind::Processes(Program::OURSELVES));
    let world = match World::init() {
        Ok(world) if world.ranks() == launch.ranks => world,
        // Each would say the same.
        Ok(_) if launch.rank > 0 => return Ok(UNSPOKEN),
        Err(_) if launch.rank > 0 => return Ok(Exit::CouldNot),
        Err(why) => return Err(ranks::Error::from(why).into()),
        Ok(world) => return Err(other_launcher(launch, world.ranks()).into()),
    };
    if world.rank() == 0 {
        let leader = Leader::greet(Box::new(world), version, kind)?;
        return lead(Some(&leader));
    }
    // Rank 0 ends the run, and with it this rank: launchers send signals to all at once.
    let _stop = crate::signals::stop_flag()?;
    match ranks::serve(&world, version, kind, &mut Here(Vec::new())) {
        Ok(()) => Ok(Exit::Done),
        Err(_) => Ok(Exit::CouldNot),
    }
}

/// The working folders of this rank, which are removed when it ends.
#[cfg(feature = "mpi")]
struct Here(Vec<places::WorkDir>);

#[cfg(feature = "mpi")]
impl ranks::Here for Here {
    fn mounted_at(&mut self, directory: &std::path::Path) -> String {
        let facts = places::inspect("", directory);
        facts.map_or_else(|why| why.to_string(), |facts| crate::measuring::clients::mounted(&facts))
    }

    fn open(&mut self, place: &ranks::OwnPlace) -> Result<std::path::PathBuf, String> {
        let folder = places::WorkDir::create(&place.label, &place.path);
        let folder = folder.map_err(|why| why.to_string())?;
        let path = folder.path().to_owned();
        self.0.push(folder);
        Ok(path)
    }
}

/// Processes that a launcher started and the MPI library knows nothing of.
#[cfg(feature = "mpi")]
fn other_launcher(launch: Launch, found: usize) -> UsageError {
    let Launch { launcher, ranks, .. } = launch;
    let pmix = if launcher == "srun" { ", or `srun --mpi=pmix`" } else { "" };
    UsageError(format!(
        "{launcher} started {ranks} processes, but the MPI library that iotoll was built with \
         sees {found}: use the launcher of that library{pmix}"
    ))
}
