//! The disk as those see it who use it: its process, and the way to it.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::device::{self, Answer, Command as Told};
use super::tape::Moment;

/// The hidden command that is the disk.
pub(crate) const COMMAND: &str = "promises-disk";

/// A disk that is there.
pub(super) struct Disk {
    process: Child,
    line: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    folder: TempDir,
}

impl Disk {
    /// Starts one, of zeros; `program` is this one, or one like it.
    pub(super) fn start(program: &Path, bytes: u64) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut process = Command::new(program)
            .arg(COMMAND)
            .arg(folder.path())
            .arg(bytes.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting the disk's process")?;
        let ends = process.stdin.take().zip(process.stdout.take());
        let (told, answers) = ends.context("the disk's process has no pipes")?;
        let line = RefCell::new((told, BufReader::new(answers)));
        let disk = Self { process, line, folder };
        disk.answer()?;
        Ok(disk)
    }

    /// The file that holds it.
    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join(device::NAME)
    }

    /// Tells it something that it does.
    pub(super) fn tell(&self, command: Told) -> Result<()> {
        self.ask(command).map(drop)
    }

    /// Ends a recording; the moments at which the power may fail in it.
    pub(super) fn end(&self) -> Result<Vec<Moment>> {
        match self.ask(Told::End)? {
            Answer::Moments(moments) => Ok(moments),
            other => bail!("the disk answered {other:?} to the end of a recording"),
        }
    }

    fn ask(&self, command: Told) -> Result<Answer> {
        writeln!(self.line.borrow_mut().0, "{}", serde_json::to_string(&command)?)
            .context("telling the disk's process")?;
        self.answer()
    }

    fn answer(&self) -> Result<Answer> {
        let mut line = String::new();
        self.line.borrow_mut().1.read_line(&mut line).context("hearing the disk's process")?;
        match serde_json::from_str(&line).context("the disk's process ended; see above")? {
            Answer::Failed(why) => bail!("the disk: {why}"),
            answer => Ok(answer),
        }
    }
}

impl Drop for Disk {
    /// Nothing of it is mounted any more, for mounts borrow it.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = rustix::mount::unmount(self.folder.path(), rustix::mount::UnmountFlags::DETACH);
    }
}
