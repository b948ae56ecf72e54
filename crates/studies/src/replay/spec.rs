//! What the study `replay` asks for, and what it measures.

use std::time::Duration;

use model::study::{Better, CauseSpec, FigureSpec, Fold, NoteSpec, ParamKind, StudySpec, Unit};

use crate::choices::strategies;
use crate::cold;
use crate::specs::{figure, param, time};

strategies! {
    /// How the calls are made.
    pub(super) enum Strategy {
        Recorded = "recorded", by_default, "the calls of a trace, each as it was recorded", "";
    }
}

/// The figures' names: of a replay's time, the parts …
pub(super) const THINK: &str = "think_ns";
pub(super) const OPEN: &str = "open_ns";
pub(super) const READ: &str = "read_ns";
pub(super) const WRITE: &str = "write_ns";
pub(super) const SYNC: &str = "sync_ns";
pub(super) const METADATA: &str = "metadata_ns";
pub(super) const LOCK: &str = "lock_ns";
/// … and all else.
pub(super) const CALLS: &str = "calls";
pub(super) const DEVIATIONS: &str = "deviations";
pub(super) const SPARED: &str = "spared_ns";
pub(super) const RECORDED: &str = "recorded_ns";
pub(super) const BOUND: &str = "bound_share";
pub(super) const LEFT_OUT: &str = "left_out_ns";

pub(super) static SPEC: StudySpec = StudySpec {
    name: "replay",
    about: "replay the file calls that iotoll record saw a program make",
    operation: "replay",
    by_default: false,
    strategies: Strategy::SPECS,
    params: &[
        param(
            "trace",
            "what is replayed: the file that iotoll record wrote",
            ParamKind::Path("the path of a trace"),
            "",
        ),
        param(
            "folder",
            "the folder whose files are moved; calls elsewhere count as thinking; with none, the \
             folder in which the program was started if it wrote there, or else the one that all \
             files are in that it wrote",
            ParamKind::Text("the path of a folder, from / on"),
            "",
        ),
        param(
            "think",
            "how much of the time between calls is kept, in percent: 100 is as recorded, 0 is none",
            ParamKind::Count { min: 0, max: 1000 },
            "100",
        ),
        param(
            "until",
            "how much of the recording is replayed, from its beginning; at most a million calls",
            ParamKind::Duration { min: Duration::from_millis(1), max: Duration::from_secs(86_400) },
            "5s",
        ),
        param(
            "with_files",
            "a folder with the files as they were before the recording, which are copied; with \
             none, files of the same sizes are made up",
            ParamKind::Path("the path of a folder"),
            "",
        ),
        cold::param(
            "whether the files that the program found are in memory or evicted from it (checked \
             in every slice); those on a place in memory are never cold",
        ),
    ],
    figures: &[
        part(THINK, "thinking", "what the program did between its calls"),
        part(OPEN, "open", "opening and closing files"),
        part(READ, "read", "reading"),
        part(WRITE, "write", "writing"),
        part(SYNC, "sync", "forcing data to the device"),
        part(METADATA, "metadata", "names, sizes and attributes"),
        part(LOCK, "lock", "taking locks and letting go of them"),
        FigureSpec { better: Better::Neither, ..figure(CALLS, "calls", "calls of a replay") },
        figure(DEVIATIONS, "deviations", "calls of a replay that went otherwise than recorded"),
        FigureSpec {
            better: Better::Neither,
            shown: false,
            fold: Fold::PerOperation,
            ..time(
                SPARED,
                "thinking spared",
                "thinking that is left out where a wait of the recording was none: a program \
                 computes faster when its processor's caches stay warm",
            )
        },
        FigureSpec {
            better: Better::Neither,
            ..time(
                RECORDED,
                "recorded",
                "what this took the program itself, without the recorder's toll",
            )
        },
        FigureSpec {
            unit: Unit::Share,
            better: Better::Neither,
            ..figure(
                BOUND,
                "can save",
                "share of the recorded time in which any thread was in a call that is replayed: \
                 what moving them can save at the most",
            )
        },
        FigureSpec {
            better: Better::Neither,
            shown: false,
            ..time(LEFT_OUT, "left out", "what comes later in the recording, and is not replayed")
        },
    ],
    parts: &[THINK, OPEN, READ, WRITE, SYNC, METADATA, LOCK],
    causes: &[CauseSpec {
        code: "time-thinking",
        what: "what the program does between its file calls",
        figure: THINK,
        threshold_share: 0.5,
    }],
    notes: &[NoteSpec {
        when: LEFT_OUT,
        text: "the recording goes on for another {left_out_ns}, which is not replayed; see \
                   replay.until.",
    }],
    ..StudySpec::EMPTY
};

/// A part of a replay's time.
const fn part(name: &'static str, title: &'static str, about: &'static str) -> FigureSpec {
    FigureSpec { fold: Fold::PerOperation, shown: false, ..time(name, title, about) }
}
