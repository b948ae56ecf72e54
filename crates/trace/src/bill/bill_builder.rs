//! Making a bill, entry by entry.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::awaited::{AwaitedProcess, Wakes};
use super::bound::{Beyond, Bound, Sight};
use super::busy::Busy;
use super::cost::{Cost, Sum, Whole, took};
use super::file_class::FileClass;
use super::folders::{FolderId, Folders, above, text};
use super::kind::{KINDS, Kind};
use super::moved::{bytes, written_to};
use super::needless::NeedlessWork;
use super::order::{InOrder, Interval};
use super::paid::Paid;
use super::range::RangeNs;
use super::requests::Requests;
use super::retries::Retries;
use super::uses::Uses;
use super::{Bill, FileCost, FolderCost, KindCost, SCHEMA, UnseenCount};
use crate::call::{Call, PathId, WORKING_FOLDER};
use crate::entry::{Entry, FileKind, Unseen};
use crate::follow::{Followed, Follower};
use crate::header::{Header, Mechanism, OverheadNs, Summary};
use crate::op::Op;

/// How many files a bill names.
const TOP_FILES: usize = 20;
/// Where less of the recorded time than this is the program's own, a small error of what the recorder
/// costs is a large one of the rest.
const OWN_MIN: f64 = 0.5;
/// The same where the recorder stops threads: what they do between two stops takes longer, too, for
/// they wake up on other processors.
const OWN_MIN_STOPPED: f64 = 0.75;
/// A folder has nearly all of something from this share on.
const NEARLY_ALL: f64 = 0.8;
/// The permission bits aside, what open(2) is told to open nothing but folders.
const O_DIRECTORY: u64 = 0o200_000;

/// What an interval is of.
#[derive(Clone, Copy)]
struct CallGroup {
    file_class: FileClass,
    kind: Kind,
    folder: FolderId,
}

/// A bill, and what the rest of it is found in.
pub(crate) struct Billed {
    pub(crate) bill: Bill,
    pub(crate) uses: Uses,
    /// How many requests were answered.
    pub(crate) requests: u64,
    pub(crate) needless: NeedlessWork,
}

/// What a bill is made from.
#[derive(Default)]
pub(crate) struct BillBuilder {
    header: Header,
    follower: Follower,
    order: InOrder<CallGroup>,
    files: Sum,
    kernel_files: Sum,
    unknown: Sum,
    kinds: [Sum; KINDS],
    folders: Folders,
    uses: Uses,
    needless: NeedlessWork,
    unseen: BTreeMap<Unseen, u64>,
    busy: Busy,
    beyond: Beyond,
    retries: Retries,
    requests: Requests,
    wakes: Wakes,
    calls: u64,
    /// What the recorder took.
    paid: Paid,
    /// For how long any thread was held up by the recorder, where it stops them.
    held_ns: RangeNs,
    processes: u64,
    threads: u64,
    working_folder: Option<Arc<[u8]>>,
    last_ns: u64,
}

impl BillBuilder {
    pub(crate) fn new(header: Header) -> Self {
        Self { header, ..Self::default() }
    }

    pub(crate) fn take(&mut self, entry: &Entry) {
        let followed = self.follower.follow(entry);
        match entry {
            Entry::Call(call) => {
                self.count(call);
                if let Some(followed) = &followed {
                    self.requests.take(call, followed);
                }
                if let (Some(mut followed), Some(kind)) = (followed, Kind::of(call.op)) {
                    let kind = written_to(call, &mut followed).unwrap_or(kind);
                    self.bill(call, &followed, kind);
                }
            }
            Entry::Fork { thread, at_ns, child, parent, .. } => {
                self.wakes.begin(*child);
                self.threads += 1;
                self.processes += u64::from(!thread);
                self.last_ns = self.last_ns.max(*at_ns);
                // Those of before were not started while they were recorded.
                if !thread && *at_ns > 0 {
                    self.paid(*at_ns, *parent, self.header.process_ns);
                }
            }
            Entry::Exit { at_ns, .. } => {
                self.last_ns = self.last_ns.max(*at_ns);
            }
            Entry::Inherited { fd: WORKING_FOLDER, path, .. } => {
                let folder = self.follower.path(*path).cloned();
                self.working_folder = self.working_folder.take().or(folder);
            }
            Entry::Unseen { kind, count } => {
                let counted = self.unseen.entry(*kind).or_default();
                *counted = counted.saturating_add(*count);
            }
            Entry::Woken { by, thread, slept_ns, .. } => self.wakes.take(*by, *thread, *slept_ns),
            Entry::Idle { at_ns, took_ns } => {
                let took = RangeNs { low: *took_ns, high: *took_ns };
                let of = CallGroup { file_class: FileClass::Idle, kind: Kind::Other, folder: 0 };
                self.in_order(Interval { began_ns: *at_ns, took, is_late: false, of });
                self.last_ns = self.last_ns.max(at_ns.saturating_add(*took_ns));
            }
            Entry::Exec { at_ns, program, thread } => {
                self.last_ns = self.last_ns.max(*at_ns);
                self.paid(*at_ns, *thread, self.header.program_ns);
                if let Some(path) = program.and_then(|program| self.follower.path(program)) {
                    self.uses.ran(path);
                }
            }
            Entry::Overhead { overhead_ns, within_ns } => {
                self.header.measured(*overhead_ns, *within_ns);
            }
            Entry::Held { low_ns, high_ns } => {
                let (low, high) = (*low_ns.min(high_ns), *low_ns.max(high_ns));
                self.held_ns.add(RangeNs { low, high });
            }
            Entry::Outside { thread, process, name, address } => {
                self.outside(*thread, *process, *name, *address);
            }
            Entry::File(facts) if facts.kind == FileKind::Missing => {
                if let Some(path) = self.follower.path(facts.path) {
                    self.needless.missing(path);
                }
            }
            Entry::Path { .. } | Entry::Inherited { .. } | Entry::File(_) | Entry::Lost { .. } => {}
        }
    }

