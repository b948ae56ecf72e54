//! The result file, `iotoll.result/2`: the record of a run with its analysis
//! beside it. Reading takes the record alone; what follows from it is made anew.

use std::collections::BTreeSet;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use thiserror::Error;
use units::exact_size;

use crate::analysis::{Analysis, ArmResult, Comparison};
use crate::arm::Pair;
use crate::article::Article;
use crate::between_runs::{BetweenRuns, Learned};
use crate::bounded;
use crate::check::{Check, CheckRequest};
use crate::client::Client;
use crate::description::StudyDescription;
use crate::noise::Noise;
use crate::place::PlaceFacts;
use crate::plan::ARMS_MAX;
use crate::printable::is_unprintable;
use crate::reproduction::Reproduction;
use crate::run::{ArmFailure, Floor, Invocation, Machine, PlaceAfter, PlanRecord, Run, Watch};
use crate::scaling::Scaling;
use crate::slice::Slice;
use crate::sums;

/// What a result may have, as JSON: 256 arms in more than 600 rounds, or three hours of slices
/// without a pause. Reading it takes the text and what becomes of it.
pub const BYTES_MAX: u64 = 384 << 20;
/// What may become of a result's text. What iotoll writes takes little more than its text.
const MEMORY_BYTES_MAX: usize = 512 << 20;
/// Comparisons that each arm may be part of: a place, a strategy or both, in the order in which
/// `arm::pairs` looks for what to compare it with.
const PAIRS_OF_ARM_MAX: usize = 5;

/// What a result of `iotoll load` or `iotoll selftest` may have: a step takes some kilobytes.
/// Parts of them are read by way of what takes many times as much (`serde(flatten)`).
const SMALL_BYTES_MAX: usize = 32 << 20;

/// The version of the format.
pub const SCHEMA: &str = "iotoll.result/2";

/// A result file as it is written.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "iotoll.result/2"))]
pub struct Document<'a> {
    /// `iotoll.result/2`.
    schema: &'static str,
    /// When and how it ran.
    run: &'a Invocation,
    /// Where it ran.
    machine: &'a Machine,
    /// The machines of all clients, where there were several.
    #[serde(default, skip_serializing_if = "<[Client]>::is_empty")]
    clients: &'a [Client],
    /// What measuring itself costs.
    floor: &'a Floor,
    /// What was to be timed.
    plan: &'a PlanRecord,
    /// How much saved runs of the same comparisons differed when it began, in the order of the
    /// comparisons; left out where no saved runs told.
    #[serde(default, skip_serializing_if = "<[BetweenRuns]>::is_empty")]
    between_runs: &'a [BetweenRuns],
    /// The published measurement that it repeats, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    article: Option<&'a Article>,
    /// What it checks of storage, if it is a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<&'a CheckRequest>,
    /// What follows for that measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    reproduction: Option<&'a Reproduction>,
    /// What it found of storage, if it is a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'a Check>,
    /// The studies that the arms are of.
    studies: &'a [StudyDescription],
    /// The places before the first slice; the first is the base.
    places: &'a [PlaceFacts],
    /// The places after the last slice; empty where nobody looked.
    places_after: &'a [PlaceAfter],
    /// What was timed, and what follows for each.
    arms: &'a [ArmResult],
    /// What follows for each pair.
    comparisons: &'a [Comparison],
    /// How what several clients get done together grows with their number.
    #[serde(default, skip_serializing_if = "<[Scaling]>::is_empty")]
    scaling: &'a [Scaling],
    /// What disturbed the run from outside.
    noise: &'a Noise,
    /// The machine before and after, as far as it shows that.
    watch: &'a Watch,
    /// Arms that could not be timed to the end.
    failures: &'a [ArmFailure],
    /// What could not be read on this machine, each with what is not known for it.
    unread: &'a [String],
    /// Every slice, in the order in which they ran.
    slices: &'a [Slice],
}

/// Why a text is not a result that can be shown.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DocumentError {
    /// It ends too soon.
    #[error("it ends in the middle, after {0} lines: it was cut short, or is still being written")]
    CutShort(usize),
    /// It is JSON of another kind, or no JSON.
    #[error("it is not a result of iotoll: {0}")]
    Foreign(String),
    /// It is another kind of result of iotoll.
    #[error("it is {found}, and {wanted} is needed: `iotoll show RUN --json FILE` writes it")]
    Kind {
        /// What it is.
        found: String,
        /// What is needed.
        wanted: String,
    },
    /// It has another version of the format.
    #[error(
        "it has format {found}, but this version of iotoll reads only {wanted}; use the version \
         that wrote it, or measure again"
    )]
    Version {
        /// What it has.
        found: String,
        /// What can be read.
        wanted: String,
    },
    /// It says that it has the format, and does not.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
}

