//! What explains the figures of a place, each with the readings that show it, and what to try.

use model::check::{Measure, Measured, PlaceCheck, Reason};
use model::counters::sum;
use model::noise::{NoiseCode, NoiseSource};
use model::place::{DeviceLayer, PlaceFacts, StorageKind};
use model::slice::Slice;
use model::spent::DeviceTraffic;
use stats::change_points;
use units::{counted, percent, rough_size, time};

use super::Subject;

/// A sync is most of a synced write from this share on.
const FLUSH_SHARE: f64 = 0.5;
/// fsync(2) takes longer than fdatasync(2) if it takes this many times as long.
const JOURNAL_RATIO: f64 = 1.25;
/// A synced append of 4 KiB writes more than its data from this size on.
const APPEND_BYTES: u64 = 12 << 10;
/// Syncs reach the device as flushes if at least this share of them does.
const FLUSHED: f64 = 0.5;
/// A level has dropped if operations take this many times as long afterwards.
const DROP: f64 = 1.3;
/// A file system is nearly full with less than this share free.
const FREE_SHARE: f64 = 0.1;
/// Free space is in small pieces below this size.
const PIECE_BYTES: u64 = 256 << 10;

/// What is known of one place.
struct Look<'a> {
    subject: &'a Subject<'a>,
    facts: &'a PlaceFacts,
    found: &'a PlaceCheck,
}

/// The reasons, the most telling first.
pub(super) fn of(subject: &Subject<'_>, place: usize, found: &PlaceCheck) -> Vec<Reason> {
    let facts = &subject.run.places[place];
    let look = Look { subject, facts, found };
    if facts.kind == StorageKind::Memory {
        return vec![look.memory()];
    }
    let mut reasons: Vec<Reason> = Vec::new();
    reasons.extend(look.throttled());
    reasons.extend(look.level_drops());
    reasons.extend(look.flush());
    reasons.extend(look.journal());
    reasons.extend(look.queue());
    reasons.extend(look.mount_options());
    reasons.extend(look.space());
    reasons.extend(look.others());
    reasons.extend(look.gentle());
    reasons
}

fn reason(code: &str, text: String, try_this: &[&str]) -> Reason {
    let try_this = try_this.iter().map(ToString::to_string).collect();
    Reason { code: code.to_owned(), text, try_this }
}

/// What a synced append of 4 KiB takes beside its data, from the times of both syncs and what the
/// device wrote for each.
fn beside_data(
    fsync_ns: f64,
    fdatasync_ns: f64,
    written_bytes: Option<u64>,
    journal: Option<bool>,
) -> Option<String> {
    let longer = (fsync_ns >= JOURNAL_RATIO * fdatasync_ns).then(|| {
        format!("fsync takes {} where fdatasync takes {}", time(fsync_ns), time(fdatasync_ns))
    });
    let writes = written_bytes.filter(|bytes| *bytes >= APPEND_BYTES).map(|bytes| {
        format!("a synced append of 4 KiB writes {} to the device", rough_size(bytes))
    });
    let what: Vec<String> = writes.into_iter().chain(longer).collect();
    let rest = match journal {
        Some(true) => "the file system's journal",
        Some(false) | None => "the file's metadata",
    };
    (!what.is_empty()).then(|| format!("{}: the rest is {rest}.", what.join(", and ")))
}