    fn outside(&mut self, thread: u32, process: u32, name: PathId, address: Option<PathId>) {
        let text = |path: PathId| self.follower.path(path).map(text);
        let name = text(name).unwrap_or_default();
        let address = address.and_then(text);
        self.wakes.is_of(thread, AwaitedProcess { number: process, name, address });
    }

    /// Counts a call of any kind.
    fn count(&mut self, call: &Call) {
        self.calls += u64::from(call.op.is_call());
        self.last_ns = self.last_ns.max(call.ended_ns());
        self.paid(call.ended_ns(), call.thread, Some(self.header.overhead_of(call)));
    }

    /// A thread took so much longer because it was recorded.
    fn paid(&mut self, at_ns: u64, thread: u32, overhead_ns: Option<OverheadNs>) {
        self.paid.take(at_ns, thread, overhead_ns.unwrap_or_default());
    }

    fn bill(&mut self, call: &Call, followed: &Followed, kind: Kind) {
        self.retries.take(call);
        let file_class = FileClass::of(call, followed);
        if file_class == FileClass::NoFile {
            return;
        }
        let took = took(call, self.header.overhead_within(call));
        let bytes = bytes(call, followed, kind);
        let mut of = CallGroup { file_class, kind, folder: 0 };
        match file_class {
            FileClass::Stored => {
                of.folder = followed.about.as_ref().map_or(0, |path| {
                    let is_folder = is_about_folder(call, followed)
                        || is_of_open(call, followed) && self.folders.knows(path);
                    self.folders.of(if is_folder { path } else { above(path) })
                });
                self.files.count(call, took, bytes);
                self.beyond.count(call, took, self.header.sees_waiting);
                self.kinds[kind as usize].count(call, took, bytes);
                self.folders.each_above(of.folder, |folder| {
                    folder.all.count(call, took, bytes);
                    folder.kinds[kind as usize].count(call, took, bytes);
                });
                let took_ns = took.low.midpoint(took.high);
                self.uses.take(call, followed, kind, took_ns);
                self.needless.take(call, followed, kind, took_ns);
            }
            FileClass::Kernel => self.kernel_files.count(call, took, bytes),
            FileClass::Unknown => self.unknown.count(call, took, bytes),
            FileClass::NoFile | FileClass::Idle => {}
        }
        self.in_order(Interval { began_ns: call.began_ns, took, is_late: false, of });
    }

    fn in_order(&mut self, interval: Interval<CallGroup>) {
        if let Some(earliest) = self.order.push(interval) {
            self.cover(&earliest);
        }
    }

    fn cover(&mut self, interval: &Interval<CallGroup>) {
        let Interval { began_ns, took, is_late, of } = *interval;
        match of.file_class {
            FileClass::Stored => {
                self.busy.add(began_ns, took, is_late);
                self.files.cover(began_ns, took, is_late);
                self.kinds[of.kind as usize].cover(began_ns, took, is_late);
                self.folders.each_above(of.folder, |folder| {
                    folder.all.cover(began_ns, took, is_late);
                    folder.kinds[of.kind as usize].cover(began_ns, took, is_late);
                });
            }
            FileClass::Kernel => self.kernel_files.cover(began_ns, took, is_late),
            FileClass::Idle => self.busy.add(began_ns, took, is_late),
            FileClass::Unknown => self.unknown.cover(began_ns, took, is_late),
            FileClass::NoFile => {}
        }
    }

