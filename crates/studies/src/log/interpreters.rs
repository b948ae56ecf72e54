//! Writers in the users' own languages, run by the real interpreters.
//!
//! Each language has one script, which speaks the workers' protocol on its
//! standard input and output, reads its records from a file in memory before the
//! clock starts, and times each append with one reading of `CLOCK_MONOTONIC`.

use engine::study::StudyError;
use engine::worker::Program;

use super::work::Work;

const PHP: Program = Program {
    command: "php",
    args: &[
        "-d",
        "memory_limit=-1",
        "-d",
        "display_errors=stderr",
        "-r",
        include_str!("scripts/log.php"),
    ],
    install: "install it, as in `apt install php-cli`, or leave the php strategies out",
};
const PYTHON: Program = Program {
    command: "python3",
    args: &["-c", include_str!("scripts/log.py")],
    install: "install it, as in `apt install python3`, or leave the python strategies out",
};
const NODE: Program = Program {
    command: "node",
    args: &["-e", include_str!("scripts/log.js")],
    install: "install it, as in `apt install nodejs`, or leave the node strategies out",
};

/// Strategies that keep no handle of their own to sync.
const WITHOUT_HANDLE: [&str; 4] =
    ["php-file-put-contents", "php-error-log", "node-append-file-sync", "node-write-stream"];

/// The interpreter that runs a strategy; none for a native one.
pub(super) fn of(strategy: &str) -> Option<Program> {
    match strategy.split_once('-')?.0 {
        "php" => Some(PHP),
        "python" => Some(PYTHON),
        "node" => Some(NODE),
        _ => None,
    }
}

/// Whether a script can do what it is asked.
pub(super) fn check(work: &Work, kills: u64) -> Result<(), StudyError> {
    let unsuited = |text| Err(StudyError::Unsuited(text));
    let strategy = &work.strategy;
    let syncs = work.sync_records > 0 || work.sync_interval_ns > 0;
    if syncs && WITHOUT_HANDLE.contains(&strategy.as_str()) {
        return unsuited(format!("{strategy} has no handle to sync: time it with sync never"));
    }
    if kills > 0 {
        return unsuited(format!(
            "{strategy} cannot be killed and accounted for: an interpreter shares no memory in \
             which to count what was acknowledged; time it with kill 0"
        ));
    }
    Ok(())
}
