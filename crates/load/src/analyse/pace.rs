//! Whether a server kept pace with an open loop, or fell behind.
//!
//! A server that keeps pace ends as many connections as are started, so that
//! as many are open at the end of a step as were in its middle. One that is
//! asked for more than it can do has a queue that grows by the excess, all the
//! while. Between the two stands chance: what is open at a time is a random
//! number even where nothing is wrong.
//!
//! # How large chance is
//!
//! Where arrivals are independent, what is open has a Poisson distribution
//! (M/G/∞; Little's law gives its mean, rate × connection time), and even
//! gaps only make it scatter less. The middle and the end of a step are more
//! than a connection's time apart, or [`kept`] does not judge, so that the two
//! counts are independent. The difference of two independent Poisson counts
//! `m` and `e` with the same mean has a standard deviation of √(m + e): the
//! test of two counts (Przyborowski and Wilenski, Biometrika 1940).
//!
//! The server fell behind when
//!
//! ```text
//! e − m  >  0.01 × (connections of the second half)  +  2  +  √(m + e)
//! ```
//!
//! An excess of 1% is let pass, for it is within what the schedule and the
//! last connections do; so are two connections, which matter where next to
//! nothing is open.
//!
//! # Why one standard deviation, at any length
//!
//! The first term grows with the length of a step and the last does not. In a
//! short try the last one decides, and has to be small for the try to see
//! anything; in a long step the first one decides, and chance is far from it,
//! whatever the multiple. By the multiple, for a try of 0.35 s:
//!
//! | multiple | excess seen at 1,000/s | at 400/s | wrongly behind, 5 open | 100 open |
//! | --- | --- | --- | --- | --- |
//! | 0.5 | 4% | 7% | 4% | 22% |
//! | 1   | 5% | 11% | 1% | 10% |
//! | 2   | 11% | 25% | under 0.1% | 1% |
//! | 3   | 20% | 47% | under 0.1% | under 0.1% |
//!
//! ("Seen" is seen every second time; the shares are those of Poisson counts.)
//! With the multiple of 1 and 100 open, a step of ten seconds at 1,000/s sees
//! an excess of 1.4%, and is wrongly said to be behind less than once in
//! 100,000 times.
//!
//! What either mistake costs: a missed overload makes a search report a rate
//! that the server does not hold, and nothing corrects that. A wrong "fell
//! behind" costs a search one more try: the lowest rate that was not held is
//! always tried once more (`max_rate/interval.rs`), and to be wrong twice is one in
//! a hundred at the most. So the multiple is as small as the
//! excess to be seen, some 5% in a short try, demands, and no smaller. In a
//! report it costs a note beside the step's figures, which stay valid.

use model::load::Step;

/// Growth of the queue that is let pass, as a share of the connections that
/// were started meanwhile.
const GROWTH_SHARE: f64 = 0.01;
/// Growth that is let pass beyond that, in connections.
const GROWTH_CONNECTIONS: f64 = 2.0;
/// Standard deviations of the growth that chance is allowed; see above.
const DEVIATIONS: f64 = 1.0;

/// Whether as many connections ended as began in the second half of a step.
/// `None` in a closed loop, and where a half is shorter than a single
/// connection, which cannot tell.
pub(super) fn kept(step: &Step) -> Option<bool> {
    let rate = step.rate?;
    let half = step.attempted as f64 / 2.0;
    let shortest = step.phases.connection.latencies.buckets.first();
    let shortest_ns = shortest.map_or(f64::MAX, |(ns, _)| *ns as f64);
    if half / rate * 1e9 < shortest_ns {
        return None;
    }
    Some(!grew(step.open_connections.middle, step.open_connections.end, half))
}

/// Whether more are open at the end of a half than chance explains.
fn grew(middle: u64, end: u64, half: f64) -> bool {
    let deviation = ((middle + end) as f64).sqrt();
    let let_pass = GROWTH_SHARE * half + GROWTH_CONNECTIONS + DEVIATIONS * deviation;
    end as f64 - middle as f64 > let_pass
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    /// The share of steps that are said to have fallen behind: with so many
    /// open on average and, where there is an excess, a queue that grows by it.
    fn share_behind(rate: f64, seconds: f64, open: f64, excess: f64) -> f64 {
        let half = rate * seconds / 2.0;
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let at = |queue: f64| Poisson::new(open + queue).unwrap();
        let (middle, end) = (at(excess * half), at(2.0 * excess * half));
        let steps = 20_000;
        let behind = (0..steps)
            .filter(|_| {
                let middle = middle.sample(&mut random) as u64;
                grew(middle, end.sample(&mut random) as u64, half)
            })
            .count();
        behind as f64 / f64::from(steps)
    }

    #[test]
    fn chance_is_seldom_taken_for_a_server_that_fell_behind() {
        // As the table above says, for a short try and for a long step.
        for (rate, seconds, open, most) in [
            (1000.0, 0.35, 1.0, 0.01),
            (1000.0, 0.35, 5.0, 0.02),
            (1000.0, 0.35, 100.0, 0.11),
            (100.0, 0.5, 10.0, 0.08),
            (300.0, 10.0, 90.0, 0.02),
            (1000.0, 10.0, 100.0, 1e-4),
        ] {
            let share = share_behind(rate, seconds, open, 0.0);
            assert!(share <= most, "{share} of steps at {rate}/s for {seconds} s, {open} open");
        }
    }

    #[test]
    fn an_overload_is_seen_more_often_than_not() {
        for (rate, seconds, excess) in
            [(1000.0, 0.35, 0.06), (400.0, 0.35, 0.12), (1000.0, 1.0, 0.04), (1000.0, 10.0, 0.015)]
        {
            let share = share_behind(rate, seconds, 1.0, excess);
            assert!(share > 0.5, "{share} of steps at {rate}/s for {seconds} s, {excess} too much");
        }
    }

    #[test]
    fn a_half_shorter_than_a_connection_cannot_tell() {
        let mut step = Step { rate: Some(100.0), attempted: 100, ..Step::default() };
        assert_eq!(kept(&step), None, "nothing was completed");
        step.phases.connection.latencies.buckets = vec![(600_000_000, 100)];
        assert_eq!(kept(&step), None);
        step.phases.connection.latencies.buckets = vec![(400_000_000, 100)];
        assert_eq!(kept(&step), Some(true));
        step.open_connections.end = 100;
        assert_eq!(kept(&step), Some(false));
        step.rate = None;
        assert_eq!(kept(&step), None);
    }
}
