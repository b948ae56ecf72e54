//! The study's names and numbers, as the user meets them.

use model::study::{Is, ParamKind, ParamSpec, StrategySpec, StudySpec};

use crate::choices::choices;
use crate::put::{self, Put};
use crate::rules::{promise, where_set};
use crate::{clients, cold};

static STRATEGIES: [StrategySpec; 3] = put::strategies(Put::Direct);

/// The parameter by which several clients work in one folder.
pub(super) const CLIENTS_FOLDER: &str = "clients_folder";

choices! {
    /// Where the files of several clients are.
    pub(super) enum ClientsFolder {
        Own = "own",
        Same = "same",
    }
}

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

pub(super) static SPEC: StudySpec = StudySpec {
    name: "files",
    about: "write, read and remove files such as generated documents",
    operation: "file",
    compared: &[CLIENTS_FOLDER],
    strategies: &STRATEGIES,
    promises: &[
        // Nothing is written.
        promise(&[], &[("operation", Is::OneOf(&["read", "stat"]))], ""),
        // Each is one system call, whatever made the file.
        promise(
            &[],
            &[("operation", Is::OneOf(&["create", "rename", "unlink"]))],
            "process crash: nothing is undone; power failure: the latest changes of names may be \
             undone",
        ),
    ],
    applies: &[
        where_set(&["size"], &[("operation", Is::Not("create")), ("set", Is::OneOf(&[""]))]),
        where_set(&["folders"], &[("set", Is::OneOf(&[""]))]),
        where_set(&["cache"], &[("operation", Is::OneOf(&["read"]))]),
        where_set(&[CLIENTS_FOLDER], &[("clients", Is::Not("1"))]),
    ],
    params: &[
        ParamSpec {
            name: "operation",
            about: "what is done to a file; for all but write and create, the strategy makes the \
                    files beforehand and forces them to the device",
            kind: ParamKind::Choice(Operation::NAMES),
            default: "write, read, unlink",
        },
        ParamSpec {
            name: "size",
            about: "size of a file",
            kind: ParamKind::Size { min: 1 << 10, max: 100 << 20 },
            default: "200 kB",
        },
        ParamSpec {
            name: "folders",
            about: "folders that the files are spread over",
            kind: ParamKind::Count { min: 1, max: 1000 },
            default: "16",
        },
        ParamSpec {
            name: "set",
            about: "a directory with files of your own, which are copied with all below it, again \
                    and again",
            kind: ParamKind::Path("a directory, or empty to use generated files"),
            default: "",
        },
        cold::param(
            "read: whether the files are in memory or evicted from it (checked in every slice); \
             those on a place in memory are never cold",
        ),
        clients::PARAM,
        ParamSpec {
            name: CLIENTS_FOLDER,
            about: "whether each of several clients has folders of its own or all have the same",
            kind: ParamKind::Choice(ClientsFolder::NAMES),
            default: "own",
        },
    ],
    figures: &clients::FIGURES,
    ..StudySpec::EMPTY
};
