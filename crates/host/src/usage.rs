//! Processor time, faults and switches of this process and its threads.

use model::counters;
use model::counters::Counters as _;
use model::spent::Spent;
use sys::usage::{Usage, User};

use crate::clock;
use crate::process::run_queue_ns;
use crate::root::Root;

/// What this process, all threads together, and the children that it has waited for have
/// used so far: times, faults and switches. What a child used appears once it has been
/// waited for.
pub fn of_process() -> Spent {
    spent(User::Process).plus(spent(User::Children))
}

counters! {
    /// What a thread has been through.
    pub struct ThreadUse {
        /// Time that passed, on the monotonic clock.
        pub wall_ns: u64,
        /// Time on a processor.
        pub cpu_ns: u64,
        /// The part of it in the kernel, in the kernel's own estimate.
        pub system_ns: u64,
        /// Time ready to run while another had its processor; 0 where the kernel does
        /// not count it.
        pub run_queue_ns: u64,
    }
}

/// The calling thread's.
pub fn of_thread() -> ThreadUse {
    let schedstat = Root::real().text("/proc/thread-self/schedstat").unwrap_or_default();
    ThreadUse {
        wall_ns: clock::monotonic_ns(),
        cpu_ns: clock::thread_cpu_ns(),
        system_ns: Usage::of(User::Thread).system_ns,
        run_queue_ns: run_queue_ns(&schedstat).unwrap_or(0),
    }
}

fn spent(whose: User) -> Spent {
    let used = Usage::of(whose);
    Spent {
        user_ns: used.user_ns,
        system_ns: used.system_ns,
        minor_faults: used.minor_faults,
        major_faults: used.major_faults,
        voluntary_switches: used.voluntary_switches,
        involuntary_switches: used.involuntary_switches,
        ..Spent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_gives_its_processor_up_and_one_that_works_uses_it() {
        let (process, thread) = (of_process(), of_thread());
        std::thread::sleep(std::time::Duration::from_millis(1));
        while of_thread().cpu_ns - thread.cpu_ns < 1_000_000 {}
        let (process, thread) = (of_process().since(process), of_thread().since(thread));
        assert!(process.voluntary_switches >= 1, "{process:?}");
        assert!(thread.cpu_ns >= 1_000_000, "{thread:?}");
        assert!(thread.wall_ns > 900_000 + thread.cpu_ns, "{thread:?}");
    }
}
