//! What a bill begins with: the whole of it in a sentence, and what was recorded.

use model::printable::printable;
use trace::{
    Awaited, AwaitedProcess, Bill, Cost, Kind, KindCost, Mechanism, Missing, RangeNs, Unit,
    UnitCost, Wait, WaitedFor,
};
use units::{counted, counted_as, listed, percent, rough_size, time};

use super::names::{doing, folder, share};

/// A kind of call beside the first one is named from this part of its share on.
const SECOND: f64 = 0.25;
/// A program that is busy for less than this part of the time is idle for the rest.
const BUSY: f64 = 0.9;
/// Less of the time is not worth naming.
const NAMED: f64 = 0.005;

/// `app spends 12% of its time with files: 9% waiting for fsync in data/.`
pub(crate) fn sentence(bill: &Bill) -> String {
    let program = &bill.header.program;
    if bill.too_coarse {
        return too_coarse(bill);
    }
    if bill.files.calls == 0 {
        let more = if bill.bound.complete { String::new() } else { format!(" {}", unknown(bill)) };
        return format!("{program} did nothing with files that could be recorded.{more}");
    }
    let named: Vec<String> = named(bill).map(|kind| part(bill, kind)).collect();
    let parts = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    let at_least = if bill.bound.complete { "" } else { "at least " };
    let spends = if bill.header.attached { "spent" } else { "spends" };
    let share = share(bill.files.busy_share);
    let spent = if was_idle(bill) {
        format!(
            "was busy for {} of {}, and {spends} {at_least}{share} of that with files{parts}.",
            time(middle(bill.busy_ns)),
            time(bill.wall_ns as f64)
        )
    } else {
        format!("{spends} {at_least}{share} of its time with files{parts}.")
    };
    format!("{program} {spent} {}", bound(bill))
}

/// In place of what files cost.
fn too_coarse(bill: &Bill) -> String {
    let wall_ns = bill.wall_ns as f64;
    let better = match bill.header.mechanism {
        Mechanism::Ptrace => {
            "--mechanism ebpf (as root) and --mechanism preload take less, for a command that they can \
             record"
        }
        _ => "Record a run with fewer or longer calls",
    };
    format!(
        "This recording is too coarse for a bill: {} of {} were the recorder's own time. {better}.",
        time((wall_ns - middle(bill.own_wall_ns)).max(0.0)),
        time(wall_ns)
    )
}

/// Whether the program waited for something else than files for so long that it has to be said.
fn was_idle(bill: &Bill) -> bool {
    middle(bill.busy_ns) < middle(bill.own_wall_ns) * BUSY
}

/// What no move can beat, where that is known.
fn bound(bill: &Bill) -> String {
    if !bill.bound.complete {
        return unknown(bill);
    }
    let of = if was_idle(bill) { " of that" } else { "" };
    format!("No move of files can save more than {}{of}.", percent(bill.bound.share))
}

/// Why nobody knows how much could be saved.
fn unknown(bill: &Bill) -> String {
    let reasons = bill.bound.missing.iter().map(|what| reason(*what).to_owned());
    let reasons = listed(&reasons.collect::<Vec<_>>(), "and");
    if reasons.is_empty() {
        return String::new();
    }
    format!("How much more is not known, because {reasons} could not be seen.")
}

fn reason(missing: Missing) -> &'static str {
    match missing {
        Missing::Programs => "programs that it started",
        Missing::IoUring => "operations by io_uring",
        Missing::MappedPages => "page faults of mapped files",
        Missing::Calls => "some calls on files",
        Missing::UnknownFiles => "the files of some descriptors",
        Missing::Locks => "waits between two tries for a lock",
        Missing::Lost => "what was lost",
    }
}

fn named(bill: &Bill) -> impl Iterator<Item = &KindCost> {
    let most = bill.kinds.first().map_or(0.0, |kind| kind.cost.part.middle());
    let is_named = move |kind: &&KindCost| {
        let share = kind.cost.part.middle();
        share >= NAMED && share >= most * SECOND
    };
    bill.kinds.iter().filter(is_named).take(2)
}

fn part(bill: &Bill, kind: &KindCost) -> String {
    let place = kind.folder.as_ref().map(|path| format!(" in {}", folder(bill, path)));
    format!("{} {}{}", share(kind.cost.part), done(kind), place.unwrap_or_default())
}

/// What a program does in calls of a kind.
fn done(kind: &KindCost) -> String {
    doing(kind.kind, kind.cost.mostly_waits(), kind.cost.mostly_waits_for())
}

/// What is exact whatever the recorder takes.
pub(super) fn counts(bill: &Bill) -> String {
    let files = &bill.files;
    let syncs = bill.kinds.iter().find(|kind| kind.kind == Kind::Sync);
    format!(
        "{} Counts and bytes are exact: {} on files, {} read, {} written, {}.",
        recorded(bill),
        counted(files.calls, "call"),
        rough_size(files.read_bytes),
        rough_size(files.written_bytes),
        counted(syncs.map_or(0, |kind| kind.cost.calls), "sync")
    )
}

/// `Recorded: 3.4 s with 2 processes, …`
fn recorded(bill: &Bill) -> String {
    format!(
        "Recorded: {} with {}, {} and {}.",
        time(bill.wall_ns as f64),
        counted_as(bill.processes, "process", "processes"),
        counted(bill.threads, "thread"),
        counted(bill.calls, "call")
    )
}

