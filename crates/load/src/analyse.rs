//! From a load's record to what follows from it: pure functions over the
//! record alone, so that a load just measured and one read from a file come to
//! the same.

mod intervals;
mod pace;
mod validity;

use model::load::{
    InvalidReason, LoadAnalysis, LoadRun, OwnUse, ReplyCounts, ReplyRate, Step, StepAnalysis,
    Summary, Times,
};

pub(crate) use intervals::{are_narrow, intervals};

/// A span of less says nothing about how busy the client's core was.
const BUSY_SPAN_MIN_NS: u64 = 100_000_000;

/// What follows from a load's record.
pub fn analyse_load(run: &LoadRun) -> LoadAnalysis {
    LoadAnalysis { steps: run.steps.iter().map(analyse_step).collect() }
}

/// What follows from one step.
pub fn analyse_step(step: &Step) -> StepAnalysis {
    analyse(step, validity::drift(step))
}

/// The same of a slice of a measurement, or a try of a search. Whether its server drifts is
/// not asked: it is short, and rounds or further tries show that better.
pub fn analyse_slice(step: &Step) -> StepAnalysis {
    analyse(step, None)
}

fn analyse(step: &Step, drift: Option<InvalidReason>) -> StepAnalysis {
    let mut reasons = validity::reasons(step, busy_percent(step));
    reasons.extend(drift);
    let intervals = intervals(&step.subsamples, step.until.is_some());
    let phases = &step.phases;
    let ms = |times: &Times| Summary::of(&times.histogram(), 1e6);
    let whole = &step.client.whole;
    let percent = |ns: u64| ns as f64 * 100.0 / whole.wall_ns.max(1) as f64;
    let words: Vec<String> = reasons.iter().map(InvalidReason::to_string).collect();
    StepAnalysis {
        seconds: step.length_ns as f64 / 1e9,
        achieved_rate: started_rate(step),
        connection_ms: ms(&phases.connection),
        connection_from_connect_ms: ms(&phases.connection_from_connect),
        connect_ms: ms(&phases.connect),
        reply_ms: ms(&phases.reply),
        response_ms: ms(&phases.response),
        transfer_ms: ms(&phases.transfer),
        schedule_lag_us: Summary::of(&phases.lag.histogram(), 1e3),
        reply_rate: reply_rate(&step.reply_counts, step.replies, step.last_reply_ns),
        client_cpu_percent: percent(whole.cpu_ns),
        client_system_percent: percent(whole.system_ns.min(whole.cpu_ns)),
        client_spin_percent: percent(whole.spin_ns),
        client_cpu_us_per_request: (step.requests > 0)
            .then(|| whole.cpu_ns as f64 / 1e3 / step.requests as f64),
        kept_pace: pace::kept(step),
        percentile_intervals: intervals,
        narrow: step.until.map(|until| are_narrow(intervals.as_ref(), until.half_width)),
        valid: reasons.is_empty(),
        why_invalid: (!words.is_empty()).then(|| words.join("; ")),
        invalid_reasons: reasons,
    }
}

/// Connections started per second; the last start ends the last gap.
fn started_rate(step: &Step) -> f64 {
    let attempted = step.attempted;
    if attempted > 1 && step.last_start_ns > 0 {
        (attempted - 1) as f64 * 1e9 / step.last_start_ns as f64
    } else {
        attempted as f64 * 1e9 / step.length_ns.max(1) as f64
    }
}

/// How busy this client's core was, with waiting for it and without polling.
fn busy_percent(step: &Step) -> f64 {
    let client = &step.client;
    let too_short = client.active.wall_ns < BUSY_SPAN_MIN_NS;
    let OwnUse { wall_ns, cpu_ns, spin_ns, delayed_ns, .. } =
        if too_short { client.whole } else { client.active };
    let busy_ns = (cpu_ns + delayed_ns).saturating_sub(spin_ns);
    busy_ns as f64 * 100.0 / wall_ns.max(1) as f64
}

