//! Arms made up for tests.

use model::arm::Arm;
use model::place::PlaceRequest;
use model::plan::{Draft, StudyPlan};
use model::study::{StrategySpec, StudySpec};

static SPEC: StudySpec = StudySpec {
    name: "made",
    strategies: &[StrategySpec { name: "plain", about: "", promise: "", by_default: true }],
    ..StudySpec::EMPTY
};

/// So many arms of one study, each on a place of its own.
pub(crate) fn arms(count: usize) -> Vec<Arm> {
    let request = |n| PlaceRequest::directory(&format!("p{n}"), "/");
    let draft = Draft {
        places: (0..count).map(request).collect(),
        studies: vec![StudyPlan::new(&SPEC)],
        ..Draft::default()
    };
    draft.finish(1).unwrap_or_else(|e| panic!("{e}")).arms()
}
