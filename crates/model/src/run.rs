//! The record of a run: everything that one invocation measured, so that it can
//! be analysed and reported again without measuring again.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::arm::Pair;
use crate::article::Article;
use crate::between_runs::BetweenRuns;
use crate::bounded;
use crate::check::CheckRequest;
use crate::client::Client;
use crate::description::StudyDescription;
use crate::grouped::each_once;
use crate::material::Material;
use crate::place::PlaceFacts;
use crate::plan::DEFAULT_ERROR_RATE;
use crate::slice::{Latencies, Phase, Slice};
use crate::subject::subject;
use crate::watch::MachineReading;

/// One run, whole. Times are in nanoseconds and sizes in bytes unless the name
/// says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// When and how it ran.
    pub run: Invocation,
    /// Where it ran.
    pub machine: Machine,
    /// The machines of all clients, in the order of their ranks; empty where this was one
    /// process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub clients: Vec<Client>,
    /// What measuring itself costs.
    pub floor: Floor,
    /// What was to be timed.
    pub plan: PlanRecord,
    /// How much saved runs of the same comparisons differed when it began, in the order of the
    /// pairs; empty where no saved runs told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub between_runs: Vec<BetweenRuns>,
    /// The published measurement that it repeats, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub article: Option<Article>,
    /// What it checks of storage, if it is a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<CheckRequest>,
    /// The studies that the arms are of.
    #[serde(deserialize_with = "bounded::list")]
    pub studies: Vec<StudyDescription>,
    /// The places before the first slice; the first is the base.
    #[serde(deserialize_with = "bounded::list")]
    pub places: Vec<PlaceFacts>,
    /// The places after the last slice, in the same order; empty where nobody looked.
    #[serde(deserialize_with = "bounded::list")]
    pub places_after: Vec<PlaceAfter>,
    /// The machine before and after, as far as it shows what disturbed the run.
    pub watch: Watch,
    /// Arms that could not be timed to the end.
    #[serde(deserialize_with = "bounded::list")]
    pub failures: Vec<ArmFailure>,
    /// What could not be read on this machine, each with what is not known for it.
    #[serde(deserialize_with = "bounded::list")]
    pub unread: Vec<String>,
    /// Every slice, in the order in which they ran.
    #[serde(deserialize_with = "bounded::list")]
    pub slices: Vec<Slice>,
}

/// When and how a run ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Invocation {
    /// A random name, unique to the run.
    pub id: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// How long it took.
    pub seconds: f64,
    /// What the random order was made from.
    pub seed: u64,
    /// The version of iotoll.
    pub version: String,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether slices have parts of what their stretch comes to, as in the page of a long run: only what
    /// decides is each slice's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_stretch: bool,
    /// Why it ended before its budget did, where neither a signal ended it nor all was
    /// measured: a limit was reached, or what must stay free did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    /// What it wrote; `null` where nobody counted.
    #[serde(default)]
    pub writes: Option<Writes>,
    /// Places that were asked for and could not be made, and so are no part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub left_out: Vec<LeftOut>,
}

/// A place that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The user's name for it.
    pub label: String,
    /// How it was asked for: `zram:512MiB:ext4`.
    pub target: String,
    /// What is missing, and what to use instead.
    pub why: String,
}

/// What a run wrote, and might have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Writes {
    /// What it might write to storage that wears, all places together.
    pub limit_bytes: u64,
    /// Each place, in the order of the places.
    #[serde(deserialize_with = "bounded::list")]
    pub places: Vec<PlaceWrites>,
}

/// What a run wrote to one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceWrites {
    /// Whether it counts for the limit: all but what is in memory does.
    pub wears: bool,
    /// Slice by slice, what the devices behind the place wrote meanwhile, for anyone; where
    /// they cannot be read, what the slice may write at the most.
    pub written_bytes: u64,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub cpu: String,
    /// Processors that this process may use.
    pub cpus: usize,
    /// The machine's memory.
    pub memory_bytes: u64,
    /// A limit on this process's memory below that, if its control group has one.
    pub memory_limit_bytes: Option<u64>,
}

