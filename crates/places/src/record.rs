//! What was made for a run and outlives its process, written down before each step.
//!
//! A line is written and synced before something is made, and another as soon as it has a
//! name. Whoever finds the folder and holds its lock undoes what the lines say. All of it
//! is of one boot: devices do not outlive it, and the numbers begin again.
//!
//! A zram device is added by a child, which writes its line even if the run is killed
//! meanwhile. Where that child was killed, too, nothing tells the run's device from anybody
//! else's: it is left, and `iotoll clean` prints how to remove it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use host::owner::Owner;
use host::root::Root;
use host::zram::{self, Zram};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

use crate::folder::open_own_file;

/// The record's name in the folder.
const NAME: &std::ffi::CStr = c"made";
/// Records are shorter than this.
const BYTES_MAX: u64 = 1 << 20;
/// The line of a zram device begins with this …
const ZRAM: &str = "zram";
/// … and is shorter than this.
const LINE_BYTES_MAX: usize = 128;

/// How long a mount or a device that is being let go of is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// A record that is being written.
#[derive(Debug)]
pub(crate) struct Record(File);

impl Record {
    /// In a folder that has none.
    pub(crate) fn begin(folder: BorrowedFd<'_>) -> io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(folder, NAME, flags, Mode::RUSR | Mode::WUSR)?;
        let mut record = Self(File::from(file));
        record.write(&Line::Boot(Owner::this_process().boot))?;
        Ok(record)
    }

    /// Adds a zram device, whose disk comes after the one of that number.
    pub(crate) fn add_zram(&mut self, latest_disk: u64) -> io::Result<Zram> {
        self.write(&Line::ZramAfter(latest_disk))?;
        let before = self.0.stream_position()?;
        zram::add(&Root::real(), ZRAM, self.0.as_fd())?;
        let mut line = [0; LINE_BYTES_MAX];
        let length = rustix::io::pread(&self.0, &mut line, before)?;
        match str::from_utf8(&line[..length]).ok().and_then(Line::read) {
            Some(Line::Zram(zram)) => Ok(zram),
            _ => Err(io::Error::other("its number is not known")),
        }
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
            Self::Zram(Zram { number, disk }) => format!("{ZRAM} {number} {disk}\n"),
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
            ZRAM => {
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

/// What became of what a record says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Undone {
    /// What is gone.
    pub(crate) gone: Vec<String>,
    /// What may be the owner's or somebody else's and was left, each in a sentence.
    pub(crate) unproved: Vec<String>,
}

/// Whether there is a record in a folder.
pub(crate) fn is_in(folder: BorrowedFd<'_>) -> bool {
    !matches!(rustix::fs::statat(folder, NAME, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
}

/// Undoes what the record in a folder says, if there is one: for whoever holds the folder's
/// lock and knows that its owner has ended. `sweep` removes what the owner left in another
/// directory, and says what.
pub(crate) fn undo(
    folder: BorrowedFd<'_>,
    sweep: impl Fn(&Path) -> Result<Vec<String>, String>,
) -> Result<Undone, String> {
    let mut lines = read(folder)?;
    let mut undone = Undone::default();
    if let Some(disk) = unnamed_zram(&lines) {
        // A child that still adds it holds this until it has written the line.
        let Ok(_lock) = ZramLock::take() else {
            // There are no such devices without zram.
            return Ok(undone);
        };
        lines = read(folder)?;
        if unnamed_zram(&lines).is_some() {
            undone.unproved =
                zram::unused_after(&Root::real(), disk).iter().map(unproved).collect();
        }
    }
    for line in lines {
        match line {
            Line::Boot(_) | Line::ZramAfter(_) => {}
            Line::Zram(zram) => undone.gone.extend(remove(zram)?),
            Line::WorkingIn(directory) => undone.gone.extend(sweep(&directory)?),
        }
    }
    Ok(undone)
}

/// The disk after which a zram device was to be added that has no line.
fn unnamed_zram(lines: &[Line]) -> Option<u64> {
    let next = lines.iter().skip(1).map(Some).chain([None]);
    lines.iter().zip(next).find_map(|lines| match lines {
        (Line::ZramAfter(_), Some(Line::Zram(_))) => None,
        (Line::ZramAfter(disk), _) => Some(*disk),
        _ => None,
    })
}

fn unproved(zram: &Zram) -> String {
    let Zram { number, .. } = zram;
    format!(
        "{}: it has no size, and the killed run may have added it, or somebody else; if nobody \
         is about to use it, remove it with `echo {number} >/sys/class/zram-control/hot_remove`",
        zram.path().display()
    )
}

/// The lines of a record of this boot; none where there is no record.
fn read(folder: BorrowedFd<'_>) -> Result<Vec<Line>, String> {
    let text = read_text(folder).map_err(|e| format!("its record could not be read: {e}"))?;
    let text = text.unwrap_or_default();
    let lines: Vec<Line> = text.split_inclusive('\n').filter_map(Line::read).collect();
    let is_of_this_boot = lines.first() == Some(&Line::Boot(Owner::this_process().boot));
    Ok(if is_of_this_boot { lines } else { Vec::new() })
}

fn read_text(folder: BorrowedFd<'_>) -> io::Result<Option<String>> {
    let file = match open_own_file(folder, NAME, OFlags::RDONLY) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut text = Vec::new();
    File::from(file).take(BYTES_MAX).read_to_end(&mut text)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
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
        let undo = || {
            let undone = super::undo(dir.as_fd(), |path| Ok(vec![path.display().to_string()]));
            undone.map(|undone| undone.gone)
        };
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

    #[test]
    fn a_record_that_is_no_file_of_the_users_own_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let dir = File::open(folder.path()).unwrap();
        let (record, elsewhere) = (folder.path().join("made"), folder.path().join("elsewhere"));
        std::fs::write(&elsewhere, Line::Boot(Owner::this_process().boot).text()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &record).unwrap();
        assert!(is_in(dir.as_fd()) && read(dir.as_fd()).is_err(), "a link");
        std::fs::remove_file(&record).unwrap();
        std::fs::create_dir(&record).unwrap();
        assert!(read(dir.as_fd()).is_err(), "a directory");
        std::fs::remove_dir(&record).unwrap();
        std::fs::rename(&elsewhere, &record).unwrap();
        assert_eq!(read(dir.as_fd()).unwrap().len(), 1);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&record, Some(65_534), None).unwrap();
            assert!(read(dir.as_fd()).is_err(), "a file of another user's");
        }
    }

    #[test]
    fn only_a_zram_device_without_a_line_is_looked_for() {
        let zram = |number| Line::Zram(Zram { number, disk: 18 });
        let (boot, after) = (|| Line::Boot("1".to_owned()), Line::ZramAfter);
        assert_eq!(unnamed_zram(&[boot()]), None);
        assert_eq!(unnamed_zram(&[boot(), after(7), zram(1)]), None);
        assert_eq!(unnamed_zram(&[boot(), after(7)]), Some(7));
        let working = || Line::WorkingIn("/srv".into());
        assert_eq!(unnamed_zram(&[boot(), after(7), working(), zram(1)]), Some(7));
        assert_eq!(unnamed_zram(&[boot(), after(7), zram(1), after(9)]), Some(9));
    }
}
