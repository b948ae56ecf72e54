//! A run in the text format of OpenMetrics 1.0, for the textfile collector of Prometheus'
//! `node_exporter` and whatever else reads it.
//!
//! That collector reads the format that OpenMetrics came from: it passes over comments that
//! are new, such as `# UNIT`, and refuses types that are new and samples with a time. So all
//! is a gauge or a histogram, and no sample has a time. Units are seconds, bytes and ratios.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::SystemTime;

use model::analysis::{Analysis, ArmResult, Comparison, Verdict};
use model::printable::printable;
use model::run::Run;

/// Upper bounds of the latency histograms' buckets, in seconds, as the format would have
/// them written; the same for all runs, so that those can be compared.
const BOUNDS: [&str; 25] = [
    "1e-07", "2.5e-07", "5e-07", "1e-06", "2.5e-06", "5e-06", "1e-05", "2.5e-05", "5e-05",
    "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1",
    "0.25", "0.5", "1.0", "2.5", "5.0", "10.0",
];
const VERDICTS: [Verdict; 5] =
    [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Unclear, Verdict::Invalid];
const NS_PER_S: f64 = 1e9;

/// The run, its arms, and what they differ by.
pub fn text(run: &Run, analysis: &Analysis) -> String {
    let mut page = Page::default();
    about_run(&mut page, run, analysis);
    let arms = arms(run, analysis);
    about_tolls(&mut page, &arms);
    about_work(&mut page, &arms);
    about_comparisons(&mut page, &compared(run, analysis));
    page.0 + "# EOF\n"
}

/// The text so far.
#[derive(Default)]
struct Page(String);

/// What a family of metrics is.
struct Family {
    name: &'static str,
    /// What its name ends in; empty where it counts things.
    unit: &'static str,
    help: &'static str,
}

impl Family {
    const fn new(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name, unit, help }
    }
}

impl Page {
    fn head(&mut self, Family { name, unit, help }: &Family, kind: &str) {
        // Memory takes all that is written to it.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
    }

    fn sample(&mut self, name: &str, suffix: &str, labels: &Labels, value: f64) {
        let _ = writeln!(self.0, "{name}{suffix}{labels} {value}");
    }

    /// A gauge, of those that have a value; nothing where none has one.
    fn gauge(&mut self, family: &Family, samples: impl IntoIterator<Item = (Labels, Option<f64>)>) {
        let known = samples.into_iter().filter_map(|(labels, value)| Some((labels, value?)));
        let known: Vec<_> = known.filter(|(_, value)| value.is_finite()).collect();
        if known.is_empty() {
            return;
        }
        self.head(family, "gauge");
        for (labels, value) in known {
            self.sample(family.name, "", &labels, value);
        }
    }

    /// A histogram of times in nanoseconds for each, with how many took about as long.
    fn histogram<'a>(
        &mut self,
        family: &Family,
        of: impl Iterator<Item = (&'a Labels, &'a Times)>,
    ) {
        self.head(family, "histogram");
        for (labels, times) in of {
            let at_most = |seconds: f64| {
                let within = times.iter().filter(|(ns, _)| ns / NS_PER_S <= seconds);
                within.map(|(_, count)| count).sum::<u64>()
            };
            let bounds =
                BOUNDS.iter().map(|bound| (*bound, bound.parse::<f64>().unwrap_or_default()));
            for (text, bound) in bounds.chain([("+Inf", f64::INFINITY)]) {
                let labels = labels.clone().with("le", text);
                self.sample(family.name, "_bucket", &labels, at_most(bound) as f64);
            }
            let sum: f64 = times.iter().map(|(ns, count)| ns / NS_PER_S * *count as f64).sum();
            self.sample(family.name, "_count", labels, at_most(f64::INFINITY) as f64);
            self.sample(family.name, "_sum", labels, sum);
        }
    }
}

/// What tells a sample from others of its family.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Labels(Vec<(&'static str, String)>);

impl Labels {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.push((name, printable(value).into_owned()));
        self
    }

    /// An arm's. Parameters at their defaults are left out: so does a series stay the same when
    /// a study gets another one.
    fn of_arm(run: &Run, arm: &ArmResult) -> Self {
        let study = run.study(&arm.study);
        let is_default = |name: &str, value: &str| {
            study.and_then(|study| study.param(name)).is_some_and(|param| param.is_default(value))
        };
        let chosen = arm.params.iter().filter(|(name, value)| !is_default(name, value));
        let params: Vec<String> = chosen.map(|(name, value)| format!("{name}={value}")).collect();
        let labels = Self::default()
            .with("study", &arm.study)
            .with("strategy", &arm.strategy)
            .with("place", &arm.place);
        let labels = match &arm.label {
            Some(label) => labels.with("label", label),
            None => labels,
        };
        if params.is_empty() { labels } else { labels.with("parameters", &params.join("; ")) }
    }
}

