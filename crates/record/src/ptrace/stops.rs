//! What stops cost, measured while a program is recorded.
//!
//! A stop is noticed some time after it happened, is handled, and ends some time after the tracer let
//! the thread go on. On the machines of others that takes 5 µs or 50, by whether another processor
//! has to be woken. Calls that do next to nothing show it: what they seem to take is the stop.

use trace::OverheadNs;

use crate::raw_call::Event;

/// Measured anew after so many calls that do next to nothing.
const CALLS: usize = 64;
/// What such a call takes by itself.
const CALL_NS: u64 = 200;
/// Calls that do next to nothing whatever they are asked.
const CHEAP: [i64; 12] = [
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_fcntl,
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

/// Stops since the last measurement.
#[derive(Default)]
pub(super) struct Stops {
    /// How long calls took that do next to nothing.
    took_ns: Vec<u64>,
    /// All stops, and for how long they were handled.
    all: Handled,
    /// Those at the beginning of a call.
    beginnings: Handled,
    /// How many calls of these are recorded.
    recorded: u64,
}

#[derive(Clone, Copy, Default)]
struct Handled {
    times: u64,
    ns: u64,
}

impl Handled {
    fn add(&mut self, ns: u64) {
        self.times += 1;
        self.ns += ns;
    }
}

impl Stops {
    /// A stop was handled.
    pub(super) fn handled(&mut self, took_ns: u64, is_beginning: bool) {
        self.all.add(took_ns);
        if is_beginning {
            self.beginnings.add(took_ns);
        }
    }

    /// A call has returned. What recording costs, if that is known anew.
    pub(super) fn returned(
        &mut self,
        number: u32,
        took_ns: u64,
        is_recorded: bool,
    ) -> Option<Event<'static>> {
        self.recorded += u64::from(is_recorded);
        if CHEAP.contains(&number.into()) {
            self.took_ns.push(took_ns.saturating_sub(CALL_NS));
        }
        (self.took_ns.len() >= CALLS && self.recorded > 0).then(|| self.measured())
    }

    fn measured(&mut self) -> Event<'static> {
        let Self { mut took_ns, all, beginnings, recorded } = std::mem::take(self);
        took_ns.sort_unstable();
        let middle = took_ns[took_ns.len() / 2];
        // Without the longest: a thread that others kept off its processor.
        let most = &took_ns[..took_ns.len() - took_ns.len() / 16];
        let mean = most.iter().sum::<u64>() / most.len().max(1) as u64;
        let range = |of: &dyn Fn(u64) -> u64| {
            let [one, other] = [middle, mean].map(|within| of(within) as i64);
            OverheadNs { low: one.min(other), high: one.max(other) }
        };
        // What such a call takes is one stop, from when it was noticed to when the next one was; others
        // take longer to handle.
        let beginning_ns = beginnings.ns / beginnings.times.max(1);
        let all_ns = |stop_ns: u64| stop_ns.saturating_sub(beginning_ns) * all.times + all.ns;
        Event::Overhead {
            overhead_ns: range(&|stop_ns| all_ns(stop_ns) / recorded),
            within_ns: range(&|within| within),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where calls that are not recorded, or what handling takes, are forgotten: a program pays
    /// for both.
    #[test]
    fn all_stops_are_paid_for_by_the_calls_that_are_recorded() {
        let mut stops = Stops::default();
        let mut measured = None;
        for call in 0..2 * CALLS {
            // Of each two calls one is recorded; all stop twice.
            stops.handled(2_000, true);
            stops.handled(6_000, false);
            let number = libc::SYS_lseek as u32;
            let cost = stops.returned(number, 30_000 + CALL_NS, call % 2 == 0);
            measured = measured.or(cost);
        }
        let Some(Event::Overhead { overhead_ns, within_ns }) = measured else {
            panic!("nothing was measured")
        };
        assert_eq!(within_ns, OverheadNs { low: 30_000, high: 30_000 });
        // 28 µs of each stop are not its handling: 4 stops for each recorded call.
        let all_ns = 4 * 28_000 + 2 * (2_000 + 6_000);
        assert_eq!(overhead_ns, OverheadNs { low: all_ns, high: all_ns });
    }
}
