//! Ways to tell whether one program is slower than another.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stats::{Decision, STRETCHES, Settings, Stretches, is_look, trimmed_mean};

use super::record::Record;

/// What is said of the other arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Slower,
    Faster,
    /// That there is no difference, none that matters, or that it is not known.
    Nothing,
}

/// What a way is given.
pub(crate) struct Given<'a> {
    pub(crate) record: &'a Record,
    /// The logarithm of the difference to plant.
    pub(crate) difference: f64,
    /// The smallest difference that matters.
    pub(crate) threshold: f64,
    pub(crate) random: &'a mut ChaCha8Rng,
}

/// One way: what it claims, and how many slices of each arm that took.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    /// Whether it claims a difference only if that matters.
    pub(crate) shows_threshold: bool,
    pub(crate) compare: fn(Given<'_>) -> (Claim, usize),
}

pub(crate) const WAYS: &[Way] = &[
    Way { name: "A then B, once", shows_threshold: true, compare: |given| means(1, given) },
    Way {
        name: "A then B, means of three",
        shows_threshold: true,
        compare: |given| means(3, given),
    },
    Way { name: "hyperfine's summary", shows_threshold: false, compare: hyperfine },
    Way { name: "criterion's test", shows_threshold: false, compare: criterion },
    Way { name: "iotoll", shows_threshold: true, compare: iotoll },
];

/// Blocks that iotoll may use.
const BLOCKS: usize = 200;
/// Runs of a command by default, at least.
const HYPERFINE_RUNS: usize = 10;
/// Samples by default.
const CRITERION_SAMPLES: usize = 100;
/// Significance level and noise threshold by default.
const CRITERION_LEVEL: f64 = 0.05;
const CRITERION_NOISE: f64 = 0.01;
/// Resamples; 100,000 by default.
const CRITERION_RESAMPLES: usize = 1_000;

/// Times of the base, then of the other arm, which is made slower by as much.
fn timed(count: usize, given: &mut Given<'_>) -> (Vec<f64>, Vec<f64>) {
    let [base, mut other] = given.record.one_after_the_other(count, given.random);
    for time in &mut other {
        *time *= given.difference.exp();
    }
    (base, other)
}

/// Believes the ratio of the means.
fn means(repeats: usize, mut given: Given<'_>) -> (Claim, usize) {
    let (base, other) = timed(repeats, &mut given);
    let threshold = given.threshold;
    let claim = match mean(&other) / mean(&base) {
        ratio if ratio > 1.0 + threshold => Claim::Slower,
        ratio if ratio < 1.0 / (1.0 + threshold) => Claim::Faster,
        _ => Claim::Nothing,
    };
    (claim, base.len())
}

/// "2.00 ± 0.10 times faster": the ratio of the means, with the relative standard
/// deviations added in squares. Taken as a claim where 1 is not within ±.
fn hyperfine(mut given: Given<'_>) -> (Claim, usize) {
    let (base, other) = timed(HYPERFINE_RUNS, &mut given);
    let (fast, slow, claim) = if mean(&base) < mean(&other) {
        (&base, &other, Claim::Slower)
    } else {
        (&other, &base, Claim::Faster)
    };
    let ratio = mean(slow) / mean(fast);
    let relative = |times: &[f64]| variance(times).sqrt() / mean(times);
    let deviation = ratio * relative(slow).hypot(relative(fast));
    (if ratio - deviation > 1.0 { claim } else { Claim::Nothing }, base.len())
}