impl std::fmt::Display for Labels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let escaped =
            |text: &str| text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let pairs = self.0.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
        write!(f, "{{{}}}", pairs.collect::<Vec<_>>().join(","))
    }
}

fn about_run(page: &mut Page, run: &Run, analysis: &Analysis) {
    let listed = |names: Vec<&str>| names.join(",");
    let of = Labels::default()
        .with("studies", &listed(run.studies.iter().map(|study| study.name.as_str()).collect()))
        .with("places", &listed(run.places.iter().map(|place| place.label.as_str()).collect()));
    let mut gauge = |name, unit, help, value: f64| {
        page.gauge(&Family::new(name, unit, help), [(of.clone(), Some(value))]);
    };
    let began = humantime::parse_rfc3339(&run.run.started).ok();
    let began = began.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    // What is no number has no sample.
    let began = began.map_or(f64::NAN, |since| since.as_secs_f64());
    gauge("iotoll_run_start_time_seconds", "seconds", "When the run began, Unix time.", began);
    gauge("iotoll_run_duration_seconds", "seconds", "How long the run took.", run.run.seconds);
    gauge("iotoll_run_blocks", "", "Completed blocks.", analysis.blocks as f64);
    let interrupted = f64::from(u8::from(run.run.interrupted));
    let help = "1 if the run was stopped before its end, 0 otherwise.";
    gauge("iotoll_run_interrupted", "", help, interrupted);
    let help = "The smallest relative difference that matters.";
    gauge("iotoll_worth_ratio", "ratio", help, run.plan.threshold);
    let info = of.with("run", &run.run.id).with("version", &run.run.version);
    let family = Family::new("iotoll_run_info", "", "The run and the version of iotoll.");
    page.gauge(&family, [(info, Some(1.0))]);
}

/// Times in nanoseconds, and how many operations took about as long.
type Times = Vec<(f64, u64)>;

/// An arm with what names it.
struct Arm<'a> {
    labels: Labels,
    result: &'a ArmResult,
    times: Times,
}

/// The arms; of those that are called the same, as a file may have them, the first.
fn arms<'a>(run: &Run, analysis: &'a Analysis) -> Vec<Arm<'a>> {
    let mut seen = BTreeSet::new();
    let arms = analysis.arms.iter().zip(run.latencies_by_arm()).map(|(result, all)| {
        let ns = |ticks: u64| ticks as f64 * run.floor.tick_ns;
        let times = all.buckets.into_iter().map(|(ticks, count)| (ns(ticks), count)).collect();
        Arm { labels: Labels::of_arm(run, result), result, times }
    });
    arms.filter(|arm| seen.insert(arm.labels.clone())).collect()
}

fn about_tolls(page: &mut Page, arms: &[Arm]) {
    let typical = Family::new(
        "iotoll_toll_seconds",
        "seconds",
        "Time per operation in a typical slice, on which verdicts are based.",
    );
    let typical_times =
        arms.iter().map(|arm| (arm.labels.clone(), arm.result.typical_ns.map(seconds)));
    page.gauge(&typical, typical_times);
    let timed = || arms.iter().filter(|arm| !arm.times.is_empty());
    if timed().next().is_some() {
        let help = "Latency of individual operations.";
        let latency = Family::new("iotoll_latency_seconds", "seconds", help);
        page.histogram(&latency, timed().map(|arm| (&arm.labels, &arm.times)));
    }
    let help = "Latency quantile of individual operations; 1.0 is the longest.";
    let quantile = Family::new("iotoll_latency_quantile_seconds", "seconds", help);
    let quantiles = arms.iter().flat_map(|arm| {
        let latency = arm.result.time_per_op_ns.into_iter();
        let known = latency.flat_map(|l| {
            [("0.5", l.p50), ("0.9", l.p90), ("0.99", l.p99), ("0.999", l.p999), ("1.0", l.max)]
        });
        known.map(move |(share, ns)| (arm.labels.clone().with("q", share), Some(seconds(ns))))
    });
    page.gauge(&quantile, quantiles);
}

