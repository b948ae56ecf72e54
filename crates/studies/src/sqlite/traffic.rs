//! What SQLite does with its files, counted at the border between it and the
//! system: how much it reads and writes, and how often and how long it waits for
//! the device.
//!
//! SQLite reaches files through a table of functions, its VFS
//! (<https://www.sqlite.org/vfs.html>). Ours is SQLite's own with three functions
//! of open files put between: read, write and sync count for the thread that calls
//! them, then do what the original does. It opens nothing but files in a folder that is
//! open (see `folder.rs`). SQLite keeps one list of such tables for the
//! whole process and never gives one back, which is why ours are static.
#![expect(unsafe_code, reason = "SQLite calls these functions, and has its tables by address")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use engine::slice_timer::SliceTimer;
use rusqlite::ffi;

use super::folder::{is_ours, replace_calls};

/// The name under which connections ask for it.
pub(super) const VFS: &CStr = c"iotoll";

/// What a thread's connections have done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) sync_calls: u64,
    pub(super) sync_ns: u64,
}

impl Traffic {
    /// Gives a recorder what this traffic was.
    pub(super) fn record(self, timer: &mut SliceTimer) {
        timer.synced(self.sync_calls, self.sync_ns);
        timer.requested(self.read_bytes + self.written_bytes);
    }

    /// Of the calling thread.
    pub(super) fn now() -> Self {
        TRAFFIC.get()
    }

    /// Since an earlier reading.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            read_bytes: self.read_bytes - earlier.read_bytes,
            written_bytes: self.written_bytes - earlier.written_bytes,
            sync_calls: self.sync_calls - earlier.sync_calls,
            sync_ns: self.sync_ns - earlier.sync_ns,
        }
    }
}

thread_local! {
    static TRAFFIC: Cell<Traffic> = const { Cell::new(Traffic {
        read_bytes: 0, written_bytes: 0, sync_calls: 0, sync_ns: 0,
    }) };
}

fn count(change: impl FnOnce(&mut Traffic)) {
    let mut traffic = TRAFFIC.get();
    change(&mut traffic);
    TRAFFIC.set(traffic);
}

/// The original VFS, which lives as long as the process.
struct Original(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite's VFS is made to be used from any thread, and we only read it.
unsafe impl Send for Original {}
// SAFETY: as above.
unsafe impl Sync for Original {}

static ORIGINAL: OnceLock<Option<Original>> = OnceLock::new();

/// Makes the VFS known to SQLite; an error where SQLite would not have it.
pub(super) fn register() -> rusqlite::Result<()> {
    let rejected = || {
        let why = "SQLite rejected the file functions (VFS) that iotoll gave it".to_owned();
        rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(why))
    };
    ORIGINAL.get_or_init(register_once).as_ref().map(drop).ok_or_else(rejected)
}

fn register_once() -> Option<Original> {
    // SAFETY: sqlite3_vfs_find(NULL) gives the default VFS or NULL, and what it gives
    // lives as long as the process. The copy that is registered is never freed. Its
    // functions but two are the original's, which go by the copied fields alone. Nobody
    // has opened a file with the original by then.
    unsafe {
        let original = ffi::sqlite3_vfs_find(ptr::null());
        if original.is_null() || !replace_calls(original) {
            return None;
        }
        let ours = ffi::sqlite3_vfs {
            zName: VFS.as_ptr(),
            pNext: ptr::null_mut(),
            xOpen: Some(open),
            xFullPathname: Some(full_path),
            ..*original.as_ref()?
        };
        let ours = Box::leak(Box::new(ours));
        (ffi::sqlite3_vfs_register(ours, 0) == ffi::SQLITE_OK).then_some(Original(original))
    }
}

/// A path of ours is full as it is. SQLite would else look for links on the way, and
/// there is no such way.
unsafe extern "C" fn full_path(
    _ours: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    bytes_max: c_int,
    into: *mut c_char,
) -> c_int {
    // SAFETY: SQLite's name is a string that ends with a zero, and it has room for so
    // many bytes.
    unsafe {
        let length = CStr::from_ptr(name).count_bytes() + 1;
        if !is_ours(name) || length > bytes_max as usize {
            return ffi::SQLITE_CANTOPEN;
        }
        ptr::copy_nonoverlapping(name, into, length);
    }
    ffi::SQLITE_OK
}

/// Opens a file as the original does, then puts our functions between. One without a
/// name, for what does not fit into memory, would be made outside of the slice's folder.
unsafe extern "C" fn open(
    _ours: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let Some(Some(original)) = ORIGINAL.get() else { return ffi::SQLITE_CANTOPEN };
    // SAFETY: SQLite's arguments are passed on as they came, to the function that
    // they are meant for; the file has room for the original's, whose size our VFS
    // has copied. An open file's methods are a table that lives as long as the process.
    unsafe {
        let Some(open) = (*original.0).xOpen else { return ffi::SQLITE_CANTOPEN };
        if !is_ours(name) {
            return ffi::SQLITE_CANTOPEN;
        }
        let outcome = open(original.0, name, file, flags, out_flags);
        if outcome == ffi::SQLITE_OK && !(*file).pMethods.is_null() {
            (*file).pMethods = counting((*file).pMethods);
        }
        outcome
    }
}

