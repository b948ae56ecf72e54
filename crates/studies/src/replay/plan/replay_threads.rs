//! Lays recorded threads out on as few threads of the replay as there were at once, and gives
//! what they wait for its numbers.

use super::order::{StepOf, ThreadNumber};
use super::program::{Act, NO_SIGNAL, ReplayThread};
use super::threads::Thread;

/// More threads at once are not replayed.
pub(super) const REPLAY_THREADS_MAX: usize = 256;

/// The replay threads, and how many signals there are.
///
/// # Errors
/// In words, where there were too many threads at once.
pub(super) fn replay_threads(
    mut threads: Vec<Thread>,
    computing: &[f32],
) -> Result<(Vec<ReplayThread>, usize), String> {
    for (thread, computing) in computing.iter().copied().enumerate() {
        threads[thread].steps[0].act = Act::Begin { computing };
    }
    let signals = number_signals(&mut threads);
    let signal = |(_, of): &(usize, StepOf)| threads[of.thread].steps[of.step].signal;
    let waits = threads.iter().map(|thread| thread.after.iter().map(signal).collect());
    let waits: Vec<Vec<u32>> = waits.collect();
    let mut order: Vec<ThreadNumber> = (0..threads.len()).collect();
    order.sort_by_key(|thread| threads[*thread].began_ns);
    // When each is free, and what it does.
    let mut replay_threads: Vec<(u64, ReplayThread)> = Vec::new();
    for number in order {
        let thread = &mut threads[number];
        if thread.steps.len() == 1 {
            continue;
        }
        let free = replay_threads.iter().position(|(free_ns, _)| *free_ns < thread.began_ns);
        let at = free.unwrap_or_else(|| {
            replay_threads.push((0, ReplayThread::default()));
            replay_threads.len() - 1
        });
        let (free_ns, replay_thread) = &mut replay_threads[at];
        *free_ns = thread.ended_ns();
        let offset = replay_thread.waits.len() as u32;
        replay_thread.waits.extend(&waits[number]);
        let steps = std::mem::take(&mut thread.steps).into_iter();
        replay_thread.steps.extend(steps.map(|mut step| {
            step.waits_end += offset;
            step
        }));
    }
    if replay_threads.len() > REPLAY_THREADS_MAX {
        return Err(format!(
            "the recorded program had {} threads at once, and no more than {REPLAY_THREADS_MAX} are replayed",
            replay_threads.len()
        ));
    }
    Ok((replay_threads.into_iter().map(|(_, replay_thread)| replay_thread).collect(), signals))
}

fn number_signals(threads: &mut [Thread]) -> usize {
    let mut signals = 0;
    let awaited: Vec<StepOf> =
        threads.iter().flat_map(|thread| thread.after.iter().map(|(_, step)| *step)).collect();
    for StepOf { thread, step } in awaited {
        let signal = &mut threads[thread].steps[step].signal;
        if *signal == NO_SIGNAL {
            *signal = signals;
            signals += 1;
        }
    }
    signals as usize
}

/// The share of each thread's thinking that was computing; of those whose processor time was
/// not told, what the others leave of all there was.
pub(super) fn computing(threads: &[Thread], cpu_ns: u64) -> Vec<f32> {
    let own = |thread: &Thread| {
        let [user_ns, system_ns] = thread.cpu_ns?;
        Some(user_ns + system_ns.saturating_sub(thread.in_calls_ns.min(system_ns)))
    };
    let told: u64 = threads.iter().filter_map(|thread| thread.cpu_ns).flatten().sum();
    let untold = threads.iter().filter(|thread| thread.cpu_ns.is_none());
    let (thought_ns, in_calls_ns) = untold.fold((0, 0), |(thought, calls), thread| {
        (thought + thread.thought_ns, calls + thread.in_calls_ns)
    });
    let left_ns = cpu_ns.saturating_sub(told).saturating_sub(in_calls_ns);
    let share = |part: u64, whole: u64| (part as f32 / whole.max(1) as f32).clamp(0.0, 1.0);
    // Where nothing at all is known of processor time, all thinking was computing.
    let others = if cpu_ns == 0 { 1.0 } else { share(left_ns, thought_ns) };
    let of = |thread: &Thread| own(thread).map_or(others, |ns| share(ns, thread.thought_ns));
    threads.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::threads::Threads;
    use super::*;

    /// Three threads, of which the third begins when the second has ended.
    fn three() -> Threads {
        let mut threads = Threads::default();
        let main = threads.number(1, 0);
        for (child, began_ns, ended_ns) in [(2, 1_000, 2_000), (3, 3_000, 4_000)] {
            let fork = threads.pass(main, began_ns);
            let child = threads.number(child, began_ns);
            threads.begins_after(child, fork);
            let end = threads.pass(child, ended_ns);
            threads.woken(main, ended_ns + 100, &[end]);
        }
        threads
    }

    #[test]
    fn threads_that_lived_one_after_the_other_share_a_lane() {
        let (replay_threads, signals) = replay_threads(three().into_all(), &[1.0; 3]).unwrap();
        let steps: Vec<usize> =
            replay_threads.iter().map(|replay_thread| replay_thread.steps.len()).collect();
        assert_eq!((steps, signals), (vec![5, 4], 4));
        // Each waits for the fork, and its end is waited for.
        assert_eq!(replay_threads[1].waits.len(), 2);
        let ends: Vec<u32> = replay_threads[1].steps.iter().map(|step| step.waits_end).collect();
        assert_eq!(ends, [1, 1, 2, 2]);
    }

    #[test]
    fn a_thread_computes_as_much_of_its_thinking_as_it_had_processor_time() {
        let mut threads = three().into_all();
        threads[1].cpu_ns = Some([250, 0]);
        let shares = computing(&threads, 450);
        // The first and the third thought 2,100 and 1,000, and have 200 between them.
        assert!((shares[1] - 0.25).abs() < 1e-6, "{shares:?}");
        assert!((shares[0] - shares[2]).abs() < 1e-6 && shares[0] < 0.1, "{shares:?}");
        assert!((computing(&threads, 0)[0] - 1.0).abs() < 1e-6);
    }
}
