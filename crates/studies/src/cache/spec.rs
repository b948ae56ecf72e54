//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;

use model::case::Case;
use model::study::StudyDescription;

use crate::atomic_replace::{self, Put};
use crate::choices::choices;
use crate::drop_cache;
use crate::rules::{is, promise, where_set};
use crate::specs::{OWN_DIRECTORY, choice, count, param, size};

choices! {
    /// What a request does.
    pub(super) enum Operation {
        /// Reads the manifest and a page's compiled templates.
        Load = "load",
        /// Makes the cache anew.
        Rebuild = "rebuild",
    }
}

pub(super) const CASES: &[Case] = &[
    Case::of("direct", &[]).calls_fail(),
    Case::of("rename", &[]).calls_fail(),
    Case::of("rename-fsync", &[("operation", "rebuild")]).calls_fail(),
    Case::of("rename", &[("templates", "5"), ("used", "5")]).killed(),
    Case::of("rename", &[("operation", "rebuild")]).footprint(2),
    Case::of("direct", &[("operation", "load")]).footprint(5),
    rebuilt("direct"),
    rebuilt("rename"),
    rebuilt("rename-fsync"),
];

/// A small cache that is rebuilt while the power is cut.
const fn rebuilt(strategy: &'static str) -> Case {
    let set = &[
        ("operation", "rebuild"),
        ("templates", "4"),
        ("template", "20000 B"),
        ("classes", "2"),
        ("used", "1"),
    ];
    Case::of(strategy, set).variant("20 kB").power_cut(40)
}

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        // Nothing is written.
        promise_when: vec![promise([is("operation", &["load"])], "")],
        applies_when: vec![
            where_set(&["used", "cache"], [is("operation", &["load"])]),
            // A directory of the user's has its own files.
            where_set(&["templates", "template", "classes", "class"], [is("set", &[""])]),
        ],
        params: vec![
            param(
                "operation",
                "rebuild: scan all sources, compile the templates, write them and the manifest; \
                 load: read the manifest and a page's compiled templates",
                choice(Operation::NAMES, "load, rebuild"),
            ),
            param(
                "set",
                "a directory with your template sources, not with the compiled cache; all below it \
                 is copied, and each file is compiled",
                OWN_DIRECTORY,
            ),
            param("templates", "templates in the source tree", count(1, 5000, "60")),
            param("template", "size of a template", size(64, 1 << 20, "4 KiB")),
            param("classes", "classes in the source tree", count(1, 5000, "30")),
            param("class", "size of a class", size(64, 1 << 20, "6 KiB")),
            param(
                "used",
                "load: compiled templates that a page loads; of your own, all where there are \
                 fewer",
                count(1, 5000, "10"),
            ),
            drop_cache::param(
                "load: whether the cache is in memory, or evicted from it before each load, as \
                 after a reboot (checked in every slice); on a place in memory it is never cold",
            ),
        ],
        details: "`rebuild` scans a tree of templates and classes, compiles them and replaces the \
                  cache. A manifest has the size, time and hash of each source. `load` reads the \
                  manifest and the compiled templates of one page.\n\n\
                  After each slice the whole cache is compared with what a new build would give.",
        ..StudyDescription::new("cache", "load or rebuild compiled templates", "request")
    }
    .with_strategies(&atomic_replace::strategies(Put::Rename))
});
