//! What recording costs here, found out before it begins and kept for the next recording.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use record::{Calibration, Recorder};

/// The hidden command that a recorder is calibrated by.
pub(crate) const TIME_CALLS: &str = "__time-calls";

/// Finds out what recording costs, by this program itself where it can be recorded.
pub(crate) fn calibrate(recorder: &mut Recorder) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("finding this program's own file")?;
    let kept = Kept::of(recorder);
    let mut calibration = kept.as_ref().map(Kept::read).unwrap_or_default();
    let timing = |calls: u32| {
        let mut command = Command::new(&program);
        command.args([OsString::from(TIME_CALLS), calls.to_string().into()]);
        command
    };
    recorder.calibrate(timing, &mut calibration)?;
    // Where it cannot be kept, the next recording finds it out again.
    let _ = kept.map(|kept| kept.write(&calibration));
    Ok(())
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