/// Whether a text that begins like this may be a result: told before the rest is read.
pub fn check_beginning(bytes: &[u8]) -> Result<(), DocumentError> {
    match bytes.trim_ascii_start().first() {
        None | Some(b'{') => Ok(()),
        Some(_) => Err(DocumentError::Foreign("it does not begin with a `{`".to_owned())),
    }
}

/// Whether the beginning of a text says which format it has, as all results do that
/// iotoll writes.
pub fn names_schema(beginning: &[u8]) -> bool {
    let name = b"\"schema\"";
    beginning.windows(name.len()).any(|part| part == name)
}

/// The format that a text says it has.
pub fn schema_of(text: &str) -> Result<String, DocumentError> {
    let header: Header = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof if !text.trim().is_empty() => {
            DocumentError::CutShort(text.lines().count())
        }
        serde_json::error::Category::Eof => DocumentError::Foreign("it is empty".to_owned()),
        _ => DocumentError::Foreign(error.to_string()),
    })?;
    let none = || DocumentError::Foreign("it has no `schema`".to_owned());
    header.schema.filter(|schema| schema.starts_with("iotoll.")).ok_or_else(none)
}

/// Does work whose documents may take no more memory together than one alone.
pub fn within_memory<T>(work: impl FnOnce() -> T) -> T {
    bounded::within(MEMORY_BYTES_MAX, work)
}

/// Reads a text that has a format of this version.
pub fn read<T: for<'a> Deserialize<'a>>(text: &str, wanted: &str) -> Result<T, DocumentError> {
    let found = schema_of(text)?;
    if found != wanted {
        let wanted = wanted.to_owned();
        let kind = |schema: &str| schema.split('/').next().map(str::to_owned);
        return Err(if kind(&found) == kind(&wanted) {
            DocumentError::Version { found, wanted }
        } else {
            DocumentError::Kind { found, wanted }
        });
    }
    let read = bounded::within(MEMORY_BYTES_MAX, || serde_json::from_str(text));
    read.map_err(|error| DocumentError::Damaged(error.to_string()))
}

/// The same of a kind of result that is small.
pub fn read_small<T: for<'a> Deserialize<'a>>(
    text: &str,
    wanted: &str,
) -> Result<T, DocumentError> {
    if text.len() > SMALL_BYTES_MAX {
        let most = exact_size(SMALL_BYTES_MAX as u64);
        return Err(DocumentError::Damaged(format!("it is larger than the maximum of {most}")));
    }
    read(text, wanted)
}

impl Run {
    /// The record in a result file's text.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        let run: Self = read(text, SCHEMA)?;
        run.check().map_err(DocumentError::Damaged)?;
        Ok(run)
    }

    /// Whether what refers to one another is there, and the plan can be judged by.
    pub fn check(&self) -> Result<(), String> {
        self.check_size()?;
        sums::check(&self.slices)?;
        let PlanRecord { threshold, error_rate, .. } = self.plan;
        if !(threshold >= 0.0 && threshold.is_finite() && error_rate > 0.0 && error_rate < 1.0) {
            return Err(format!(
                "a threshold of {threshold} or an error rate of {error_rate} is not valid"
            ));
        }
        let learned = self.between_runs.iter().flat_map(|pair| [pair.time, pair.p99]).flatten();
        if !learned.clone().all(|learned: Learned| learned.is_valid()) {
            return Err("what it learned from other runs is no variance".to_owned());
        }
        let arms = self.plan.arms.len();
        self.article.as_ref().map_or(Ok(()), |article| article.check(arms))?;
        self.checks.as_ref().map_or(Ok(()), |check| check.check(arms))?;
        let missing = |what: &str, arm: usize| format!("{what} refers to arm {arm} of {arms}");
        if let Some(slice) = self.slices.iter().find(|slice| slice.arm >= arms) {
            return Err(missing("a slice", slice.arm));
        }
        if let Some(pair) = self.plan.pairs.iter().find(|p| p.base.max(p.other) >= arms) {
            return Err(missing("a comparison", pair.base.max(pair.other)));
        }
        if let Some(failure) = self.failures.iter().find(|failure| failure.arm >= arms) {
            return Err(missing("a failure", failure.arm));
        }
        let places = self.places.len();
        match self.plan.arms.iter().find(|arm| arm.place >= places) {
            Some(arm) => Err(format!("{} refers to place {} of {places}", arm.id, arm.place)),
            None => Ok(()),
        }
    }

    /// Whether it has no more of anything than a plan can ask for.
    fn check_size(&self) -> Result<(), String> {
        let Self { slices: _, plan, .. } = self;
        let pairs_max = plan.arms.len().min(ARMS_MAX) * PAIRS_OF_ARM_MAX;
        for (what, found, most) in [
            ("arms", plan.arms.len(), ARMS_MAX),
            ("comparisons", plan.pairs.len(), pairs_max),
            ("comparisons in other runs", self.between_runs.len(), pairs_max),
            ("places", self.places.len().max(self.places_after.len()), ARMS_MAX),
            ("studies", self.studies.len(), ARMS_MAX),
            ("failures", self.failures.len(), ARMS_MAX),
        ] {
            if found > most {
                return Err(format!("it has {found} {what}, but at most {most} are allowed"));
            }
        }
        let mut compared = BTreeSet::new();
        let is_new =
            |pair: &&Pair| pair.base != pair.other && compared.insert((pair.base, pair.other));
        if plan.pairs.iter().filter(is_new).count() < plan.pairs.len() {
            return Err("it compares two arms twice, or an arm with itself".to_owned());
        }
        let of_run = (
            &self.run,
            &self.machine,
            &self.clients,
            &self.floor,
            plan,
            &self.article,
            &self.checks,
        );
        sums::check_texts(&of_run)?;
        let others = (&self.studies, &self.places, &self.places_after, &self.watch);
        sums::check_texts(&(others, &self.failures, &self.unread))
    }
}

