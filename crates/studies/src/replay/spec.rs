//! What the study `replay` asks for, and what it measures.

use std::sync::LazyLock;
use std::time::Duration;

use model::case::Case;
use model::description::{CauseDescription, NoteDescription};
use model::figure::ESTIMATED_AWAY;
use model::strategy::Recipe;
use model::study::{FigureDescription, ParamKind, StudyDescription};

use crate::choices::strategies;
use crate::drop_cache;
use crate::specs::{count, duration, figure, hidden, neutral, param, per_operation, share, time};

strategies! {
    /// How the calls are made.
    pub(super) enum Strategy {
        Recorded = "recorded", by_default {
            label: "the recorded calls",
            about: "the calls of a trace, each as it was recorded",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: Recipe::AsItIs,
        }
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
pub(super) const SPARED: &str = ESTIMATED_AWAY;
pub(super) const RECORDED: &str = "recorded_ns";
pub(super) const BOUND: &str = "bound_share";
pub(super) const LEFT_OUT: &str = "left_out_ns";

/// `{trace}` stands for a small recording.
pub(super) const CASES: &[Case] = &[Case::of("recorded", &[("trace", "{trace}")]).calls_fail()];

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        by_default: false,
        params: vec![
            param(
                "trace",
                "what is replayed: the file that iotoll record wrote",
                (ParamKind::Path("the path of a trace"), ""),
            ),
            param(
                "folder",
                "the folder whose files are moved; calls elsewhere count as thinking; with none, \
                 the folder in which the program was started if it wrote there, or else the one \
                 that all files are in that it wrote",
                (ParamKind::Text("the path of a folder, from / on"), ""),
            ),
            param(
                "think",
                "how much of the time between calls is kept, in percent: 100 is as recorded, 0 is \
                 none",
                count(0, 1000, "100"),
            ),
            param(
                "until",
                "how much of the recording is replayed, from its beginning; at most a million \
                 calls",
                duration(Duration::from_millis(1), Duration::from_secs(86_400), "5s"),
            ),
            param(
                "with_files",
                "a folder with the files as they were before the recording, which are copied; \
                 with none, files of the same sizes are generated",
                (ParamKind::Path("the path of a folder"), ""),
            ),
            drop_cache::param(
                "whether the files that the program found are in memory or evicted from it \
                 (checked in every slice); those on a place in memory are never cold",
            ),
        ],
        figures: vec![
            part(THINK, "thinking", "what the program did between its calls"),
            part(OPEN, "open", "opening and closing files"),
            part(READ, "read", "reading"),
            part(WRITE, "write", "writing"),
            part(SYNC, "sync", "forcing data to the device"),
            part(METADATA, "metadata", "names, sizes and attributes"),
            part(LOCK, "lock", "taking locks and letting go of them"),
            neutral(figure(CALLS, "calls", "calls of a replay")),
            figure(DEVIATIONS, "deviations", "calls of a replay that went otherwise than recorded"),
            neutral(hidden(per_operation(time(
                SPARED,
                "thinking spared",
                "thinking that is left out where a wait of the recording was none: a program \
                 computes faster when its processor's caches stay warm",
            )))),
            neutral(time(
                RECORDED,
                "recorded",
                "what this took the program itself, without the recorder's overhead",
            )),
            neutral(share(
                BOUND,
                "file calls",
                "share of the recorded time in which any thread was in a call that is replayed",
            )),
            neutral(hidden(time(
                LEFT_OUT,
                "left out",
                "what comes later in the recording, and is not replayed",
            ))),
        ],
        parts: [THINK, OPEN, READ, WRITE, SYNC, METADATA, LOCK].map(str::to_owned).into(),
        causes: vec![CauseDescription::new(
            "time-thinking",
            "what the program does between its file calls",
            THINK,
            0.5,
        )],
        notes: vec![NoteDescription::new(
            LEFT_OUT,
            "the recording goes on for another {left_out_ns}, which is not replayed; see \
             replay.until.",
        )],
        details: "An operation is one replay of a recording: the file calls below `folder`, in their \
                  order, with the time between them. All else, such as computing or waiting for a \
                  network, takes as long in every place. Files of the recorded names and sizes are \
                  generated, unless `with_files` has them.\n\n\
                  Each answer is compared with the recorded one. With more than 1% of deviations the \
                  comparison is `invalid`. A recording with lost calls is refused. Mapped files and \
                  io_uring count as time between calls. What moving files can save at the most is in \
                  the recording's bill.",
        ..StudyDescription::new(
            "replay",
            "replay the file calls that iotoll record saw a program make",
            "replay",
        )
    }
    .with_strategies(Strategy::descriptions())
});

/// A part of a replay's time.
fn part(name: &str, title: &str, about: &str) -> FigureDescription {
    hidden(per_operation(time(name, title, about)))
}
