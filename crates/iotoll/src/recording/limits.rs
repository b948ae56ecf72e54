//! Limits on a recording: `syncs > 3/op`, `write.bytes > 4KiB/op`, `sync.time > 1ms`.

use model::limit::Limited;
use report::recording::Figures;
use trace::{Bill, Kind, Missing, RangeNs, Unseen};
use units::{Judgement, Limit, Quantity, Range};

use crate::exit::{Exit, UsageError};
use crate::terminal::output;

/// The figures of all file calls, and of each kind.
const FIGURES: [(&str, Quantity); 7] = [
    ("calls", Quantity::Number),
    ("failed", Quantity::Number),
    ("bytes", Quantity::Size),
    ("read_bytes", Quantity::Size),
    ("written_bytes", Quantity::Size),
    ("time", Quantity::Time),
    ("longest", Quantity::Time),
];
/// Those of the whole recording.
const OF_ALL: [(&str, Quantity); 4] = [
    ("syncs", Quantity::Number),
    ("share", Quantity::Share),
    ("wall", Quantity::Time),
    ("cpu", Quantity::Time),
];

/// The limits of a recording, and how many operations it has.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) limits: &'a [Limit],
    pub(crate) operations: Option<f64>,
}

impl Limits<'_> {
    /// An error where a figure does not exist, or where operations are not known.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        self.limits.iter().try_for_each(|limit| {
            let wrong = |why: &str| UsageError(format!("--fail '{limit}': {why}"));
            let kind = kind(&limit.subject);
            if kind.is_none() && !limit.subject.is_empty() {
                let known = Kind::ALL.map(name).join(", ");
                let why =
                    format!("there is no kind `{}` of calls; there is {known}", limit.subject);
                return Err(wrong(&why));
            }
            let figures = || {
                let all = OF_ALL.iter().filter(|_| kind.is_none());
                FIGURES.iter().chain(all)
            };
            let Some((_, quantity)) = figures().find(|(name, _)| *name == limit.figure) else {
                let known: Vec<&str> = figures().map(|(name, _)| *name).collect();
                let figure = &limit.figure;
                let known = known.join(", ");
                return Err(wrong(&format!("there is no figure `{figure}`; there is {known}")));
            };
            if limit.per_operation && self.operations.is_none() {
                return Err(wrong("say how many operations the command does, as in --ops 300"));
            }
            limit.check(*quantity).map_err(|error| UsageError(error.to_string()))
        })
    }

    /// What became of each.
    pub(crate) fn judge(&self, bill: &Bill) -> Vec<Limited> {
        let limited = |limit: &Limit| {
            let (quantity, range) = figure(bill, limit)?;
            let operations = self.operations.filter(|_| limit.per_operation).unwrap_or(1.0);
            let each = |value: f64| value / operations;
            let high =
                if may_be_more(bill, &limit.figure) { f64::INFINITY } else { each(range.high) };
            let range = Range { value: each(range.value), low: each(range.low), high };
            Some(Limited {
                limit: limit.text.clone(),
                id: bill.header.program.clone(),
                figure: limit.figure.clone(),
                quantity,
                range: Some(range),
                judgement: limit.judge(range),
            })
        };
        self.limits.iter().filter_map(limited).collect()
    }
}

/// Whether the program may have come to more than was recorded.
fn may_be_more(bill: &Bill, figure: &str) -> bool {
    let of_calls = !["wall", "cpu"].contains(&figure);
    let of_reads = ["bytes", "read_bytes", "time", "share", "longest"].contains(&figure);
    bill.lost > 0
        || bill.cut_short
        || bill.bound.missing.iter().any(|missing| match missing {
            Missing::Lost => true,
            // All calls were seen.
            Missing::Locks => false,
            Missing::Programs => figure != "wall",
            Missing::IoUring | Missing::Calls | Missing::UnknownFiles => of_calls,
            // Pages that had to be read, where that was seen without their files.
            Missing::MappedPages => of_reads && bill.has_unseen(Unseen::MappedPages),
        })
}

/// How a recording ends that was judged so, with a note.
pub(crate) fn exit(limited: &[Limited]) -> Exit {
    let has = |judgement| limited.iter().any(|limited| limited.judgement == judgement);
    if has(Judgement::Missed) {
        output::note("a limit of --fail is missed");
        Exit::Slower
    } else if has(Judgement::Undecided) {
        output::note(
            "it is undecided whether a limit of --fail is missed: the report says what was not seen",
        );
        Exit::NoVerdict
    } else {
        Exit::Done
    }
}

fn name(kind: Kind) -> String {
    format!("{kind:?}").to_lowercase()
}

fn kind(text: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| name(*kind) == text)
}

