//! Saved results: some were measured, others come from a simulated machine and have several clients,
//! an article, or rare studies.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use model::article_spec::Repetition;
use model::client::Client;
use model::document::SCHEMA;
use model::place::PlaceRequest;
use model::plan::Plan;
use model::run::Run;
use model::scaling::CLIENTS_PER_S;
use serde_json::json;
use studies::articles;
use testkit::{ArmBehaviour, SimulatedRunner};

pub(super) const LOG: &str = include_str!("../../seeds/log.json");
const MEASURED: [&str; 3] =
    [LOG, include_str!("../../seeds/serve.json"), include_str!("../../seeds/files.json")];
/// So many rounds are kept, and so many buckets of each histogram: one is like another.
const BLOCKS: usize = 3;
const BUCKETS: usize = 4;

/// Comparisons, as their files have them.
pub(super) fn comparisons() -> Vec<Vec<u8>> {
    let measured = MEASURED.iter().filter_map(|text| Run::read(text).ok()).map(small);
    let simulated = [of_studies(), of_clients(), of_article()];
    measured.chain(simulated.into_iter().flatten()).filter_map(|run| as_file(&run)).collect()
}

fn as_file(run: &Run) -> Option<Vec<u8>> {
    let mut value = serde_json::to_value(run).ok()?;
    value["schema"] = json!(SCHEMA);
    serde_json::to_vec(&value).ok()
}

/// Studies with many figures.
fn of_studies() -> Result<Run> {
    let studies = ["sqlite", "exec"];
    let places = ["disk=/srv", "ram=tmpfs:64M"];
    let plan = testkit::plan(&studies::specs(), &studies, &places, &[]);
    let plan = plan.map_err(anyhow::Error::from_boxed)?;
    Ok(small(testkit::run(&plan, &mut runner(&plan))))
}

/// Several clients, whose machines differ.
fn of_clients() -> Result<Run> {
    let plan = testkit::plan(&studies::specs(), &["log"], &["disk=/srv"], &["log.clients=1,4"]);
    let plan = plan.map_err(anyhow::Error::from_boxed)?;
    let mut run = small(testkit::run(&plan, &mut runner(&plan)));
    for slice in &mut run.slices {
        let rate = 1000.0 * (slice.arm + 1) as f64;
        slice.outcome.figures.insert(CLIENTS_PER_S.to_owned(), rate);
        slice.outcome.evidence = BTreeMap::from([("clock_error_ns".to_owned(), 3.0)]);
    }
    let client = |kernel: &str| Client {
        host: format!("node-{kernel}"),
        kernel: kernel.to_owned(),
        cpu: "EPYC".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        mounts: vec!["nfs4".to_owned()],
    };
    run.clients = vec![client("6.1"), client("6.1"), client("5.10")];
    Ok(run)
}

/// A published measurement, repeated.
fn of_article() -> Result<Run> {
    let spec = articles::find("shm-cache").context("an article")?;
    let mut draft = spec.draft(&studies::specs(), true, &[])?;
    draft.budget = Some(Duration::from_millis(200));
    let made = spec.places_without(&[]).map(|place| place.label);
    let labels = ["disk", "ram"].into_iter().chain(made);
    draft.places = labels.map(|label| PlaceRequest::directory(label, "/")).collect();
    let plan = draft.finish(1)?;
    let labels = ["disk", "ram"].map(str::to_owned);
    let repetition =
        Repetition { spec, labels, is_quick: true, missing: Vec::new(), held: Vec::new() };
    let article = repetition.article(&plan);
    Ok(small(testkit::run_article(&plan, article, &mut runner(&plan))))
}

fn runner(plan: &Plan) -> SimulatedRunner {
    SimulatedRunner::new(vec![ArmBehaviour::steady(2000.0, 0.01); plan.arms().len()], 1)
}

fn small(mut run: Run) -> Run {
    run.slices.retain(|slice| slice.block().is_some_and(|block| block < BLOCKS));
    run.slices.iter_mut().for_each(|slice| slice.latencies.buckets.truncate(BUCKETS));
    run
}