impl<'a> Document<'a> {
    /// A run with what follows from it.
    pub fn new(run: &'a Run, analysis: &'a Analysis) -> Self {
        Self {
            schema: SCHEMA,
            run: &run.run,
            machine: &run.machine,
            clients: &run.clients,
            floor: &run.floor,
            plan: &run.plan,
            between_runs: &run.between_runs,
            article: run.article.as_ref(),
            checks: run.checks.as_ref(),
            reproduction: analysis.reproduction.as_ref(),
            check: analysis.check.as_ref(),
            studies: &run.studies,
            places: &run.places,
            places_after: &run.places_after,
            arms: &analysis.arms,
            comparisons: &analysis.comparisons,
            scaling: &analysis.scaling,
            noise: &analysis.noise,
            watch: &run.watch,
            failures: &run.failures,
            unread: &run.unread,
            slices: &run.slices,
        }
    }
}

/// The JSON Schema of a file that has such a document.
#[cfg(feature = "schema")]
pub fn json_schema_of<T: schemars::JsonSchema>() -> serde_json::Value {
    schemars::schema_for!(T).to_value()
}

/// Writes JSON that people can look into: pretty down to the items of the
/// outermost lists, and each of these, such as a slice, on a line of its own.
///
/// All JSON that people may print is written here. Of a text, no character stands in it that
/// a terminal or a build server obeys: each is escaped as JSON has it, and reads back as it was.
pub fn write(value: &impl Serialize, out: impl io::Write) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Shallow::default()))
}

/// Breaks lines in the outermost object and in lists and objects right within it.
#[derive(Default)]
struct Shallow {
    pretty: PrettyFormatter<'static>,
    depth: usize,
}

const DEPTH_PRETTY: usize = 2;

macro_rules! by_depth {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        if $self.depth <= DEPTH_PRETTY {
            $self.pretty.$method($($argument),*)
        } else {
            CompactFormatter.$method($($argument),*)
        }
    };
}

impl Formatter for Shallow {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut from = 0;
        let mut before = '\0';
        for (at, c) in fragment.char_indices() {
            if is_unprintable(c) || (before, c) == ('#', '#') {
                out.write_all(&fragment.as_bytes()[from..at])?;
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
                from = at + c.len_utf8();
            }
            before = c;
        }
        out.write_all(&fragment.as_bytes()[from..])
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        by_depth!(self, begin_array(out))
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        let ended = by_depth!(self, end_array(out));
        self.depth -= 1;
        ended
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        by_depth!(self, begin_array_value(out, first))
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        by_depth!(self, end_array_value(out))
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        by_depth!(self, begin_object(out))
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        let ended = by_depth!(self, end_object(out));
        self.depth -= 1;
        ended
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        by_depth!(self, begin_object_key(out, first))
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        by_depth!(self, begin_object_value(out))
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        by_depth!(self, end_object_value(out))
    }
}
