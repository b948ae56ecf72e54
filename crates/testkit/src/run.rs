//! A whole run on a simulated machine, from a plan to its record: the engine's own
//! way, in an environment that is made up.

use std::path::PathBuf;

use engine::job::Job;
use engine::measure::Event;
use engine::run::Header;
use engine::runner::SliceRunner;
use engine::unchanging::Unchanging;
use model::article::Article;
use model::between_runs::BetweenRuns;
use model::place::{PlaceFacts, PlaceRequest, StorageKind};
use model::plan::Plan;
use model::run::Run;

/// Measures a plan on the runner, whose arms are in the plan's order.
pub fn run(plan: &Plan, runner: &mut dyn SliceRunner) -> Run {
    run_watched(plan, runner, &mut |_| {})
}

/// The same of a plan that repeats an article.
pub fn run_article(plan: &Plan, article: Article, runner: &mut dyn SliceRunner) -> Run {
    measured(plan, Some(article), &[], runner, &mut |_| {})
}

/// The same where saved runs showed how much the pairs differ from run to run.
pub fn run_among(plan: &Plan, between_runs: &[BetweenRuns], runner: &mut dyn SliceRunner) -> Run {
    measured(plan, None, between_runs, runner, &mut |_| {})
}

/// The same, for whoever wants to know what happens meanwhile.
pub fn run_watched(
    plan: &Plan,
    runner: &mut dyn SliceRunner,
    events: &mut dyn FnMut(Event<'_>),
) -> Run {
    measured(plan, None, &[], runner, events)
}

fn measured(
    plan: &Plan,
    article: Option<Article>,
    between_runs: &[BetweenRuns],
    runner: &mut dyn SliceRunner,
    events: &mut dyn FnMut(Event<'_>),
) -> Run {
    let header = Header {
        id: "0".repeat(16),
        started: "2026-01-01T00:00:00Z".to_owned(),
        version: "0.0.0".to_owned(),
        article,
        checks: None,
    };
    let mut environment = Unchanging { places: places(plan), between_runs: between_runs.to_vec() };
    engine::run::run(&Job::of(plan), header, &mut environment, runner, events)
}

/// Made-up facts: the first place a disk, the others memory.
fn places(plan: &Plan) -> Vec<PlaceFacts> {
    let facts = |(index, request): (usize, &PlaceRequest)| PlaceFacts {
        path: PathBuf::from(request.target.to_string()),
        kind: if index == 0 { StorageKind::Disk } else { StorageKind::Memory },
        filesystem: if index == 0 { "ext4" } else { "tmpfs" }.to_owned(),
        device: (index == 0).then(|| "/dev/vda1".to_owned()),
        mount_point: PathBuf::from(request.target.to_string()),
        mount_options: vec!["relatime".to_owned()],
        total_bytes: 100_000_000_000,
        free_bytes: 80_000_000_000,
        filesystem_id: index as u64,
        ..PlaceFacts::unknown(&request.label)
    };
    plan.places.iter().enumerate().map(facts).collect()
}
