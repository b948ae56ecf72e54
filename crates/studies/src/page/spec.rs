//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;

use model::case::Case;
use model::study::{FigureDescription, ParamDescription, StudyDescription};

use crate::choices::strategies;
use crate::clients::{self, OwnOrSame};
use crate::drop_cache::Cache;
use crate::rules::{change, is, not, where_set};
use crate::specs::{OWN_DIRECTORY, choice, count, neutral, param, percent, size};

/// How much memory held of the files when the clock started.
pub(super) const RESIDENT: &str = model::figure::RESIDENT_BEFORE;
/// How much of the pages storage had to deliver.
pub(super) const FROM_STORAGE: &str = model::figure::READ_FROM_STORAGE;

strategies! {
    /// How a request reads a page's files.
    pub(super) enum Strategy {
        Read = "read", by_default {
            label: "open, read and close each file",
            about: "open each file, read it whole, close it",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: change(
                "open, read and close each file in each request (PHP: file_get_contents; nginx: \
                 sendfile off; open_file_cache off;)",
                "strace -f -e openat,read,close -p PID shows the three for each file",
                "keep the handles open, or the contents in memory",
            ),
        }
        Mmap = "mmap", by_name {
            label: "map each file",
            about: "open and map each file, touch every page of it, unmap it",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: change(
                "mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) instead of read(2) (Python: \
                 mmap.mmap)",
                "strace -f -e mmap,munmap,read -p PID shows no read(2) of the files",
                "read(2) the files whole",
            ),
        }
        Sendfile = "sendfile", by_name {
            label: "sendfile(2) each file",
            about: "open each file and send it to /dev/null by sendfile(2)",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: change(
                "sendfile(socket, fd, &offset, size) for files that are sent as they are (nginx: \
                 sendfile on; Apache: EnableSendfile On)",
                "strace -f -e sendfile,read -p PID shows sendfile(2) for each file",
                "read(2) and write(2) (nginx: sendfile off; Apache: EnableSendfile Off)",
            ),
        }
        Held = "held", by_name {
            label: "keep the files open",
            about: "read each file by pread(2) from a handle kept open",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: change(
                "open each file once and pread(2) from that handle; open again what was replaced \
                 (nginx: open_file_cache max=1000 inactive=60s;)",
                "ls -l /proc/PID/fd lists the files between requests",
                "open and close each file in each request (nginx: open_file_cache off;)",
            ),
        }
        Cached = "cached", by_name {
            label: "keep the contents in memory",
            about: "keep the contents in the process, and stat(2) each file",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: change(
                "keep the contents in a map by path; stat(2) the path in each request, and read \
                 again where st_mtime, st_size or st_ino is another (PHP: opcache for code)",
                "strace -f -e openat,newfstatat,statx -p PID shows stat calls and no openat",
                "read the files in each request",
            ),
        }
    }
}

/// What a page is made of.
pub(crate) fn files() -> ParamDescription {
    param("files", "number of files in a generated page", count(1, 256, "5"))
}
pub(crate) fn total() -> ParamDescription {
    param(
        "total",
        "total size of a generated page's files; the nth largest is 1/n the size of the largest",
        size(1, 64 << 20, "211800 B"),
    )
}
pub(crate) fn set() -> ParamDescription {
    param(
        "set",
        "a directory with the files of a page of your own, which are copied with all below it",
        OWN_DIRECTORY,
    )
}

/// The parameter by which several clients read the same.
pub(super) const CLIENTS_READ: &str = "clients_read";

pub(super) const CASES: &[Case] = &[
    Case::of("read", &[]).calls_fail(),
    Case::of("mmap", &[("cache", "cold")]).calls_fail(),
    Case::of("sendfile", &[("cache", "warm")]).calls_fail(),
    Case::of("held", &[("cache", "cold")]).calls_fail(),
    Case::of("cached", &[("cache", "warm")]).calls_fail(),
    Case::of("read", &[("total", "64 KiB")]).killed(),
    Case::of("read", &[("cache", "warm")]).footprint(20),
    Case::of("read", &[("cache", "cold")]).footprint(5),
];

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        // A folder of the user's has its own files.
        applies_when: vec![
            where_set(&["files", "total"], [is("set", &[""])]),
            where_set(&[CLIENTS_READ], [not("clients", "1")]),
        ],
        params: vec![
            files(),
            total(),
            set(),
            param(
                "cache",
                "whether the files are in memory or evicted from it (checked in every slice)",
                choice(Cache::NAMES, "warm, cold"),
            ),
            clients::param(),
            param(
                CLIENTS_READ,
                "whether each of several clients reads files of its own or all read the same",
                choice(OwnOrSame::NAMES, "own"),
            ),
        ],
        figures: [figures(), clients::figures()].concat(),
        details: "An operation reads all files of a page: five, with 211.8 kB together, unless \
                  `files`, `total` or `set` says otherwise.\n\n\
                  `cache=warm` reads files that memory holds. `cache=cold` reads files that were \
                  evicted before, as the first request after a boot does. Each slice checks that: \
                  `resident_before_percent` is how much of them memory held when the clock started. \
                  Files on a tmpfs are never cold.",
        ..StudyDescription::new("page", "read the files of a web page", "page")
    }
    .with_strategies(Strategy::descriptions())
});

fn figures() -> Vec<FigureDescription> {
    vec![
        neutral(percent(
            RESIDENT,
            "resident",
            "how much of the files was in memory when the clock started; files of a place in \
             memory are never cold",
        )),
        percent(
            FROM_STORAGE,
            "from storage",
            "share of the pages that had to be read from storage; with read-ahead it may \
             exceed 100%",
        ),
    ]
}
