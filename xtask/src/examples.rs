//! The example plans, each run for a moment by the built program.
//!
//! A plan that needs other programs, or parts of them, names them in a line of its
//! own: `# Needs: nginx, php-sqlite3`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::analyse;
use anyhow::{Context as _, Result, bail, ensure};
use model::run::Run;
use tempfile::TempDir;

use crate::packages::is_installed;
use crate::pool::{Job, Skipped};
use crate::process;

const NEEDS: &str = "# Needs:";

/// In place of the plan's own; the next one where a slow disk gets through no block.
const BUDGETS: [&str; 3] = ["4s", "40s", "120s"];

/// How a plan is known that starts a server for each slice, which takes longer.
const SERVES: &str = "name = \"serve\"";
const SERVE_BUDGETS: [&str; 3] = ["20s", "60s", "180s"];
/// In place of the plan's own: enough to see that its servers answer.
const CONNECTIONS: &str = "serve.connections=10";

/// A job for each of them, and which studies have none.
pub(crate) fn jobs(iotoll: &Path) -> Result<(Vec<Job<'_>>, Skipped)> {
    let plans = plans()?;
    let without = studies_without(&plans);
    let job = |plan: PathBuf| {
        let name = format!("examples/{}", plan.file_name().unwrap_or_default().display());
        Job { name, run: Box::new(move || run_or_skip(iotoll, &plan)) }
    };
    Ok((plans.into_iter().map(job).collect(), without))
}

fn run_or_skip(iotoll: &Path, plan: &Path) -> Result<Skipped> {
    let missing = missing(plan)?;
    if !missing.is_empty() {
        return Ok(vec![format!("no {}", missing.join(", "))]);
    }
    run(iotoll, plan)?;
    Ok(Vec::new())
}

fn plans() -> Result<Vec<PathBuf>> {
    let folder = process::root().join("examples");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut plans = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    plans.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    plans.sort();
    Ok(plans)
}

/// Studies that no plan is named after.
fn studies_without(plans: &[PathBuf]) -> Vec<String> {
    let has_plan = |name: &str| plans.iter().any(|p| p.file_stem().is_some_and(|s| s == name));
    let specs = studies::specs();
    let without = specs.iter().filter(|spec| !has_plan(spec.name));
    without.map(|spec| format!("{0}: there is no examples/{0}.toml", spec.name)).collect()
}

fn missing(plan: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(plan)?;
    let needs = text.lines().filter_map(|line| line.strip_prefix(NEEDS));
    let names = needs.flat_map(|list| list.split(',')).map(|name| name.trim().to_owned());
    Ok(names.filter(|name| !is_installed(name)).collect())
}

/// Runs a plan with the first budget that is enough to measure anything.
fn run(iotoll: &Path, plan: &Path) -> Result<()> {
    let serves = fs::read_to_string(plan)?.contains(SERVES);
    for budget in if serves { SERVE_BUDGETS } else { BUDGETS } {
        if measures(iotoll, plan, budget, serves)? {
            return Ok(());
        }
    }
    bail!("nothing was measured")
}

/// Runs a plan in folders on disk and in memory, in which nothing may be left.
fn measures(iotoll: &Path, plan: &Path, budget: &str, serves: bool) -> Result<bool> {
    let disk = TempDir::new_in(process::root().join("target"))?;
    let ram = TempDir::new_in("/dev/shm")?;
    let mut compare = Command::new(iotoll);
    compare
        .args(["compare", "--no-save", "--budget", budget, "--json", "-", "--plan"])
        .arg(plan)
        .arg(format!("disk={}", disk.path().display()))
        .arg(format!("ram={}", ram.path().display()));
    if serves {
        compare.args(["--set", CONNECTIONS]);
    }
    let text = process::output(&mut compare)?;
    let run = Run::read(&text).context("reading its result")?;
    for arm in &analyse(&run).arms {
        if let Some(why) = &arm.failure {
            bail!("{}: {why}", arm.id);
        }
    }
    for folder in [disk, ram] {
        let left = fs::read_dir(folder.path())?.count();
        ensure!(left == 0, "it left {left} files in {}", folder.path().display());
    }
    Ok(run.blocks().next().is_some())
}
