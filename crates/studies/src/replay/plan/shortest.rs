//! How short a replay can become at the most: with calls that take no time. Where that is much
//! longer than what the files leave of the recorded time, threads waited for each other in a way
//! that is not known, and a replay's answer is none.

use super::order::StepOf;
use super::program::Shortest;
use super::threads::Thread;

/// Computes it; `computing` is the share of each thread's thinking that is not sleep.
pub(super) fn shortest(threads: &[Thread], computing: &[f32]) -> Shortest {
    let mut done: Vec<Vec<Shortest>> = threads.iter().map(|_| Vec::new()).collect();
    let mut edges = vec![0; threads.len()];
    let mut goes_on = true;
    while goes_on {
        goes_on = false;
        for number in 0..threads.len() {
            while let Some(next) = step(&threads[number], number, &done, &mut edges, computing) {
                done[number].push(next);
                goes_on = true;
            }
        }
    }
    let last = done.iter().filter_map(|steps| steps.last());
    last.fold(Shortest::default(), |longest, other| later(longest, *other))
}

/// When a thread's next step is done; none where it waits, or there is no more.
fn step(
    thread: &Thread,
    number: usize,
    done: &[Vec<Shortest>],
    edges: &mut [usize],
    computing: &[f32],
) -> Option<Shortest> {
    let own = &done[number];
    let step = thread.steps.get(own.len())?;
    let awaited = &thread.after[edges[number]..step.waits_end as usize];
    let mut others = Shortest::default();
    for (_, StepOf { thread, step }) in awaited {
        others = later(others, *done[*thread].get(*step)?);
    }
    edges[number] = step.waits_end as usize;
    let before = own.last().copied().unwrap_or_default();
    let think_ns = step.think_ns as f64;
    let think = |from: Shortest| Shortest {
        ns: from.ns + think_ns,
        asleep_ns: from.asleep_ns + think_ns * f64::from(1.0 - computing[number]),
    };
    let is_first = step.waits_first;
    Some(if is_first { think(later(before, others)) } else { later(think(before), others) })
}

fn later(one: Shortest, other: Shortest) -> Shortest {
    if other.ns > one.ns { other } else { one }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::matters;
    use super::super::program::Act;
    use super::super::threads::{Overhead, Threads};
    use super::*;

    const CALL: (Act, i64) = (Act::Close { slot: 0 }, 0);

    /// One thread calls for 900 of 1,000 ns, and another sleeps until it has; a third looks after
    /// something all the time, and nothing comes of it.
    fn three(is_known: bool) -> Vec<Thread> {
        let mut threads = Threads::default();
        let [main, calls, idle] = [1, 2, 3].map(|thread| threads.number(thread, 0));
        threads.call(calls, ([50, 950], Overhead::default()), CALL, &[]);
        let wakes = threads.pass(calls, 950);
        threads.pass(main, 10);
        if is_known {
            threads.woken(main, 950, &[wakes]);
        }
        threads.pass(main, 1_000);
        threads.pass(idle, 1_000);
        let mut threads = threads.into_all();
        matters::cut(&mut threads, |number| number == 0);
        threads
    }

    /// Fails where what ended a wait is not used, and where a thread that does nothing makes a
    /// replay longer.
    #[test]
    fn calls_are_left_out_and_so_is_waiting_for_them() {
        let threads = three(true);
        assert_eq!(threads[2].steps.len(), 1);
        assert_eq!(shortest(&threads, &[0.5; 3]), Shortest { ns: 100.0, asleep_ns: 50.0 });
        let unknown = shortest(&three(false), &[0.1, 1.0, 1.0]);
        assert_eq!(unknown.ns as u64, 1_000);
        assert!((unknown.asleep_ns - 900.0).abs() < 1.0, "{unknown:?}");
    }
}
