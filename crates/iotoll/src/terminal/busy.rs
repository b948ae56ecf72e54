//! How busy the devices behind places are, from the counters that `/proc/diskstats` has, too.

use std::time::{Duration, Instant};

use host::disks::DeviceReader;
use host::root::Root;
use model::place::{PlaceFacts, StorageKind};

/// A shorter time says little: the kernel counts milliseconds.
const EVERY_MIN: Duration = Duration::from_millis(400);

/// The devices of places, and how busy they were lately.
#[derive(Default)]
pub(crate) struct BusyDevices {
    devices: Vec<Device>,
    /// When they were read last.
    read: Option<Instant>,
    shown: String,
}

struct Device {
    label: String,
    reader: DeviceReader,
    busy_ns: u64,
}

impl BusyDevices {
    /// Those whose counters can be read.
    pub(crate) fn of(places: &[PlaceFacts]) -> Self {
        let device = |place: &PlaceFacts| {
            let reader = DeviceReader::new(&Root::real(), place).ok()?;
            let busy_ns = reader.read().ok()?.busy_ns;
            Some(Device { label: place.label.clone(), reader, busy_ns })
        };
        let on_disk = places.iter().filter(|place| place.kind != StorageKind::Memory);
        let devices = on_disk.filter_map(device).collect();
        Self { devices, read: Some(Instant::now()), shown: String::new() }
    }

    /// `busy: disk 43%`, of the time since it was read last.
    pub(crate) fn busy(&mut self) -> String {
        let since = self.read.map(|read| read.elapsed()).filter(|since| *since >= EVERY_MIN);
        if let Some(since) = since {
            self.read = Some(Instant::now());
            let shares: Vec<String> = self.devices.iter_mut().map(|one| one.text(since)).collect();
            self.shown = match shares.as_slice() {
                [] => String::new(),
                shares => format!("busy: {}", shares.join(", ")),
            };
        }
        self.shown.clone()
    }
}

impl Device {
    fn text(&mut self, since: Duration) -> String {
        let Ok(counters) = self.reader.read() else { return format!("{} ?", self.label) };
        let busy_ns = counters.busy_ns.saturating_sub(self.busy_ns);
        self.busy_ns = counters.busy_ns;
        // A place on several devices has the time of all of them.
        let share = (busy_ns as f64 / since.as_nanos() as f64).min(1.0);
        format!("{} {:.0}%", self.label, share * 100.0)
    }
}