/// A t-test by bootstrap from both samples mixed, and if that is significant, a
/// bootstrap interval of the relative change that must lie beyond the noise
/// threshold: "Performance has regressed."
fn criterion(mut given: Given<'_>) -> (Claim, usize) {
    let (base, other) = timed(CRITERION_SAMPLES, &mut given);
    let random = given.random;
    let mixed = [base.as_slice(), &other].concat();
    let t = welch(&other, &base);
    let below = (0..CRITERION_RESAMPLES)
        .filter(|_| {
            welch(&resampled(&mixed, other.len(), random), &resampled(&mixed, base.len(), random))
                < t
        })
        .count();
    let tail = below.min(CRITERION_RESAMPLES - below);
    let p = 2.0 * tail as f64 / CRITERION_RESAMPLES as f64;
    if p >= CRITERION_LEVEL {
        return (Claim::Nothing, base.len());
    }
    let mut changes: Vec<f64> = (0..CRITERION_RESAMPLES)
        .map(|_| {
            let other = mean(&resampled(&other, other.len(), random));
            other / mean(&resampled(&base, base.len(), random)) - 1.0
        })
        .collect();
    changes.sort_by(f64::total_cmp);
    let (low, high) = (changes[CRITERION_RESAMPLES / 40], changes[CRITERION_RESAMPLES * 39 / 40]);
    let claim = if low > CRITERION_NOISE {
        Claim::Slower
    } else if high < -CRITERION_NOISE {
        Claim::Faster
    } else {
        Claim::Nothing
    };
    (claim, base.len())
}

fn iotoll(Given { record, difference, threshold, random }: Given<'_>) -> (Claim, usize) {
    let mut stretches = Stretches::new(Settings { threshold, ..Settings::default() });
    let series: Vec<f64> = record
        .in_blocks(BLOCKS, random)
        .into_iter()
        .map(|log_ratio| log_ratio + difference)
        .collect();
    let rounds = series.len() / STRETCHES;
    for stretch in series.chunks(rounds) {
        stretches.push(trimmed_mean(stretch).unwrap_or(f64::NAN));
        if is_look(stretches.count()) && stretches.decision() != Decision::Open {
            break;
        }
    }
    let claim = match stretches.decision() {
        Decision::Greater => Claim::Slower,
        Decision::Less => Claim::Faster,
        Decision::Within | Decision::Open => Claim::Nothing,
    };
    (claim, stretches.count() * rounds)
}

fn resampled(values: &[f64], count: usize, random: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| values[random.random_range(0..values.len())]).collect()
}

fn welch(a: &[f64], b: &[f64]) -> f64 {
    let error = variance(a) / a.len() as f64 + variance(b) / b.len() as f64;
    (mean(a) - mean(b)) / error.sqrt()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of the population that `values` are a sample of.
fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn welch_is_that_of_a_textbook() {
        // Means 3 and 6, variances 2.5 and 10: -3 / √(2.5/5 + 10/5).
        let t = welch(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 6.0, 8.0, 10.0]);
        assert!((t + 3.0 / 2.5_f64.sqrt()).abs() < 1e-12, "{t}");
    }

    /// With independent noise each is right as often as it should be; with drift
    /// those that run one after the other are not.
    #[test]
    fn drift_deceives_those_that_run_one_after_the_other() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut noise = || 0.02 * (random.random::<f64>() + random.random::<f64>() - 1.0);
        let still = Record::from_logs((0..240).map(|_| [noise(), noise()]).collect());
        let steps = (0..240).map(|i| 0.01 * f64::from(i));
        let drifting =
            Record::from_logs(steps.map(|step| [step + noise(), step + noise()]).collect());
        let mut random = ChaCha8Rng::seed_from_u64(8);
        let mut claims = |way: &Way, record: &Record| {
            let claims = |_: &usize| {
                let random = &mut random;
                let given = Given { record, difference: 0.0, threshold: 0.05, random };
                (way.compare)(given).0 != Claim::Nothing
            };
            (0..40).filter(claims).count()
        };
        for way in WAYS {
            let (calm, deceived) = (claims(way, &still), claims(way, &drifting));
            let expected = ["hyperfine's summary", "criterion's test"].contains(&way.name);
            assert!(calm <= 12, "{}: {calm}", way.name);
            assert_eq!(deceived == 40, expected, "{}: {deceived}", way.name);
        }
    }
}
