//! Files that are created and removed in a new file system until its free space is in pieces,
//! as it is in one that has been in use.
//!
//! Sizes are drawn as files are found to be on people's machines: logarithmic normal
//! (N. Agrawal et al., "A five-year study of file-system metadata", FAST 2007; the parameters are
//! those of the same authors' "Generating realistic Impressions for file-system benchmarking", FAST
//! 2009). The file system is filled, then files are removed at random and others created in
//! their place, and in the end files are removed at random until half of it is free (as in
//! Geriatrix: S. Kadekodi et al., ATC 2018, which follows a recorded history instead). Every draw
//! follows from one seed, so that two images of one size are alike.
//!
//! Files are allocated and never written, so that a gigabyte takes a second or two.

use std::f64::consts::TAU;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, unlinkat};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fstatvfs, mkdirat, openat, syncfs};
use rustix::io::Errno;

use super::error::CreateError;

/// The folder with the files that stay.
const FOLDER: &str = "iotoll-aged";
/// Files are in so many folders.
const FOLDERS: u64 = 64;
/// The mean logarithm of a file's bytes, and its deviation.
const LN_BYTES: (f64, f64) = (9.48, 2.46);
/// No file takes more than this part of the file system: the few that would leave no choice.
const LARGEST: u64 = 64;
/// Files fill it up to this share.
const FULL: f64 = 0.85;
/// What is removed and created again, as a multiple of the file system.
const CHURN: f64 = 2.0;
/// The share that is in use in the end.
pub(super) const LEFT_IN_USE: f64 = 0.5;
/// The space that files take is counted in these.
const BLOCK: u64 = 4096;

/// Ages the file system that is mounted there.
pub(super) fn age(point: &Path, stop: &AtomicBool) -> Result<(), CreateError> {
    let fail = |error: Errno| CreateError::failed("ageing the image", error);
    let root = File::open(point).map_err(|e| CreateError::failed("ageing the image", e))?;
    let space = fstatvfs(&root).map_err(fail)?;
    let capacity = space.f_bavail.saturating_mul(space.f_frsize);
    let mut ageing = Ageing::begin(&root, capacity, stop).map_err(fail)?;
    ageing.live_through().map_err(|error| match error {
        Errno::INTR => CreateError::interrupted(),
        error => fail(error),
    })?;
    // It is not to be done while something is measured.
    syncfs(&root).map_err(fail)
}

/// A file that is there.
struct Aged {
    number: u64,
    bytes: u64,
}

struct Ageing<'a> {
    folders: Vec<File>,
    files: Vec<Aged>,
    created: u64,
    used_bytes: u64,
    capacity: u64,
    random: Random,
    stop: &'a AtomicBool,
}

impl<'a> Ageing<'a> {
    fn begin(root: &File, capacity: u64, stop: &'a AtomicBool) -> Result<Self, Errno> {
        let only_owner = Mode::RWXU;
        mkdirat(root, FOLDER, only_owner)?;
        let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let top = openat(root, FOLDER, directory, Mode::empty())?;
        let folder = |number: u64| {
            let name = number.to_string();
            mkdirat(&top, &name, only_owner)?;
            openat(&top, &name, directory, Mode::empty()).map(File::from)
        };
        let folders: Result<Vec<File>, Errno> = (0..FOLDERS).map(folder).collect();
        Ok(Self {
            folders: folders?,
            files: Vec::new(),
            created: 0,
            used_bytes: 0,
            capacity,
            random: Random(0x696f_746f_6c6c),
            stop,
        })
    }

    /// [`Errno::INTR`] where it was stopped.
    fn live_through(&mut self) -> Result<(), Errno> {
        let share = |of: f64| (self.capacity as f64 * of) as u64;
        let (full, churn, left) = (share(FULL), share(CHURN), share(LEFT_IN_USE));
        let mut turned_over = 0;
        while turned_over < churn {
            if self.used_bytes < full && self.create()? {
                continue;
            }
            let removed = self.remove_any()?;
            if removed == 0 {
                break;
            }
            turned_over += removed;
        }
        while self.used_bytes > left && self.remove_any()? > 0 {}
        Ok(())
    }

