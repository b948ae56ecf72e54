//! How often the interval of a server's percentile holds the truth, and how often a server is
//! said to drift.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite percentile -- --nocapture`.

#![allow(clippy::print_stdout)]

use iotoll_stats::{
    Histogram, LOOK_SHARE, LOOKS, PercentileInterval, drift, look_after, percentile_interval,
};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Exp1, StandardNormal};

const RUNS: u64 = 400;
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// A server, by how the latencies of its requests depend on each other.
#[derive(Clone, Copy, Debug)]
enum Server {
    Exponential,
    Lognormal,
    /// The logarithm of each keeps this share of the one before.
    Lingering(f64),
    /// Such a share is within bursts of so many, and takes 50 times as long.
    Bursts(f64, u64),
    /// A queue with this load; each latency is the time in it.
    Queue(f64),
}

const SERVERS: [Server; 11] = [
    Server::Exponential,
    Server::Lognormal,
    Server::Lingering(0.8),
    Server::Lingering(0.95),
    Server::Bursts(0.01, 5),
    Server::Bursts(0.01, 20),
    Server::Bursts(0.009, 20),
    Server::Bursts(0.012, 20),
    Server::Queue(0.5),
    Server::Queue(0.7),
    Server::Queue(0.8),
];

struct State {
    server: Server,
    random: ChaCha8Rng,
    before: f64,
    left: u64,
}

impl State {
    fn new(server: Server, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let gaussian: f64 = StandardNormal.sample(&mut random);
        let before = match server {
            Server::Queue(load) => {
                let waits = random.random::<f64>() < load;
                let wait: f64 = Exp1.sample(&mut random);
                if waits { wait / (1.0 - load) } else { 0.0 }
            }
            _ => gaussian,
        };
        Self { server, random, before, left: 0 }
    }

    fn next(&mut self) -> f64 {
        let random = &mut self.random;
        let gaussian: f64 = StandardNormal.sample(random);
        let exponential: f64 = Exp1.sample(random);
        match self.server {
            Server::Exponential => exponential,
            Server::Lognormal => gaussian.exp(),
            Server::Lingering(kept) => {
                self.before = kept * self.before + (1.0 - kept * kept).sqrt() * gaussian;
                self.before.exp()
            }
            Server::Bursts(share, length) => {
                let begins = share / length as f64 / (1.0 - share);
                if self.left == 0 && random.random::<f64>() < begins {
                    self.left = length;
                }
                let stalls = self.left > 0;
                self.left = self.left.saturating_sub(1);
                (0.1 * gaussian).exp() * if stalls { 50.0 } else { 1.0 }
            }
            Server::Queue(load) => {
                let time = self.before + exponential;
                let gap: f64 = Exp1.sample(random);
                self.before = (time - gap / load).max(0.0);
                time
            }
        }
    }

    /// The value that the share `q` of all latencies is at or below.
    fn quantile(server: Server, q: f64) -> f64 {
        match server {
            Server::Exponential => -(1.0 - q).ln(),
            Server::Lognormal | Server::Lingering(_) => gaussian_quantile(q).exp(),
            Server::Bursts(share, _) => {
                let body = 1.0 - share;
                let (of, times) =
                    if q <= body { (q / body, 1.0) } else { ((q - body) / share, 50.0) };
                times * (0.1 * gaussian_quantile(of)).exp()
            }
            Server::Queue(load) => -(1.0 - q).ln() / (1.0 - load),
        }
    }
}

/// By bisection of a long sum: exact enough for a test.
fn gaussian_quantile(q: f64) -> f64 {
    let below = |z: f64| {
        let steps = 4000;
        let width = (z + 9.0) / f64::from(steps);
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        (0..steps).map(|i| density(-9.0 + (f64::from(i) + 0.5) * width) * width).sum::<f64>()
    };
    let (mut low, mut high) = (-8.5, 8.5);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if below(middle) < q { low = middle } else { high = middle }
    }
    high
}

/// Subsamples as a load records them.
fn subsamples(state: &mut State, requests: usize) -> Vec<Vec<(u64, u64)>> {
    changing(state, requests, &|_| 1.0)
}

/// The same of a server whose level depends on how much of the step has passed.
fn changing(
    state: &mut State,
    requests: usize,
    level: &dyn Fn(f64) -> f64,
) -> Vec<Vec<(u64, u64)>> {
    let value = |at: usize| 1e6 * level(at as f64 / requests as f64) * state.next();
    cut(&(0..requests).map(value).collect::<Vec<f64>>())
}

/// Between 32 and 63 subsamples of one size, which is a power of two, as a load records them.
fn cut(values: &[f64]) -> Vec<Vec<(u64, u64)>> {
    let mut size = 1;
    while values.len() / size >= 64 {
        size *= 2;
    }
    let subsample = |part: &[f64]| {
        let mut histogram = Histogram::new();
        for value in part {
            histogram.record(*value as u64);
        }
        histogram.buckets()
    };
    values.chunks_exact(size).map(subsample).collect()
}

/// The least that `count` runs of `RUNS` may show of a rate of 95%, by chance.
fn is_95_percent(count: u64) -> bool {
    let deviation = (0.95 * 0.05 / RUNS as f64).sqrt();
    count as f64 / RUNS as f64 >= 0.95 - 2.0 * deviation
}

