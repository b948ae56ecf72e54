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
use tempfile::{NamedTempFile, TempDir};

use crate::packages::is_installed;
use crate::pool::{Job, Skipped};
use crate::process;

const NEEDS: &str = "# Needs:";

/// How a plan is known that starts a server for each slice.
const SERVES: &str = "name = \"serve\"";
/// In place of the plan's own: time for a block, of which one is enough, and for one on a slow
/// machine. A longer budget has longer warming up.
const BUDGETS: [&str; 2] = ["40s", "10min"];
/// In place of the plan's own: enough to see that its servers answer.
const CONNECTIONS: &str = "serve.connections=10";
/// How a plan is known that fills stores of many items.
const FILLS: &str = "start = \"empty\"";
/// In place of the plan's own: enough to see that one is filled and recovered.
const ITEMS: &str = "journal.items=2000";

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
    for budget in BUDGETS {
        if measures(iotoll, plan, budget)? {
            return Ok(());
        }
    }
    bail!("nothing was measured")
}

/// Runs a block of a plan in folders on disk and in memory; nothing may be left in them.
fn measures(iotoll: &Path, plan: &Path, budget: &str) -> Result<bool> {
    let disk = TempDir::new_in(process::root().join("target"))?;
    let ram = TempDir::new_in("/dev/shm")?;
    let json = NamedTempFile::new()?;
    let mut compare = Command::new(iotoll);
    compare
        .args(["compare", "--no-save", "--blocks", "1", "--budget", budget, "--plan"])
        .arg(plan)
        .arg("--allow-commands")
        .arg(format!("disk={}", disk.path().display()))
        .arg(format!("ram={}", ram.path().display()))
        .arg("--json")
        .arg(json.path());
    let text = fs::read_to_string(plan)?;
    for (has, instead) in [(SERVES, CONNECTIONS), (FILLS, ITEMS)] {
        if text.contains(has) {
            compare.args(["--set", instead]);
        }
    }
    process::output_in_time(&mut compare)?;
    let run = Run::read(&fs::read_to_string(json.path())?).context("reading its result")?;
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