    fn goes_on(&self) -> Result<(), Errno> {
        if self.stop.load(Ordering::Relaxed) { Err(Errno::INTR) } else { Ok(()) }
    }

    /// Creates one; false where there is no room for it.
    fn create(&mut self) -> Result<bool, Errno> {
        self.goes_on()?;
        let number = self.created;
        let bytes = self.random.file_bytes(self.capacity / LARGEST);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let folder = &self.folders[(number % FOLDERS) as usize];
        let name = number.to_string();
        let file = match openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::NOSPC) => return Ok(false),
            file => file?,
        };
        match fallocate(file.as_fd(), FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {}
            Err(Errno::NOSPC) => {
                unlinkat(folder, &name, AtFlags::empty())?;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        self.created += 1;
        self.used_bytes += bytes;
        self.files.push(Aged { number, bytes });
        Ok(true)
    }

    /// Removes one, and says how large it was; 0 where there is none.
    fn remove_any(&mut self) -> Result<u64, Errno> {
        self.goes_on()?;
        if self.files.is_empty() {
            return Ok(0);
        }
        let index = self.random.next() as usize % self.files.len();
        let Aged { number, bytes } = self.files.swap_remove(index);
        let folder = &self.folders[(number % FOLDERS) as usize];
        unlinkat(folder, number.to_string(), AtFlags::empty())?;
        self.used_bytes -= bytes;
        Ok(bytes)
    }
}

/// `SplitMix64` (G. L. Steele et al., OOPSLA 2014): the same everywhere, for the same image.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1, without both.
    fn share(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A file's size, in whole blocks.
    fn file_bytes(&mut self, most: u64) -> u64 {
        let radius = (-2.0 * self.share().ln()).sqrt();
        let gaussian = radius * (TAU * self.share()).cos();
        let bytes = (LN_BYTES.0 + LN_BYTES.1 * gaussian).exp() as u64;
        bytes.clamp(1, most.max(BLOCK)).next_multiple_of(BLOCK)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn sizes_are_those_of_the_distribution_and_always_the_same() {
        let sizes = |most| {
            let mut random = Random(1);
            let mut sizes: Vec<u64> = (0..20_000).map(|_| random.file_bytes(most)).collect();
            sizes.sort_unstable();
            sizes
        };
        let all = sizes(u64::MAX / 2);
        assert_eq!(all, sizes(u64::MAX / 2));
        // The median is e^9.48 = 13,095 bytes, in whole blocks 16 KiB, and a tenth have more
        // than e^(9.48 + 1.2816 * 2.46) = 306 kB.
        assert_eq!(all[10_000], 16 << 10);
        assert!((280_000..345_000).contains(&all[18_000]), "{}", all[18_000]);
        assert!(sizes(1 << 20).into_iter().all(|bytes| bytes <= 1 << 20 && bytes % BLOCK == 0));
    }

    #[test]
    fn half_is_left_in_use_by_files_of_many_sizes_and_a_stop_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = File::open(folder.path()).unwrap();
        let goes_on = AtomicBool::new(false);
        let mut ageing = Ageing::begin(&root, 64 << 20, &goes_on).unwrap();
        match ageing.live_through() {
            Err(Errno::OPNOTSUPP) => return eprintln!("SKIPPED: no fallocate in {folder:?}"),
            ended => ended.unwrap(),
        }
        let left: u64 = ageing.files.iter().map(|file| file.bytes).sum();
        assert_eq!(left, ageing.used_bytes);
        assert!((28 << 20..=32 << 20).contains(&left), "{left}");
        assert!(ageing.created > 2 * ageing.files.len() as u64);
        drop(ageing);

        let folder = tempfile::tempdir().unwrap();
        let stopped = AtomicBool::new(true);
        let ended = age(folder.path(), &stopped);
        assert!(ended.unwrap_err().to_string().starts_with("interrupted"));
    }
}