impl Look<'_> {
    fn memory(&self) -> Reason {
        let text = format!(
            "{} keeps its files in memory. A sync does nothing there and returns at once, so its \
             times mean nothing: a reboot or a power failure takes all files.",
            self.facts.filesystem
        );
        reason("memory", text, &["iotoll check DIRECTORY ON A DISK"])
    }

    /// What the slices of an arm spent on the devices.
    fn device(&self, measured: &Measured) -> Option<DeviceTraffic> {
        let slices = self.subject.run.slices_of(measured.arm);
        let traffic: Option<Vec<DeviceTraffic>> = slices.map(|slice| slice.spent.device).collect();
        traffic.filter(|traffic| !traffic.is_empty()).map(sum)
    }

    /// Whether the time of a synced write is the flush of the device's cache.
    fn flush(&self) -> Option<Reason> {
        let synced = self.found.of(Measure::Fdatasync)?;
        let (sync, whole) = (synced.p50_ns?.estimate, synced.time_per_op_ns?.estimate);
        let share = (sync / whole).min(1.0);
        if share < FLUSH_SHARE {
            return None;
        }
        let of = format!("the sync is {} of a synced write", percent(share));
        let caches: Vec<&str> =
            self.facts.bottom_devices().filter_map(|d| d.write_cache.as_deref()).collect();
        let device = self.device(synced);
        let flushes = device.and_then(|device| device.flushes);
        let each = flushes.map(|flushes| flushes as f64 / synced.operations.max(1) as f64);
        let text = match (each, caches.first()) {
            (Some(each), Some(&"write back")) if each >= FLUSHED => format!(
                "{of}. The device has a cache that loses its contents with the power, and flushes \
                 it for each sync, in {} at the median.{}",
                time(sync),
                self.who_answers(sync)
            ),
            (Some(each), Some(&"write back")) => format!(
                "{of}. The device has a cache that loses its contents with the power, but only \
                 {} of 100 syncs reached it as a flush: the others wrote through it (FUA) or were \
                 not passed on.",
                (100.0 * each).round()
            ),
            (_, Some(&"write through")) => format!(
                "{of}. The device says that it has no cache to flush (write through), so a sync \
                 is a write and its answer."
            ),
            _ => format!("{of}. What the devices below do for a sync cannot be read here."),
        };
        Some(reason(
            "flush",
            text,
            &["iotoll compare --study sqlite    # fewer syncs for the same work"],
        ))
    }

    /// On a virtual machine, who says that a flush is done cannot be seen.
    fn who_answers(&self, sync_ns: f64) -> &'static str {
        let is_virtual = self.subject.run.watch.before.virtual_machine == Some(true);
        if !is_virtual || sync_ns > 800e3 {
            return "";
        }
        " A virtual disk answered: whether its host has the data on storage that outlasts a power \
         failure, or in its own cache, cannot be seen from here; ask who runs it."
    }

    /// What a synced append takes beside its data: metadata, in the journal where there is one.
    fn journal(&self) -> Option<Reason> {
        let [fsync, fdatasync] = [Measure::Fsync, Measure::Fdatasync]
            .map(|measure| self.found.of(measure).and_then(|m| m.p50_ns).map(|p50| p50.estimate));
        let (fsync, fdatasync) = (fsync?, fdatasync?);
        let text = beside_data(fsync, fdatasync, self.written_by_append(), self.facts.journal)?;
        let try_this = ["allocate files before use, and call fdatasync(2): their size then stays"];
        Some(reason("journal", text, &try_this))
    }

    /// What the device wrote for each synced append in the quietest slice; nothing where other
    /// programs wrote meanwhile, as its counters are everybody's.
    fn written_by_append(&self) -> Option<u64> {
        if self.others().is_some() {
            return None;
        }
        let slices = self.subject.run.slices_of(self.found.of(Measure::Fdatasync)?.arm);
        let written = slices.map(|s| Some(s.spent.device?.written_bytes / s.operations.max(1)));
        written.collect::<Option<Vec<_>>>()?.into_iter().min()
    }

    /// Whether more reads at a time get more done.
    fn queue(&self) -> Option<Reason> {
        let most = self.found.reads_at_most?;
        let one = self.found.of(Measure::Read)?.time_per_op_ns?.estimate;
        let times = most.per_second * one / 1e9;
        if most.depth == 1 {
            let text = "more reads at a time are no more reads a second: requests wait for each \
                        other, in a queue or for a limit."
                .to_owned();
            return Some(reason("queue", text, &["cat /sys/block/DEVICE/queue/scheduler"]));
        }
        let text = format!(
            "{} at a time are {times:.1} times as many as one after the other.",
            counted(most.depth, "read")
        );
        Some(reason("queue", text, &[]))
    }

    /// A control group's limit on a device of the place that held the run up.
    fn throttled(&self) -> Option<Reason> {
        let watch = &self.subject.run.watch;
        let limit = watch.before.limits.io.or(watch.after.limits.io)?;
        let is_it = |layer: &&DeviceLayer| (layer.major, layer.minor) == (limit.major, limit.minor);
        let device = self.facts.devices.iter().find(is_it)?;
        let is_limit = |source: &&NoiseSource| source.code == NoiseCode::IoLimit;
        let found = self.subject.noise.sources.iter().find(is_limit)?;
        let text = format!("throttled at {}: {}", device.name, found.text);
        let try_this = [
            "cat /sys/fs/cgroup/$(cut -d: -f3 /proc/self/cgroup)/io.max",
            "systemctl show -p IOReadBandwidthMax -p IOWriteBandwidthMax UNIT",
        ];
        Some(reason("throttled", text, &try_this))
    }

    /// A level that drops for good, as where burst credits run out.
    fn level_drops(&self) -> Option<Reason> {
        let measures = [Measure::WriteSequential, Measure::ReadSequential, Measure::Fdatasync];
        let drops = measures.into_iter().filter_map(|measure| {
            let arm = self.found.of(measure)?.arm;
            let slices: Vec<&Slice> = self.subject.run.slices_of(arm).collect();
            let times: Vec<f64> = slices.iter().map(|slice| slice.time_per_op_ns().ln()).collect();
            let change = change_points(&times).into_iter().next_back()?;
            let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
            let more = (mean(&times[change.at..]) - mean(&times[..change.at])).exp();
            (more >= DROP).then_some((measure, slices[change.at], more))
        });
        let (measure, slice, more) = drops.max_by(|(.., a), (.., b)| a.total_cmp(b))?;
        let (bytes, seconds) = self.before(slice);
        let what = match measure {
            Measure::WriteSequential => "writes in order",
            Measure::ReadSequential => "reads in order",
            _ => "syncs",
        };
        let text = format!(
            "{what} take {more:.1} times as long after {} and some {seconds:.0} s, and it stays so: \
             a burst that was used up (credits of a cloud volume, an SSD's fast cache), or \
             another program that began then.",
            rough_size(bytes)
        );
        let try_this = ["iotoll check --budget 10min PLACE    # the level that lasts"];
        Some(reason("level-drops", text, &try_this))
    }

    /// What the place's devices moved before a slice, and about when that was.
    fn before(&self, slice: &Slice) -> (u64, f64) {
        let run = self.subject.run;
        let earlier = run.slices.iter().take_while(|one| !std::ptr::eq(*one, slice));
        let here = earlier
            .filter(|one| run.places[run.plan.arms[one.arm].place].label == self.facts.label);
        let moved = here.filter_map(|one| one.spent.device);
        let bytes = moved.map(|device| device.read_bytes + device.written_bytes).sum();
        let stretch = slice.stretch.unwrap_or(0) as f64;
        (bytes, run.run.seconds * stretch / stats::STRETCHES as f64)
    }

    /// Options that cost time, or that take promises back.
    fn mount_options(&self) -> Option<Reason> {
        let known = [
            ("nobarrier", "takes back what a sync promises: the device is not flushed"),
            ("barrier=0", "takes back what a sync promises: the device is not flushed"),
            ("sync", "has every write wait for the device"),
            ("dirsync", "has every change of a name wait for the device"),
            ("data=journal", "writes all data twice, to the journal first"),
            ("discard", "frees blocks on the device while files are removed"),
            ("strictatime", "writes a time for each read"),
        ];
        let has = |name: &str| self.facts.mount_options.iter().any(|option| option == name);
        let found: Vec<String> = known
            .iter()
            .filter(|(name, _)| has(name))
            .map(|(name, does)| format!("`{name}` {does}"))
            .collect();
        let text = format!("mount options: {}.", found.join("; "));
        let try_this = ["findmnt -T PLACE", "systemctl enable --now fstrim.timer    # not discard"];
        let wanted = if has("discard") { &try_this[..] } else { &try_this[..1] };
        (!found.is_empty()).then(|| reason("mount-options", text, wanted))
    }

    /// A file system that is nearly full, or whose free space is in small pieces.
    fn space(&self) -> Option<Reason> {
        let PlaceFacts { free_bytes, total_bytes, free_pieces, .. } = self.facts;
        let free = *free_bytes as f64 / (*total_bytes).max(1) as f64;
        if *total_bytes > 0 && free < FREE_SHARE {
            let text = format!(
                "only {} of {} are free: file systems and SSDs slow down when they are full.",
                rough_size(*free_bytes),
                rough_size(*total_bytes)
            );
            return Some(reason("full", text, &["df -h PLACE", "fstrim -v MOUNT_POINT"]));
        }
        let mean = free_pieces.filter(|p| p.pieces > 1).map(|pieces| pieces.mean_bytes())?;
        let text = format!(
            "free space is in pieces of {} on average: an aged file system, whose files lie all \
             over the device.",
            rough_size(mean)
        );
        (mean < PIECE_BYTES).then(|| reason("aged", text, &["filefrag FILE", "e2freefrag DEVICE"]))
    }

    /// What a gentle check did to others.
    fn gentle(&self) -> Option<Reason> {
        let run = self.subject.run;
        if !run.plan.gentle {
            return None;
        }
        let seconds = run.run.seconds.max(1.0);
        let syncs: u64 = run.slices.iter().map(|slice| slice.spent.sync_calls).sum();
        let busy: u64 = run.slices.iter().map(|slice| slice.spent.elapsed_ns).sum();
        let pressure: Option<u64> =
            run.slices.iter().map(|slice| Some(slice.surroundings.pressure?.io_some_ns)).sum();
        let waited = pressure.map_or_else(
            || "how long others waited for storage cannot be read here".to_owned(),
            |ns| {
                format!("meanwhile, some program waited for storage (PSI) for {}", time(ns as f64))
            },
        );
        let text = format!(
            "gentle: {:.1} syncs a second on average, and busy with storage for {} in {:.0} s; \
             {waited}.",
            syncs as f64 / seconds,
            time(busy as f64),
            run.run.seconds
        );
        Some(reason("gentle", text, &[]))
    }

    /// What other programs did meanwhile.
    fn others(&self) -> Option<Reason> {
        let is_storage =
            |code| matches!(code, NoiseCode::BackgroundWrites | NoiseCode::PlaceNeighbour);
        let found = self.subject.noise.sources.iter().find(|source| is_storage(source.code))?;
        Some(reason("others", found.text.clone(), &["iotop -oPa", "pidstat -d 5"]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_takes_time_only_where_there_is_one_and_the_times_differ() {
        let says = |fsync, written, journal| beside_data(fsync, 4e6, written, journal);
        assert_eq!(says(4e6, None, Some(true)), None);
        assert_eq!(says(4e6, Some(8 << 10), Some(true)), None);
        let text = says(4e6, Some(16 << 10), Some(true)).unwrap_or_default();
        assert!(text.contains("journal") && !text.contains("fsync takes"), "{text}");
        let text = says(8e6, None, Some(false)).unwrap_or_default();
        assert!(text.contains("where fdatasync takes 4.00 ms: the rest is"), "{text}");
        assert!(!text.contains("journal") && !text.contains("append"), "{text}");
    }
}
