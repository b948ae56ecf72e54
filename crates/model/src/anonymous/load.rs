//! The record of a load, without names.

use super::{left_out, machine, reason};
use crate::load::{LoadPlan, LoadRun, Preflight, RateSearch, ServerUse, Step, Try};

/// The record as it may be passed on: the server is called `server`, and no text is in it
/// that the server, the system or a person wrote.
pub fn without_names(run: LoadRun) -> LoadRun {
    let LoadRun {
        schema,
        run,
        machine: whose,
        plan,
        request_bytes,
        server_software: _,
        preflight,
        steps,
        search,
    } = run;
    LoadRun {
        schema,
        run,
        machine: machine(whose),
        plan: self::plan(plan),
        request_bytes,
        server_software: None,
        preflight: Preflight {
            warnings: preflight.warnings.into_iter().map(|_| left_out()).collect(),
            ..preflight
        },
        steps: steps.into_iter().map(step).collect(),
        search: search.map(self::search),
    }
}

fn plan(plan: LoadPlan) -> LoadPlan {
    LoadPlan {
        url: "http://server/".to_owned(),
        host: "server".to_owned(),
        port: plan.port.map(|_| 80),
        path: "/".to_owned(),
        address: "server".to_owned(),
        method: known(plan.method, &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
        http: known(plan.http, &["1.0", "1.1"]),
        ..plan
    }
}

/// A word that is one of these: another may be anything.
fn known(given: String, words: &[&str]) -> String {
    if words.contains(&given.as_str()) { given } else { left_out() }
}

fn step(step: Step) -> Step {
    let server =
        step.server.map(|server| ServerUse { sync_note: reason(server.sync_note), ..server });
    Step { first_error: reason(step.first_error), server, ..step }
}

fn search(search: RateSearch) -> RateSearch {
    let tries = search.tries.into_iter();
    RateSearch {
        max_rate: search.max_rate,
        limit: reason(search.limit),
        tries: tries.map(|one| Try { why_not: reason(one.why_not), ..one }).collect(),
    }
}