    /// The bill, as yet without patterns, what they are found in, and how many requests were
    /// answered.
    pub(crate) fn finish(mut self, summary: Option<&Summary>, lost: u64) -> Billed {
        while let Some(interval) = self.order.pop() {
            self.cover(&interval);
        }
        let wall_ns = summary.map_or(0, |summary| summary.wall_ns).max(self.last_ns);
        let own_wall_ns = self.own_wall(wall_ns, summary);
        let busy_ns = self.busy.of(own_wall_ns, self.files.once());
        let used = summary.filter(|summary| summary.knows_processor_time());
        let whole = Whole {
            wall_ns: own_wall_ns,
            busy_ns,
            processor_ns: used.map(|summary| self.own_processor(summary)),
            sees_waiting: self.header.sees_waiting,
            divides_waits: self.header.divides_waits,
            files: None,
        };
        let (files, unknown) = (self.files.cost(whole), self.unknown.cost(whole));
        let parts = Whole { files: Some((files.summed_ns, files.busy_share)), ..whole };
        let met = |kind| self.unseen.get(&kind).copied().unwrap_or_default();
        let sight = Sight {
            header: &self.header,
            busy_ns,
            beyond: self.beyond,
            unknown: &unknown,
            retries_ns: self.retries.ns(),
            lost,
            met: &met,
        };
        let bill = Bill {
            schema: SCHEMA,
            wall_ns,
            own_wall_ns,
            busy_ns,
            too_coarse: self.is_too_coarse(wall_ns, own_wall_ns),
            bound: Bound::of(&files, &sight),
            unit: None,
            awaited: self.wakes.awaited(own_wall_ns.low.midpoint(own_wall_ns.high)),
            user_ns: used.map(|summary| summary.user_ns),
            system_ns: used.map(|summary| summary.system_ns),
            status: summary.and_then(|summary| summary.status),
            cut_short: summary.is_none(),
            lost,
            processes: self.processes,
            threads: self.threads,
            calls: self.calls,
            container: None,
            working_folder: self.working_folder.as_deref().map(text),
            kinds: self.kind_costs(parts),
            folders: self.folder_costs(parts),
            top_files: self.file_costs(&files),
            files,
            files_forgotten: self.uses.forgotten(),
            kernel_files: self.kernel_files.cost(whole),
            unknown,
            unseen: self.unseen.into_iter().map(unseen).collect(),
            needless: Vec::new(),
            patterns: Vec::new(),
            advice: Vec::new(),
            header: self.header,
        };
        Billed {
            bill,
            uses: self.uses,
            requests: self.requests.answered(),
            needless: self.needless,
        }
    }

    /// The wall time without the recorder, whose overhead was never within the time of which files
    /// alone have the most. A recorder that stops threads says for how long it held up any.
    fn own_wall(&self, wall_ns: u64, summary: Option<&Summary>) -> RangeNs {
        let files_ns = self.files.once().high;
        let without = |overhead| without(wall_ns, overhead).max(files_ns).min(wall_ns.max(1));
        let most_ns = |ns: i64| ns.min(self.processor_time_max(summary));
        if self.held_ns.high > 0 {
            let least_ns = self.files.once().low.clamp(1, wall_ns.max(1));
            let own = |held_ns: u64| wall_ns.saturating_sub(held_ns).max(least_ns);
            return RangeNs { low: own(self.held_ns.high), high: own(self.held_ns.low) };
        }
        RangeNs {
            low: without(most_ns(self.paid.all.high)),
            high: without(most_ns(self.paid.at_least())),
        }
    }

    /// Whether too little of what was recorded is the program's own time, or that is not known to a
    /// factor of two. What calls seem to take is no reason to believe that a recorder which stops threads
    /// took less: on a busy machine, that is what they wait for.
    fn is_too_coarse(&self, wall_ns: u64, own_wall_ns: RangeNs) -> bool {
        let without_held_ns = wall_ns.saturating_sub(self.held_ns.high);
        let [wall_ns, least_ns] =
            [wall_ns, own_wall_ns.low.min(without_held_ns)].map(|ns| ns as f64);
        let is_unknown = least_ns < own_wall_ns.high as f64 * OWN_MIN;
        is_unknown
            || own_wall_ns.middle() < wall_ns * OWN_MIN
            || self.held_ns.high > 0 && least_ns < wall_ns * OWN_MIN_STOPPED
    }