fn slices(subsamples: &[Vec<(u64, u64)>]) -> Vec<&[(u64, u64)]> {
    subsamples.iter().map(Vec::as_slice).collect()
}

#[test]
fn intervals_hold_the_truth() {
    println!("Intervals that hold the truth, half their width, and runs without one, of {RUNS}");
    for requests in [2_000, 20_000] {
        for server in SERVERS {
            let (mut held, mut none) = ([0; 4], [0; 4]);
            let mut widths = [0.0; 4];
            let truths = PERCENTILES.map(|q| 1e6 * State::quantile(server, q));
            for seed in 0..RUNS {
                let parts = subsamples(&mut State::new(server, seed), requests);
                for (at, q) in PERCENTILES.into_iter().enumerate() {
                    let found = percentile_interval(&slices(&parts), q, 0.05);
                    none[at] += u64::from(found.is_none());
                    let holds = |i: PercentileInterval| i.low <= truths[at] && truths[at] <= i.high;
                    held[at] += u64::from(found.is_none_or(holds));
                    widths[at] += found.map_or(0.0, |i| 0.5 * (i.high - i.low) / truths[at]);
                }
            }
            let widths: Vec<String> = (0..4)
                .map(|at| format!("{:.3}", widths[at] / (RUNS - none[at]).max(1) as f64))
                .collect();
            println!("{requests} {server:?}: {held:?}, ±{widths:?}, {none:?}");
            assert!(held.into_iter().all(is_95_percent), "{requests} {server:?}: {held:?}");
        }
    }
}

#[test]
fn looking_until_it_is_narrow_keeps_the_promise() {
    const MOST: usize = 60_000;
    const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];
    println!("The same where it is looked at until it is narrow, and at which look that was");
    for server in SERVERS {
        let (mut held, mut ended) = ([0; 3], [0; LOOKS as usize]);
        let truths = QUANTILES.map(|q| 1e6 * State::quantile(server, q));
        for seed in 0..RUNS / 2 {
            let mut state = State::new(server, seed);
            let mut seen = Vec::new();
            for look in 0..LOOKS {
                let requests = look_after(MOST as u64, look) as usize;
                seen.resize_with(requests, || 1e6 * state.next());
                let parts = cut(&seen);
                let interval = |q| percentile_interval(&slices(&parts), q, 0.05 * LOOK_SHARE);
                let is_narrow = |i: &PercentileInterval| i.high - i.low < 0.1 * (i.high + i.low);
                // The one that is widest first.
                let mut all = [0.99, 0.9, 0.5].into_iter().map(interval);
                if look + 1 < LOOKS && !all.all(|i| i.as_ref().is_some_and(is_narrow)) {
                    continue;
                }
                ended[look as usize] += 1;
                for ((held, found), truth) in
                    held.iter_mut().zip(QUANTILES.map(interval)).zip(truths)
                {
                    let holds = |i: PercentileInterval| i.low <= truth && truth <= i.high;
                    *held += 2 * u64::from(found.is_none_or(holds));
                }
                break;
            }
        }
        println!("{server:?}: {held:?}, {ended:?}");
        assert!(held.into_iter().all(is_95_percent), "{server:?}: {held:?}");
    }
}

/// How often a server whose level changes so is said to drift.
fn drifting(server: Server, requests: usize, level: &dyn Fn(f64) -> f64) -> u64 {
    let hits = (0..RUNS).filter(|&seed| {
        let parts = changing(&mut State::new(server, seed), requests, level);
        drift(&slices(&parts)).is_some()
    });
    hits.count() as u64
}

#[test]
fn a_steady_server_is_seldom_said_to_drift() {
    println!("Steady servers that are said to drift, of {RUNS}");
    for requests in [1_000, 2_000, 20_000] {
        for server in SERVERS {
            let hits = drifting(server, requests, &|_| 1.0);
            println!("{requests} {server:?}: {hits}");
            assert!(is_95_percent(RUNS - hits), "{requests} {server:?}: {hits}");
        }
    }
}

#[test]
fn a_drift_of_a_fifth_is_found() {
    let levels: [(&str, &dyn Fn(f64) -> f64); 4] = [
        ("ramp", &|at| 1.0 + 0.2 * at),
        ("at 0.3", &|at| if at > 0.3 { 1.2 } else { 1.0 }),
        ("at 0.5", &|at| if at > 0.5 { 1.2 } else { 1.0 }),
        ("at 0.7", &|at| if at > 0.7 { 1.2 } else { 1.0 }),
    ];
    println!("Drifts of 20% that are found, of {RUNS}");
    // Latencies about the same level within a tenth need fewer requests.
    for (server, requests) in [
        (Server::Exponential, 20_000),
        (Server::Lognormal, 20_000),
        (Server::Bursts(0.01, 5), 2_000),
        (Server::Bursts(0.01, 20), 2_000),
    ] {
        for (name, level) in levels {
            let hits = drifting(server, requests, level);
            println!("{requests} {server:?} {name}: {hits}");
            assert!(hits as f64 >= 0.9 * RUNS as f64, "{requests} {server:?} {name}: {hits}");
        }
    }
}
