//! The example plans, each run for a moment by the built program.
//!
//! A plan that needs other programs, or parts of them, names them in a line of its
//! own: `# Needs: nginx, php-sqlite3`.

use std::fs;
use std::path::Path;
use std::process::Command;

use analysis::analyse;
use anyhow::{Context as _, Result, bail, ensure};
use model::run::Run;
use tempfile::{NamedTempFile, TempDir};

use xtask::libtest_output::MARK;
use xtask::packages::is_installed;
use xtask::process;

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

/// A test for each plan in `examples`, named as it is.
macro_rules! plans {
    ($($name:ident $file:literal),* $(,)?) => {
        const PLANS: &[&str] = &[$($file),*];

        $(#[test]
        fn $name() {
            run_or_skip($file);
        })*
    };
}

plans! {
    blocks "blocks",
    cache "cache",
    django_five_files "django-five-files",
    exec "exec",
    files "files",
    journal_compression "journal-compression",
    journal "journal",
    log_locking "log-locking",
    log "log",
    page "page",
    php_manifest_cache "php-manifest-cache",
    php_sqlite "php-sqlite",
    ram_drive_logging "ram-drive-logging",
    replay "replay",
    serve "serve",
    sqlite "sqlite",
    storage "storage",
    stream "stream",
    your_files "your-files",
}

#[test]
fn every_plan_has_a_test_and_every_study_a_plan() {
    let entries = fs::read_dir(process::root().join("examples")).expect("it is there");
    let paths = entries.map(|entry| entry.expect("it is read").path());
    let plans = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let mut names: Vec<String> =
        plans.map(|path| path.file_stem().unwrap_or_default().display().to_string()).collect();
    names.sort();
    let mut tested = PLANS.to_vec();
    tested.sort_unstable();
    assert_eq!(names, tested);
    for spec in studies::specs() {
        assert!(tested.contains(&spec.name.as_str()), "there is no examples/{}.toml", spec.name);
    }
}

fn run_or_skip(name: &str) {
    let plan = process::root().join(format!("examples/{name}.toml"));
    match missing(&plan).expect("it can be read").as_slice() {
        [] => run(&process::built_iotoll(), &plan).expect("it can be run"),
        missing => println!("{MARK}no {}", missing.join(", ")),
    }
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
        .args(["compare", "--no-save", "--rounds", "1", "--budget", budget, "--plan"])
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
