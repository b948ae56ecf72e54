//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;

use model::case::Case;
use model::description::MixDescription;
use model::study::StudyDescription;

use crate::atomic_replace::{self, Put};
use crate::choices::choices;
use crate::clients::{self, OwnOrSame};
use crate::drop_cache;
use crate::rules::{is, not, promise, where_set};
use crate::specs::{OWN_DIRECTORY, choice, count, param, size};

/// The parameter by which several clients work in one folder.
pub(super) const CLIENTS_FOLDER: &str = "clients_folder";

choices! {
    /// What is done to a file.
    pub(super) enum Operation {
        Write = "write",
        Read = "read",
        Create = "create",
        Stat = "stat",
        Rename = "rename",
        Unlink = "unlink",
    }
}

pub(super) const CASES: &[Case] = &[
    Case::of("direct", &[("operation", "write,read,create,stat")]).calls_fail(),
    Case::of("rename", &[("operation", "write,rename,unlink")]).calls_fail(),
    Case::of("rename-fsync", &[("operation", "write")]).calls_fail(),
    Case::of("rename", &[("size", "4 KiB")]).killed(),
    Case::of("rename", &[("operation", "write")]).footprint(50),
    Case::of("direct", &[("operation", "read")]).footprint(50),
    Case::of("direct", &[("operation", "read"), ("cache", "cold")]).footprint(20),
    Case::of("direct", &[("operation", "create")]).footprint(50),
    Case::of("direct", &[("operation", "unlink")]).footprint(50),
    Case::of("direct", &[("operation", "rename")]).footprint(50),
    written("direct"),
    written("rename"),
    written("rename-fsync"),
];

/// Files that are written while the power is cut.
const fn written(strategy: &'static str) -> Case {
    let set = &[("operation", "write"), ("size", "40000 B"), ("folders", "4")];
    Case::of(strategy, set).variant("40 kB").power_cut(60)
}

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        compared: vec![CLIENTS_FOLDER],
        mix: Some(MixDescription {
            param: "operation".to_owned(),
            times: [("write", 1.0), ("read", 10.0), ("unlink", 1.0)]
                .map(|(operation, times)| (operation.to_owned(), times))
                .into(),
        }),
        promise_when: vec![
            // Nothing is written.
            promise([is("operation", &["read", "stat"])], ""),
            // Each is one system call, whatever made the file.
            promise(
                [is("operation", &["create", "rename", "unlink"])],
                "process crash: nothing is undone; power failure: the latest changes of names may \
                 be undone",
            ),
        ],
        applies_when: vec![
            where_set(&["size"], [not("operation", "create"), is("set", &[""])]),
            where_set(&["folders"], [is("set", &[""])]),
            where_set(&["cache"], [is("operation", &["read"])]),
            where_set(&[CLIENTS_FOLDER], [not("clients", "1")]),
        ],
        params: vec![
            param(
                "operation",
                "write makes a new file with contents, create an empty one; read, stat, rename and \
                 unlink take files that the strategy made before and forced to the device",
                choice(Operation::NAMES, "write, read, unlink"),
            ),
            param("size", "size of a file", size(1 << 10, 100 << 20, "200 kB")),
            param("folders", "folders that the files are spread over", count(1, 1000, "16")),
            param(
                "set",
                "a directory with files of your own, which are copied with all below it, again \
                 and again",
                OWN_DIRECTORY,
            ),
            drop_cache::param(
                "read: whether the files are in memory or evicted from it (checked in every \
                 slice); those on a place in memory are never cold",
            ),
            clients::param(),
            param(
                CLIENTS_FOLDER,
                "whether each of several clients has folders of its own or all have the same",
                choice(OwnOrSame::NAMES, "own"),
            ),
        ],
        figures: clients::figures(),
        details: "An operation does one thing (`operation`) to one file, such as an invoice as PDF. \
                  No operation writes over an existing file. After each slice, what was written is \
                  read back.\n\n\
                  ext4 without a journal creates files more slowly for some minutes after many were \
                  removed. So a run removes its files at its end, and a run soon after it may be \
                  slower.",
        ..StudyDescription::new("files", "write, read or remove a document", "file")
    }
    .with_strategies(&atomic_replace::strategies(Put::Direct))
});
