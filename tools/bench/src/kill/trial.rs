//! One kill, and what is looked at afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use engine::study::Study;
use model::run::Run;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, WaitOptions};
use serde::{Deserialize, Serialize};
use store::{Content, Entry, State, Store};

use super::made;
use super::others::Others;
use xtask::process;

/// What is run: its name, and the flags of `iotoll compare`.
pub(super) struct Subject {
    pub(super) name: String,
    flags: Vec<String>,
}

/// Of every study the cases that are killed, which are small enough for blocks to follow each
/// other quickly.
pub(super) fn subjects() -> Vec<Subject> {
    let of_study = |study: &'static dyn Study| {
        let (spec, cases) = (study.spec(), study.cases().iter());
        cases.filter(|case| case.is_killed).map(|case| Subject {
            name: format!("{}/{}", spec.name, case.name()),
            flags: case.flags(spec),
        })
    };
    studies::ALL.into_iter().flat_map(of_study).collect()
}

/// Half of the runs are killed within this time after their start, most of them before
/// their first block. The shorter budget ends about in its middle, so that some kills meet
/// the end of a run.
const FROM_START_MAX: Duration = Duration::from_millis(2_600);
const BUDGETS: [&str; 2] = ["1s", "10s"];
/// The others are killed within this time after their first block.
const FROM_BLOCK_MAX: Duration = Duration::from_millis(800);
/// What a run says of it.
const TOLD: &str = "iotoll: block ";
/// How often a run is begun again that ended before its moment.
const TRIES: u32 = 20;
/// After this time nothing that a run started may be alive.
const END_MAX: Duration = Duration::from_secs(3);
/// Kills of which the next run tidies up, rather than `clean`.
const NEXT_RUN_SHARE: f64 = 0.25;

/// What became of a kill.
#[derive(Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) number: u64,
    pub(super) study: String,
    pub(super) ground: String,
    /// Blocks that the run had told of.
    pub(super) told: u32,
    /// Blocks that are in its record; nothing where it has none.
    pub(super) kept: Option<u32>,
    /// Whether it was killed when all of it was kept already.
    pub(super) finished: bool,
    /// How long the last of its processes lived on.
    pub(super) ended_ms: u64,
    /// What must not be, each in a sentence.
    pub(super) wrong: Vec<String>,
}

/// What is run, and where.
pub(super) struct Trial<'a> {
    pub(super) iotoll: &'a Path,
    pub(super) place: &'a Path,
    pub(super) data: &'a Path,
    pub(super) subject: &'a Subject,
    /// Whether it makes places for itself.
    pub(super) made: bool,
}

