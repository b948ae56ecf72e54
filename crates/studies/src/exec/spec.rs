//! What the study `exec` asks for, and what it measures.

use std::sync::LazyLock;
use std::time::Duration;

use model::case::Case;
use model::strategy::Recipe;
use model::study::{ParamKind, StudyDescription};

use crate::choices::{choices, strategies};
use crate::specs::{choice, count, duration, param, size};

strategies! {
    /// How the command is run.
    pub(super) enum Strategy {
        Command = "command", by_default {
            label: "your command",
            about: "a command of your own, run by /bin/sh",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: Recipe::AsItIs,
        }
    }
}

choices! {
    /// What the command's standard output is held against.
    pub(super) enum Output {
        Same = "same",
        Any = "any",
    }
}

choices! {
    /// Where the command finds its files.
    pub(super) enum WorksIn {
        Place = "place",
        Current = "current",
    }
}

const SHELL: ParamKind = ParamKind::Shell(
    "a command for the shell, in which {place}, {variant} and, in a plan file, {plan} are filled in",
);

pub(super) const CASES: &[Case] = &[Case::of(
    "command",
    &[("command", "sort {place}/lines"), ("prepare", "echo > {place}/lines")],
)
.calls_fail()];

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        by_default: false,
        compared: vec!["command", "variant"],
        params: vec![
            param(
                "command",
                "what is timed; it starts in the current directory, and {place} is a folder of its \
                 own at each place",
                (SHELL, ""),
            ),
            param(
                "prepare",
                "run before each run, outside the clock, to fill {place}",
                (SHELL, ""),
            ),
            param(
                "check",
                "run after each run, outside the clock; fails where it exits with another status \
                 than 0",
                (SHELL, ""),
            ),
            param(
                "variant",
                "the text that replaces {variant} in command, prepare and check",
                (ParamKind::Name("a text"), ""),
            ),
            param(
                "works-in",
                "place: command, prepare or check must name {place}, for nothing else differs \
                 between places; current: they need not, and work on files of the current \
                 directory",
                choice(WorksIn::NAMES, "place"),
            ),
            param("status", "the exit status that the command must have", count(0, 255, "0")),
            param(
                "output",
                "same: a run that writes something else to standard output than the first one \
                 counts as corrupted; any: what it writes is not compared",
                choice(Output::NAMES, "same"),
            ),
            param(
                "timeout",
                "how long a run, its preparation or its check may take",
                duration(Duration::from_millis(100), Duration::from_secs(86_400), "10min"),
            ),
            param(
                "space",
                "the most that a run and its preparation take in {place}",
                size(4096, 1 << 40, "256 MiB"),
            ),
        ],
        details: "An operation is one run of your command, until it and everything that it started \
                  has ended. Each run has a folder of its own, `{place}`, which `prepare` fills \
                  outside the clock. Only what lies in `{place}` differs between places.\n\n\
                  A shell and a supervisor add some milliseconds to each run, the same for all.",
        ..StudyDescription::new("exec", "run a command of your own from start to end", "run")
    }
    .with_strategies(Strategy::descriptions())
});
