//! Reports in a browser: made from real and from simulated runs, and looked at by
//! `tests/browser/check.mjs` in Chromium, light and dark, wide and narrow, and without
//! JavaScript. `cargo xtask browser` looks at all, the tests at the three that
//! differ most.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use analysis::analyse;
use anyhow::{Context as _, Result, anyhow, ensure};
use model::article::{
    Article, Is, Measure, MissingProgram, Precondition, PublishedConclusion, PublishedFigure,
    Quantity, ScaledServer, SetAgainst, Test,
};
use model::figure::Unit;
use model::plan::Plan;
use model::run::Run;
use model::slice::Slice;
use model::spent::Spent;
use report::html::{Sheet, page};
use testkit::{ArmBehaviour, SimulatedRunner};

use xtask::packages::is_installed;
use xtask::pool::Skipped;
use xtask::{libtest_output, process, timeout};

use crate::example;

/// The programs that it takes.
const PROGRAMS: [&str; 3] = ["chromium", "node", "npm"];
/// What stands in the place of everything that others name, to see whether it stays text.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>'\"&\u{202e}\u{1b}[31m\n";

/// The report of fifty arms with two hundred blocks each, and what it may take.
const LARGEST: &str = "fifty-arms";
const LARGEST_BYTES_MAX: u64 = 1_500_000;
const DRAWN_MS_MAX: u64 = 1000;
const BLOCKS_OF_LARGEST: usize = 200;

/// Which reports are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    /// One of a real run, one that was interrupted, and one whose names are hostile.
    Few,
}

/// The same by itself.
pub(crate) fn run() -> Result<()> {
    let skipped = check(&process::built_iotoll(), Which::All)?;
    for line in &skipped {
        println!("{}{line}", libtest_output::MARK);
    }
    Ok(())
}

/// Makes the reports and has them looked at.
fn check(iotoll: &Path, which: Which) -> Result<Skipped> {
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| !is_installed(name)).collect();
    if !missing.is_empty() {
        return Ok(vec![format!(
            "reports are not looked at in a browser: no {}",
            missing.join(", ")
        )]);
    }
    let folder = process::root().join("target/browser");
    if let Err(error) = provide(&folder) {
        return Ok(vec![format!("reports are not looked at in a browser: {error:#}")]);
    }
    let reports = folder.join("reports");
    let shots = folder.join("shots");
    for folder in [&reports, &shots] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let files = [measured(iotoll, &reports, which)?, simulated(&reports, which)?].concat();
    let chromium = process::find_program("chromium").ok_or_else(|| anyhow!("no chromium"))?;
    let mut command = Command::new("node");
    command.current_dir(&folder).arg("check.mjs").arg("--shots").arg(shots);
    let output = timeout::output(command.arg(chromium).args(&files)).context("running node")?;
    let told = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    println!("{}", told.lines().last().unwrap_or_default());
    if which == Which::All {
        check_largest(&reports.join(format!("{LARGEST}.html")), &told)?;
    }
    Ok(Vec::new())
}

/// How large the largest report is and how long it takes to be drawn, against what is allowed.
fn check_largest(report: &Path, told: &str) -> Result<()> {
    let bytes = fs::metadata(report)?.len();
    let of_largest = told.lines().filter(|line| line.starts_with(LARGEST));
    let drawn_ms = of_largest.filter_map(|line| {
        let (_, after) = line.rsplit_once("drawn after ")?;
        after.strip_suffix(" ms")?.parse::<u64>().ok()
    });
    let slowest_ms = drawn_ms.max().context("nobody told how long it took")?;
    println!(
        "{LARGEST}: {:.2} MB, at most {:.2}; drawn after {slowest_ms} ms, at most {DRAWN_MS_MAX}",
        bytes as f64 / 1e6,
        LARGEST_BYTES_MAX as f64 / 1e6
    );
    ensure!(bytes <= LARGEST_BYTES_MAX && slowest_ms <= DRAWN_MS_MAX, "a target was missed");
    Ok(())
}

/// Puts the check where the packages that it takes can be installed, and installs them.
fn provide(folder: &Path) -> Result<()> {
    let source = process::root().join("tests/browser");
    fs::create_dir_all(folder)?;
    let mut is_new = false;
    for name in ["package.json", "package-lock.json", "check.mjs"] {
        let wanted = fs::read(source.join(name)).with_context(|| name.to_owned())?;
        let there = folder.join(name);
        if fs::read(&there).ok().as_ref() != Some(&wanted) {
            fs::write(&there, wanted)?;
            is_new = true;
        }
    }
    if is_new || !folder.join("node_modules").is_dir() {
        let mut install = Command::new("npm");
        install.args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(folder);
        process::output_in_time(&mut install)
            .context("npm cannot install playwright-core and axe-core")?;
    }
    Ok(())
}

