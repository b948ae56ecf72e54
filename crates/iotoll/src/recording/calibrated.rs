//! What recording costs here: found out before the first ones begin, kept for the next ones, and
//! renewed after one where what is kept is old.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use record::{Calibration, Recorder};

/// The hidden command that a recorder is calibrated by.
pub(crate) const TIME_CALLS: &str = "__time-calls";

/// A machine may cost more or less after this: others share its processors and its caches.
const OLD: Duration = Duration::from_secs(600);

/// What a recorder was calibrated by.
pub(crate) struct Calibrated {
    program: PathBuf,
    calibration: Calibration,
    kept: Option<Kept>,
}

/// Finds out what recording costs, by this program itself where it can be recorded.
pub(crate) fn calibrate(recorder: &mut Recorder) -> anyhow::Result<Calibrated> {
    let program = std::env::current_exe().context("finding this program's own file")?;
    let kept = Kept::of(recorder);
    let known = kept.as_ref().map(Kept::read).unwrap_or_default();
    let mut calibration = known.clone();
    recorder.calibrate(timing(&program), &mut calibration)?;
    let calibrated = Calibrated { program, calibration, kept };
    if calibrated.calibration != known {
        calibrated.keep();
    }
    Ok(calibrated)
}

impl Calibrated {
    /// After a recording, measures the cost again for the next one if little is kept or it is old. If
    /// that fails, the next one uses what is kept.
    pub(crate) fn renew(mut self, recorder: &mut Recorder) {
        let is_wanted = |kept: &Kept| kept.is_old() || !recorder.is_settled(&self.calibration);
        let is_wanted = self.kept.as_ref().is_some_and(is_wanted);
        if is_wanted && recorder.renew(timing(&self.program), &mut self.calibration).is_ok() {
            self.keep();
        }
    }

    /// Where it cannot be kept, the next recording finds it out again.
    fn keep(&self) {
        let _ = self.kept.as_ref().map(|kept| kept.write(&self.calibration));
    }
}

/// Has a number of calls timed by this program.
fn timing(program: &Path) -> impl Fn(u32) -> Command {
    move |calls| {
        let mut command = Command::new(program);
        command.args([OsString::from(TIME_CALLS), calls.to_string().into()]);
        command
    }
}

/// What is kept for this machine as it runs now.
struct Kept {
    file: PathBuf,
    /// What it holds for, in its first line.
    machine: String,
}

impl Kept {
    fn of(recorder: &Recorder) -> Option<Self> {
        let folder = store::own_folder(&store::usual_cache(|name| std::env::var_os(name))?).ok()?;
        let mechanism = format!("{:?}", recorder.mechanism()).to_lowercase();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let machine = format!(
            "{} {} {mechanism}",
            boot.trim(),
            concat!("iotoll ", env!("CARGO_PKG_VERSION"))
        );
        Some(Self { file: folder.join(format!("overhead-{mechanism}")), machine })
    }

    fn is_old(&self) -> bool {
        let changed = fs::metadata(&self.file).and_then(|facts| facts.modified());
        changed.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > OLD))
    }

    fn read(&self) -> Calibration {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let turns = text.strip_prefix(&self.machine).and_then(|rest| rest.strip_prefix('\n'));
        turns.map(Calibration::from).unwrap_or_default()
    }

    /// Recordings that end at the same time replace it one after the other.
    fn write(&self, calibration: &Calibration) -> std::io::Result<()> {
        let new = self.file.with_extension(std::process::id().to_string());
        fs::write(&new, format!("{}\n{calibration}", self.machine))?;
        fs::rename(&new, &self.file)
    }
}
