//! What stops cost, measured while a program is recorded.
//!
//! A stop is noticed some time after it happened, is handled, and ends some time after the tracer let
//! the thread go on. On the machines of others that takes 5 µs or 50, by whether another processor
//! has to be woken. Calls that do next to nothing show it: what they seem to take is the stop. While
//! the tracer handles a stop, and as long before and after it as a stop takes to be noticed and to end,
//! the program is held up: of several threads that are stopped at once, this counts the time once.
//!
//! A machine takes longer at times, as where its processors fall asleep between two stops. But a
//! program's time is at most what its threads were on a processor, waited for one, and waited in calls:
//! all else is the recorder's. The waits for a processor may be, too, and those in calls that seldom wait.
//! On a busy machine any call seems to wait while its thread waits for a processor, or while the tracer that
//! ends its stop waits for one or is at the stop of another thread.

use trace::{Entry, OverheadNs};

/// Measured anew after so many calls that do next to nothing …
const CALLS: usize = 64;
/// … and after so many stops in any case.
const STOPS: usize = 4096;
/// So many calls that are quick, or seldom wait, show what stops cost where fewer do next to nothing.
const QUICK_MIN: usize = 16;
/// What a call takes by itself that does next to nothing.
const CALL_NS: u64 = 200;
/// What a quick one does.
const QUICK_NS: u64 = 1_000;
/// Calls that do next to nothing.
const CHEAP: [i64; 11] = [
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_getpid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_set_robust_list,
    libc::SYS_prlimit64,
];
/// Calls of which a quarter does little, at the least.
const QUICK: [i64; 11] = [
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_brk,
];

/// A call that takes longer may have waited.
const WAITED_NS: u64 = 200_000;
/// Calls that seldom wait for long.
const SELDOM_WAITS: [i64; 8] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_fcntl,
    libc::SYS_ioctl,
];
/// Calls that wait for what a program started, whose own time is counted.
const FOR_OWN: [i64; 4] = [libc::SYS_wait4, libc::SYS_waitid, libc::SYS_clone, libc::SYS_clone3];

/// What stops cost, and what the program's time was.
pub(super) struct Stops {
    /// What a stop cost when the recorder was calibrated: how long a call seemed to take that takes no
    /// time.
    calibrated: OverheadNs,
    /// Since the last measurement.
    since: Since,
    /// Until when the last stop was handled.
    handled_until_ns: Option<u64>,
    /// The most threads at once.
    most_threads: u64,
    /// Whether it started what is not followed.
    others: bool,
    /// What has been told.
    told: [u64; 2],
    /// How long threads waited in calls, at the most, and in those that surely wait.
    waited_ns: [u64; 2],
}

/// Stops since the last measurement.
#[derive(Default)]
struct Since {
    /// Calls that do next to nothing.
    cheap: Returned,
    /// Quick ones.
    quick: Returned,
    /// Those that seldom wait, of which a quarter does little.
    seldom: Returned,
    /// How long nothing was stopped, as far as the tracer knows, before each stop.
    gaps_ns: Vec<u64>,
    /// All stops, and for how long they were handled.
    all: Handled,
    /// How many calls of these are recorded.
    recorded: u64,
    /// Whether there was more than one thread: while one is held up, another may go on.
    several: bool,
}

/// How long calls took without what they take by themselves: as the tracer saw them, and what of that
/// their threads were let go.
#[derive(Default)]
struct Returned {
    took_ns: Vec<u64>,
    let_go_ns: Vec<u64>,
}

impl Returned {
    fn add(&mut self, of_ns: [u64; 2], own_ns: u64) {
        let [took_ns, let_go_ns] = of_ns.map(|ns| ns.saturating_sub(own_ns));
        self.took_ns.push(took_ns);
        self.let_go_ns.push(let_go_ns);
    }
}

#[derive(Clone, Copy, Default)]
struct Handled {
    times: u64,
    ns: u64,
}

impl Stops {
    /// Before any, a stop costs what it was found to when the recorder was calibrated.
    pub(super) fn new(calibrated: OverheadNs) -> Self {
        Self {
            calibrated,
            since: Since::default(),
            handled_until_ns: None,
            most_threads: 1,
            others: false,
            told: [0; 2],
            waited_ns: [0; 2],
        }
    }