/// Reports of runs on this machine: one arm, several studies, four places, rates, two side by
/// side, an article alone and beside itself, and a server under load.
fn measured(iotoll: &Path, folder: &Path, which: Which) -> Result<Vec<PathBuf>> {
    let disk = tempfile::tempdir_in(process::root().join("target"))?;
    let place = format!("disk={}", disk.path().display());
    let file = |name: &str| folder.join(name);
    let compare = |name: &str, arguments: &[&str]| -> Result<PathBuf> {
        let html = file(name);
        let mut command = Command::new(iotoll);
        command
            .arg("compare")
            .args(arguments)
            .arg("--html")
            .arg(&html)
            .args(["--no-save", "--quiet"]);
        process::output_in_time(&mut command)?;
        Ok(html)
    };
    let several = [&place, "ram=/dev/shm", "--study", "log,sqlite,files", "--budget", "4s"];
    let several = compare("several.html", &several)?;
    if which == Which::Few {
        return Ok(vec![several]);
    }
    let one = ["ram=/dev/shm", "--study", "log", "--strategy", "held", "--budget", "1s"];
    let rates = [&place, "--study", "serve", "--set", "serve.rate=200,400,800", "--budget", "6s"];
    let rates = [&rates[..], &["--set", "serve.connections=20"]].concat();
    let (one, rates) = (compare("one-arm.html", &one)?, compare("rates.html", &rates)?);
    let others = ["b", "c"].map(|label| disk.path().join(label).display().to_string());
    others.iter().try_for_each(fs::create_dir)?;
    let four = [&place, "ram=/dev/shm", &others[0], &others[1], "--study", "log", "--budget", "4s"];
    let four = compare("four-places.html", &four)?;
    let report = |name: &str, of: &[&Path]| -> Result<PathBuf> {
        let html = file(name);
        process::output_in_time(
            Command::new(iotoll).arg("report").args(of).arg("--output").arg(&html),
        )?;
        Ok(html)
    };
    let both = report("side-by-side.html", &[&several, &several])?;
    let article = file("article.html");
    let mut reproduce = Command::new(iotoll);
    reproduce.args(["reproduce", "log-locking", "--quick", "--budget", "8s", &place]);
    reproduce.args(["ram=/dev/shm", "--no-save", "--quiet", "--html"]).arg(&article);
    process::output_in_time(&mut reproduce)?;
    let articles = report("articles.html", &[&article, &article])?;
    let under_load = report("load.html", &[&loaded(iotoll, folder)?])?;
    Ok(vec![one, several, four, rates, both, article, articles, under_load])
}

/// The result of a load at three rates of a server that is started for it.
fn loaded(iotoll: &Path, folder: &Path) -> Result<PathBuf> {
    let json = folder.join("load.json");
    let mut command = Command::new(iotoll);
    command.args(["load", "http://127.0.0.1:{port}/", "--rate", "100,200,300"]);
    command.args(["--connections", "200", "--serve"]);
    command.arg("exec python3 -m http.server --bind 127.0.0.1 {port}");
    process::output_in_time(command.args(["--no-save", "--json"]).arg(&json))?;
    Ok(json)
}

/// Reports of simulated runs: fifty arms, one that was interrupted, and one in which every
/// name is hostile.
fn simulated(folder: &Path, which: Which) -> Result<Vec<PathBuf>> {
    let few = plan(&["log", "page"], &[])?;
    let never = Duration::from_secs(100_000);
    let mut runs = vec![
        ("interrupted", run_simulated(&few, 0.08, Duration::from_secs(1))),
        ("hostile", hostile(run_simulated(&few, 0.08, never))),
    ];
    if which == Which::All {
        runs.push((LARGEST, fifty_arms()?));
    }
    let write = |(name, run): (&str, Run)| -> Result<PathBuf> {
        let file = folder.join(format!("{name}.html"));
        let analysis = analyse(&run);
        fs::write(&file, page(&[Sheet::Comparison { run: &run, analysis: &analysis }]))?;
        Ok(file)
    };
    runs.into_iter().map(write).collect()
}

fn run_simulated(plan: &Plan, noise: f64, end: Duration) -> Run {
    let ns = |arm: usize| 900.0 * 1.4_f64.powi(arm as i32 % 12);
    let arms = (0..plan.arms().len()).map(|arm| ArmBehaviour::steady(ns(arm), noise)).collect();
    let mut runner = SimulatedRunner::new(arms, 1).interrupted_at(end);
    testkit::run(plan, &mut runner)
}

