//! What each place takes for one thing at a time: of one place in full, of several side by side.

use model::check::{Measure, Measured, PlaceCheck, Range, ReadsAtMost};
use units::{count, rough_size, time, two_digits};

use super::Shown;
use crate::columns::{Cell, Table};
use crate::text::paragraph;

/// What is shown, in this order.
const ROWS: [Measure; 6] = [
    Measure::Fsync,
    Measure::Fdatasync,
    Measure::Replace,
    Measure::Read,
    Measure::ReadSequential,
    Measure::WriteSequential,
];
/// From so many times on, most of what is measured never reaches the device.
const FAR: f64 = 10.0;

/// What a measure is called.
pub(super) fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Fsync => "fsync of an append",
        Measure::Fdatasync => "fdatasync of it",
        Measure::Append => "append, not synced",
        Measure::Replace => "replace, synced",
        Measure::ReplaceCached => "replace a file",
        Measure::Read => "random read 4 KiB",
        Measure::ReadCached => "random read, cached",
        Measure::ReadSequential => "sequential read",
        Measure::ReadSequentialCached => "sequential read, cached",
        Measure::WriteSequential => "sequential write",
        Measure::WriteSequentialCached => "sequential write, cached",
        Measure::Program => "commit of a program",
    }
}

pub(super) fn text(shown: Shown<'_>) -> String {
    match shown.check.places.as_slice() {
        [place] => of_one(place, shown),
        places => side_by_side(places, shown),
    }
}

fn of_one(place: &PlaceCheck, shown: Shown<'_>) -> String {
    let (table, beside) = table(place, true);
    let (table, beside) =
        if table.width() > shown.width { self::table(place, false) } else { (table, beside) };
    let mut out = table.flush();
    for text in beside {
        out += &paragraph("", "  ", &text, shown.width);
    }
    out + &growth(place, shown)
}

/// The rows, and what could not be measured; with how many times as long as the cache each takes
/// where there is room for that.
fn table(place: &PlaceCheck, with_times: bool) -> (Table, Vec<String>) {
    let heads = ["", "median", "p99", "p99.9", "cached"];
    let mut table = Table::new(heads.map(Cell::new));
    let mut beside = Vec::new();
    for measure in ROWS {
        let Some(measured) = place.of(measure) else { continue };
        let cached = measure.cached().and_then(|cached| place.of(cached));
        if let Some(failure) = &measured.failure {
            beside.push(format!("{}: not measured: {failure}", name(measure)));
            continue;
        }
        let [median, p99, p999] = match measure.bytes_per_operation() {
            Some(_) => [rate(measured), String::new(), String::new()],
            None => [
                measured.p50_ns.map_or_else(String::new, |r| time(r.estimate)),
                with_interval(measured.p99_ns),
                at_least(measured.p999_ns),
            ],
        };
        let cached =
            cached.map_or_else(String::new, |cached| compared(measured, cached, with_times));
        table.add_row([name(measure).to_owned(), median, p99, p999, cached].map(Cell::new));
    }
    (table, beside)
}

/// How many reads a second, one at a time and where they stop growing; and what the cache hides.
fn growth(place: &PlaceCheck, shown: Shown<'_>) -> String {
    let Some(one) = place.of(Measure::Read).and_then(|read| read.time_per_op_ns) else {
        return String::new();
    };
    let single = count((1e9 / one.estimate) as u64);
    let mut text = format!("Reads of 4 KiB: {single} a second one at a time");
    if let Some(ReadsAtMost { depth, per_second, grows }) = place.reads_at_most
        && depth > 1
    {
        let still = if grows { ", and still growing" } else { ", no more beyond" };
        text += &format!(", {} with {depth} at a time{still}", count(per_second as u64));
    }
    let cached = place.of(Measure::ReadCached).and_then(|cached| cached.time_per_op_ns);
    if let Some(times) = cached.map(|cached| one.estimate / cached.estimate)
        && times >= FAR
        && !place.in_memory
    {
        text += &format!(
            "; from the page cache {} times less, so what is in memory never reaches the device",
            two_digits(times)
        );
    }
    paragraph("", "  ", &(text + "."), shown.width)
}

fn side_by_side(places: &[PlaceCheck], shown: Shown<'_>) -> String {
    let heads = places.iter().map(|place| format!("{}, p99", place.place));
    let mut table = Table::new(std::iter::once(String::new()).chain(heads).map(Cell::new));
    for measure in ROWS {
        let cells = places.iter().map(|place| match place.of(measure) {
            Some(measured) if measured.failure.is_some() => "–".to_owned(),
            Some(measured) if measure.bytes_per_operation().is_some() => rate(measured),
            Some(measured) => {
                let median = measured.p50_ns.map_or_else(String::new, |r| time(r.estimate));
                let p99 = measured.p99_ns.map_or_else(String::new, |r| time(r.estimate));
                format!("{median}, {p99}")
            }
            None => String::new(),
        });
        let cells = std::iter::once(name(measure).to_owned()).chain(cells);
        table.add_row(cells.map(Cell::new));
    }
    let mut out = table.flush();
    for place in places {
        let failed =
            place.measured.iter().filter_map(|m| Some((m.of.measure, m.failure.as_ref()?)));
        for (measure, failure) in failed {
            let text = format!("{}: {} not measured: {failure}", place.place, name(measure));
            out += &paragraph("", "  ", &text, shown.width);
        }
    }
    out
}

/// `780 MB/s (720–810)`.
fn rate(measured: &Measured) -> String {
    let bytes = measured.of.measure.bytes_per_operation().unwrap_or_default() as f64;
    let Some(time) = measured.time_per_op_ns else { return String::new() };
    format!("{}/s", rough_size((bytes * 1e9 / time.estimate) as u64))
}

/// `4.0 ms (3.1–5.2)`.
pub(super) fn with_interval(range: Option<Range>) -> String {
    let Some(Range { estimate, low, high }) = range else { return String::new() };
    let shown = time(estimate);
    let unit_ns = match shown.rsplit_once(' ').map(|(_, unit)| unit) {
        Some("ns") => 1.0,
        Some("µs") => 1e3,
        Some("ms") => 1e6,
        _ => 1e9,
    };
    let in_unit = |ns: f64| two_digits(ns / unit_ns);
    match high {
        Some(high) => format!("{shown} ({}–{})", in_unit(low), in_unit(high)),
        None if low <= 0.0 => format!("{shown} (too few)"),
        None => format!("{shown} ({} or more)", in_unit(low)),
    }
}

/// Of a quantile that few values are beyond: the interval, or what it is at the least.
fn at_least(range: Option<Range>) -> String {
    match range {
        Some(Range { low, high: None, .. }) if low > 0.0 => format!("≥ {}", time(low)),
        Some(Range { high: None, .. }) => String::new(),
        range => with_interval(range),
    }
}

/// `1.2 µs, 63× less`.
fn compared(measured: &Measured, cached: &Measured, with_times: bool) -> String {
    let (Some(own), Some(other)) = (measured.time_per_op_ns, cached.time_per_op_ns) else {
        return String::new();
    };
    let shown = match cached.of.measure.bytes_per_operation() {
        Some(_) => rate(cached),
        None => time(other.estimate),
    };
    let times = own.estimate / other.estimate;
    if times < 1.05 || !with_times { shown } else { format!("{shown}, {}×", two_digits(times)) }
}