impl Trial<'_> {
    pub(super) fn run(
        &self,
        number: u64,
        ground: &str,
        random: &mut ChaCha8Rng,
    ) -> Result<Outcome> {
        let before: BTreeSet<String> = self.entries()?.into_iter().map(|entry| entry.id).collect();
        let _turn = if self.made { Some(made::turn()?) } else { None };
        let there = made::there(self.place);
        let Killed { told, ended_ms, mut wrong } = self.kill(number, random)?;
        let others = if self.made { Some(Others::put(self.place, number)?) } else { None };
        if random.random_bool(NEXT_RUN_SHARE) {
            self.run_next()?;
        } else {
            self.clean()?;
        }
        wrong.extend(self.left(others.as_ref())?);
        wrong.extend(others.iter().flat_map(Others::gone));
        drop(others);
        if self.made {
            let left = made::left_since(self.place, &there).into_iter();
            wrong.extend(left.map(|what| format!("{what} is left on the machine")));
        }
        let is_new = |entry: &Entry| !before.contains(&entry.id) && entry.subject != NEXT_SUBJECT;
        let entry = self.entries()?.into_iter().find(is_new);
        let kept = entry.as_ref().map(|entry| entry.blocks);
        let finished = entry.as_ref().is_some_and(|entry| entry.state == State::Finished);
        wrong.extend(self.judge(told, entry.as_ref())?);
        let study = self.subject.name.clone();
        let ground = ground.to_owned();
        Ok(Outcome { number, study, ground, told, kept, finished, ended_ms, wrong })
    }

    /// Kills a run at a moment at which it still runs.
    fn kill(&self, number: u64, random: &mut ChaCha8Rng) -> Result<Killed> {
        for _ in 0..TRIES {
            let in_blocks = random.random_bool(0.5);
            let moment_max = if in_blocks { FROM_BLOCK_MAX } else { FROM_START_MAX };
            let moment = random.random_range(Duration::ZERO..moment_max);
            let budget = BUDGETS[usize::from(in_blocks || random.random_bool(0.5))];
            let (mut child, stderr) = self.start(number, budget)?;
            let mut lines = Vec::new();
            if in_blocks {
                // They end with the run, too.
                for line in &stderr {
                    lines.push(line);
                    if lines.last().is_some_and(|line| line.starts_with(TOLD)) {
                        break;
                    }
                }
            }
            sleep(moment);
            let ended = child.try_wait()?;
            if ended.is_none() {
                child.kill()?;
                child.wait()?;
            }
            let (ended_ms, mut wrong) = await_orphans()?;
            lines.extend(stderr);
            let told = lines.iter().filter(|line| line.starts_with(TOLD)).count();
            let Some(status) = ended else {
                let unsaved = lines.iter().filter(|line| line.contains("not saved"));
                wrong.extend(unsaved.cloned());
                return Ok(Killed { told: told as u32, ended_ms, wrong });
            };
            ensure!(status.success(), "a run ended with {status}: {}", lines.join("\n"));
        }
        bail!("{TRIES} runs ended before they could be killed");
    }

    fn start(&self, number: u64, budget: &str) -> Result<(Child, Receiver<String>)> {
        let mut command = Command::new(self.iotoll);
        command.env("IOTOLL_DIR", self.data).arg("compare");
        if self.made {
            command.args(made::places(self.place, number));
        } else {
            command.args(["a", "b"].map(|label| format!("{label}={}", self.place.display())));
        }
        command.args(&self.subject.flags).args(["--budget", budget, "--tell-blocks"]);
        // A place held against itself is never found to differ by so little.
        command.args(["--threshold", "0.0001%"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stderr = child.stderr.take();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let lines = stderr.into_iter().flat_map(|stderr| BufReader::new(stderr).lines());
            // Nobody listens any more to a run of which enough is known.
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok((child, receiver))
    }

    fn clean(&self) -> Result<()> {
        let mut clean = Command::new(self.iotoll);
        process::output(clean.arg("clean").arg(format!("here={}", self.place.display())))?;
        Ok(())
    }

    /// The next run.
    fn run_next(&self) -> Result<()> {
        let mut next = Command::new(self.iotoll);
        next.env("IOTOLL_DIR", self.data).arg("compare");
        next.arg(format!("next={}", self.place.display()));
        next.args(["--study", "log", "--strategy", "held", "--budget", "1s"]);
        process::output(&mut next)?;
        Ok(())
    }

    /// What is left in the place that is nobody else's, each in a sentence.
    fn left(&self, others: Option<&Others>) -> Result<Vec<String>> {
        let mut left = Vec::new();
        for entry in fs::read_dir(self.place)? {
            let path = entry?.path();
            if !others.is_some_and(|others| others.have(&path)) {
                left.push(format!("{} is left in the place", path.display()));
            }
        }
        Ok(left)
    }

    /// All runs that are kept, once the killed ones are known to be.
    fn entries(&self) -> Result<Vec<Entry>> {
        let Some(mut store) = Store::open_existing(self.data)? else { return Ok(Vec::new()) };
        store.find_killed()?;
        Ok(store.list()?)
    }

    /// What is wrong with what was kept.
    fn judge(&self, told: u32, entry: Option<&Entry>) -> Result<Vec<String>> {
        let Some(entry) = entry else {
            let lost = format!("{told} blocks were told of, and there is no record");
            return Ok(if told > 0 { vec![lost] } else { Vec::new() });
        };
        let mut wrong = Vec::new();
        let kept = entry.blocks;
        // One may have been kept and not yet told.
        let most = if entry.state == State::Finished { u32::MAX } else { told + 1 };
        if !(told..=most).contains(&kept) {
            wrong.push(format!("{told} blocks were told of, and {kept} are kept"));
        }
        if entry.state == State::Running {
            wrong.push("it is said to be running".to_owned());
        }
        let store = Store::open_existing(self.data)?;
        let Some(Content::Comparison(run)) = store.map(|store| store.load(entry)).transpose()?
        else {
            wrong.push("the record is none of a comparison".to_owned());
            return Ok(wrong);
        };
        wrong.extend(inner(&run, entry));
        let stray = fs::read_dir(self.data)?.flatten().map(|file| file.file_name());
        let stray = stray.filter(|name| name.to_string_lossy().ends_with(".running"));
        wrong.extend(stray.map(|name| format!("{} is left in the store", name.display())));
        Ok(wrong)
    }
}

/// What the next run's record is told from.
const NEXT_SUBJECT: &str = "log on next";

/// What is wrong with a record by itself.
fn inner(run: &Run, entry: &Entry) -> Vec<String> {
    let mut wrong = Vec::new();
    let blocks: Vec<_> = run.blocks().collect();
    if blocks.len() != entry.blocks as usize {
        wrong.push(format!("{} blocks are in the record of {}", blocks.len(), entry.blocks));
    }
    let arms = run.plan.arms.len();
    for (number, block) in blocks.iter().enumerate() {
        let of_block: BTreeSet<usize> = block.iter().map(|slice| slice.arm).collect();
        if block[0].block() != Some(number) || of_block.len() < arms.min(2) {
            wrong.push(format!("block {number} is not whole"));
        }
    }
    if !run.failures.is_empty() {
        wrong.push(format!("an arm failed: {}", run.failures[0].why));
    }
    if entry.state == State::Killed && !run.run.interrupted {
        wrong.push("it is not said to be interrupted".to_owned());
    }
    if analysis::analyse(run).arms.len() != arms {
        wrong.push("it cannot be analysed".to_owned());
    }
    wrong
}

/// A run that was killed.
struct Killed {
    told: u32,
    ended_ms: u64,
    wrong: Vec<String>,
}

/// Waits for what a killed run started to end; how long that took, and what did not.
fn await_orphans() -> Result<(u64, Vec<String>)> {
    let began = Instant::now();
    loop {
        // Those that have ended are there until their end is taken note of.
        while rustix::process::wait(WaitOptions::NOHANG).is_ok_and(|one| one.is_some()) {}
        let alive = children()?;
        let waited_ms = began.elapsed().as_millis() as u64;
        if alive.is_empty() {
            return Ok((waited_ms, Vec::new()));
        }
        if began.elapsed() > END_MAX {
            let wrong = alive.iter().map(|(pid, name)| {
                let _ = rustix::process::kill_process(*pid, Signal::KILL);
                format!("{name} is alive {waited_ms} ms later")
            });
            return Ok((waited_ms, wrong.collect()));
        }
        sleep(Duration::from_millis(2));
    }
}

/// The processes whose parent is this one: orphans have become that.
fn children() -> Result<Vec<(Pid, String)>> {
    let own = rustix::process::getpid().as_raw_nonzero().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { continue };
        // One that ends meanwhile is not there.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((before, after)) = stat.rsplit_once(')') else { continue };
        if after.split_whitespace().nth(1) == Some(own.as_str()) {
            let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            let name = before.split_once('(').map_or("", |(_, name)| name);
            found.push((pid, format!("{name} ({})", command.replace('\0', " "))));
        }
    }
    Ok(found)
}