/// Fifty arms with two hundred blocks each: a simulated run whose slices have the latencies,
/// counters and surroundings of slices that were measured, of which a record mostly consists.
fn fifty_arms() -> Result<Run> {
    let sizes = (1..=25).map(|n| format!("{n} KiB")).collect::<Vec<_>>().join(",");
    let plan =
        plan(&["files"], &[format!("files.size={sizes}"), "files.operation=write".to_owned()])?;
    let mut run = run_simulated(&plan, 0.3, Duration::from_secs(100_000));
    let measured = example::run()?;
    let measured: Vec<Vec<&Slice>> =
        (0..measured.plan.arms.len()).map(|arm| measured.slices_of(arm).collect()).collect();
    let mut kept = vec![0; run.plan.arms.len()];
    run.slices.retain_mut(|slice| {
        let alike = &measured[slice.arm % measured.len()];
        let like = alike[kept[slice.arm] % alike.len()];
        slice.spent = Spent { elapsed_ns: slice.spent.elapsed_ns, ..like.spent };
        slice.latencies.clone_from(&like.latencies);
        slice.surroundings.clone_from(&like.surroundings);
        slice.deferred = like.deferred;
        kept[slice.arm] += usize::from(slice.block().is_some());
        kept[slice.arm] <= BLOCKS_OF_LARGEST
    });
    let blocks = kept.iter().min().copied().unwrap_or_default();
    ensure!(blocks >= BLOCKS_OF_LARGEST, "an arm has only {blocks} blocks");
    Ok(run)
}

fn plan(studies: &[&str], settings: &[String]) -> Result<Plan> {
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let places = ["disk=/var/lib/app", "ram=/dev/shm"];
    let plan = testkit::plan(&studies::specs(), studies, &places, &settings);
    let plan = plan.map_err(|error| anyhow!(error))?;
    Ok(Plan { budget: Duration::from_secs(1500), ..plan })
}

/// The same run as somebody wrote it who wants a browser to run something.
fn hostile(mut run: Run) -> Run {
    for place in &mut run.places {
        place.label = format!("{}{HOSTILE}", place.label);
        place.path = HOSTILE.into();
        HOSTILE.clone_into(&mut place.filesystem);
        place.unread.push(HOSTILE.to_owned());
    }
    for arm in &mut run.plan.arms {
        arm.id = format!("{}{HOSTILE}", arm.id);
        arm.params.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    }
    HOSTILE.clone_into(&mut run.machine.cpu);
    HOSTILE.clone_into(&mut run.machine.kernel);
    HOSTILE.clone_into(&mut run.run.started);
    HOSTILE.clone_into(&mut run.run.id);
    HOSTILE.clone_into(&mut run.run.version);
    run.run.ended_early = Some(HOSTILE.to_owned());
    run.article = Some(hostile_article());
    for study in &mut run.studies {
        HOSTILE.clone_into(&mut study.about);
        study.strategies.iter_mut().for_each(|strategy| HOSTILE.clone_into(&mut strategy.promise));
    }
    run
}

fn hostile_article() -> Article {
    let text = || HOSTILE.to_owned();
    let ratio = Quantity {
        measure: Measure::TypicalTime,
        times: 1.0,
        arm: 1,
        set_against: Some(SetAgainst::Over(0)),
    };
    let figure = PublishedFigure {
        group: text(),
        what: text(),
        unit: Unit::Ratio,
        published: Some(-1.0),
        against: None,
        original: Some(ratio.clone()),
        native: Some(ratio.clone()),
        note: Some(text()),
    };
    let conclusion = PublishedConclusion {
        says: text(),
        original: vec![Test { of: ratio, is: Is::AtLeast(1e9) }],
        native: Vec::new(),
        preconditions: vec![Precondition { says: text(), original: None, native: None }],
    };
    Article {
        name: text(),
        title: text(),
        year: 2001,
        original: text(),
        question: text(),
        is_quick: false,
        figures: vec![figure],
        conclusions: vec![conclusion],
        missing: vec![MissingProgram { what: text(), install: text() }],
        scaled: vec![ScaledServer { arms: text(), held_then: 1.0, held_here: 2.0, times: 2.0 }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_sound_in_a_browser() {
        for line in check(&process::built_iotoll(), Which::Few).expect("they are") {
            println!("{}{line}", libtest_output::MARK);
        }
    }
}
