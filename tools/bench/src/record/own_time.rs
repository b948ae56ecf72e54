//! Whether a bill's own time, without the recorder, is what the bare program takes.
//!
//! The programs of `bench/programs.toml` run in RAM, bare and recorded, in turns and in random order.
//! A bare one is timed from when it has become its program, as recordings are.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::CHEAP;
use crate::replay::folders::Folders;
use crate::replay::programs::{Program, all};
use crate::spread::{ALIKE, ROUNDS_MIN, Spread};
use crate::turns::in_any_order;
use xtask::process;

/// Programs take turns for so long, and then have no more rounds than an interval needs.
const TIME_MAX: Duration = Duration::from_secs(30);

/// What came of one program by one mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Within,
    Beyond,
    NotToldApart,
    TooCoarse,
}

impl Found {
    const ALL: [(Self, &str); 4] = [
        (Self::Within, "within 5%"),
        (Self::NotToldApart, "not told apart"),
        (Self::Beyond, "beyond 5%"),
        (Self::TooCoarse, "too coarse"),
    ];

    fn of(ratio: &Spread, is_coarse: bool) -> Self {
        let (least, most) = (1.0 - ALIKE, 1.0 + ALIKE);
        match ratio {
            _ if is_coarse => Self::TooCoarse,
            Spread { low, high, .. } if *low >= least && *high <= most => Self::Within,
            Spread { low, high, .. } if *low > most || *high < least => Self::Beyond,
            _ => Self::NotToldApart,
        }
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(found, _)| *found == self).map_or("", |(_, name)| name)
    }
}

/// Prints it of all programs.
pub(super) fn run(iotoll: &str, rounds: usize) -> Result<()> {
    let mut folders = Folders::default();
    let mut all_found = Vec::new();
    for program in all()?.into_iter().filter(Program::can_run) {
        all_found.push(of_program(iotoll, &program, &mut folders, rounds)?);
    }
    for (at, (mechanism, _)) in CHEAP.iter().enumerate() {
        let count = |kind| all_found.iter().filter(|found| found[at] == kind).count();
        let counts = Found::ALL.map(|(kind, name)| format!("{} {name}", count(kind)));
        println!("own time by {mechanism}: {}", counts.join(", "));
    }
    Ok(())
}

fn of_program(
    iotoll: &str,
    program: &Program,
    folders: &mut Folders,
    rounds: usize,
) -> Result<[Found; CHEAP.len()]> {
    let folder = folders.prepared(program, Path::new("/dev/shm"))?.to_owned();
    let (mut bare, mut recorded) = (Vec::new(), CHEAP.map(|_| Vec::new()));
    let began = Instant::now();
    while bare.len() < rounds && (bare.len() < ROUNDS_MIN || began.elapsed() < TIME_MAX) {
        for way in in_any_order(1 + CHEAP.len()) {
            match way.checked_sub(1) {
                None => bare.push(bare_ns(program, &folder)?),
                Some(at) => recorded[at].push(own_ns(iotoll, CHEAP[at].0, program, &folder)?),
            }
        }
    }
    let median_ms = Spread::of(bare.iter().copied()).median / 1e6;
    println!("{}, {median_ms:.1} ms, {} rounds", program.name, bare.len());
    Ok(std::array::from_fn(|at| {
        let runs = recorded[at].iter();
        let ratio = Spread::of(runs.zip(&bare).map(|((own_ns, _), bare_ns)| own_ns / bare_ns));
        let coarse = recorded[at].iter().filter(|(_, is_coarse)| *is_coarse).count();
        let found = Found::of(&ratio, 2 * coarse > bare.len());
        let shown = ratio.show(|ratio| format!("{ratio:.2}"));
        println!("    {:<8} ×{shown}, {}", CHEAP[at].0, found.name());
        found
    }))
}

/// How long the program takes from when it has begun, as this process is told by the kernel.
fn bare_ns(program: &Program, folder: &Path) -> Result<f64> {
    let mut command = Command::new("sh");
    command.args(["-c", &program.command]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let began = Instant::now();
    child.wait()?;
    Ok(began.elapsed().as_nanos() as f64)
}

/// The middle of what its bill says of its own time, and whether there would be no bill.
fn own_ns(iotoll: &str, mechanism: &str, program: &Program, folder: &Path) -> Result<(f64, bool)> {
    let trace = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(iotoll);
    command.args(["record", "--mechanism", mechanism, "-o"]).arg(trace.path());
    command.args(["--", "sh", "-c", &program.command]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let mut show = Command::new(iotoll);
    let bill = process::json(show.arg("show").arg(trace.path()).args(["--json", "-"]))?;
    let own = |end: &str| bill["own_wall_ns"][end].as_f64().context("the bill's own time");
    Ok((f64::midpoint(own("low")?, own("high")?), bill["too_coarse"] == true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_and_beyond_is_said_where_the_whole_interval_is() {
        let of = |low, high| Found::of(&Spread { median: 1.0, low, high }, false);
        assert_eq!(
            [of(0.96, 1.04), of(1.06, 1.2), of(0.8, 0.9), of(0.9, 1.0)],
            [Found::Within, Found::Beyond, Found::Beyond, Found::NotToldApart]
        );
        assert_eq!(
            Found::of(&Spread { median: 1.0, low: 1.0, high: 1.0 }, true).name(),
            "too coarse"
        );
    }
}
