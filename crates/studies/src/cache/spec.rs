//! The study's names and numbers, as the user meets them.

use model::study::{Is, ParamKind, ParamSpec, StrategySpec, StudySpec};

use crate::choices::choices;
use crate::cold;
use crate::put::{self, Put};
use crate::rules::{promise, where_set};

static STRATEGIES: [StrategySpec; 3] = put::strategies(Put::Rename);

choices! {
    /// What a request does.
    pub(super) enum Operation {
        /// Reads the manifest and a page's compiled templates.
        Load = "load",
        /// Makes the cache anew.
        Rebuild = "rebuild",
    }
}

const fn count(name: &'static str, about: &'static str, default: &'static str) -> ParamSpec {
    ParamSpec { name, about, kind: ParamKind::Count { min: 1, max: 5000 }, default }
}

const fn size(name: &'static str, about: &'static str, default: &'static str) -> ParamSpec {
    ParamSpec { name, about, kind: ParamKind::Size { min: 64, max: 1 << 20 }, default }
}

const LOADING: (&str, Is) = ("operation", Is::OneOf(&["load"]));

pub(super) static SPEC: StudySpec = StudySpec {
    name: "cache",
    about: "build and load a cache of compiled templates and its manifest",
    operation: "request",
    strategies: &STRATEGIES,
    // Nothing is written.
    promises: &[promise(&[], &[LOADING], "")],
    applies: &[
        where_set(&["used", "cache"], &[LOADING]),
        // A directory of the user's has its own files.
        where_set(&["templates", "template", "classes", "class"], &[("set", Is::OneOf(&[""]))]),
    ],
    params: &[
        ParamSpec {
            name: "operation",
            about: "rebuild: scan all sources, compile the templates, write them and the \
                    manifest; load: read the manifest and a page's compiled templates",
            kind: ParamKind::Choice(Operation::NAMES),
            default: "load, rebuild",
        },
        ParamSpec {
            name: "set",
            about: "a directory with templates of your own, which are copied with all below it; \
                    each is compiled",
            kind: ParamKind::Path("a directory, or empty to use generated files"),
            default: "",
        },
        count("templates", "templates in the source tree", "60"),
        size("template", "size of a template", "4 KiB"),
        count("classes", "classes in the source tree", "30"),
        size("class", "size of a class", "6 KiB"),
        count(
            "used",
            "load: compiled templates that a page loads; of your own, all where there are fewer",
            "10",
        ),
        cold::param(
            "load: whether the cache is in memory, or evicted from it before each load, as after \
             a reboot (checked in every slice); on a place in memory it is never cold",
        ),
    ],
    ..StudySpec::EMPTY
};