    /// What was until now is no part of the recording.
    pub(super) fn begin(&mut self) {
        *self = Self::new(self.calibrated);
    }

    /// There are so many threads now.
    pub(super) fn threads(&mut self, count: usize) {
        self.since.several |= count > 1;
        self.most_threads = self.most_threads.max(count as u64);
    }

    /// A stop was handled, from when it was noticed until its thread went on.
    pub(super) fn handled(&mut self, [from_ns, until_ns]: [u64; 2]) {
        self.since.all.times += 1;
        self.since.all.ns += until_ns.saturating_sub(from_ns);
        if let Some(before_ns) = self.handled_until_ns.replace(until_ns) {
            self.since.gaps_ns.push(from_ns.saturating_sub(before_ns));
        }
    }

    /// A call has returned, which took so long, and of that its thread was let go for so long.
    pub(super) fn returned(&mut self, number: u32, of_ns: [u64; 2], is_recorded: bool) {
        self.since.recorded += u64::from(is_recorded);
        let number = i64::from(number);
        let (is_cheap, is_quick) = (CHEAP.contains(&number), QUICK.contains(&number));
        if is_cheap {
            self.since.cheap.add(of_ns, CALL_NS);
        } else if is_quick {
            self.since.quick.add(of_ns, QUICK_NS);
        } else if SELDOM_WAITS.contains(&number) {
            self.since.seldom.add(of_ns, QUICK_NS);
        }
        if !is_cheap && !is_quick || of_ns[0] > WAITED_NS {
            self.waits(number, of_ns[0]);
        }
    }

    /// A thread has been in a call, which may have waited.
    pub(super) fn waits(&mut self, number: i64, took_ns: u64) {
        if !self.others && FOR_OWN.contains(&number) {
            return;
        }
        let [most_ns, surely_ns] = &mut self.waited_ns;
        *most_ns = most_ns.saturating_add(took_ns);
        if took_ns > WAITED_NS || !SELDOM_WAITS.contains(&number) {
            *surely_ns = surely_ns.saturating_add(took_ns);
        }
    }

    /// The program has started another one that is not followed: it may wait for that.
    pub(super) fn has_others(&mut self) {
        self.others = true;
    }

    /// Whether it is time to measure anew.
    pub(super) fn are_enough(&self) -> bool {
        let Since { cheap, recorded, gaps_ns, .. } = &self.since;
        cheap.took_ns.len() >= CALLS && *recorded > 0 || gaps_ns.len() >= STOPS
    }

    /// What the stops since the last measurement cost.
    pub(super) fn measured(&mut self) -> impl Iterator<Item = Entry> + use<> {
        let [within_ns, stop_ns] = self.stop();
        let Since { gaps_ns, all, recorded, several, .. } = std::mem::take(&mut self.since);
        let [low, high] = [stop_ns.low, stop_ns.high].map(|ns| ns.max(0).unsigned_abs());
        let held = |stop_ns: u64| gaps_ns.iter().map(|gap| stop_ns.min(*gap)).sum::<u64>() + all.ns;
        let each = |stop_ns: u64| ((stop_ns * all.times + all.ns) / recorded.max(1)).cast_signed();
        let overhead_ns = OverheadNs { low: each(low), high: each(high) };
        let held = self.held([if several { 0 } else { held(low) }, held(high)]);
        let cost = (recorded > 0).then_some(Entry::Overhead { overhead_ns, within_ns });
        [held].into_iter().chain(cost)
    }

    fn held(&mut self, [low_ns, high_ns]: [u64; 2]) -> Entry {
        self.told = [self.told[0] + low_ns, self.told[1] + high_ns];
        Entry::Held { low_ns, high_ns }
    }

