//! What was made for a run and outlives its process, written down before each step.
//!
//! A line is written and synced before something is made, and another as soon as it has a
//! name. Whoever finds the folder and holds its lock undoes what the lines say. All of it
//! is of one boot: devices do not outlive it, and the numbers begin again.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use host::owner::Owner;
use host::root::Root;
use host::zram::{self, Zram};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

/// The record's name in the folder.
const NAME: &std::ffi::CStr = c"made";
/// Records are shorter than this.
const BYTES_MAX: u64 = 1 << 20;

/// How long a mount or a device that is being let go of is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// A record that is being written.
#[derive(Debug)]
pub(crate) struct Record(File);

impl Record {
    /// In a folder that has none.
    pub(crate) fn begin(folder: BorrowedFd<'_>) -> io::Result<Self> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(folder, NAME, flags, Mode::RUSR | Mode::WUSR)?;
        let mut record = Self(File::from(file));
        record.write(&Line::Boot(Owner::this_process().boot))?;
        Ok(record)
    }

    /// A zram device is about to be added, after the disk of that number.
    pub(crate) fn adding_zram(&mut self, latest_disk: u64) -> io::Result<()> {
        self.write(&Line::ZramAfter(latest_disk))
    }

    /// It was added.
    pub(crate) fn added_zram(&mut self, zram: Zram) -> io::Result<()> {
        self.write(&Line::Zram(zram))
    }

    /// A working folder is about to be made in this directory.
    pub(crate) fn working_in(&mut self, directory: &Path) -> io::Result<()> {
        self.write(&Line::WorkingIn(directory.to_owned()))
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        self.0.write_all(line.text().as_bytes())?;
        self.0.sync_data()
    }
}

/// One line of a record.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Boot(String),
    ZramAfter(u64),
    Zram(Zram),
    WorkingIn(PathBuf),
}

impl Line {
    fn text(&self) -> String {
        match self {
            Self::Boot(boot) => format!("boot {boot}\n"),
            Self::ZramAfter(disk) => format!("zram-after {disk}\n"),
            Self::Zram(Zram { number, disk }) => format!("zram {number} {disk}\n"),
            Self::WorkingIn(path) => {
                // A path may have any bytes but a zero.
                let bytes = path.as_os_str().as_bytes();
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("working-in {digits}\n")
            }
        }
    }

    /// Nothing where it was cut short, and so was not acted upon either.
    fn read(line: &str) -> Option<Self> {
        let (key, value) = line.strip_suffix('\n')?.split_once(' ')?;
        Some(match key {
            "boot" => Self::Boot(value.to_owned()),
            "zram-after" => Self::ZramAfter(value.parse().ok()?),
            "zram" => {
                let (number, disk) = value.split_once(' ')?;
                Self::Zram(Zram { number: number.parse().ok()?, disk: disk.parse().ok()? })
            }
            "working-in" => {
                let digits: Option<Vec<u8>> = (0..value.len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(value.get(at..at + 2)?, 16).ok())
                    .collect();
                Self::WorkingIn(PathBuf::from(OsString::from_vec(digits?)))
            }
            _ => return None,
        })
    }
}

/// Undoes what the record in a folder says, if there is one: for whoever holds the folder's
/// lock and knows that its owner has ended. Says what it undid. `sweep` removes what the
/// owner left in another directory, and says what.
pub(crate) fn undo(
    folder: BorrowedFd<'_>,
    sweep: impl Fn(&Path) -> Result<Vec<String>, String>,
) -> Result<Vec<String>, String> {
    let text = match read(folder) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Vec::new()),
        Err(error) => return Err(format!("its record could not be read: {error}")),
    };
    let lines: Vec<Line> = text.split_inclusive('\n').filter_map(Line::read).collect();
    if lines.first() != Some(&Line::Boot(Owner::this_process().boot)) {
        return Ok(Vec::new());
    }
    let mut undone = Vec::new();
    for (position, line) in lines.iter().enumerate() {
        match line {
            Line::ZramAfter(disk) if !matches!(lines.get(position + 1), Some(Line::Zram(_))) => {
                undone.extend(remove_unused(*disk)?);
            }
            Line::Boot(_) | Line::ZramAfter(_) => {}
            Line::Zram(zram) => undone.extend(remove(*zram)?),
            Line::WorkingIn(directory) => undone.extend(sweep(directory)?),
        }
    }
    Ok(undone)
}