/// The rates of the intervals that lie wholly within `length_ns`.
fn reply_rate(counted: &ReplyCounts, replies: u64, length_ns: u64) -> ReplyRate {
    let interval_ns = counted.interval_ns.max(1);
    let seconds = interval_ns as f64 / 1e9;
    // Nothing was counted after the last reply, so that what is within is there.
    let full = ((length_ns / interval_ns) as usize).min(counted.counts.len());
    let samples: Vec<f64> =
        counted.counts[..full].iter().map(|count| *count as f64 / seconds).collect();
    let mean = if length_ns == 0 { 0.0 } else { replies as f64 * 1e9 / length_ns as f64 };
    let n = samples.len().max(1) as f64;
    let centre = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|s| (s - centre).powi(2)).sum::<f64>() / n;
    ReplyRate {
        mean,
        min: samples.iter().copied().reduce(f64::min).unwrap_or(mean),
        max: samples.iter().copied().reduce(f64::max).unwrap_or(mean),
        stddev: variance.sqrt(),
        interval_ms: seconds * 1e3,
        samples,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::load::{ClientUse, Errors, Phases, Subsamples};
    use model::slice::Latencies;
    use stats::Histogram;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn replies_that_come_evenly_have_their_rate_in_every_interval() {
        let counted = ReplyCounts { interval_ns: 4 * SECOND_NS, counts: vec![4000; 250] };
        let rate = reply_rate(&counted, 1_000_000, 1000 * SECOND_NS);
        assert_eq!(rate.samples.len(), 250);
        for value in [rate.mean, rate.min, rate.max] {
            assert!((value - 1000.0).abs() < 1.0, "{value}");
        }
    }

    #[test]
    fn an_interval_without_replies_counts_as_none() {
        let mut counts = vec![0; 11];
        (counts[0], counts[10]) = (1, 1);
        let counted = ReplyCounts { interval_ns: SECOND_NS / 10, counts };
        let rate = reply_rate(&counted, 2, SECOND_NS);
        assert_eq!(rate.samples.len(), 10);
        assert!(rate.min.abs() < 1e-9 && (rate.max - 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_last_gap_ends_with_the_last_start() {
        let step = Step {
            attempted: 11,
            last_start_ns: SECOND_NS,
            length_ns: 3 * SECOND_NS,
            ..Step::default()
        };
        assert!((started_rate(&step) - 10.0).abs() < 1e-9);
        let alone = Step { attempted: 1, last_start_ns: 0, ..step };
        assert!((started_rate(&alone) - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_core_is_busy_with_work_and_with_waiting_for_it_but_not_with_polling() {
        let used = OwnUse { wall_ns: 1000, cpu_ns: 500, spin_ns: 200, ..OwnUse::default() };
        let active = OwnUse { wall_ns: SECOND_NS, delayed_ns: SECOND_NS / 2, ..used };
        let mut step = Step::default();
        (step.client.active, step.client.whole) = (active, used);
        assert!((busy_percent(&step) - 50.0).abs() < 0.1);
        step.client.active.wall_ns = BUSY_SPAN_MIN_NS - 1;
        assert!((busy_percent(&step) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn a_server_that_becomes_slower_makes_a_step_invalid_and_a_slice_not() {
        let part = |us: u64| Latencies { buckets: vec![(us * 1000, 100)], max: us * 1000 };
        let of = |level: fn(u64) -> u64| Step {
            last_start_ns: 10 * SECOND_NS,
            subsamples: Subsamples {
                size: 100,
                latencies: (0..40).map(|i| part(level(i) + i * 17 % 40)).collect(),
                ..Subsamples::default()
            },
            ..Step::default()
        };
        let slower = of(|i| if i < 20 { 1000 } else { 1300 });
        let seen = analyse_step(&slower);
        let text = "the server became slower: times rose by 29% after 5.0 s";
        assert_eq!((seen.valid, seen.why_invalid.as_deref()), (false, Some(text)));
        assert!(!seen.is_merely_late() && analyse_slice(&slower).valid);
        assert!(analyse_step(&of(|_| 1000)).valid);
        let faster = analyse_step(&of(|i| 1000 - 10 * i)).why_invalid.unwrap_or_default();
        assert!(faster.starts_with("the server became faster: times fell by"), "{faster}");
        assert!(faster.ends_with("% during the step"), "{faster}");
    }

    #[test]
    fn only_late_starts_and_nothing_beside_them_are_mere_lateness() {
        // A thousand connections, some of which were started late.
        let late = |lag_ns: u64, took_ns: u64| Step {
            intended: Some(1000),
            attempted: 1000,
            phases: Phases { lag: times(lag_ns), connection: times(took_ns), ..Phases::default() },
            ..Step::default()
        };
        let without_port = Errors { addrunavail: 1, ..Errors::default() };
        let by_the_median = late(200_000, 1_000_000);
        let by_itself = late(2_000_000, 1_000_000_000);
        for (step, expected) in [
            (late(10_000, 1_000_000), false),
            (by_the_median, true),
            (by_itself.clone(), true),
            (Step { interrupted: true, ..by_itself.clone() }, false),
            (Step { errors: without_port, ..late(10_000, 1_000_000) }, false),
        ] {
            assert_eq!(analyse_step(&step).is_merely_late(), expected, "{step:?}");
        }
        let busy = OwnUse { wall_ns: 1_000_000_000, cpu_ns: 810_000_000, ..OwnUse::default() };
        let client = ClientUse { active: busy, whole: busy };
        assert!(!analyse_step(&Step { client, ..by_itself.clone() }).is_merely_late());
        let both = analyse_step(&Step { interrupted: true, ..by_itself });
        let text = "it was interrupted; starts lagged by 2.0 ms (p99)";
        assert_eq!((both.valid, both.why_invalid.as_deref()), (false, Some(text)));
        let neither = analyse_step(&late(10_000, 1_000_000));
        assert_eq!((neither.valid, neither.why_invalid), (true, None));
    }

    fn times(ns: u64) -> Times {
        let mut histogram = Histogram::new();
        histogram.record_many(ns, 1000);
        Times::of(&histogram)
    }
}
