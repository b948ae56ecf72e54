//! The study's names and numbers, as the user meets them.

use model::study::{Better, FigureSpec, Fold, Is, ParamKind, ParamSpec, StudySpec, Unit};

use crate::choices::{choices, strategies};
use crate::clients;
use crate::cold::Cache;
use crate::rules::where_set;
use crate::together::{FAIRNESS, SKEW, SLOWEST};

/// How much memory held of the files when the clock started.
pub(super) const RESIDENT: &str = "resident_before_percent";
/// How much of the pages storage had to deliver.
pub(super) const FROM_STORAGE: &str = "read_from_storage_percent";

strategies! {
    /// How a request reads a page's files.
    pub(super) enum Strategy {
        Read = "read", by_default, "open each file, read it whole, close it", "";
        Mmap = "mmap", by_name, "open and map each file, touch every page of it, unmap it", "";
        Sendfile = "sendfile", by_name,
            "open each file and send it to /dev/null by sendfile(2)", "";
        Held = "held", by_name, "read each file by pread(2) from a handle kept open", "";
        Cached = "cached", by_name,
            "keep the contents in the process, and stat(2) each file", "";
    }
}

/// What a page is made of.
pub(crate) const FILES: ParamSpec = ParamSpec {
    name: "files",
    about: "number of files in a generated page",
    kind: ParamKind::Count { min: 1, max: 256 },
    default: "5",
};
pub(crate) const TOTAL: ParamSpec = ParamSpec {
    name: "total",
    about: "total size of a generated page's files; the nth largest is 1/n the size of the largest",
    kind: ParamKind::Size { min: 1, max: 64 << 20 },
    default: "211800 B",
};
pub(crate) const SET: ParamSpec = ParamSpec {
    name: "set",
    about: "a directory with the files of a page of your own, which are copied with all below it",
    kind: ParamKind::Path("a directory, or empty to use generated files"),
    default: "",
};

/// The parameter by which several clients read the same.
pub(super) const CLIENTS_READ: &str = "clients_read";

choices! {
    /// What each of several clients reads.
    pub(super) enum ClientsRead {
        Own = "own",
        Same = "same",
    }
}

pub(super) static SPEC: StudySpec = StudySpec {
    name: "page",
    about: "read the files that a page is made of",
    operation: "page",
    strategies: Strategy::SPECS,
    // A folder of the user's has its own files.
    applies: &[
        where_set(&["files", "total"], &[("set", Is::OneOf(&[""]))]),
        where_set(&[CLIENTS_READ], &[("clients", Is::Not("1"))]),
    ],
    params: &[
        FILES,
        TOTAL,
        SET,
        ParamSpec {
            name: "cache",
            about: "whether the files are in memory or evicted from it (checked in every slice)",
            kind: ParamKind::Choice(Cache::NAMES),
            default: "warm, cold",
        },
        clients::PARAM,
        ParamSpec {
            name: CLIENTS_READ,
            about: "whether each of several clients reads files of its own or all read the same",
            kind: ParamKind::Choice(ClientsRead::NAMES),
            default: "own",
        },
    ],
    figures: &[
        FigureSpec {
            name: RESIDENT,
            title: "resident",
            about: "how much of the files was in memory when the clock started; files of a place \
                    in memory are never cold",
            unit: Unit::Percent,
            better: Better::Neither,
            fold: Fold::Mean,
            shown: true,
        },
        FigureSpec {
            name: FROM_STORAGE,
            title: "from storage",
            about: "share of the pages that had to be read from storage; with read-ahead it may \
                    exceed 100%",
            unit: Unit::Percent,
            better: Better::Less,
            fold: Fold::Mean,
            shown: true,
        },
        clients::RATE,
        FAIRNESS,
        SLOWEST,
        SKEW,
    ],
    ..StudySpec::EMPTY
};
