//! The study's names and numbers, as the user meets them.

use model::study::{FigureSpec, Fold, ParamKind, ParamSpec, StrategySpec, StudySpec};

/// How much memory held of the files when the clock started.
pub(super) const RESIDENT: &str = "resident_before_percent";
/// How much of the pages storage had to deliver.
pub(super) const FROM_STORAGE: &str = "read_from_storage_percent";

const fn strategy(name: &'static str, by_default: bool, about: &'static str) -> StrategySpec {
    StrategySpec { name, about, promise: "", by_default }
}

/// What a page is made of.
pub(crate) const FILES: ParamSpec = ParamSpec {
    name: "files",
    about: "files to a page",
    kind: ParamKind::Count { min: 1, max: 256 },
    default: "5",
};
pub(crate) const TOTAL: ParamSpec = ParamSpec {
    name: "total",
    about: "size of a page's files together; the nth largest has 1/n of the largest's size",
    kind: ParamKind::Size { min: 1, max: 64 << 20 },
    default: "211800 B",
};
pub(crate) const SET: ParamSpec = ParamSpec {
    name: "set",
    about: "a folder with the files of a page of your own, which are copied for each slice",
    kind: ParamKind::Text("a folder; empty for files that are made up"),
    default: "",
};

pub(super) static SPEC: StudySpec = StudySpec {
    name: "page",
    about: "read the files that a page is made of",
    operation: "page",
    moves_bytes: false,
    by_default: true,
    compared: &[],
    strategies: &[
        strategy("read", true, "open each file, read it whole, close it"),
        strategy("mmap", false, "open and map each file, touch every page of it, unmap it"),
        strategy("sendfile", false, "open each file and hand it to /dev/null by sendfile(2)"),
        strategy("held", false, "read each file by pread(2) from a handle kept open"),
        strategy("cached", false, "keep the contents in the process, and stat(2) each file"),
    ],
    params: &[
        FILES,
        TOTAL,
        SET,
        ParamSpec {
            name: "cache",
            about: "whether memory holds the files, or has given them up (proved slice by slice)",
            kind: ParamKind::Choice(&["warm", "cold"]),
            default: "warm, cold",
        },
    ],
    figures: &[
        FigureSpec {
            name: RESIDENT,
            column: "resident",
            about: "how much of the files memory held when the clock started; a place in memory \
                    is never cold",
            fold: Fold::Mean,
        },
        FigureSpec {
            name: FROM_STORAGE,
            column: "from storage",
            about: "how much of the pages storage had to deliver; with read-ahead it may be over 100",
            fold: Fold::Mean,
        },
    ],
};