/// A table of the original's functions, with three of ours, which need those that
/// they stand before.
#[repr(C)]
struct Counting {
    /// First, so that a pointer to it is one to the whole.
    methods: ffi::sqlite3_io_methods,
    original: *const ffi::sqlite3_io_methods,
}

/// Those made so far; SQLite has a few tables, and each of ours is never freed.
struct Tables(Vec<&'static Counting>);

// SAFETY: the tables are never written once made, and their functions are made to
// be called from any thread.
unsafe impl Send for Tables {}

static TABLES: Mutex<Tables> = Mutex::new(Tables(Vec::new()));

/// # Safety
/// `original` is a table that lives as long as the process.
unsafe fn counting(original: *const ffi::sqlite3_io_methods) -> *const ffi::sqlite3_io_methods {
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = tables.0.iter().copied().find(|table| ptr::eq(table.original, original));
    let table = known.unwrap_or_else(|| {
        // SAFETY: the caller's promise.
        let methods = unsafe { *original };
        let (read, write, sync) = (Some(read as _), Some(write as _), Some(sync as _));
        let methods =
            ffi::sqlite3_io_methods { xRead: read, xWrite: write, xSync: sync, ..methods };
        let table: &'static Counting = Box::leak(Box::new(Counting { methods, original }));
        tables.0.push(table);
        table
    });
    ptr::from_ref(table).cast()
}

/// The original's functions of a file that [`open`] has opened.
///
/// # Safety
/// `file` is such a file.
unsafe fn original(file: *mut ffi::sqlite3_file) -> &'static ffi::sqlite3_io_methods {
    // SAFETY: such a file's methods are the first field of a table that is never freed.
    unsafe { &*(*(*file).pMethods.cast::<Counting>()).original }
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    bytes: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    count(|traffic| traffic.read_bytes += bytes as u64);
    // SAFETY: only files that `open` has opened have this function, and SQLite's
    // arguments are passed on as they came.
    unsafe {
        let Some(read) = original(file).xRead else { return ffi::SQLITE_IOERR_READ };
        read(file, into, bytes, offset)
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    bytes: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    count(|traffic| traffic.written_bytes += bytes as u64);
    // SAFETY: as in `read`.
    unsafe {
        let Some(write) = original(file).xWrite else { return ffi::SQLITE_IOERR_WRITE };
        write(file, from, bytes, offset)
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let began = Instant::now();
    // SAFETY: as in `read`.
    let outcome = unsafe {
        let Some(sync) = original(file).xSync else { return ffi::SQLITE_IOERR_FSYNC };
        sync(file, flags)
    };
    let took_ns = began.elapsed().as_nanos() as u64;
    count(|traffic| {
        traffic.sync_calls += 1;
        traffic.sync_ns += took_ns;
    });
    outcome
}

/// Miri runs this: `cargo +nightly miri test -p iotoll-studies --lib traffic`.
#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    unsafe extern "C" fn read_sevens(
        _: *mut ffi::sqlite3_file,
        into: *mut c_void,
        bytes: c_int,
        _: ffi::sqlite3_int64,
    ) -> c_int {
        // SAFETY: the test gives room for so many.
        unsafe { into.cast::<u8>().write_bytes(7, bytes as usize) };
        ffi::SQLITE_OK
    }

    unsafe extern "C" fn refuse(
        _: *mut ffi::sqlite3_file,
        _: *const c_void,
        _: c_int,
        _: ffi::sqlite3_int64,
    ) -> c_int {
        ffi::SQLITE_FULL
    }

    #[test]
    fn calls_go_through_to_the_table_that_ours_was_made_of() {
        // SAFETY: a table without functions is one of nulls; it outlives the test, as the
        // ones of SQLite do. The file is one whose methods are ours.
        unsafe {
            let methods = std::mem::zeroed::<ffi::sqlite3_io_methods>();
            let (read, write) = (Some(read_sevens as _), Some(refuse as _));
            let methods = ffi::sqlite3_io_methods { xRead: read, xWrite: write, ..methods };
            let theirs: &'static ffi::sqlite3_io_methods = Box::leak(Box::new(methods));
            let ours = counting(theirs);
            assert_eq!(counting(theirs), ours, "a table is made once");
            let mut file = ffi::sqlite3_file { pMethods: ours };
            let before = TRAFFIC.get();
            let mut bytes = [0_u8; 16];
            let into = bytes.as_mut_ptr().cast();
            assert_eq!((*ours).xRead.unwrap()(&raw mut file, into, 16, 0), ffi::SQLITE_OK);
            assert_eq!(bytes, [7; 16]);
            assert_eq!((*ours).xWrite.unwrap()(&raw mut file, into, 5, 0), ffi::SQLITE_FULL);
            assert_eq!((*ours).xSync.unwrap()(&raw mut file, 0), ffi::SQLITE_IOERR_FSYNC);
            let after = TRAFFIC.get();
            assert_eq!(after.read_bytes - before.read_bytes, 16);
            assert_eq!(after.written_bytes - before.written_bytes, 5);
            assert_eq!(after.sync_calls, before.sync_calls, "there was nothing to call");
        }
    }
}
