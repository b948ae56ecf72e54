//! Counts how often the process waits for a device.
//!
//! The functions of libc by which it does are defined here, too. The linker takes these for
//! the engines' calls, whether they are written in Rust, C or C++; they count, and make the
//! system call. A write to a file that was opened with `O_DSYNC` or `O_SYNC` is a sync.
//!
//! What calls the kernel without libc is not seen: of the engines here only ours, when it
//! syncs its directory for a new segment.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use anyhow::{Result, ensure};
use libc::{c_int, c_long, c_void, iovec, off_t, size_t, ssize_t};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// How a file's writes are, by its descriptor.
static WRITES: [AtomicU8; 4096] = [const { AtomicU8::new(UNKNOWN) }; 4096];
const UNKNOWN: u8 = 0;
const CACHED: u8 = 1;
const SYNCED: u8 = 2;

/// How often until now.
pub(crate) fn count() -> u64 {
    COUNT.load(Relaxed)
}

/// An error where syncs are made that are not counted.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let path = folder.join("syncs");
    let before = count();
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&path)?;
    file.write_all(b"a")?;
    file.sync_all()?;
    file.sync_data()?;
    drop(file);
    let mut file = OpenOptions::new().write(true).custom_flags(libc::O_DSYNC).open(&path)?;
    file.write_all(b"b")?;
    std::fs::remove_file(&path)?;
    let counted = count() - before;
    ensure!(counted == 3, "of 3 syncs {counted} were counted");
    Ok(())
}

fn note() {
    COUNT.fetch_add(1, Relaxed);
}

/// Notes a write that waits for the device.
fn note_write(fd: c_int) {
    let known = usize::try_from(fd).ok().and_then(|fd| WRITES.get(fd));
    let mut kind = known.map_or(UNKNOWN, |kind| kind.load(Relaxed));
    if kind == UNKNOWN {
        // SAFETY: it changes nothing, and fails where there is no such descriptor.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
        kind = if flags & (libc::O_DSYNC | libc::O_SYNC) == 0 { CACHED } else { SYNCED };
        known.inspect(|known| known.store(kind, Relaxed));
    }
    if kind == SYNCED {
        note();
    }
}

/// SAFETY of all below: each makes the system call that the function of libc is there for,
/// with the arguments that it was given.
macro_rules! counted {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $returned:ty: $call:expr, $note:expr;)*) => {$(
        /// The same as libc's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> $returned {
            $note;
            // SAFETY: said above.
            unsafe { libc::syscall($call, $($argument as c_long),*) as $returned }
        }
    )*};
}

counted! {
    fn fsync(fd: c_int) -> c_int: libc::SYS_fsync, note();
    fn fdatasync(fd: c_int) -> c_int: libc::SYS_fdatasync, note();
    fn syncfs(fd: c_int) -> c_int: libc::SYS_syncfs, note();
    fn msync(start: *mut c_void, len: size_t, flags: c_int) -> c_int:
        libc::SYS_msync, if flags & libc::MS_SYNC != 0 { note() };
    fn write(fd: c_int, from: *const c_void, len: size_t) -> ssize_t:
        libc::SYS_write, note_write(fd);
    fn writev(fd: c_int, from: *const iovec, pieces: c_int) -> ssize_t:
        libc::SYS_writev, note_write(fd);
    fn pwrite(fd: c_int, from: *const c_void, len: size_t, at: off_t) -> ssize_t:
        libc::SYS_pwrite64, note_write(fd);
    fn pwrite64(fd: c_int, from: *const c_void, len: size_t, at: off_t) -> ssize_t:
        libc::SYS_pwrite64, note_write(fd);
    fn pwritev(fd: c_int, from: *const iovec, pieces: c_int, at: off_t) -> ssize_t:
        libc::SYS_pwritev, note_write(fd);
    fn pwritev64(fd: c_int, from: *const iovec, pieces: c_int, at: off_t) -> ssize_t:
        libc::SYS_pwritev, note_write(fd);
    fn close(fd: c_int) -> c_int: libc::SYS_close, forget(fd);
}

/// Its number may be another file's next.
fn forget(fd: c_int) {
    let known = usize::try_from(fd).ok().and_then(|fd| WRITES.get(fd));
    known.inspect(|known| known.store(UNKNOWN, Relaxed));
}
