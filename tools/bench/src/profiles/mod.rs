//! `cargo xtask bench profiles`: the commits of real programs, recorded again.
//!
//! Each program is started by a script of a few lines, recorded by `iotoll record`, and asked for
//! some hundred commits by one client. What it did with the files that a commit waits for becomes
//! a file of `crates/studies/src/storage/programs` with `--write`. Without it, the calls and the
//! bytes of a commit are held against that file's: they must be within 5% of it.

mod commits;
mod programs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use self::commits::{Commits, Counts};
use self::programs::{ALL, Recipe};

/// By how much a commit may differ from the one that was kept.
const WITHIN: f64 = 0.05;
/// Where they are kept.
const KEPT: &str = "crates/studies/src/storage/programs";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// These programs alone
    #[arg(value_name = "PROGRAM")]
    programs: Vec<String>,

    /// Keep what was recorded
    #[arg(long)]
    write: bool,

    /// The program that records [default: one that is built]
    #[arg(long, value_name = "FILE")]
    iotoll: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let iotoll = match &args.iotoll {
        Some(iotoll) => iotoll.canonicalize().context("finding the program that records")?,
        None => process::build_release_iotoll()?,
    };
    let is_wanted = |recipe: &&Recipe| {
        args.programs.is_empty() || args.programs.iter().any(|name| name == recipe.name)
    };
    let mut apart = Vec::new();
    for recipe in ALL.iter().filter(is_wanted) {
        let Some(missing) = missing(recipe) else {
            let commits = record(recipe, &iotoll)?;
            let file = Path::new(KEPT).join(format!("{}.toml", recipe.name));
            if args.write {
                fs::write(&file, recipe.file(commits.representative())?)
                    .with_context(|| file.display().to_string())?;
            }
            let kept = Counts::of_file(&file)?;
            let found = commits.counts();
            println!("{}: {found}; kept: {kept}", recipe.name);
            if !found.is_within(&kept, WITHIN) {
                apart.push(recipe.name);
            }
            continue;
        };
        println!("{}: skipped, {missing} is not installed", recipe.name);
    }
    ensure!(apart.is_empty(), "commits of {} are not those that are kept", apart.join(", "));
    Ok(())
}

/// A program that it needs and that is not there.
fn missing(recipe: &Recipe) -> Option<&'static str> {
    let is_missing = |program: &&&str| process::find_program(program).is_none();
    recipe.needs.iter().find(is_missing).copied()
}

/// Runs the script in a new folder, and reads its trace.
fn record(recipe: &Recipe, iotoll: &Path) -> Result<Commits> {
    let work = tempfile::tempdir_in("/var/tmp").context("making a folder to record in")?;
    let (script, trace) = (work.path().join("script.sh"), work.path().join("program.trace"));
    fs::write(&script, format!("set -e\ncd {}\n{}", work.path().display(), recipe.script))?;
    let mut command = Command::new(iotoll);
    command.args(["record", "-o"]).arg(&trace).args(["--", "sh"]).arg(&script);
    let output = command.stdin(Stdio::null()).output().context("recording")?;
    ensure!(trace.exists(), "{}: {}", recipe.name, String::from_utf8_lossy(&output.stderr));
    let commits = Commits::read(&trace, recipe)?;
    ensure!(
        commits.commits.len() >= recipe.least,
        "{}: {} commits were recorded, and {} wanted: {}",
        recipe.name,
        commits.commits.len(),
        recipe.least,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(commits)
}