fn seconds(ns: f64) -> f64 {
    ns / NS_PER_S
}

/// A value of each arm's result, where it has one.
type Pick = fn(&ArmResult) -> Option<f64>;

const WORK: [(Family, Pick); 8] = [
    (Family::new("iotoll_operations", "", "Operations that were timed."), |arm| {
        Some(arm.operations as f64)
    }),
    (
        Family::new(
            "iotoll_sync_per_operation_seconds",
            "seconds",
            "Time in calls that force data to the device, per operation.",
        ),
        |arm| Some(seconds(arm.io.sync_ns_per_op)),
    ),
    (Family::new("iotoll_sync_calls", "", "Calls that forced data to the device."), |arm| {
        Some(arm.io.sync_calls as f64)
    }),
    (
        Family::new(
            "iotoll_deferred_sync_seconds",
            "seconds",
            "Time to force to the device what a slice left unwritten; not part of the time per operation.",
        ),
        |arm| Some(seconds(arm.io.deferred_sync_ns)),
    ),
    (
        Family::new(
            "iotoll_requested_bytes",
            "bytes",
            "Bytes that the study asked the system to read or write.",
        ),
        |arm| Some(arm.io.requested_bytes as f64),
    ),
    (
        Family::new(
            "iotoll_device_bytes",
            "bytes",
            "Bytes that the devices behind the place read and wrote meanwhile, for any process.",
        ),
        |arm| arm.io.device_bytes.map(|bytes| bytes as f64),
    ),
    (
        Family::new(
            "iotoll_broken_records",
            "",
            "Records that were lost, corrupted, duplicated or out of order, or that nobody wrote.",
        ),
        |arm| arm.integrity.as_ref().map(|records| records.broken() as f64),
    ),
    (Family::new("iotoll_arm_failed", "", "1 if it failed before its end, 0 otherwise."), |arm| {
        Some(f64::from(u8::from(arm.failure.is_some())))
    }),
];

fn about_work(page: &mut Page, arms: &[Arm]) {
    let help = "CPU time per operation.";
    let cpu = Family::new("iotoll_cpu_per_operation_seconds", "seconds", help);
    let modes = arms.iter().flat_map(|arm| {
        let spent = arm.result.cpu_ns_per_op;
        let labelled = |(mode, ns)| (arm.labels.clone().with("mode", mode), Some(seconds(ns)));
        [("user", spent.user), ("system", spent.system)].map(labelled)
    });
    page.gauge(&cpu, modes);
    for (family, pick) in &WORK {
        page.gauge(family, arms.iter().map(|arm| (arm.labels.clone(), pick(arm.result))));
    }
}

/// The comparisons with what names them; of those that are called the same, the first.
fn compared<'a>(run: &Run, analysis: &'a Analysis) -> Vec<(Labels, &'a Comparison)> {
    let mut seen = BTreeSet::new();
    let known = analysis.comparisons.iter().filter_map(|comparison| {
        let other = analysis.arm(&comparison.other)?;
        Some((Labels::of_arm(run, other).with("base", &comparison.base), comparison))
    });
    known.filter(|(labels, _)| seen.insert(labels.clone())).collect()
}

/// A ratio of a comparison, where it is known.
type Ratio = fn(&Comparison) -> Option<f64>;

fn about_comparisons(page: &mut Page, compared: &[(Labels, &Comparison)]) {
    let families: [(_, _, Ratio); 3] = [
        ("iotoll_toll_ratio", "The time per operation divided by that in `base`.", |c| c.ratio),
        (
            "iotoll_toll_low_ratio",
            "Lower end of the confidence interval of iotoll_toll_ratio.",
            |c| c.ratio_low,
        ),
        (
            "iotoll_toll_high_ratio",
            "Upper end of the confidence interval of iotoll_toll_ratio.",
            |c| c.ratio_high,
        ),
    ];
    for (name, help, pick) in families {
        let samples =
            compared.iter().map(|(labels, comparison)| (labels.clone(), pick(comparison)));
        page.gauge(&Family::new(name, "ratio", help), samples);
    }
    let help = "1 for the verdict against `base`, 0 for the other verdicts.";
    let verdicts = compared.iter().flat_map(|(labels, comparison)| {
        VERDICTS.map(|verdict| {
            let is_it = f64::from(u8::from(verdict == comparison.verdict));
            (labels.clone().with("verdict", verdict.as_str()), Some(is_it))
        })
    });
    page.gauge(&Family::new("iotoll_verdict", "", help), verdicts);
}
