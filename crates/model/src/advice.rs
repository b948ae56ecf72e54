//! What to do about one thing that an application does with files.

use serde::{Deserialize, Serialize};

/// What pays at this many operations a second pays for most applications.
pub const USUAL_PER_S: f64 = 100.0;

/// A change to make, or to leave alone, with what it is compared with: how it is done now,
/// at the first place, by the first strategy, with the first value of each parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What to do.
    pub group: Group,
    /// What must be so for the change to be right, in words that follow "only if"; `null`
    /// in the other groups.
    pub condition: Option<String>,
    /// The study.
    pub study: String,
    /// What the user calls it, where that is not the study's name: `shop.log`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The ids of the arms that are done now: several where files of one set are advised on
    /// together.
    pub now: Vec<String>,
    /// What is changed, in words: `WAL, synchronous=NORMAL in ram`. `null` where nothing was
    /// compared.
    pub change: Option<String>,
    /// Whether the change keeps all that is promised now.
    pub keeps_promises: bool,
    /// The comparisons that the advice rests on, as indices, in the order of `now`.
    pub comparisons: Vec<usize>,
    /// The time per operation as it is now; of several, per file of the stated mix.
    pub now_ns: Option<f64>,
    /// The same after the change.
    pub then_ns: Option<f64>,
    /// The change's time over that of now.
    pub ratio: Option<f64>,
    /// What the ratio is at least.
    pub ratio_low: Option<f64>,
    /// What the ratio is at most.
    pub ratio_high: Option<f64>,
    /// From how many operations a second on the change pays: it saves 1% of one worker's
    /// time then.
    pub pays_from_per_s: Option<f64>,
    /// How many operations a second there are, where that was said.
    pub per_second: Option<f64>,
}

/// What to do with a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Make it: it keeps every promise, and surely pays.
    Do,
    /// Make it if the condition holds: it surely saves time.
    OnlyIf,
    /// Leave it: no change that was tried pays.
    #[default]
    Leave,
    /// It was not found out.
    Undecided,
}

impl Advice {
    /// Whether it advises a change, on a condition or without one.
    pub fn is_a_change(&self) -> bool {
        matches!(self.group, Group::Do | Group::OnlyIf)
    }

    /// What the change saves per operation; negative where it costs more.
    pub fn saves_ns(&self) -> Option<f64> {
        Some(self.now_ns? - self.then_ns?)
    }

    /// Whether it pays at rates that are rare alone, and nobody said how often it is done.
    pub fn is_for_high_rates(&self) -> bool {
        self.per_second.is_none() && self.pays_from_per_s.is_some_and(|from| from > USUAL_PER_S)
    }
}
