//! The example plans, each run for a moment by the built program.
//!
//! A plan that needs other programs names them in a line of its own:
//! `# Needs: php-cgi, nginx`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use model::result::RunResult;
use tempfile::TempDir;

use crate::process;

const NEEDS: &str = "# Needs:";

/// In place of the plan's own: the second where the first does not suffice for a
/// single block, as with many arms that wait for a slow disk.
const BUDGETS: [&str; 2] = ["5s", "60s"];

/// Runs all of them, and says which were left out.
pub(crate) fn run_all() -> Result<Vec<String>> {
    let plans = plans()?;
    let iotoll = process::build_iotoll()?;
    let mut skipped = studies_without(&plans);
    for plan in &plans {
        let name = plan.file_name().unwrap_or_default().display();
        let missing = missing_programs(plan)?;
        if missing.is_empty() {
            println!("{name}");
            run(&iotoll, plan).with_context(|| format!("examples/{name}"))?;
        } else {
            skipped.push(format!("examples/{name}: no {}", missing.join(", ")));
        }
    }
    Ok(skipped)
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

fn missing_programs(plan: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(plan)?;
    let needs = text.lines().filter_map(|line| line.strip_prefix(NEEDS));
    let programs = needs.flat_map(|list| list.split(',')).map(|name| name.trim().to_owned());
    Ok(programs.filter(|name| process::find_program(name).is_none()).collect())
}

/// Runs a plan until something was measured.
fn run(iotoll: &Path, plan: &Path) -> Result<()> {
    for budget in BUDGETS {
        let result = run_for(budget, iotoll, plan)?;
        for arm in &result.arms {
            if let Some(why) = &arm.failure {
                bail!("{}: {why}", arm.id);
            }
        }
        if !result.samples.is_empty() {
            return Ok(());
        }
    }
    bail!("nothing was measured")
}

/// Runs a plan in folders on disk and in memory, in which nothing may be left.
fn run_for(budget: &str, iotoll: &Path, plan: &Path) -> Result<RunResult> {
    let disk = TempDir::new_in(process::root().join("target"))?;
    let ram = TempDir::new_in("/dev/shm")?;
    let text = process::output(
        Command::new(iotoll)
            .args(["compare", "--budget", budget, "--json", "-", "--plan"])
            .arg(plan)
            .arg(format!("disk={}", disk.path().display()))
            .arg(format!("ram={}", ram.path().display()))
            .stdin(Stdio::null()),
    )?;
    for folder in [disk, ram] {
        let left = fs::read_dir(folder.path())?.count();
        ensure!(left == 0, "it left {left} files in {}", folder.path().display());
    }
    serde_json::from_str(&text).context("reading its result")
}
