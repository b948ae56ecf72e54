//! What a check makes of a plan: which arm measures what, how long each is measured, and what is
//! kept of that in the run's record.

use engine::job::Job;
use model::analysis::Analysis;
use model::arm::{Arm, Pair};
use model::check::{CheckRequest, CheckedArm, Fits, Measure, Program};

use crate::exit::Exit;
use crate::terminal::output;

/// The share of the budget that slices take together. The rest goes into what is around them:
/// folders, the file that is read, and waiting until devices have nothing more to do.
const SLICES_SHARE: f64 = 0.5;
/// What the programs that were asked for have together beside all else.
const ASKED_WEIGHT: f64 = 90.0;

/// Programs that are answered for where none is named.
const USUAL: [&str; 2] = ["etcd", "postgresql"];

/// The programs that are answered for where none is named.
pub(crate) fn usual_programs() -> Vec<Program> {
    let known = studies::programs().into_iter();
    known.filter(|program| USUAL.contains(&program.name.as_str())).cloned().collect()
}

/// A check, as it was asked for.
pub(crate) struct CheckPlan {
    pub(crate) programs: Vec<Program>,
    /// Whether the user named them.
    pub(crate) is_asked: bool,
    pub(crate) require_fit: bool,
}

impl CheckPlan {
    /// The check that a saved run was of these programs.
    pub(crate) fn again(programs: Vec<Program>) -> Self {
        Self { is_asked: programs != usual_programs(), programs, require_fit: false }
    }

    /// What each arm measures.
    pub(crate) fn request(&self, arms: &[Arm]) -> CheckRequest {
        let arms = arms.iter().filter_map(checked).collect();
        CheckRequest { arms, programs: self.programs.clone() }
    }

    /// Has places alone compared, and gives the slices of each arm their share of the budget.
    pub(crate) fn shape(&self, job: &mut Job) {
        job.pairs.retain(Pair::is_of_check);
        let weights: Vec<f64> = job.arms.iter().map(|arm| self.weight(arm)).collect();
        let all: f64 = weights.iter().sum();
        job.shares = weights.iter().map(|weight| SLICES_SHARE * weight / all).collect();
    }

    /// How long an arm is measured beside the others. A 99th percentile takes hundreds of syncs,
    /// a rate of reads a few slices.
    fn weight(&self, arm: &Arm) -> f64 {
        match checked(arm).map(|checked| checked.measure) {
            Some(Measure::Program) if self.is_asked => {
                ASKED_WEIGHT / self.programs.len().max(1) as f64
            }
            Some(Measure::Fsync) => 12.0,
            Some(Measure::Program | Measure::Fdatasync) => 6.0,
            Some(Measure::Replace) => 3.0,
            Some(Measure::Read) => 2.0,
            Some(Measure::ReadSequential | Measure::WriteSequential) => 1.0,
            _ => 0.3,
        }
    }

    /// How a check ends that was to be good enough, and would have ended so otherwise.
    pub(crate) fn exit(&self, otherwise: Exit, analysis: &Analysis) -> Exit {
        if !self.require_fit {
            return otherwise;
        }
        match analysis.check.as_ref().and_then(model::check::Check::worst_fit) {
            Some(Fits::No) => {
                output::note("--require-fit was given, and a place is not good enough");
                Exit::Slower
            }
            Some(Fits::Undecided) => {
                output::note("--require-fit was given, and whether it fits is undecided so far");
                Exit::NoVerdict
            }
            Some(Fits::Yes | Fits::NothingAsked) | None => otherwise,
        }
    }
}

/// What an arm of the study measures: its strategies are named as measures are.
fn checked(arm: &Arm) -> Option<CheckedArm> {
    let name = serde_json::Value::String(arm.strategy.name.clone());
    let measure: Measure = serde_json::from_value(name).ok()?;
    let depth = (measure == Measure::Read).then(|| arm.params.count("depth"));
    let program = (measure == Measure::Program).then(|| arm.params.choice("program").to_owned());
    Some(CheckedArm { measure, depth, program })
}