    /// What the recorder's part can be at the most, where it is processor time of the program itself:
    /// within the kernel, or of all of it.
    fn processor_time_max(&self, summary: Option<&Summary>) -> i64 {
        let most_ns = summary.and_then(|summary| match self.header.mechanism {
            Mechanism::Ebpf => Some(summary.system_ns),
            Mechanism::Preload => Some(summary.user_ns.saturating_add(summary.system_ns)),
            Mechanism::Ptrace | Mechanism::Planted => None,
        });
        most_ns.filter(|ns| *ns > 0).and_then(|ns| i64::try_from(ns).ok()).unwrap_or(i64::MAX)
    }

    /// The processor time without the recorder's part, of which each call has one.
    fn own_processor(&self, summary: &Summary) -> RangeNs {
        let OverheadNs { low, high } = self.paid.all;
        let all_ns = summary.user_ns.saturating_add(summary.system_ns);
        RangeNs { low: without(all_ns, high), high: without(all_ns, low) }
    }

    fn kind_costs(&self, whole: Whole) -> Vec<KindCost> {
        let mut kinds: Vec<KindCost> = Vec::new();
        for kind in Kind::ALL {
            let cost = self.kinds[kind as usize].cost(whole);
            if cost.calls > 0 {
                kinds.push(KindCost { kind, cost, folder: self.folder_of(kind) });
            }
        }
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.cost.once_ns.high));
        kinds
    }

    /// The deepest folder that has nearly all time of a kind; none where that is all of them.
    fn folder_of(&self, kind: Kind) -> Option<String> {
        let least = self.kinds[kind as usize].once().high as f64 * NEARLY_ALL;
        let time = |id: &FolderId| self.folders.get(*id).kinds[kind as usize].once().high as f64;
        let deepest = self.folders.ids().rfind(|id| time(id) >= least.max(1.0))?;
        (deepest > 0).then(|| text(&self.folders.get(deepest).path))
    }

    fn folder_costs(&self, whole: Whole) -> Vec<FolderCost> {
        let cost_of = |id: FolderId| {
            let folder = self.folders.get(id);
            let most =
                Kind::ALL.into_iter().max_by_key(|kind| folder.kinds[*kind as usize].once().high);
            let most = most.unwrap_or(Kind::Other);
            let most_cost = folder.kinds[most as usize].cost(whole);
            FolderCost {
                path: text(&folder.path),
                cost: folder.all.cost(whole),
                most,
                most_share: most_cost.part,
                most_waits: most_cost.mostly_waits(),
                most_waits_for: most_cost.mostly_waits_for(),
            }
        };
        self.folders.that_matter().into_iter().map(cost_of).collect()
    }

    fn file_costs(&self, all: &Cost) -> Vec<FileCost> {
        let part = |ns: u64| (ns as f64 / all.summed_ns.middle().max(1.0)).min(1.0);
        let mut files: Vec<_> = self.uses.files().collect();
        files.sort_by_key(|(path, file)| (std::cmp::Reverse(file.all_ns()), *path));
        let cost = |(path, file): (&[u8], &super::FileUse)| FileCost {
            path: text(path),
            calls: file.calls,
            opens: file.opens,
            read_bytes: file.read_bytes,
            written_bytes: file.written_bytes,
            syncs: file.syncs,
            summed_ns: file.all_ns(),
            share: part(file.all_ns()) * all.busy_share.middle(),
        };
        files.into_iter().take(TOP_FILES).map(cost).collect()
    }
}

fn unseen((kind, count): (Unseen, u64)) -> UnseenCount {
    UnseenCount { kind, count }
}

/// A time without the recorder's overhead.
fn without(ns: u64, overhead_ns: i64) -> u64 {
    ns.saturating_sub(overhead_ns.max(0).unsigned_abs())
}

/// Whether a call opens something, or acts on what is open. A folder that is opened to be forced
/// to the device need not be opened as one.
fn is_of_open(call: &Call, followed: &Followed) -> bool {
    call.op == Op::Open || followed.path.is_none()
}

/// Whether what a call is about is a folder, and not something in one.
fn is_about_folder(call: &Call, followed: &Followed) -> bool {
    let opened = followed.file.as_ref().filter(|_| followed.path.is_none());
    matches!(call.op, Op::Getdents | Op::Chdir)
        || opened.is_some_and(|file| file.flags & O_DIRECTORY > 0)
        || call.op == Op::Open && call.flags & O_DIRECTORY > 0
}
