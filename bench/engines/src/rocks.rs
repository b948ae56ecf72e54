//! `RocksDB`, whose log is synced at each write. It is the library that the system has.

use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::engine::{Bytes, Engine, Take};
use crate::work::Item;

/// How the log is written.
#[derive(Clone, Copy)]
pub(crate) enum Wal {
    /// As it is.
    Plain,
    /// Compressed by zstd, the one way that there is.
    Zstd,
}

/// `kZSTD` of `rocksdb::CompressionType`.
const ZSTD: c_int = 7;

/// The part of `rocksdb/c.h` that is used here, as of version 7.8.
mod c {
    use std::ffi::{c_char, c_int, c_uchar, c_void};

    #[link(name = "rocksdb")]
    unsafe extern "C" {
        pub(super) fn rocksdb_options_create() -> *mut c_void;
        pub(super) fn rocksdb_options_destroy(options: *mut c_void);
        pub(super) fn rocksdb_options_set_create_if_missing(options: *mut c_void, yes: c_uchar);
        pub(super) fn rocksdb_options_set_wal_compression(options: *mut c_void, kind: c_int);
        pub(super) fn rocksdb_open(
            options: *const c_void,
            path: *const c_char,
            error: *mut *mut c_char,
        ) -> *mut c_void;
        pub(super) fn rocksdb_close(db: *mut c_void);
        pub(super) fn rocksdb_writeoptions_create() -> *mut c_void;
        pub(super) fn rocksdb_writeoptions_destroy(options: *mut c_void);
        pub(super) fn rocksdb_writeoptions_set_sync(options: *mut c_void, yes: c_uchar);
        pub(super) fn rocksdb_writebatch_create() -> *mut c_void;
        pub(super) fn rocksdb_writebatch_destroy(batch: *mut c_void);
        pub(super) fn rocksdb_writebatch_clear(batch: *mut c_void);
        pub(super) fn rocksdb_writebatch_put(
            batch: *mut c_void,
            key: *const c_char,
            key_len: usize,
            value: *const c_char,
            value_len: usize,
        );
        pub(super) fn rocksdb_write(
            db: *mut c_void,
            options: *const c_void,
            batch: *mut c_void,
            error: *mut *mut c_char,
        );
        pub(super) fn rocksdb_property_int(
            db: *mut c_void,
            name: *const c_char,
            value: *mut u64,
        ) -> c_int;
        pub(super) fn rocksdb_readoptions_create() -> *mut c_void;
        pub(super) fn rocksdb_readoptions_destroy(options: *mut c_void);
        pub(super) fn rocksdb_create_iterator(
            db: *mut c_void,
            options: *const c_void,
        ) -> *mut c_void;
        pub(super) fn rocksdb_iter_destroy(iterator: *mut c_void);
        pub(super) fn rocksdb_iter_seek_to_first(iterator: *mut c_void);
        pub(super) fn rocksdb_iter_valid(iterator: *const c_void) -> c_uchar;
        pub(super) fn rocksdb_iter_next(iterator: *mut c_void);
        pub(super) fn rocksdb_iter_key(iterator: *const c_void, len: *mut usize) -> *const c_char;
        pub(super) fn rocksdb_iter_value(iterator: *const c_void, len: *mut usize)
        -> *const c_char;
        pub(super) fn rocksdb_iter_get_error(iterator: *const c_void, error: *mut *mut c_char);
        pub(super) fn rocksdb_free(allocated: *mut c_void);
    }
}

/// An object of the library, with the function that ends it.
struct Object {
    at: *mut std::ffi::c_void,
    end: unsafe extern "C" fn(*mut std::ffi::c_void),
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the object is alive, `end` is its own, and nothing uses it after this.
        unsafe { (self.end)(self.at) }
    }
}

/// In the order in which they are to end.
pub(crate) struct Rocks {
    batch: Object,
    synced: Object,
    db: Object,
}