/// The harness's own cost, its clock, and what memory and page caches cost by themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Floor {
    /// What timing and recording one operation costs; part of every time per operation.
    pub record_ns: f64,
    /// Where the time comes from: `tsc` or `monotonic`.
    pub clock: String,
    /// How long one tick of that clock is, in which the slices' latencies are kept.
    pub tick_ns: f64,
    /// By what share that clock and the system's went apart over the run.
    pub clock_off_by: Option<f64>,
    /// What touching memory costs; `null` where it was not measured.
    #[serde(default)]
    pub memory: Option<MemoryFloor>,
    /// What moving a cached page costs at each place, in the order of the places;
    /// `null` where it was not measured.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub places: Vec<Option<PlaceFloor>>,
}

/// What touching a page of memory costs, measured before the run. Times per page of
/// the usual size, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryFloor {
    /// A page fault by itself, for which no memory is taken.
    pub fault_ns: f64,
    /// A page of memory as the system had it: on a virtual machine the hypervisor may
    /// have to find it first.
    pub first_touch_ns: f64,
    /// The same memory given back and touched again.
    pub again_ns: f64,
    /// Clearing it as part of a huge page; `null` where it was not measured.
    #[serde(default)]
    pub huge_clear_ns: Option<f64>,
}

/// What moving a cached file's pages costs at a place, measured before the run. Times
/// per page of the usual size, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceFloor {
    /// Reading one more page in the same call.
    pub read_ns_per_page: f64,
    /// Writing one more page of a new file in the same call.
    pub write_ns_per_page: f64,
    /// Removing a file that has one page more.
    #[serde(default)]
    pub free_ns_per_page: f64,
    /// The share of the pages that were part of larger ones; `null` where the kernel
    /// does not show it (`/proc/kpageflags` is for root).
    pub large_share: Option<f64>,
}

/// What a run was to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanRecord {
    /// The smallest relative difference that matters.
    #[serde(rename = "worth")]
    pub threshold: f64,
    /// The share of runs in which a verdict may be wrong, each by itself: 0.05 is 5%.
    #[serde(default = "default_error_rate")]
    pub error_rate: f64,
    /// How long the run was to take at the most.
    pub budget_s: f64,
    /// After how many rounds it was to end at the latest, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<NonZeroU32>,
    /// The arms, which slices and pairs refer to by their index.
    #[serde(deserialize_with = "bounded::list")]
    pub arms: Vec<ArmRecord>,
    /// Which arms are compared.
    #[serde(deserialize_with = "bounded::list")]
    pub pairs: Vec<Pair>,
    /// Whether neighbours came first: small slices with pauses between them, of idle
    /// priority.
    #[serde(default)]
    pub gentle: bool,
    /// How many operations a second the application does, by study (`log`), or by study and
    /// label (`log:shop.log`), where that was said.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::map")]
    pub per_second: BTreeMap<String, f64>,
    /// What a path of the user's was taken for and why, by study and label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[serde(deserialize_with = "bounded::map")]
    pub taken_for: BTreeMap<String, String>,
}

/// That of a record made before it could be chosen.
fn default_error_rate() -> f64 {
    DEFAULT_ERROR_RATE
}

/// One arm of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArmRecord {
    /// Its name: `log/held@disk`.
    pub id: String,
    /// The study.
    pub study: String,
    /// What the user calls it, where that is not the study's name: `shop.log`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How it does its I/O.
    pub strategy: String,
    /// Where, as an index into the places.
    pub place: usize,
    /// The parameters, all of them, written as a plan file has them.
    #[serde(deserialize_with = "bounded::map")]
    pub params: BTreeMap<String, String>,
    /// What its operations are done on, where the study has a say in that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<Material>,
}

/// A place once the last slice had run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PlaceAfter {
    /// What it stood on then.
    Facts(Box<PlaceFacts>),
    /// It could not be looked at, and why.
    Unreadable(String),
}

/// The machine before the first slice and after the last; both empty where nobody
/// looked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Watch {
    /// Before.
    pub before: MachineReading,
    /// After.
    pub after: MachineReading,
}

/// An arm that could not be timed to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArmFailure {
    /// The arm, as an index into the plan's arms.
    pub arm: usize,
    /// Why.
    pub why: String,
}

impl Run {
    /// The description of a study.
    pub fn study(&self, name: &str) -> Option<&StudyDescription> {
        self.studies.iter().find(|study| study.name == name)
    }

    /// The arms of a study.
    pub fn arms_of(&self, study: &StudyDescription) -> impl Iterator<Item = &ArmRecord> {
        self.plan.arms.iter().filter(|arm| arm.study == study.name)
    }

