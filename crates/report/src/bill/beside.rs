//! What a bill does not have, and how far it can be trusted.

use anstyle::Style;
use trace::{Bill, Mechanism, OverheadNs, Unseen};
use units::{counted, counted_as, percent, time};

use crate::answer::labelled;
use crate::text::Width;

/// Time with files of the kernel is told from this share on.
const KERNEL: f64 = 0.005;
/// Exit statuses as wait(2) has them.
const SIGNALS: i32 = 0x7f;

pub(super) fn all(bill: &Bill, full: bool, width: Width) -> String {
    let bold = Style::new().bold();
    let notes = [
        unseen(bill).map(|text| ("Unseen", text)),
        recorder(bill).map(|text| ("Cost", text)),
        beside(bill).map(|text| ("Also", text)),
        container(bill).map(|text| ("Paths", text)),
        broken(bill).map(|text| ("Broken", text)),
        (!full)
            .then(|| ("More", "--full has every row and pattern, --json all figures.".to_owned())),
    ];
    let told = notes.into_iter().flatten().map(|(label, text)| labelled(label, bold, &text, width));
    format!("\n{}", told.collect::<String>())
}

/// What this recording does not have, counted where it can be; none where that is nothing.
fn unseen(bill: &Bill) -> Option<String> {
    let of = |kind: Unseen| {
        let found = bill.unseen.iter().find(|unseen| unseen.kind == kind);
        found.map_or(0, |unseen| unseen.count)
    };
    let met = |kind: Unseen, name: &str| match of(kind) {
        0 => String::new(),
        number => format!(" ({})", counted(number, name)),
    };
    let sees = bill.header.sees;
    let mut parts = Vec::new();
    if !sees.faults {
        let pages = met(Unseen::MappedPages, "page");
        parts.push(format!("Page faults of mapped files{pages} need no call and are not in this."));
    }
    if !sees.rings {
        let operations = met(Unseen::IoUring, "operation");
        parts.push(format!("Operations by io_uring{operations} need no call and are not in this."));
    }
    if of(Unseen::Namespaces) > 0 && bill.container.is_none() {
        parts.push(format!(
            "The program had other mounts than this machine ({}): names may mean other files, so no \
             command is given.",
            counted(of(Unseen::Namespaces), "time")
        ));
    }
    for (kind, name, what) in [
        (Unseen::Programs, "program", "could not be followed, as those with rights of their own"),
        (Unseen::Paths, "path", "could not be read"),
        (Unseen::Calls, "call", "acted on files in ways that the recorder does not know"),
    ] {
        if of(kind) > 0 {
            parts.push(format!("{} {what}.", counted(of(kind), name)));
        }
    }
    if bill.unknown.calls > 0 {
        parts.push(format!(
            "{} on descriptors of unknown files took {}.",
            counted(bill.unknown.calls, "call"),
            time(bill.unknown.summed_ns.high as f64)
        ));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn each(OverheadNs { low, high }: OverheadNs) -> String {
    let [low, high] = [low, high].map(|ns| time(ns as f64));
    if low == high { high } else { format!("{low} to {high}") }
}

/// What recorded it, and at what cost.
fn recorder(bill: &Bill) -> Option<String> {
    let by = match bill.header.mechanism {
        Mechanism::Ebpf => "eBPF",
        Mechanism::Preload => "a preloaded library",
        Mechanism::Ptrace => "ptrace",
        Mechanism::Planted => return None,
    };
    let overhead = each(bill.header.overhead_ns);
    let named = bill.header.named.map(|named| each(named.overhead_ns));
    let named = named.filter(|named| *named != overhead);
    let named = named.map_or_else(String::new, |named| format!(", one that names a file {named}"));
    let dispatched = bill.header.dispatch_ns.map_or_else(String::new, |ns| {
        format!(", one that the program or its C library makes by itself {} more", each(ns))
    });
    let process = bill.header.process_ns.zip(bill.header.program_ns);
    let started = process.map_or_else(String::new, |(process, program)| {
        let low = process.low.saturating_add(program.low);
        let high = process.high.saturating_add(program.high);
        format!(", starting a program {}", each(OverheadNs { low, high }))
    });
    let divided = if bill.header.sees_waiting {
        ""
    } else {
        " What of a call is waiting, and for whom, was not seen."
    };
    Some(format!(
        "Recorded by {by}, each call took {overhead} longer{named}{dispatched}{started}; that is taken out, as \
         far as it is known.{divided}"
    ))
}

fn beside(bill: &Bill) -> Option<String> {
    // Threads may be in both at once.
    let share = bill.kernel_files.busy_share.high.min(1.0 - bill.files.busy_share.low);
    (share >= KERNEL && !bill.too_coarse).then(|| {
        format!(
            "{} with files of the kernel and devices (/proc, /sys, /dev), which nobody can move.",
            percent(share)
        )
    })
}

/// Whose files they are.
fn container(bill: &Bill) -> Option<String> {
    let container = bill.container.as_ref()?;
    let own = format!("process {}", container.process);
    let name = if container.name == own { String::new() } else { format!("{}, ", container.name) };
    Some(format!(
        "They are this machine's for the files of {name}{own}; those in /proc/{}/root are there while \
         it runs.",
        container.process
    ))
}

/// What went wrong with the recording or in it.
fn broken(bill: &Bill) -> Option<String> {
    let mut parts = Vec::new();
    if bill.cut_short {
        parts.push("The recording was cut short; this is what it has until then.".to_owned());
    }
    if bill.lost > 0 {
        parts.push(format!(
            "{} could not be kept: all sums are too small by them, and the trace cannot be \
             replayed.",
            counted_as(bill.lost, "entry", "entries")
        ));
    }
    match bill.status {
        Some(0) | None => {}
        Some(status) if status & SIGNALS == 0 => {
            parts.push(format!("The command ended with exit status {}.", status >> 8 & 0xff));
        }
        Some(status) => {
            parts.push(format!("The command was ended by signal {}.", status & SIGNALS));
        }
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}