fn figure(bill: &Bill, limit: &Limit) -> Option<(Quantity, Range)> {
    let of_kind = |kind: Kind| {
        let cost = bill.kinds.iter().find(|cost| cost.kind == kind);
        cost.map_or_else(Figures::default, |cost| Figures::of(&cost.cost))
    };
    let kind = kind(&limit.subject);
    let figures = kind.map_or_else(|| Figures::of(&bill.files), of_kind);
    let number = |number: u64| Range::exactly(number as f64);
    let time = |RangeNs { low, high }| Range {
        value: f64::midpoint(low as f64, high as f64),
        low: low as f64,
        high: high as f64,
    };
    let range = match limit.figure.as_str() {
        "calls" => number(figures.calls),
        "failed" => number(figures.failed),
        "bytes" => number(figures.bytes()),
        "read_bytes" => number(figures.read_bytes),
        "written_bytes" => number(figures.written_bytes),
        "time" => time(RangeNs { low: figures.time_low_ns, high: figures.time_high_ns }),
        "longest" => number(figures.longest_ns.unwrap_or_default()),
        "syncs" => number(of_kind(Kind::Sync).calls),
        "share" => Range {
            value: bill.files.share.middle(),
            low: bill.files.share.low,
            high: bill.files.share.high,
        },
        "wall" => time(bill.own_wall_ns),
        "cpu" => match (bill.user_ns, bill.system_ns) {
            (Some(user_ns), Some(system_ns)) => number(user_ns.saturating_add(system_ns)),
            _ => Range { value: 0.0, low: 0.0, high: f64::INFINITY },
        },
        _ => return None,
    };
    let known = FIGURES.iter().chain(&OF_ALL);
    let (_, quantity) = known.clone().find(|(name, _)| *name == limit.figure)?;
    Some((*quantity, range))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use trace::planted::Planted;
    use trace::{Op, TraceReader, bill_of};

    use super::*;

    /// Ten requests, each of two syncs and 300 bytes.
    fn bill() -> Bill {
        let mut planted = Planted::new("/srv");
        planted.open("app.log", 0o2101, 3);
        for _ in 0..10 {
            planted.moved(Op::Write, 3, 300, 1000);
            planted.on(Op::Fsync, 3, 1_000_000);
            planted.on(Op::Fdatasync, 3, 1_000_000);
        }
        let trace = planted.finish();
        bill_of(&mut TraceReader::new(trace.as_slice()).unwrap(), report::command_of).unwrap()
    }

    fn judged(limit: &str, bill: &Bill) -> Judgement {
        let limits = [limit.parse().unwrap()];
        let limits = Limits { limits: &limits, operations: Some(10.0) };
        limits.check().unwrap();
        limits.judge(bill)[0].judgement
    }

    #[test]
    fn counts_are_limited_in_all_and_per_operation() {
        let bill = bill();
        for (limit, expected) in [
            ("syncs > 20", Judgement::Met),
            ("syncs >= 20", Judgement::Missed),
            ("syncs > 2/op", Judgement::Met),
            ("syncs > 1/op", Judgement::Missed),
            ("sync.calls > 1/op", Judgement::Missed),
            ("written_bytes > 300/op", Judgement::Met),
            ("write.bytes > 299 B/op", Judgement::Missed),
            ("read.calls > 0", Judgement::Met),
            ("sync.time > 1ms/op", Judgement::Missed),
        ] {
            assert_eq!(judged(limit, &bill), expected, "{limit}");
        }
    }

    #[test]
    fn what_was_lost_may_have_been_too_much() {
        let mut bill = bill();
        bill.lost = 1;
        assert_eq!(judged("syncs > 2/op", &bill), Judgement::Undecided);
        assert_eq!(judged("syncs > 1/op", &bill), Judgement::Missed);
    }

    #[test]
    fn what_was_not_seen_may_have_been_too_much() {
        let judged_without = |missing, limit| {
            let mut bill = bill();
            bill.bound.missing = vec![missing];
            judged(limit, &bill)
        };
        for missing in [Missing::Programs, Missing::IoUring, Missing::Calls, Missing::UnknownFiles]
        {
            assert_eq!(judged_without(missing, "syncs > 2/op"), Judgement::Undecided);
            assert_eq!(judged_without(missing, "syncs > 1/op"), Judgement::Missed);
            assert_ne!(judged_without(missing, "wall > 1h"), Judgement::Undecided);
        }
        // Faults are no calls, and none was met.
        assert_eq!(judged_without(Missing::MappedPages, "syncs > 2/op"), Judgement::Met);
        assert_eq!(judged_without(Missing::MappedPages, "read_bytes > 0"), Judgement::Met);
    }

    #[test]
    fn what_does_not_exist_is_answered_with_what_does() {
        for (limit, expected) in [
            ("sincs > 3", "there is no figure `sincs`; there is calls, failed, bytes"),
            ("sync.syncs > 3", "there is no figure `syncs`"),
            ("fsync.calls > 3", "there is open, read, write, sync"),
            ("syncs > 3/op", "--ops 300"),
            ("syncs > 3ms", "without a unit"),
        ] {
            let limits = [limit.parse().unwrap()];
            let checked = Limits { limits: &limits, operations: None }.check();
            assert!(checked.unwrap_err().0.contains(expected), "{limit}");
        }
    }
}
