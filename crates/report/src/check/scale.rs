//! Where a place's sync lies among kinds of storage, on a line from the fastest to the slowest.

use model::check::{KindOfStorage, Measure, PlaceCheck};
use units::{listed, time};

use crate::text::{Width, paragraph};

/// The line's length, from 10 µs to 100 ms.
const COLUMNS: usize = 24;
const FROM_NS: f64 = 1e4;
const DECADES: f64 = 4.0;

pub(super) fn text(place: &PlaceCheck, width: Width) -> String {
    let sync = place.of(Measure::Fdatasync).and_then(|sync| sync.p50_ns);
    let Some(sync) = sync.filter(|_| !place.kinds.is_empty()) else { return String::new() };
    let mut line: Vec<char> = vec!['·'; COLUMNS];
    line[column(sync.estimate)] = '▓';
    let line: String = line.into_iter().collect();
    let mut kinds: Vec<&KindOfStorage> = place.kinds.iter().collect();
    kinds.sort_by(|a, b| a.sync_ns[0].total_cmp(&b.sync_ns[0]));
    let published: Vec<String> = kinds.iter().map(|kind| range(kind)).collect();
    let alike: Vec<&str> =
        place.kinds.iter().filter(|kind| kind.holds).map(|kind| kind.kind.as_str()).collect();
    let which = if alike.is_empty() {
        "like none of these".to_owned()
    } else {
        format!("like {}", listed(&alike, "or"))
    };
    let text = format!("10 µs {line} 100 ms  a sync of {}: {which}", time(sync.estimate));
    let mut out = paragraph("  ", "    ", &text, width);
    out += &paragraph("    ", "    ", &format!("published: {}", published.join(" · ")), width);
    out
}

fn column(ns: f64) -> usize {
    let share = (ns.max(1.0) / FROM_NS).log10() / DECADES;
    ((share * COLUMNS as f64) as usize).min(COLUMNS - 1)
}

/// `NVMe without it 0.89–5.6 ms`.
fn range(kind: &KindOfStorage) -> String {
    let [low, high] = kind.sync_ns;
    if (high - low).abs() < 1.0 {
        return format!("{} {}", kind.kind, time(low));
    }
    format!("{} {} to {}", kind.kind, time(low), time(high))
}
