//! Places that a run makes for itself, and what a kill may leave of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The kernel takes some of it away a moment after the last process has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// One place of each kind, beside the directory itself.
pub(super) fn places(directory: &Path) -> Vec<String> {
    let here = directory.display();
    vec![
        format!("a={here}"),
        "b=tmpfs:256M".to_owned(),
        format!("c=image:ext4:256M@{here}"),
        "d=zram:256M".to_owned(),
        format!("e=overlay:{here}"),
    ]
}

/// Mounts, devices and folders of the machine that a run may have made.
pub(super) fn there() -> BTreeSet<String> {
    let names = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    };
    let text = |path: String| fs::read_to_string(path).unwrap_or_default();
    let is_made = |name: &String| {
        name.starts_with("zram")
            || text(format!("/sys/block/{name}/loop/backing_file")).contains("(deleted)")
    };
    let devices = names("/sys/block").filter(is_made);
    let folders = names("/run").filter(|name| name.starts_with(".iotoll-"));
    let mounts = text("/proc/self/mountinfo".to_owned());
    let mounts: Vec<String> = mounts.lines().map(str::to_owned).collect();
    devices.chain(folders).chain(mounts).collect()
}

/// What is there that was not before.
pub(super) fn left_since(before: &BTreeSet<String>) -> Vec<String> {
    let began = Instant::now();
    loop {
        let left: Vec<String> = there().difference(before).cloned().collect();
        if left.is_empty() || began.elapsed() > PATIENCE {
            return left;
        }
        sleep(Duration::from_millis(20));
    }
}
