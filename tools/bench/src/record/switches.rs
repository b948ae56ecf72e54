//! What a recording costs programs that are not recorded, for each switch of a processor from one
//! of their threads to another.
//!
//! Threads on one processor yield it to each other, and one yields it to nobody: what a yield
//! takes longer in the one case and in the other differs by what the switch does.

use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use host::usage;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, sched_yield};

use super::Neighbour;
use crate::spread::Spread;
use crate::turns::in_any_order;

/// How often each thread yields.
const YIELDS: u32 = 100_000;
/// Fewer switches than this part of the yields are no measurement of switches.
const SWITCHES_MIN: f64 = 0.9;

/// How many threads, and whether something else is recorded meanwhile.
const WAYS: [(u32, bool); 4] = [(1, false), (1, true), (2, false), (2, true)];

/// Prints what a call and a switch of another program take longer.
pub(super) fn run(iotoll: &str, rounds: usize) -> Result<()> {
    let mut times = [const { Vec::new() }; WAYS.len()];
    for _ in 0..rounds {
        for way in in_any_order(WAYS.len()) {
            let (threads, beside) = WAYS[way];
            let neighbour = beside.then(|| Neighbour::new(iotoll)).transpose()?;
            times[way].push(yield_ns(threads)?);
            drop(neighbour);
        }
    }
    let [alone, alone_beside, both, both_beside] = &times;
    let added = |bare: &[f64], beside: &[f64]| -> Vec<f64> {
        beside.iter().zip(bare).map(|(beside, bare)| beside - bare).collect()
    };
    let (call, both) = (added(alone, alone_beside), added(both, both_beside));
    let switch = Spread::of(both.iter().zip(&call).map(|(both, call)| both - call));
    let nanos = |ns: f64| format!("{ns:.0}");
    println!("beside a recording, a call takes {} ns more", Spread::of(call).show(nanos));
    println!("beside a recording, a switch takes {} ns more", switch.show(nanos));
    Ok(())
}

/// What a yield takes where so many threads share a processor.
fn yield_ns(threads: u32) -> Result<f64> {
    let allowed = sched_getaffinity(None)?;
    let processor = (0..CpuSet::MAX_CPU).find(|processor| allowed.is_set(*processor));
    let mut one = CpuSet::new();
    one.set(processor.context("no processor may be used")?);
    let before = switches();
    let began = Instant::now();
    let work = || -> Result<()> {
        sched_setaffinity(None, &one)?;
        (0..YIELDS).for_each(|_| sched_yield());
        Ok(())
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("a thread failed"))?)
    })?;
    let elapsed_ns = began.elapsed().as_nanos() as f64;
    let yields = f64::from(YIELDS) * f64::from(threads);
    let switched = (switches() - before) as f64;
    ensure!(
        threads == 1 || switched >= yields * SWITCHES_MIN,
        "{switched} switches of {yields} yields: this scheduler does not switch at each"
    );
    Ok(elapsed_ns / yields)
}

/// How often a processor went from a thread of this process to another thread.
fn switches() -> u64 {
    let used = usage::of_process();
    used.voluntary_switches + used.involuntary_switches
}
