//! Rates of a published measurement, scaled to a server that holds more or fewer requests a
//! second than the article's did.
//!
//! A rate says nothing by itself: 300 requests a second saturated one server in 2008, and
//! another one hardly notices them. The plan's rates are multiplied by what the server holds
//! here over what the article's held.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::article::ScaledServer;
use crate::param::{ParamValue, Rate};
use crate::plan::{Draft, StudyPlan};

/// Factors are powers of this, so that runs of two days have the same rates though what the
/// server holds was measured a little differently.
const STEP_LOG2: f64 = 0.25;
/// Slices have at most so many times the connections.
const CONNECTIONS_TIMES_MAX: f64 = 4.0;
/// And at least so many.
const CONNECTIONS_MIN: u64 = 10;
/// So long may connections take while the highest rate is searched for, and so many in a hundred
/// may fail: a server holds a rate while it keeps pace.
const P99_WITHIN: Duration = Duration::from_secs(5);
const ERRORS_WITHIN: u64 = 5;

/// Studies of a plan whose rates are scaled.
#[derive(Clone, Copy, Debug)]
pub struct ScaledRates {
    /// How their arms are named, without place and rate: `serve/command variant=django`.
    pub arms: &'static str,
    /// How many requests a second the article's server held.
    pub held: f64,
}

/// How many requests a second the server holds here.
#[derive(Clone, Copy, Debug)]
pub struct HeldHere {
    /// Which.
    pub of: &'static ScaledRates,
    /// The highest rate that it holds.
    pub per_second: f64,
}

impl ScaledRates {
    /// Whether a study of a plan is one of these.
    fn is(&self, study: &StudyPlan) -> bool {
        let mut words = self.arms.split_whitespace();
        let has = |word: &str| {
            word.split_once('=').is_some_and(|(name, value)| {
                let mut values = study.factors.iter().filter(|(own, _)| *own == name);
                values.any(|(_, values)| values.iter().all(|own| own.to_string() == value))
            })
        };
        words.next().and_then(|way| way.split_once('/')).is_some_and(|(name, strategy)| {
            study.spec.name == name && study.strategies.iter().all(|own| own.name == strategy)
        }) && words.all(has)
    }

    /// What finds the highest rate that the server holds, on the first place; nothing where a
    /// plan has no such study.
    pub fn search(&self, draft: &Draft) -> Option<Draft> {
        let mut search = draft.clone();
        search.places.truncate(1);
        search.studies.retain(|study| self.is(study));
        search.studies.truncate(1);
        let study = search.studies.first_mut()?;
        study.factors.retain(|(name, _)| *name != "connections");
        study.set("rate", vec![ParamValue::Rate(Rate::Max)]);
        study.set("p99_within", vec![ParamValue::Duration(P99_WITHIN)]);
        study.set("errors_within", vec![ParamValue::Count(ERRORS_WITHIN)]);
        study.not_at.clear();
        Some(search)
    }

    /// Whether an arm that is named so is of these.
    fn names(&self, arm: &str) -> bool {
        let words: Vec<&str> = arm.split_whitespace().collect();
        self.arms.split_whitespace().all(|word| words.contains(&word))
    }
}

impl HeldHere {
    /// By what the article's rates are multiplied.
    pub fn times(&self) -> f64 {
        let steps = ((self.per_second / self.of.held).log2() / STEP_LOG2).round();
        (steps * STEP_LOG2).exp2()
    }

    /// The same for a run's record.
    pub(crate) fn server(&self) -> ScaledServer {
        ScaledServer {
            arms: self.of.arms.to_owned(),
            held_then: self.of.held,
            held_here: self.per_second,
            times: self.times(),
        }
    }

    /// The rate here in place of one of the article's.
    fn rate(&self, published: NonZeroU64) -> NonZeroU64 {
        let scaled = (published.get() as f64 * self.times()).round() as u64;
        NonZeroU64::new(scaled).unwrap_or(NonZeroU64::MIN)
    }

    /// Has a plan's studies begin connections at the rates here. As many more of them keep
    /// slices as long.
    pub fn scale(&self, draft: &mut Draft) {
        let studies = draft.studies.iter_mut().filter(|study| self.of.is(study));
        for (name, values) in studies.flat_map(|study| &mut study.factors) {
            for value in values {
                match (*name, &mut *value) {
                    (_, ParamValue::Rate(Rate::PerSecond(rate))) => *rate = self.rate(*rate),
                    ("connections", ParamValue::Count(count)) => {
                        let times = self.times().min(CONNECTIONS_TIMES_MAX);
                        let scaled = (*count as f64 * times).round() as u64;
                        *count = scaled.max(CONNECTIONS_MIN);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The value of `rate` that an arm has here which is named with a rate of the article's.
pub(crate) fn rate_here(held: &[HeldHere], arm: &str, published: &str) -> Option<String> {
    let of = held.iter().find(|held| held.of.names(arm))?;
    let published = published.parse().ok()?;
    Some(of.rate(published).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    static SERVER: ScaledRates = ScaledRates { arms: "serve/command variant=php", held: 25.0 };

    fn here(per_second: f64) -> HeldHere {
        HeldHere { of: &SERVER, per_second }
    }

    #[test]
    fn rates_are_multiplied_by_what_the_server_holds_here() {
        let rate = |per_second: f64, arm: &str| rate_here(&[here(per_second)], arm, "20");
        let arm = "serve/command rate=20 variant=php @disk";
        assert_eq!(rate(25.0, arm).as_deref(), Some("20"));
        assert_eq!(rate(100.0, arm).as_deref(), Some("80"));
        assert_eq!(rate(12.0, arm).as_deref(), Some("10"));
        assert_eq!(rate(100.0, "serve/command rate=20 variant=python @disk"), None);
        assert_eq!(rate(0.001, arm).as_deref(), Some("1"), "it is never 0");
    }

    #[test]
    fn a_search_that_ends_a_little_elsewhere_gives_the_same_rates() {
        let times = |per_second| here(per_second).times();
        for near in [95.0, 98.0, 103.0, 106.0] {
            assert!((times(near) - 4.0).abs() < 1e-9, "{near}: {}", times(near));
        }
        assert!(times(120.0) > 4.5);
    }
}
