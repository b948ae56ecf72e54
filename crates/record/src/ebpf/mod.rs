//! Programs in the kernel, at its tracepoints: they see every call of every program, and write
//! those of the threads that are followed into a ring, which this process reads.
//!
//! For that the kernel has to be of 5.8 or later with a description of its own types (BTF), and
//! whoever loads the programs needs `CAP_BPF` and `CAP_PERFMON`, or root. While they are attached,
//! each call of any program on the machine takes some 200 ns more, and each switch from one thread
//! to another as much.

mod assembler;
mod btf;
mod common;
mod fault_programs;
mod kernel;
mod layout;
mod observed;
mod observers;
mod places;
mod programs;
mod ring;
mod ring_programs;
mod slots;
mod switch_program;
mod waits;

use std::fs;
use std::io;
use std::iter;
use std::panic::resume_unwind;
use std::thread;

use rustix::thread::CapabilitySet;
use trace::{Entry, Sees};

use self::assembler::Maps;
use self::btf::Btf;
use self::kernel::{Kind, Map, Program};
use self::observers::Observers;
use self::places::{Places, Registers};
use self::ring::Ring;
use self::slots::Slots;
use crate::error::{Error, while_};
use crate::followed::Followed;
use crate::inherited;
use crate::pace::{Doorbell, Pace, RING_BYTES, until_end};
use crate::privileges::has_capability;
use crate::raw_call::{Event, Sink};
use crate::start::Held;
use crate::wanted;

/// What is tried at the least where there is not the memory.
const RING_BYTES_MIN: usize = 1 << 20;
/// As many threads can be followed at a time.
const THREADS_MAX: u32 = 1 << 16;
/// As many can have a slot.
const SLOTS: u32 = 1 << 16;

/// The programs, attached, and what they write to.
pub(crate) struct Ebpf {
    // Dropped first: what follows is used by the programs.
    programs: Vec<Program>,
    observers: Observers,
    /// Which of the observers run.
    sees: Sees,
    /// Whether one of them sees what wakes threads.
    pub(crate) sees_wakers: bool,
    ring: Ring,
    threads: Map,
    slots: Slots,
    lost: Map,
    _maps: [Map; 2],
    /// What of the lost has been told.
    told: u64,
}