    /// What is not told yet of the time in which no thread was on a processor or waited in a call. Of
    /// `elapsed_ns`, threads needed a processor for so long, at the most and surely, and the tracer for
    /// `tracer_ns`.
    pub(super) fn rest(&mut self, elapsed_ns: u64, needed_ns: [u64; 2], tracer_ns: u64) -> Entry {
        let [waited_ns, surely_ns] = self.waited_ns;
        let queued_ns = needed_ns[0].saturating_sub(needed_ns[1]);
        let for_tracer_ns = tracer_ns.saturating_mul(self.most_threads);
        let surely_ns = surely_ns.saturating_sub(queued_ns.saturating_add(for_tracer_ns));
        let waited_ns = [waited_ns, surely_ns];
        let rest = |of: usize| {
            let own_ns = needed_ns[of].saturating_add(waited_ns[of]);
            elapsed_ns.saturating_sub(own_ns).saturating_sub(self.told[of])
        };
        self.held([rest(0), rest(1)])
    }

    /// How long a call seems to take that takes no time, and how long of that its thread is let go: each
    /// from the middle to the mean of all but the longest. Other calls widen what was calibrated.
    fn stop(&mut self) -> [OverheadNs; 2] {
        let Self { calibrated: known, since: Since { cheap, quick, seldom, .. }, .. } = self;
        if cheap.took_ns.len() >= CALLS {
            return [&mut cheap.took_ns, &mut cheap.let_go_ns].map(|times_ns| {
                let [middle, mean] = [part(times_ns, 2), mean(times_ns)];
                OverheadNs { low: middle.min(mean), high: middle.max(mean) }
            });
        }
        let of = |quick_ns: &mut Vec<u64>, seldom_ns: &mut Vec<u64>| {
            let mut stop_ns = *known;
            if quick_ns.len() >= QUICK_MIN {
                stop_ns.low = stop_ns.low.min(part(quick_ns, 4));
                stop_ns.high = stop_ns.high.max(mean(quick_ns));
            }
            if seldom_ns.len() >= QUICK_MIN {
                stop_ns.high = stop_ns.high.max(part(seldom_ns, 4));
            }
            stop_ns
        };
        [
            of(&mut quick.took_ns, &mut seldom.took_ns),
            of(&mut quick.let_go_ns, &mut seldom.let_go_ns),
        ]
    }
}

/// What such a part of the times is shorter than.
fn part(times_ns: &mut [u64], part: usize) -> i64 {
    times_ns.sort_unstable();
    times_ns[times_ns.len() / part].cast_signed()
}

