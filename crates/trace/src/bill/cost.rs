//! What calls cost, with the recorder's own time taken out.

use serde::Serialize;

use super::cover::Cover;
use super::range::{RangeNs, Share};
use crate::call::Call;
use crate::header::OverheadNs;

/// What some calls cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// How many.
    pub calls: u64,
    /// How many of these failed.
    pub failed: u64,
    /// How many bytes they read.
    pub read_bytes: u64,
    /// How many bytes they wrote.
    pub written_bytes: u64,
    /// Their times added up, those of threads in parallel as often as there are.
    pub summed_ns: RangeNs,
    /// The time in which at least one of them was under way: threads in parallel counted once.
    pub once_ns: RangeNs,
    /// This as a share of the program's wall time. No more can be saved, were they to take no
    /// time at all.
    pub share: Share,
    /// The same of the time in which the program was busy ([`Bill::busy_ns`](super::Bill::busy_ns)).
    pub busy_share: Share,
    /// Its part of what all files cost, of the same time: time in which threads were in calls at
    /// once is divided among these calls. The parts of all kinds add up to that of all files, and so
    /// do those of folders that are not within another.
    pub part: Share,
    /// The longest.
    pub longest_ns: u64,
    /// What of `summed_ns` was processor time, and what was not; none where the recorder did not
    /// see it.
    pub divided: Option<Divided>,
}

impl Cost {
    /// What most of their waiting was for, if most of their time was waiting and that was told apart.
    pub fn mostly_waits_for(&self) -> Option<Wait> {
        let waited_for = self.divided.filter(|_| self.mostly_waits() == Some(true))?.waited_for?;
        waited_for.all().into_iter().max_by_key(|(_, ns)| *ns).map(|(wait, _)| wait)
    }

    /// Whether most of their time was waiting; none where the recorder did not see it, and where
    /// `io_uring` did most of it.
    pub fn mostly_waits(&self) -> Option<bool> {
        let divided = self.divided?;
        let processor_ns = divided.processor_ns.middle();
        let waited_ns = divided.waited_ns as f64;
        let is_known = waited_ns + processor_ns > 0.0 && self.undivided() < 0.5;
        is_known.then_some(waited_ns > processor_ns)
    }

    /// The part of their time of which nobody knows: what `io_uring` did.
    pub fn undivided(&self) -> f64 {
        let divided = self.divided.unwrap_or_default();
        let known_ns = divided.waited_ns as f64 + divided.processor_ns.middle();
        (1.0 - known_ns / self.summed_ns.middle().max(1.0)).clamp(0.0, 1.0)
    }
}

/// The times of some calls, of threads in parallel added up, divided into those on the processor
/// and those off it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Divided {
    /// Processor time.
    pub processor_ns: RangeNs,
    /// Waiting for a device, for a lock, or for a processor that others had.
    pub waited_ns: u64,
    /// What of `waited_ns` was for what; none where the recorder did not tell it apart.
    pub waited_for: Option<WaitedFor>,
    /// `processor_ns` as a share of all processor time of the program; none where that is not
    /// known, because the trace was cut short.
    pub processor_share: Option<Share>,
}

/// What some calls waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitedFor {
    /// A device, a file server, or another thread's use of a device.
    pub device_ns: u64,
    /// A lock that another thread had.
    pub lock_ns: u64,
    /// The other end of a pipe or a socket.
    pub pipe_ns: u64,
    /// A processor that others had.
    pub processor_ns: u64,
}

impl WaitedFor {
    /// Each with its time.
    pub const fn all(self) -> [(Wait, u64); 4] {
        let Self { device_ns, lock_ns, pipe_ns, processor_ns } = self;
        [
            (Wait::Device, device_ns),
            (Wait::Lock, lock_ns),
            (Wait::Pipe, pipe_ns),
            (Wait::Processor, processor_ns),
        ]
    }