impl Ebpf {
    /// Loads the programs, and says why that cannot be, and what to do.
    pub(crate) fn new() -> Result<Self, String> {
        may_be_used()?;
        Self::load(SLOTS).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                format!("the kernel refuses its programs ({error}), as it does in most containers")
            }
            io::ErrorKind::NotFound => {
                "the kernel does not describe its types (BTF), as its programs need".to_owned()
            }
            _ => format!("the kernel does not take its programs ({error})"),
        })
    }

    fn load(slot_count: u32) -> io::Result<Self> {
        // The kernel clears the ring's memory while it describes its types.
        let (btf, ring) = thread::scope(|scope| {
            let ring = scope.spawn(|| Ring::new(RING_BYTES, RING_BYTES_MIN));
            (Btf::of_kernel(), ring.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let (btf, ring) = (btf?, ring?);
        let threads = Map::new(Kind::Hash, 4, layout::THREAD_BYTES, THREADS_MAX)?;
        let slots = Slots::new(slot_count)?;
        let words = wanted::words();
        let wanted = Map::new(Kind::Array, 4, words.len() as u32, 1)?;
        wanted.set(&0_u32.to_ne_bytes(), &words)?;
        let scratch = Map::new(Kind::PerProcessorArray, 4, layout::SCRATCH_BYTES, 2)?;
        let lost = Map::new(Kind::Array, 4, 8, 1)?;
        let maps = Maps {
            wanted: wanted.number(),
            threads: threads.number(),
            slots: slots.number(),
            slot_count: slots.count(),
            ring: ring.number(),
            scratch: scratch.number(),
            lost: lost.number(),
        };
        let missing = || io::Error::other("its types are not those that are known");
        let places = places(&btf).ok_or_else(missing)?;
        let load = |program| programs::load(&btf, program);
        let (observers, switch) = Observers::load(&btf, &maps, &places)?;
        let others = programs::all(&maps, &places).into_iter().map(load);
        let mut programs = iter::once(Ok(switch)).chain(others).collect::<io::Result<Vec<_>>>()?;
        let waking = load(programs::waking(&maps, &places));
        let sees_wakers = waking.is_ok();
        programs.extend(waking);
        // One shows that programs can be attached. The others would have to go again for the first
        // timing, and each takes a millisecond to attach and to detach.
        programs.first_mut().map_or(Ok(()), Program::attach)?;
        Ok(Self {
            programs,
            observers,
            sees: Sees::default(),
            sees_wakers,
            ring,
            threads,
            slots,
            lost,
            _maps: [wanted, scratch],
            told: 0,
        })
    }

    /// Attaches what sees more than calls, for the recording that comes next; what it sees.
    pub(crate) fn observe(&mut self) -> Sees {
        self.sees = self.observers.attach();
        self.sees
    }

    fn attach(&mut self) -> io::Result<()> {
        self.programs.iter_mut().try_for_each(Program::attach)
    }

    fn detach(&mut self) {
        self.programs.iter_mut().for_each(Program::detach);
        self.observers.detach();
    }

    /// Does something while the programs are not attached, and slow nobody.
    pub(crate) fn apart<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        self.detach();
        let done = work();
        self.attach()?;
        Ok(done)
    }

    /// Runs a command to its end.
    pub(crate) fn record<S: Sink>(&mut self, held: Held, sink: &mut S) -> Result<Followed, Error> {
        let first = held.process();
        self.attach().map_err(while_("following the command"))?;
        self.follow(first).map_err(while_("following the command"))?;
        let followed = until_end(held, self.ring.bytes(), sink, |sink| self.drain(sink))?;
        if followed.cut.is_some() {
            // Nobody needs to be slowed any more.
            self.detach();
        }
        followed.until_end_of(first)
    }

    /// Follows running processes and all that they start, until the first ends or it is time to
    /// stop.
    pub(crate) fn watch<S: Sink>(
        &mut self,
        processes: &[u32],
        sink: &mut S,
        stop: impl Fn() -> bool,
    ) -> Result<Followed, Error> {
        self.attach().map_err(while_("following the program"))?;
        for process in processes {
            self.follow_all_of(*process).map_err(while_("following the program"))?;
        }
        if !processes.iter().any(|process| inherited::runs(*process)) {
            self.observers.none_runs().map_err(while_("following the program"))?;
        }
        let doorbell = Doorbell::of(processes.first().copied().unwrap_or(0));
        let (mut ended, mut cut) = (false, None);
        let mut pace = Pace::new(self.ring.bytes());
        while cut.is_none() && !ended && !stop() {
            match self.drain(sink) {
                Ok(bytes) => {
                    ended = doorbell.wait(pace.after(bytes));
                    cut = pace.is_idle().then(|| sink.idle().err()).flatten();
                }
                Err(error) => cut = Some(error),
            }
        }
        if cut.is_none() {
            cut = self.drain(sink).and_then(|_| self.tell_idle(sink)).err();
        }
        self.detach();
        Ok(Followed { end: None, cut })
    }

    fn follow(&self, thread: u32) -> io::Result<()> {
        if self.threads.add(&thread.to_ne_bytes(), &[0; layout::THREAD_BYTES as usize])? {
            self.slots.follow(thread);
        }
        Ok(())
    }

    /// Every thread of a process, those included that begin meanwhile: one that is made by a
    /// thread which is not followed yet is found when the list is read again.
    fn follow_all_of(&self, process: u32) -> io::Result<()> {
        let mut known = Vec::new();
        loop {
            let mut threads = inherited::threads(process);
            threads.retain(|thread| !known.contains(thread));
            if threads.is_empty() {
                return Ok(());
            }
            for thread in threads {
                self.follow(thread)?;
                known.push(thread);
            }
        }
    }

    fn tell_idle<S: Sink>(&self, sink: &mut S) -> io::Result<()> {
        self.observers.idle_until_now()?.map_or(Ok(()), |idle| sink.on_event(&Event::Entry(idle)))
    }

    /// Reads what is in the ring; how many bytes that was.
    fn drain<S: Sink>(&mut self, sink: &mut S) -> io::Result<u64> {
        let bytes = self.ring.drain(|record| {
            match layout::event(record).or_else(|| observed::event(record)) {
                Some(event) => sink.on_event(&event),
                None => Ok(()),
            }
        })?;
        let missed: u64 =
            self.programs.iter().chain(self.observers.programs()).map(Program::missed).sum();
        let lost = self.lost.number_at(0)? + missed;
        if lost > self.told {
            sink.on_event(&Event::Entry(Entry::Lost { count: lost - self.told }))?;
            self.told = lost;
        }
        Ok(bytes)
    }
}

/// Whether this user may load programs, and understands what they say; or why not.
fn may_be_used() -> Result<(), String> {
    const KERNELS_OWN_PROCESSES: &str = "pid:[4026531836]";
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err("its programs are written for x86-64 and aarch64".to_owned());
    }
    let may_load = has_capability(CapabilitySet::BPF | CapabilitySet::PERFMON);
    if !has_capability(CapabilitySet::SYS_ADMIN) && !may_load {
        return Err("it needs root, or CAP_BPF and CAP_PERFMON".to_owned());
    }
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if namespace.as_os_str() != KERNELS_OWN_PROCESSES {
        return Err("processes have other numbers in this container than in the kernel".to_owned());
    }
    Ok(())
}

