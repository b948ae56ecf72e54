//! Leaves out what nothing comes of: steps of a thread behind its last call, the last that another
//! thread waits for, or the end of the command.
//!
//! A thread that looks after something every 50 ms and is ended with its process would otherwise
//! have a replay last as long as the recording, however fast all files are.

use super::order::StepOf;
use super::threads::Thread;

/// Has threads that do no call, but for the first of each process, wait for others instead of for
/// a clock: what such a thread slept before another woke it was one wait, in which it looked at the
/// time now and then.
pub(super) fn wait_with_others(threads: &mut [Thread], computing: &[f32]) {
    for (thread, computing) in threads.iter_mut().zip(computing) {
        if thread.is_leader || thread.steps.iter().any(|step| step.act.kind().is_some()) {
            continue;
        }
        for before in &thread.before_waits {
            let step = &mut thread.steps[*before];
            step.think_ns = (step.think_ns as f64 * f64::from(*computing)) as u64;
        }
    }
}

/// Cuts the threads; `ends` are those whose last step matters.
pub(super) fn cut(threads: &mut [Thread], ends: impl Fn(usize) -> bool) {
    // Of each thread, how many steps matter, and of how many it is known what they come after.
    let mut kept: Vec<usize> = threads
        .iter()
        .enumerate()
        .map(|(number, thread)| {
            let is_call = |step: &super::program::Step| step.act.kind().is_some();
            let calls = thread.steps.iter().rposition(is_call).map_or(0, |last| last + 1);
            if ends(number) { thread.steps.len() } else { calls }
        })
        .collect();
    let mut looked = vec![0; threads.len()];
    let mut left: Vec<usize> = (0..threads.len()).collect();
    while let Some(number) = left.pop() {
        let thread = &threads[number];
        // What steps come after stands in the order of the steps.
        while let Some((step, StepOf { thread: other, step: awaited })) =
            thread.after.get(looked[number])
        {
            if *step >= kept[number] {
                break;
            }
            looked[number] += 1;
            if kept[*other] <= *awaited {
                kept[*other] = awaited + 1;
                left.push(*other);
            }
        }
    }
    for ((thread, steps), edges) in threads.iter_mut().zip(kept).zip(looked) {
        thread.cut(steps, edges);
    }
}
