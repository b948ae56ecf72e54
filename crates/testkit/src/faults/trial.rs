//! A run in which something fails, and what is to be said of it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use analysis::analyse;
use model::analysis::Verdict;
use model::run::Run;
use tempfile::TempDir;

use super::calls::Fault;
use super::injection::Injection;
use super::replayed;
use super::tracer::{Ended, Traced, trace};

/// No run takes so long that ends at all: some wait for seconds for what does not come.
const WITHIN: Duration = Duration::from_secs(60);
/// What stands for the path of a small recording.
const TRACE: &str = "{trace}";
/// By which figure a replay tells of calls that went otherwise than they were recorded.
const DEVIATIONS: &str = "deviations";
/// Documented exit codes.
const CODES: [i32; 6] = [0, 1, 2, 3, 4, 130];
/// Data was broken.
const BROKEN: i32 = 3;

/// What is run: a comparison of two places of one file system, which differ in nothing.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program.
    pub iotoll: PathBuf,
    /// What is compared: `--study log --strategy held`. `{trace}` in it stands for the path of a
    /// small recording.
    pub arguments: Vec<String>,
    /// For how long, in seconds.
    pub budget_s: u32,
}

/// Two empty places, and where a run's output goes.
#[derive(Debug)]
pub struct Scene {
    folder: TempDir,
    root: PathBuf,
}

/// What is wrong with how a run took a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// It did not end.
    Hang,
    /// It, or a process of ours, died of a signal, or told of a panic.
    Panic(String),
    /// An exit code that is not documented, or one without a sentence that says what
    /// could not be done.
    Unexplained(String),
    /// A place is not empty, and either that was not said or `iotoll clean` did not help.
    FilesLeft(String),
    /// Processes outlived it.
    ProcessesLeft(usize),
    /// A difference between places that do not differ, or broken data that is not.
    WrongVerdict(String),
}

impl Defect {
    /// The column that it is counted in.
    pub fn column(&self) -> usize {
        match self {
            Self::Hang => 0,
            Self::Panic(_) => 1,
            Self::Unexplained(_) => 2,
            Self::FilesLeft(_) | Self::ProcessesLeft(_) => 3,
            Self::WrongVerdict(_) => 4,
        }
    }
}

/// A run that has ended, judged.
#[derive(Debug)]
pub struct Judged {
    /// What it did.
    pub traced: Traced,
    /// What it printed on standard error.
    pub said: String,
    /// Whether it told of a failure: by its exit code, an arm that could not be timed, a call that
    /// went otherwise than it was recorded, or data that was found broken.
    pub told: bool,
    /// What is wrong.
    pub defects: Vec<Defect>,
}

impl Scene {
    /// Makes the places in a folder.
    pub fn within(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("faults-").tempdir_in(parent)?;
        let root = folder.path().canonicalize()?;
        for name in ["a", "b", "cwd"] {
            fs::create_dir(root.join(name))?;
        }
        fs::write(root.join("recorded.trace"), replayed::trace())?;
        Ok(Self { folder, root })
    }

    /// The places.
    fn places(&self) -> [PathBuf; 2] {
        ["a", "b"].map(|name| self.root.join(name))
    }

    fn command(&self, program: &Program) -> io::Result<Command> {
        let mut command = Command::new(&program.iotoll);
        command.args(["compare", "--seed=1"]).arg(format!("--budget={}s", program.budget_s));
        let trace = self.root.join("recorded.trace").display().to_string();
        command.args(program.arguments.iter().map(|argument| argument.replace(TRACE, &trace)));
        command.arg("--json").arg(self.json());
        for (label, place) in ["a", "b"].iter().zip(self.places()) {
            command.arg(format!("{label}={}", place.display()));
        }
        let [out, err] = ["stdout", "stderr"].map(|name| File::create(self.root.join(name)));
        command.stdin(Stdio::null()).stdout(out?).stderr(err?);
        command.current_dir(self.root.join("cwd")).env("TMPDIR", self.root.join("cwd"));
        command.env("IOTOLL_DIR", self.store()).env_remove("CLICOLOR_FORCE");
        Ok(command)
    }

    fn json(&self) -> PathBuf {
        self.root.join("result.json")
    }