fn read(folder: BorrowedFd<'_>) -> io::Result<Option<String>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match openat(folder, NAME, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut text = Vec::new();
    File::from(file).take(BYTES_MAX).read_to_end(&mut text)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

/// The owner was killed between adding a device and writing down its name: it is one that
/// came after and that nobody has given a size.
fn remove_unused(disk: u64) -> Result<Vec<String>, String> {
    let _lock = ZramLock::take().map_err(|error| error.to_string())?;
    let unused = zram::unused_after(&Root::real(), disk).into_iter();
    unused.map(remove).collect::<Result<Vec<_>, _>>().map(|all| all.into_iter().flatten().collect())
}

/// Tries until it is no longer refused for something that is still in use.
pub(crate) fn while_busy(mut action: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match action() {
            Err(error)
                if error.raw_os_error() == Some(Errno::BUSY.raw_os_error())
                    && began.elapsed() < PATIENCE =>
            {
                sleep(Duration::from_millis(20));
            }
            done => return done,
        }
    }
}

/// Its last users may be about to end.
fn remove(zram: Zram) -> Result<Option<String>, String> {
    let root = Root::real();
    if !zram.is_there(&root) {
        return Ok(None);
    }
    let path = zram.path();
    match while_busy(|| zram.remove(&root)) {
        Ok(()) => Ok(Some(path.display().to_string())),
        Err(error) => Err(format!(
            "{} could not be removed: {error}; stop whatever uses it, then run `iotoll clean` \
             again",
            path.display()
        )),
    }
}

/// Held from before a zram device is added until it has its size, and while those without
/// one are looked for, so that nobody takes away what another is adding.
pub(crate) struct ZramLock(#[allow(dead_code)] OwnedFd);

impl ZramLock {
    pub(crate) fn take() -> io::Result<Self> {
        // Opening it does nothing; reading it would add a device.
        let file = OwnedFd::from(File::open("/sys/class/zram-control/hot_add")?);
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(Self(file))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn lines_read_back_and_those_that_were_cut_short_say_nothing() {
        let path = PathBuf::from(OsString::from_vec(b"/srv/a b\n\xff".to_vec()));
        let lines = [
            Line::Boot("1-2".to_owned()),
            Line::ZramAfter(7),
            Line::Zram(Zram { number: 3, disk: 18 }),
            Line::WorkingIn(path),
        ];
        for line in lines {
            let text = line.text();
            assert_eq!(Line::read(&text), Some(line));
            for end in 0..text.len() {
                assert_eq!(Line::read(&text[..end]), None, "{}", &text[..end]);
            }
        }
    }

    #[test]
    fn what_is_of_another_boot_is_not_acted_upon() {
        let folder = tempfile::tempdir().unwrap();
        let dir = File::open(folder.path()).unwrap();
        let undo = || super::undo(dir.as_fd(), |path| Ok(vec![path.display().to_string()]));
        assert_eq!(undo(), Ok(Vec::new()), "no record");
        let working = Line::WorkingIn("/srv".into()).text();
        let own = Owner::this_process().boot;
        for (boot, undone) in [("other", &[][..]), ("", &[]), (own.as_str(), &["/srv".to_owned()])]
        {
            let text = Line::Boot(boot.to_owned()).text() + &working;
            std::fs::write(folder.path().join("made"), text).unwrap();
            assert_eq!(undo(), Ok(undone.to_vec()), "{boot}");
        }
    }
}
