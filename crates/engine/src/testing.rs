//! Arms and jobs made up for tests.

use std::sync::LazyLock;
use std::time::Duration;

use model::arm::{Arm, Pair};
use model::place::PlaceRequest;
use model::plan::{Draft, StudyPlan};
use model::scaling::CLIENTS;
use model::study::{
    ParamDescription, ParamKind, ParamValue, StrategyDescription, StudyDescription,
};

use crate::job::Job;
use crate::run_limits::RunLimits;

static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
    strategies: vec![StrategyDescription::new("plain", "", "")],
    params: vec![ParamDescription::new(CLIENTS, "", ParamKind::Count { min: 1, max: 9 }, "1")],
    ..StudyDescription::new("made", "", "operation")
});

/// So many arms of one study, each on a place of its own.
pub(crate) fn arms(count: usize) -> Vec<Arm> {
    arms_of(count, 1)
}

/// The same, each by so many clients.
pub(crate) fn arms_of(count: usize, clients: u64) -> Vec<Arm> {
    let request = |n| PlaceRequest::directory(&format!("p{n}"), "/");
    let mut study = StudyPlan::new(&SPEC);
    study.set(CLIENTS, vec![ParamValue::Count(clients)]);
    let draft = Draft {
        places: (0..count).map(request).collect(),
        studies: vec![study],
        ..Draft::default()
    };
    draft.finish(1).unwrap_or_else(|e| panic!("{e}")).arms()
}

/// A job with the usual limits of error, and nothing else asked for.
pub(crate) fn job(arms: Vec<Arm>, pairs: Vec<Pair>, budget: Duration) -> Job {
    Job {
        arms,
        pairs,
        materials: Vec::new(),
        threshold: 0.05,
        error_rate: 0.05,
        budget,
        rounds: None,
        seed: 1,
        per_second: [].into(),
        taken_for: [].into(),
        shares: Vec::new(),
        run_limits: RunLimits::default(),
    }
}