    /// A study's strategies in the order of the plan.
    pub fn strategies_of(&self, study: &StudyDescription) -> Vec<&str> {
        each_once(self.arms_of(study).map(|arm| arm.strategy.as_str()))
    }

    /// The same, unless they are those that one gets without asking.
    pub fn chosen_strategies(&self, study: &StudyDescription) -> Option<Vec<&str>> {
        let names = self.strategies_of(study);
        let usual = study.strategies.iter().filter(|s| s.by_default).map(|s| s.name.as_str());
        (!usual.eq(names.iter().copied())).then_some(names)
    }

    /// The record without its slices.
    #[must_use]
    pub fn without_slices(&self) -> Self {
        Self {
            run: self.run.clone(),
            machine: self.machine.clone(),
            clients: self.clients.clone(),
            floor: self.floor.clone(),
            plan: self.plan.clone(),
            between_runs: self.between_runs.clone(),
            article: self.article.clone(),
            checks: self.checks.clone(),
            studies: self.studies.clone(),
            places: self.places.clone(),
            places_after: self.places_after.clone(),
            watch: self.watch.clone(),
            failures: self.failures.clone(),
            unread: self.unread.clone(),
            slices: Vec::new(),
        }
    }

    /// The slices that count, block by block, in the order in which they ran.
    pub fn blocks(&self) -> impl Iterator<Item = &[Slice]> {
        let same_block = |a: &Slice, b: &Slice| a.phase == b.phase;
        let blocks = self.slices.chunk_by(same_block);
        blocks.filter(|block| block.first().is_some_and(|slice| slice.block().is_some()))
    }

    /// The latencies of the slices of each arm that count, together.
    pub fn latencies_by_arm(&self) -> impl Iterator<Item = Latencies> {
        let sum = |slices: Vec<&Slice>| Latencies::sum(slices.iter().map(|slice| &slice.latencies));
        self.slices_by_arm().into_iter().map(sum)
    }

    /// The slices of an arm that count.
    pub fn slices_of(&self, arm: usize) -> impl Iterator<Item = &Slice> {
        let counts =
            move |slice: &&Slice| slice.arm == arm && matches!(slice.phase, Phase::Block(_));
        self.slices.iter().filter(counts)
    }

    /// The same of each arm of the plan: to look for several, one after the other, would take
    /// as many times as long.
    pub fn slices_by_arm(&self) -> Vec<Vec<&Slice>> {
        let mut arms = vec![Vec::new(); self.plan.arms.len()];
        for slice in self.slices.iter().filter(|slice| slice.block().is_some()) {
            if let Some(slices) = arms.get_mut(slice.arm) {
                slices.push(slice);
            }
        }
        arms
    }

    /// Why an arm could not be timed to the end, if so.
    pub fn failure(&self, arm: usize) -> Option<&str> {
        let found = self.failures.iter().find(|failure| failure.arm == arm);
        found.map(|failure| failure.why.as_str())
    }

    /// How a place is no longer what it was before the run, if so.
    pub fn place_change(&self, place: usize) -> Option<String> {
        let before = self.places.get(place)?;
        match self.places_after.get(place)? {
            PlaceAfter::Facts(after) => after.change_since(before),
            PlaceAfter::Unreadable(why) => {
                Some(format!("{} changed during the run: {why}", before.label))
            }
        }
    }

    /// The same run, to be judged by another smallest difference that matters.
    #[must_use]
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.plan.threshold = threshold;
        self
    }

    /// The same run, to be judged by another share of runs in which a verdict may be wrong.
    #[must_use]
    pub fn with_error_rate(mut self, error_rate: f64) -> Self {
        self.plan.error_rate = error_rate;
        self
    }

    /// The same run, told what a change is worth at so many operations a second.
    #[must_use]
    pub fn with_per_second(mut self, rate: f64) -> Self {
        let studies = self.studies.iter().map(|study| study.name.clone());
        self.plan.per_second = studies.map(|study| (study, rate)).collect();
        self
    }
}

impl PlanRecord {
    /// How many operations a second the application does of what an arm does, where that was said.
    pub fn rate_of(&self, arm: &ArmRecord) -> Option<f64> {
        let rate = self.per_second.get(&arm.subject());
        rate.or_else(|| self.per_second.get(&arm.study)).copied()
    }
}

impl ArmRecord {
    /// Its study with its label: `log:shop.log`.
    pub fn subject(&self) -> String {
        subject(&self.study, self.label.as_deref())
    }
}