fn places(btf: &Btf) -> Option<Places> {
    let task = |member| btf.member("task_struct", member);
    let sum = task("se")? + btf.member("sched_entity", "sum_exec_runtime")?;
    Some(Places {
        registers: Registers::find(btf)?,
        thread: task("pid")?,
        process: task("tgid")?,
        files: task("files")?,
        folder: task("fs")?,
        user: task("utime")?,
        system: task("stime")?,
        sum,
        status: task("exit_code")?,
        program: btf.member("linux_binprm", "filename")?,
        // It was renamed in 5.14.
        state: task("__state").or_else(|| task("state"))?,
        for_device: btf.bit("task_struct", "in_iowait")?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::Command;

    use super::*;

    /// Counts what is seen of the programs that are started.
    #[derive(Debug, Default, PartialEq, Eq)]
    struct Counts {
        began: u32,
        ended: u32,
        opened: u32,
        written: u32,
    }

    impl Sink for Counts {
        fn on_event(&mut self, event: &Event<'_>) -> io::Result<()> {
            match event {
                Event::Entry(Entry::Fork { .. }) => self.began += 1,
                Event::Entry(Entry::Exit { .. }) => self.ended += 1,
                Event::Called(raw_call)
                    if raw_call.path.is_some_and(|path| path == b"/dev/zero") =>
                {
                    self.opened += 1;
                }
                Event::Called(raw_call) if i64::from(raw_call.number) == libc::SYS_write => {
                    self.written += 1;
                }
                _ => {}
            }
            Ok(())
        }

        fn idle(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Fails where threads that share a slot are taken for each other or are not found, and where
    /// those that have ended still have theirs.
    #[test]
    fn threads_that_share_a_slot_are_all_followed() {
        if let Err(why) = may_be_used() {
            eprintln!("SKIPPED: threads_that_share_a_slot_are_all_followed: {why}");
            return;
        }
        let script = "for i in 1 2 3 4 5 6 7 8; do head -c 1 /dev/zero & done >/dev/null; wait";
        for slots in [1, 2, SLOTS] {
            let mut ebpf = Ebpf::load(slots).unwrap();
            let held = Held::start(Command::new("sh").args(["-c", script])).unwrap();
            let mut counts = Counts::default();
            ebpf.record(held, &mut counts).unwrap();
            let all = Counts { began: 8, ended: 9, opened: 8, written: 8 };
            assert_eq!(counts, all, "of {slots} slots");
            assert!(ebpf.slots.are_free(), "of {slots} slots");
        }
    }

    /// Fails where one of the programs is refused that this kernel has a place for.
    #[test]
    fn this_kernel_takes_all_that_it_has_a_place_for() {
        if let Err(why) = may_be_used() {
            eprintln!("SKIPPED: this_kernel_takes_all_that_it_has_a_place_for: {why}");
            return;
        }
        let btf = Btf::of_kernel().unwrap();
        let has = |name| btf.tracepoint(name).is_some();
        let (faults, rings) = (has(fault_programs::OF_FILE), has(ring_programs::HANDED_IN));
        let sees = Ebpf::load(SLOTS).unwrap().observe();
        assert_eq!(sees, Sees { faults, rings, idle: true });
    }
}
