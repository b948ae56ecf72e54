//! Starts the processes that run libFuzzer, and starts one again if it ends too soon.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use iotoll_fuzz::Target;
use iotoll_fuzz::findings::{self, Finding};
use iotoll_fuzz::outcome::Defect;

use crate::tally::Tally;
use crate::{Limits, folder, left};

/// The target is given up after so many processes that ended too soon.
const ENDS_MAX: usize = 10;

/// The result of fuzzing a target.
pub(crate) struct Fuzzed {
    pub(crate) tally: Tally,
    pub(crate) findings: Vec<Finding>,
    pub(crate) took: Duration,
}

/// Runs a target in `engines` processes, each with its part of the inputs.
pub(crate) fn run(
    target: &Target,
    limits: Limits,
    seed: Option<u64>,
    engines: usize,
) -> Result<Fuzzed> {
    let (began, found) = (Instant::now(), folder("fuzz-findings", target));
    let _ = fs::remove_dir_all(&found);
    fs::create_dir_all(&found).with_context(|| found.display().to_string())?;
    let corpus = prepare(target, seed.is_some())?;
    let until = began.checked_add(Duration::from_secs(limits.seconds));
    let first = seed.unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
    });
    let (mut tally, mut ends) = (Tally::default(), 0);
    loop {
        let rest = limits.inputs.saturating_sub(tally.inputs).div_ceil(engines as u64);
        let started: Vec<Child> = (0..engines)
            .map(|number| {
                let seed = first + (ends * engines + number) as u64;
                start(
                    target,
                    &corpus,
                    Limits { inputs: rest, seconds: left(until).as_secs_f64().round() as u64 },
                    seed,
                )
            })
            .collect::<Result<_>>()?;
        let mut ended_early = false;
        for engine in started {
            let output = engine.wait_with_output().context("waiting for libFuzzer")?;
            if let Ok(part) = serde_json::from_slice::<Tally>(&output.stdout) {
                tally.add(&part);
            } else {
                ended_early = true;
                died(&found, &output)?;
            }
        }
        ends += 1;
        if !ended_early || ends == ENDS_MAX || left(until).as_secs() == 0 {
            let findings = findings::all(&found);
            return Ok(Fuzzed { tally, findings, took: began.elapsed() });
        }
    }
}

/// Writes the files that libFuzzer starts from.
fn prepare(target: &Target, is_from_seeds: bool) -> Result<std::path::PathBuf> {
    let folder = folder("fuzz-corpus", target);
    let folder = if is_from_seeds { folder.join("from-seeds") } else { folder.join("kept") };
    if is_from_seeds {
        let _ = fs::remove_dir_all(&folder);
    }
    let seeds = folder.join("seeds");
    for folder in [&seeds, &folder.join("corpus")] {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    for (number, seed) in (target.seeds)().iter().enumerate() {
        fs::write(seeds.join(format!("{number}")), seed).context("writing seeds")?;
    }
    fs::write(folder.join("words"), words(target)).context("writing words")?;
    Ok(folder)
}

/// Words, as libFuzzer reads them: each in quotes on a separate line.
fn words(target: &Target) -> String {
    let quoted = |word: &&str| {
        let bytes = word.bytes().map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", byte as char),
            b' '..=b'~' => (byte as char).to_string(),
            _ => format!("\\x{byte:02X}"),
        });
        format!("\"{}\"\n", bytes.collect::<String>())
    };
    (target.form)().words().iter().filter(|word| !word.is_empty()).map(quoted).collect()
}

fn start(target: &Target, corpus: &Path, limits: Limits, seed: u64) -> Result<Child> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new(program);
    command.arg(target.name).arg("--engine").arg(corpus).arg("--seed").arg(seed.to_string());
    command.arg("--inputs").arg(limits.inputs.to_string());
    command.arg("--seconds").arg(limits.seconds.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("starting libFuzzer")
}

/// Keeps the input at which a process crashed, hung or took too much memory. libFuzzer saved it.
fn died(found: &Path, output: &Output) -> Result<()> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let saved = stderr.lines().find_map(|line| line.split_once("Test unit written to "));
    let Some((_, file)) = saved else {
        bail!("libFuzzer ended with {}:\n{}", output.status, stderr.trim());
    };
    let why = stderr.lines().find_map(|line| line.strip_prefix("SUMMARY: libFuzzer: "));
    let why = why.unwrap_or("it ended").to_owned();
    let input = fs::read(file).with_context(|| file.to_owned())?;
    // One of each kind is kept: libFuzzer does not say where in the code it was.
    let defect = Defect { place: why.clone(), message: why };
    findings::keep(found, &defect, &input, (0.0, 0)).context("saving a finding")
}