/// Without the longest sixteenth: threads that others kept off their processors, and calls that waited.
/// They are sorted.
fn mean(times_ns: &[u64]) -> i64 {
    let most = &times_ns[..times_ns.len() - times_ns.len() / 16];
    (most.iter().sum::<u64>() / most.len().max(1) as u64).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(stops: &mut Stops) -> ([u64; 2], [OverheadNs; 2]) {
        let (mut held, mut cost) = ([0; 2], [OverheadNs::default(); 2]);
        for event in stops.measured() {
            match event {
                Entry::Held { low_ns, high_ns } => held = [low_ns, high_ns],
                Entry::Overhead { overhead_ns, within_ns } => cost = [overhead_ns, within_ns],
                other => panic!("{other:?}"),
            }
        }
        (held, cost)
    }

    fn exactly(ns: u64) -> OverheadNs {
        OverheadNs { low: ns.cast_signed(), high: ns.cast_signed() }
    }

    /// Fails where calls that are not recorded, or what handling takes, are forgotten: a program pays
    /// for both.
    #[test]
    fn all_stops_are_paid_for_by_the_calls_that_are_recorded() {
        let mut stops = Stops::new(OverheadNs::default());
        for call in 0..2 * CALLS as u64 {
            // Of each two calls one is recorded; all stop twice, and the program computes between.
            let began_ns = call * 1_000_000;
            stops.handled([began_ns, began_ns + 2_000]);
            stops.handled([began_ns + 30_200, began_ns + 36_200]);
            let of_ns = [30_000 + CALL_NS, 28_000 + CALL_NS];
            stops.returned(libc::SYS_lseek as u32, of_ns, call % 2 == 0);
        }
        assert!(stops.are_enough());
        let (held, [overhead_ns, within_ns]) = cost(&mut stops);
        assert_eq!(within_ns, exactly(30_000));
        // 28 µs of each stop are not its handling: 4 stops for each recorded call.
        let all_ns = 4 * 28_000 + 2 * (2_000 + 6_000);
        assert_eq!(overhead_ns, exactly(all_ns));
        // There is no gap before the first.
        assert_eq!(held, [CALLS as u64 * all_ns - 28_000; 2]);
        // Nothing is told twice.
        assert_eq!(cost(&mut stops).0, [0; 2]);
    }

    /// Fails where threads that are stopped at once are each taken for the whole program, or where a
    /// gap is taken for a stop that is shorter.
    #[test]
    fn a_program_is_held_up_once_while_several_of_its_threads_are() {
        let mut stops = Stops::new(exactly(10_000));
        for stop in 0..100_u64 {
            // One after the other, with 4 µs between: no thread can have run for longer.
            let from_ns = stop * 10_000;
            stops.handled([from_ns, from_ns + 6_000]);
        }
        assert_eq!(cost(&mut stops).0, [100 * 6_000 + 99 * 4_000; 2]);
    }

    /// Fails where what a machine takes that is busy otherwise is taken for the program's time, or a wait
    /// of the program's for the recorder's.
    #[test]
    fn what_nobody_ran_or_waited_was_the_recorders() {
        let mut stops = Stops::new(exactly(10_000));
        stops.threads(2);
        for stop in 0..10_u64 {
            stops.handled([stop * 1_000_000, stop * 1_000_000 + 1_000]);
        }
        stops.returned(libc::SYS_nanosleep as u32, [2_000_000; 2], false);
        stops.returned(libc::SYS_wait4 as u32, [8_000_000; 2], false);
        assert_eq!(cost(&mut stops).0, [0, 9 * 10_000 + 10 * 1_000]);
        stops.returned(libc::SYS_read as u32, [100_000; 2], true);
        let Entry::Held { low_ns, high_ns } =
            stops.rest(10_000_000, [3_500_000, 3_000_000], 200_000)
        else {
            panic!()
        };
        // Of 10 ms, the waits for a processor may be the recorder's, and what they and the tracer made
        // calls of both threads seem to wait; the read, too.
        assert_eq!([low_ns, high_ns], [4_400_000, 4_900_000 + 900_000]);
        // A look-up may wait for a disk, and a program for what is not followed.
        stops.returned(libc::SYS_newfstatat as u32, [1_000_000; 2], true);
        stops.has_others();
        stops.returned(libc::SYS_wait4 as u32, [500_000; 2], false);
        let Entry::Held { low_ns, .. } = stops.rest(12_000_000, [3_500_000; 2], 0) else {
            panic!()
        };
        assert_eq!(low_ns, 500_000);
    }

    /// Fails where it is forgotten that there are several threads, or where one long call makes every
    /// stop a long one from then on.
    #[test]
    fn each_measurement_begins_anew() {
        let mut stops = Stops::new(exactly(1_000));
        for _ in 0..2 {
            stops.threads(2);
            for stop in 0..100_u64 {
                stops.handled([stop * 1_000_000, stop * 1_000_000 + 1_000]);
                let took_ns = if stop == 0 { 9_000_000_000 } else { 6_000 };
                stops.returned(libc::SYS_openat as u32, [took_ns; 2], true);
            }
            let ([low_ns, high_ns], [_, within_ns]) = cost(&mut stops);
            assert_eq!((low_ns, within_ns), (0, OverheadNs { low: 1_000, high: 5_000 }));
            assert!(high_ns <= 100 * 6_000, "{high_ns}");
        }
    }

    /// Fails where a program that makes no call that does nothing is billed by what stops cost the
    /// recorder alone.
    #[test]
    fn quick_calls_widen_what_a_stop_may_cost() {
        let mut stops = Stops::new(exactly(3_000));
        for call in 0..100_u64 {
            let took_ns = if call % 2 == 0 { 21_000 } else { 61_000 };
            stops.returned(libc::SYS_openat as u32, [took_ns; 2], true);
        }
        let (_, [_, within_ns]) = cost(&mut stops);
        assert_eq!(within_ns, OverheadNs { low: 3_000, high: 38_723 });
        for call in 0..100_u64 {
            // The device answers half of them.
            let took_ns = if call % 2 == 0 { 31_000 } else { 900_000 };
            stops.returned(libc::SYS_read as u32, [took_ns; 2], true);
        }
        let (_, [_, within_ns]) = cost(&mut stops);
        assert_eq!(within_ns, OverheadNs { low: 3_000, high: 30_000 });
    }
}
