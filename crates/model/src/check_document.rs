//! A check as programs read it.

use serde::Serialize;

use crate::check::{Check, CheckRequest, Program};
use crate::run::Run;

/// The format of a check.
pub const SCHEMA: &str = "iotoll.check/1";

/// What a check found, for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "CheckDocument"))]
pub struct CheckDocument<'a> {
    /// The format: `iotoll.check/1`.
    pub schema: &'static str,
    /// The run's name, by which `iotoll show` has all of it.
    pub run: &'a str,
    /// When it began, RFC 3339.
    pub started: &'a str,
    /// How long it took.
    pub seconds: f64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The share of intervals that may miss what they are of: 0.05 is 5%.
    pub error_rate: f64,
    /// Programs that were asked for, with what their documentation says.
    pub programs: &'a [Program],
    /// What was found, place by place.
    #[serde(flatten)]
    pub check: &'a Check,
}

impl<'a> CheckDocument<'a> {
    /// What a run that checks storage found.
    pub fn new(run: &'a Run, request: &'a CheckRequest, check: &'a Check) -> Self {
        let invocation = &run.run;
        Self {
            schema: SCHEMA,
            run: &invocation.id,
            started: &invocation.started,
            seconds: invocation.seconds,
            interrupted: invocation.interrupted,
            error_rate: run.plan.error_rate,
            programs: &request.programs,
            check,
        }
    }
}