impl Rocks {
    pub(crate) fn open(folder: &Path, wal: Wal) -> Result<Self> {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        // SAFETY: the objects are alive for as long as they are used, and the path ends in 0.
        unsafe {
            let options =
                Object { at: c::rocksdb_options_create(), end: c::rocksdb_options_destroy };
            c::rocksdb_options_set_create_if_missing(options.at, 1);
            if let Wal::Zstd = wal {
                c::rocksdb_options_set_wal_compression(options.at, ZSTD);
            }
            let mut error = ptr::null_mut();
            let db = c::rocksdb_open(options.at, path.as_ptr(), &raw mut error);
            none(error)?;
            let db = Object { at: db, end: c::rocksdb_close };
            let synced = c::rocksdb_writeoptions_create();
            c::rocksdb_writeoptions_set_sync(synced, 1);
            let synced = Object { at: synced, end: c::rocksdb_writeoptions_destroy };
            let batch =
                Object { at: c::rocksdb_writebatch_create(), end: c::rocksdb_writebatch_destroy };
            Ok(Self { batch, synced, db })
        }
    }

    /// A figure that the database tells of itself.
    fn property(&self, name: &CStr) -> Result<u64> {
        let mut value = 0;
        // SAFETY: the database is open, the name ends in 0, and the value is there to be set.
        let failed = unsafe { c::rocksdb_property_int(self.db.at, name.as_ptr(), &raw mut value) };
        ensure!(failed == 0, "RocksDB has no property {}", name.to_string_lossy());
        Ok(value)
    }
}

impl Engine for Rocks {
    fn commit(&mut self, items: &[Item]) -> Result<()> {
        let batch = self.batch.at;
        let mut error = ptr::null_mut();
        // SAFETY: all objects are alive, and the library copies what it is given.
        unsafe {
            c::rocksdb_writebatch_clear(batch);
            for Item { key, value } in items {
                let (key, value): (&[u8], &[u8]) = (key.as_ref(), value.as_ref());
                let (key_at, value_at) = (key.as_ptr().cast(), value.as_ptr().cast());
                c::rocksdb_writebatch_put(batch, key_at, key.len(), value_at, value.len());
            }
            c::rocksdb_write(self.db.at, self.synced.at, batch, &raw mut error);
        }
        none(error)
    }

    fn settle(&mut self) -> Result<()> {
        let goes_on = [
            c"rocksdb.mem-table-flush-pending",
            c"rocksdb.num-running-flushes",
            c"rocksdb.compaction-pending",
            c"rocksdb.num-running-compactions",
        ];
        loop {
            let mut under_way = 0;
            for name in goes_on {
                under_way += self.property(name)?;
            }
            if under_way == 0 {
                return Ok(());
            }
            sleep(Duration::from_millis(1));
        }
    }

    fn each(&self, take: &mut Take<'_>) -> Result<()> {
        // SAFETY: the objects are alive; a key and a value stay as they are until the
        // iterator goes on, and are no longer used then.
        unsafe {
            let options =
                Object { at: c::rocksdb_readoptions_create(), end: c::rocksdb_readoptions_destroy };
            let iterator = Object {
                at: c::rocksdb_create_iterator(self.db.at, options.at),
                end: c::rocksdb_iter_destroy,
            };
            c::rocksdb_iter_seek_to_first(iterator.at);
            while c::rocksdb_iter_valid(iterator.at) != 0 {
                let (mut key_len, mut value_len) = (0, 0);
                let key = c::rocksdb_iter_key(iterator.at, &raw mut key_len);
                let value = c::rocksdb_iter_value(iterator.at, &raw mut value_len);
                take(
                    std::slice::from_raw_parts(key.cast(), key_len),
                    std::slice::from_raw_parts(value.cast(), value_len),
                )?;
                c::rocksdb_iter_next(iterator.at);
            }
            let mut error = ptr::null_mut();
            c::rocksdb_iter_get_error(iterator.at, &raw mut error);
            none(error)
        }
    }

    fn bytes(&self) -> Bytes {
        Bytes::default()
    }
}

/// The library's error, where there is one.
fn none(error: *mut c_char) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: it is a text of the library's that ends in 0, which is freed once, by it.
    let text = unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        c::rocksdb_free(error.cast());
        text
    };
    anyhow::bail!("RocksDB: {text}")
}