    fn count(&mut self, call: &Call) {
        let for_others =
            call.queued_ns.saturating_add(call.locked_ns).saturating_add(call.piped_ns);
        for (sum, ns) in [
            (&mut self.device_ns, call.waited_ns.saturating_sub(for_others)),
            (&mut self.lock_ns, call.locked_ns),
            (&mut self.pipe_ns, call.piped_ns),
            (&mut self.processor_ns, call.queued_ns),
        ] {
            *sum = sum.saturating_add(ns);
        }
    }
}

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Wait {
    /// A device, a file server, or another thread's use of a device.
    Device,
    /// A lock that another thread has.
    Lock,
    /// The other end of a pipe or a socket.
    Pipe,
    /// A processor that others have.
    Processor,
}

/// What costs are parts of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    /// The program's own wall time.
    pub(crate) wall_ns: RangeNs,
    /// What of it the program was busy.
    pub(crate) busy_ns: RangeNs,
    /// Its own processor time, where that is known.
    pub(crate) processor_ns: Option<RangeNs>,
    /// Whether the recorder saw what is waiting, and what for.
    pub(crate) sees_waiting: bool,
    pub(crate) divides_waits: bool,
    /// All files, of which a cost is a part: their times added up, and their share.
    pub(crate) files: Option<(RangeNs, Share)>,
}

impl Whole {
    /// The part of some times, added up over threads.
    fn part(&self, summed_ns: RangeNs) -> Option<Share> {
        let (all_ns, share) = self.files?;
        let part = (summed_ns.middle() / all_ns.middle().max(1.0)).min(1.0);
        Some(Share { low: share.low * part, high: share.high * part })
    }
}

/// How long a call took without the recorder's part.
pub(crate) fn took(call: &Call, within: OverheadNs) -> RangeNs {
    RangeNs {
        low: call.took_ns.saturating_add_signed(within.high.saturating_neg()),
        high: call.took_ns.saturating_add_signed(within.low.saturating_neg()),
    }
}

/// A cost as it adds up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    calls: u64,
    failed: u64,
    read_bytes: u64,
    written_bytes: u64,
    summed_ns: RangeNs,
    processor_ns: RangeNs,
    waited_ns: u64,
    waited_for: WaitedFor,
    longest_ns: u64,
    cover: Cover,
}

impl Sum {
    /// Counts a call but for the time that it was under way.
    pub(crate) fn count(&mut self, call: &Call, took: RangeNs, bytes: [u64; 2]) {
        let [read, written] = bytes;
        self.calls += 1;
        self.failed += u64::from(call.failed());
        self.read_bytes = self.read_bytes.saturating_add(read);
        self.written_bytes = self.written_bytes.saturating_add(written);
        self.summed_ns.add(took);
        // What a ring does is no time of a thread.
        if !call.op.is_of_ring() {
            // The recorder's part is on the processor.
            self.processor_ns.add(RangeNs {
                low: took.low.saturating_sub(call.waited_ns),
                high: took.high.saturating_sub(call.waited_ns),
            });
            self.waited_ns = self.waited_ns.saturating_add(call.waited_ns);
            self.waited_for.count(call);
        }
        self.longest_ns = self.longest_ns.max(took.high);
    }

    /// The time that one was under way, in the order of beginnings.
    pub(crate) fn cover(&mut self, began_ns: u64, took: RangeNs, is_late: bool) {
        self.cover.add(began_ns, took, is_late);
    }

    /// How long they took, threads in parallel counted once.
    pub(crate) fn once(&self) -> RangeNs {
        self.cover.total()
    }

    pub(crate) fn cost(&self, whole: Whole) -> Cost {
        let once_ns = self.cover.total();
        let processor_share = whole.processor_ns.map(|all| Share::of(self.processor_ns, all));
        let divided = Divided {
            processor_ns: self.processor_ns,
            waited_ns: self.waited_ns,
            waited_for: whole.divides_waits.then_some(self.waited_for),
            processor_share,
        };
        let busy_share = Share::of(once_ns, whole.busy_ns);
        Cost {
            calls: self.calls,
            failed: self.failed,
            read_bytes: self.read_bytes,
            written_bytes: self.written_bytes,
            summed_ns: self.summed_ns,
            once_ns,
            share: Share::of(once_ns, whole.wall_ns),
            busy_share,
            part: whole.part(self.summed_ns).unwrap_or(busy_share),
            longest_ns: self.longest_ns,
            divided: whole.sees_waiting.then_some(divided),
        }
    }
}