/// How long it took, and how much there was.
pub(crate) fn facts(bill: &Bill) -> String {
    let mut text = recorded(bill);
    if let (Some(user_ns), Some(system_ns)) = (bill.user_ns, bill.system_ns) {
        text += &format!(
            " Processor time: {} in programs, {} in the kernel{}.",
            time(user_ns as f64),
            time(system_ns as f64),
            of_file_calls(bill)
        );
    }
    text += &bill.unit.map_or_else(String::new, |unit| each(bill, unit));
    text.extend(bill.awaited.iter().filter(|awaited| is_asked(bill, awaited)).map(waits_for));
    text += &divided(&bill.files);
    let (once, summed) = (middle(bill.files.once_ns), middle(bill.files.summed_ns));
    if summed > once * 1.02 {
        text += &format!(
            " Its file calls take {} added up over threads, and {} with those in parallel counted \
             once, as in all shares here.",
            time(summed),
            time(once)
        );
    }
    text
}

/// What is watched may wait for whoever asks it, and that is no reason to look there.
fn is_asked(bill: &Bill, awaited: &Awaited) -> bool {
    awaited.answers() || !bill.header.attached
}

/// `84% waiting for 127.0.0.1:5432 (postgres, pid 4711): iotoll watch 4711.`
fn waits_for(awaited: &Awaited) -> String {
    let share = percent(awaited.share);
    match &awaited.process {
        Some(AwaitedProcess { number, name, address: Some(address) }) => format!(
            " {share} waiting for {} ({}, pid {number}), which was not recorded: iotoll watch {number}.",
            printable(address),
            printable(name)
        ),
        Some(AwaitedProcess { number, name, address: None }) => format!(
            " {share} waiting for {} (pid {number}), which was not recorded: iotoll watch {number}.",
            printable(name)
        ),
        None => format!(
            " {share} waiting for thread {} of another program, which was not recorded.",
            awaited.thread
        ),
    }
}

/// `A request takes 1.75 ms, of which files 1.24 ms, 98% of it waiting for fsync in data/.`
fn each(bill: &Bill, unit: UnitCost) -> String {
    let [one, names] = match unit.unit {
        Unit::Operation => ["An operation", "operation"],
        Unit::Request => ["A request", "request"],
        Unit::Transaction => ["A transaction", "transaction"],
    };
    let most = bill.kinds.first().filter(|_| unit.files_ns > 0).map(|kind| {
        let part = kind.cost.part.middle() / bill.files.busy_share.middle().max(f64::MIN_POSITIVE);
        let place = kind.folder.as_ref().map(|path| format!(" in {}", folder(bill, path)));
        let doing = done(kind);
        format!(", {} of that {doing}{}", percent(part.min(1.0)), place.unwrap_or_default())
    });
    format!(
        " {one} takes {}{}, of which files {}{}; there were {}.",
        time(unit.busy_ns as f64),
        if was_idle(bill) { " of busy time" } else { "" },
        time(unit.files_ns as f64),
        most.unwrap_or_default(),
        counted(unit.count, names)
    )
}

/// What of the processor time is that of file calls.
fn of_file_calls(bill: &Bill) -> String {
    let taken = bill.files.divided.and_then(|divided| divided.processor_share);
    taken.map_or(String::new(), |taken| format!("; file calls take {} of both", share(taken)))
}

/// How the time in file calls is divided.
fn divided(files: &Cost) -> String {
    let Some(divided) = files.divided.filter(|_| files.calls > 0) else { return String::new() };
    let waited = divided.waited_ns as f64;
    let all = (waited + middle(divided.processor_ns)).max(1.0);
    let processor = percent(1.0 - waited / all);
    let time = if files.undivided() < NAMED {
        "Of the time in file calls".to_owned()
    } else {
        let unknown = percent(files.undivided());
        format!("io_uring took {unknown} of the time with files, and of the rest")
    };
    let Some(waited_for) = divided.waited_for else {
        return format!(
            " {time}, {processor} is processor time and {} is waiting, for a device, a lock or a \
             processor.",
            percent(waited / all)
        );
    };
    let parts =
        [format!("{processor} is processor time")].into_iter().chain(waits(waited_for, all));
    format!(" {time}, {}.", listed(&parts.collect::<Vec<_>>(), "and"))
}

/// `60% is waiting for a device`, the longest first.
fn waits(waited_for: WaitedFor, all: f64) -> Vec<String> {
    let mut parts = waited_for.all().map(|(wait, ns)| (ns as f64 / all, wait)).to_vec();
    parts.retain(|(part, _)| *part >= NAMED);
    parts.sort_by(|one, other| other.0.total_cmp(&one.0));
    let name = |(part, wait): (f64, Wait)| {
        let what = match wait {
            Wait::Device => "a device",
            Wait::Lock => "a lock",
            Wait::Pipe => "a pipe or socket",
            Wait::Processor => "a processor",
        };
        format!("{} is waiting for {what}", percent(part))
    };
    parts.into_iter().map(name).collect()
}

pub(super) fn middle(range: RangeNs) -> f64 {
    f64::midpoint(range.low as f64, range.high as f64)
}
