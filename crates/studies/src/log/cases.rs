//! What of the study tests and benches try.

use model::case::Case;

const AS_PHP_HELD: &str = "the script of php-held makes its calls";
const AS_PYTHON: &str = "the script of python-file-handler makes its calls";

pub(super) const CASES: &[Case] = &[
    Case::of("held", &[]).calls_fail().killed().footprint(500),
    Case::of("reopen", &[]).calls_fail(),
    Case::of("flock", &[]).calls_fail(),
    Case::of("flock-nonblocking", &[]).calls_fail(),
    Case::of("ofd-lock", &[]).calls_fail(),
    Case::of("seek-end", &[]).calls_fail(),
    Case::of("buffered", &[]).calls_fail(),
    Case::of("batched", &[]).calls_fail(),
    Case::of("dsync", &[]).calls_fail().footprint(5),
    Case::of("held", &[("sync", "every 10")]).variant("synced").calls_fail(),
    Case::of("queued", &[]).calls_fail(),
    Case::of("per-writer", &[("writers", "2")]).calls_fail(),
    Case::of("held", &[("writers", "2"), ("kind", "threads")]).variant("threads").calls_fail(),
    Case::of("held", &[("writers", "2")]).variant("processes").calls_fail().killed(),
    Case::of("held", &[("kill", "1")]).variant("killed").calls_fail(),
    Case::of("uring", &[]).calls_fail(),
    Case::of("php-held", &[]).calls_fail(),
    Case::of("php-reopen", &[]).untried(AS_PHP_HELD),
    Case::of("php-file-put-contents", &[]).untried(AS_PHP_HELD),
    Case::of("php-flock", &[]).untried(AS_PHP_HELD),
    Case::of("php-flock-nonblocking", &[]).untried(AS_PHP_HELD),
    Case::of("php-error-log", &[]).untried(AS_PHP_HELD),
    Case::of("python-file-handler", &[]).calls_fail().killed(),
    Case::of("python-watched-file-handler", &[]).untried(AS_PYTHON),
    Case::of("node-append-file-sync", &[]).calls_fail(),
    Case::of("node-write-stream", &[]).untried("that of node-append-file-sync makes its calls"),
    Case::of("held", &[("sync", "each")]).variant("sync=each").footprint(5),
    Case::of("per-writer", &[("writers", "3"), ("kind", "threads")]).footprint(300),
    Case::of("held", &[("record", "700 B")]).power_cut(1500),
    synced("held", &[("record", "700 B"), ("sync", "each")]),
    Case::of("held", &[("record", "700 B"), ("sync", "every 20")])
        .variant("sync=every 20")
        .power_cut(1200),
    synced("reopen", &[("record", "700 B"), ("sync", "each")]),
    Case::of("dsync", &[("record", "700 B")]).power_cut(200),
    Case::of("batched", &[("record", "700 B")]).power_cut(1500),
    synced("batched", &[("record", "700 B"), ("sync", "each")]),
    every_64("batched"),
    every_64("uring"),
    synced("queued", &[("record", "700 B"), ("sync", "each")]),
];

const fn synced(strategy: &'static str, set: &'static [(&'static str, &'static str)]) -> Case {
    Case::of(strategy, set).variant("sync=each").power_cut(200)
}

const fn every_64(strategy: &'static str) -> Case {
    let set = &[("record", "700 B"), ("sync", "every 64")];
    Case::of(strategy, set).variant("sync=every 64").power_cut(3000)
}