    /// Where runs are saved, so that no user's are added to.
    fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    /// Runs it once, with something failing or nothing, and leaves the places empty.
    pub fn run(&self, program: &Program, injection: Option<&Injection>) -> io::Result<Judged> {
        // Whatever the run before left.
        let _ = fs::remove_file(self.json());
        let _ = fs::remove_dir_all(self.store());
        let mut command = self.command(program)?;
        let traced = trace(&mut command, &self.root, injection, WITHIN)?;
        let said = fs::read(self.root.join("stderr"))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let run = fs::read_to_string(self.json()).ok().and_then(|text| Run::read(&text).ok());
        let mut judged = judge(traced, said, run.as_ref(), injection);
        judged.defects.extend(self.left(program, &judged.said)?);
        Ok(judged)
    }

    /// What is left in the places, and is then removed.
    fn left(&self, program: &Program, said: &str) -> io::Result<Vec<Defect>> {
        let mut defects = Vec::new();
        let mut here = Vec::new();
        for place in self.places().iter().chain([&self.root.join("cwd")]) {
            for entry in fs::read_dir(place)? {
                here.push(entry?.path());
            }
        }
        if here.is_empty() {
            return Ok(defects);
        }
        for path in &here {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !said.contains(&*name) {
                defects.push(Defect::FilesLeft(format!("{name}, of which nothing is said")));
            }
        }
        let mut clean = Command::new(&program.iotoll);
        let labelled = self.places().map(|place| format!("left={}", place.display()));
        let clean = clean.arg("clean").args(labelled).output()?;
        for path in here.iter().filter(|path| path.exists()) {
            let mut text = format!("{}, which clean does not remove", path.display());
            let _ = write!(text, ": {}", String::from_utf8_lossy(&clean.stderr).trim_end());
            defects.push(Defect::FilesLeft(text));
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        Ok(defects)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// What is to be said of a run, apart from what it left in the places.
pub fn judge(
    traced: Traced,
    said: String,
    run: Option<&Run>,
    injection: Option<&Injection>,
) -> Judged {
    let mut defects = Vec::new();
    let mut told = said.contains("could not") || said.contains("cannot");
    match traced.ended {
        Ended::Never => defects.push(Defect::Hang),
        Ended::Signal(signal) => defects.push(Defect::Panic(format!("it died of {signal}"))),
        Ended::Code(code) => {
            told |= code != 0;
            defects.extend(unexplained(code, &said));
        }
    }
    defects.extend(traced.deaths.iter().map(|s| Defect::Panic(format!("one died of {s}"))));
    for mark in ["internal error", "panicked", "backtrace"] {
        if let Some(line) = said.lines().find(|line| line.contains(mark)) {
            defects.push(Defect::Panic(line.to_owned()));
        }
    }
    if traced.left_behind > 0 {
        defects.push(Defect::ProcessesLeft(traced.left_behind));
    }
    if let Some(run) = run {
        told |= !run.failures.is_empty();
        told |= run.slices.iter().any(|slice| slice.outcome.figures.get(DEVIATIONS) > Some(&0.0));
        defects.extend(wrong(run));
        let lies = injection.is_none_or(|injection| injection.fault == Fault::Short);
        if lies && traced.ended == Ended::Code(BROKEN) {
            defects.push(Defect::WrongVerdict("data is said to be broken".to_owned()));
        }
    }
    Judged { traced, said, told, defects }
}

/// A code that is not documented, or one that nothing is said for.
fn unexplained(code: i32, said: &str) -> Option<Defect> {
    if !CODES.contains(&code) {
        return Some(Defect::Unexplained(format!("exit code {code}")));
    }
    let last = said.lines().rev().find_map(|line| line.strip_prefix("iotoll: "));
    let explained = match last {
        // The system's words alone do not say what could not be done.
        Some(text) => text.contains(": ") || !text.contains("(os error"),
        None => false,
    };
    (code != 0 && !explained).then(|| {
        Defect::Unexplained(format!("exit code {code} with {:?}", last.unwrap_or_default()))
    })
}

/// Differences between places that do not differ.
fn wrong(run: &Run) -> Option<Defect> {
    let analysis = analyse(run);
    let wrong = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
    let false_one = analysis.comparisons.iter().find(|c| wrong(c.verdict))?;
    let what = format!("{} is said to be {:?}", false_one.other, false_one.verdict);
    Some(Defect::WrongVerdict(what))
}
