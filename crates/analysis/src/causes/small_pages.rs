//! Small pages: one of two places holds its files in pages of 4 KiB, the other in larger
//! ones (large folios of the page cache, huge pages of a tmpfs). Each page of a read or a
//! write is looked up, locked and counted by itself, so that the same bytes cost more in
//! small ones.
//!
//! Rests on what a page cost at either place before the run, and on what is known of the
//! pages: from the kernel, where it shows them, or from the mount's options.

use std::collections::BTreeMap;

use super::parts::{PAGE_BYTES, PageWork, moving_ns};
use super::side::Side;
use crate::totals::ArmTotals;
use model::cause::{Cause, CauseCode, Scope};
use model::place::PlaceFacts;
use model::run::PlaceFloor;
use units::{capitalised, time};

/// A page must cost so many times the other place's.
const DEARER_MIN: f64 = 1.25;
/// Where most of what a place holds is part of larger pages, its pages are not small.
const LARGE_MIN: f64 = 0.5;

/// What small pages at one of the places explain of how much longer an operation's copying
/// takes there, in nanoseconds per operation (negative where the other place takes less),
/// and in words; nothing where there are none, or they cost no more.
pub(super) fn between(base: Side, other: Side, copying_ns_per_op: f64) -> Option<(f64, Cause)> {
    let moving = |side: Side| Some(side.totals.ns_per_op(moving_ns(side.totals)?));
    let (base_ns, other_ns) = (moving(base)?, moving(other)?);
    let expected_ns_per_op = other_ns - base_ns;
    let (small, large) = if expected_ns_per_op > 0.0 { (other, base) } else { (base, other) };
    let dearer = base_ns.max(other_ns) >= base_ns.min(other_ns) * DEARER_MIN;
    let agree = expected_ns_per_op * copying_ns_per_op > 0.0;
    let holds = has_small_pages(small.totals)? && has_small_pages(large.totals) != Some(true);
    if !(dearer && agree && holds && by_size(small.totals)?) {
        return None;
    }
    let apart_ns_per_op = (other.undisturbed_ns_per_op() - base.undisturbed_ns_per_op()).abs();
    let explained = expected_ns_per_op.abs().min(copying_ns_per_op.abs()).min(apart_ns_per_op);
    let explained_ns_per_op = explained.copysign(expected_ns_per_op);
    let cause = Cause {
        code: CauseCode::SmallPages,
        scope: Scope::Arm,
        evidence: evidence(base, other, explained_ns_per_op),
        text: text(small, large, explained)?,
    };
    Some((explained_ns_per_op, cause))
}

/// Whether what a page costs can be put down to its size. What a file system on a device does
/// for each page that is written or freed (finding room, checksums) may be anything; a read
/// from the cache and a tmpfs have nothing else to do.
fn by_size(totals: &ArmTotals) -> Option<bool> {
    let is_tmpfs = totals.place.as_ref()?.filesystem == "tmpfs";
    Some(is_tmpfs || main_work(totals)? == PageWork::Reading)
}

/// What most of the time goes into that pages take.
fn main_work(totals: &ArmTotals) -> Option<PageWork> {
    let ns = |work: &PageWork| work.ns(totals).unwrap_or_default();
    PageWork::ALL.into_iter().max_by(|a, b| ns(a).total_cmp(&ns(b)))
}

/// Whether an arm's place holds its files in small pages; nothing where that is not known.
pub(super) fn has_small_pages(totals: &ArmTotals) -> Option<bool> {
    if let Some(large) = totals.place_floor.and_then(|floor| floor.large_share) {
        return Some(large < LARGE_MIN);
    }
    let place = totals.place.as_ref().filter(|place| place.filesystem == "tmpfs")?;
    Some(huge_option(place).is_none_or(|huge| matches!(huge, "never" | "deny")))
}

/// What a tmpfs was mounted with, unless it is the default, which is none.
fn huge_option(place: &PlaceFacts) -> Option<&str> {
    place.mount_options.iter().find_map(|option| option.strip_prefix("huge="))
}

fn evidence(base: Side, other: Side, explained_ns_per_op: f64) -> BTreeMap<String, f64> {
    let mut evidence = BTreeMap::from([("explained_ns_per_op".to_owned(), explained_ns_per_op)]);
    for (name, side) in [("base", base), ("other", other)] {
        let mut put = |figure: &str, value: f64| evidence.insert(format!("{name}_{figure}"), value);
        let Some(floor) = side.totals.place_floor else { continue };
        put("cached_read_ns_per_page", floor.read_ns_per_page);
        put("cached_write_ns_per_page", floor.write_ns_per_page);
        put("cached_free_ns_per_page", floor.free_ns_per_page);
        let moved_bytes = side.totals.moved_bytes().unwrap_or_default();
        put("pages_per_op", side.totals.per_op(moved_bytes / PAGE_BYTES));
        if let Some(large) = floor.large_share {
            put("large_pages_percent", large * 100.0);
        }
    }
    evidence
}

fn text(small: Side, large: Side, explained_ns_per_op: f64) -> Option<String> {
    let [small_floor, large_floor] = [small, large].map(|side| side.totals.place_floor);
    let work = main_work(small.totals)?;
    let doing = match work {
        PageWork::Reading => "reading",
        PageWork::Writing => "writing",
        PageWork::Freeing => "freeing",
    };
    let ns = |floor: Option<PlaceFloor>| Some(time(work.ns_per_page(floor.as_ref()?)));
    let place = small.totals.place.as_ref()?;
    let mounted = match huge_option(place) {
        _ if place.filesystem != "tmpfs" => place.filesystem.clone(),
        None => "tmpfs, mounted without huge=".to_owned(),
        Some(huge) => format!("tmpfs, mounted with huge={huge}"),
    };
    Some(capitalised(&format!(
        "{}, files are held in pages of 4 KiB ({mounted}), {}{} in larger ones: {doing} a cached \
         page takes {} instead of {}, which accounts for up to {} per {}.",
        small.label,
        large.label,
        if has_small_pages(large.totals).is_some() { "" } else { ", it seems," },
        ns(small_floor)?,
        ns(large_floor)?,
        time(explained_ns_per_op),
        small.totals.operation,
    )))
}
