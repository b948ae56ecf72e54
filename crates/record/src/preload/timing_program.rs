//! The program that the library is calibrated by (`time_calls.c`), kept in this one.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags, open};

use super::{memory, path};

/// As `build.rs` made it; empty where the library cannot be made.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/time-calls"));

/// Its file, which is in memory.
pub(crate) struct TimingProgram(OwnedFd);

impl TimingProgram {
    /// One that takes the library, as the programs do that are recorded.
    pub(crate) fn make() -> io::Result<Self> {
        Self::of(PROGRAM)
    }

    fn of(program: &[u8]) -> io::Result<Self> {
        let writer = memory::program("iotoll-time-calls")?;
        memory::write(&writer, program)?;
        // The kernel runs no file that is still open for writing.
        let reader = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(Self(open(path(writer.as_raw_fd()), reader, Mode::empty())?))
    }

    /// Whether it can be run here.
    pub(crate) fn can_run(&self) -> bool {
        let mut nothing = Command::new(path(self.0.as_raw_fd()));
        nothing.stdin(Stdio::null()).stderr(Stdio::null());
        nothing.status().is_ok_and(|status| status.success())
    }

    /// Has it start processes.
    pub(crate) fn starts(&self) -> Command {
        self.command(0)
    }

    /// Times so many calls of each kind in each round.
    pub(crate) fn command(&self, calls: u32) -> Command {
        let mut command = Command::new(path(self.0.as_raw_fd()));
        command.arg(calls.to_string());
        command
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::overhead::read_rounds;
    use crate::preload::preload_support::refusal;
    use crate::starts::Starts;
    use crate::timing::{ROUNDS, STARTS};

    /// Fails where the program is static, or is not one that glibc's linker starts.
    #[test]
    fn it_takes_a_library_and_times_calls() {
        let program = TimingProgram::make().unwrap();
        let file = path(program.0.as_raw_fd());
        assert_eq!(refusal(file.as_ref()), None);
        let output = program.command(3).output().unwrap();
        let rounds = read_rounds(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(rounds.len(), ROUNDS);
        assert!(rounds.iter().flatten().all(|took| *took > 0));
        let output = program.starts().output().unwrap();
        let starts = Starts::read_rounds(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(starts.len(), STARTS);
        let least = |at: usize| starts.iter().map(|round| round[at]).min().unwrap();
        assert!(0 < least(0) && least(0) < least(1), "{starts:?}");
    }

    /// Fails if a machine that lacks what the program needs cannot record without it.
    #[test]
    fn whether_it_can_run_is_known_before() {
        let can_run = |program: &[u8]| TimingProgram::of(program).unwrap().can_run();
        assert!(can_run(PROGRAM));
        // As on other processors.
        assert!(!can_run(b""));
        // As if there were no glibc.
        let linker = PROGRAM.windows(4).position(|bytes| bytes == b"/ld-").unwrap();
        let mut elsewhere = PROGRAM.to_vec();
        elsewhere[linker + 1] = b'x';
        assert!(!can_run(&elsewhere));
    }

    /// Fails where it needs a newer C library than the machines have that it is to run on.
    #[test]
    fn it_asks_for_nothing_that_old_c_libraries_lack() {
        let versions = PROGRAM.split(|byte| *byte == 0);
        let versions = versions.filter_map(|text| text.strip_prefix(b"GLIBC_2."));
        let versions: Vec<_> = versions.map(String::from_utf8_lossy).collect();
        let minor = |text: &str| text.split('.').next().unwrap().parse::<u32>().unwrap();
        assert!(!versions.is_empty());
        assert!(versions.iter().all(|version| minor(version) <= 17), "{versions:?}");
    }
}
