//! Places that a run makes for itself, and what a kill may leave of them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;

/// The kernel takes some of it away a moment after the last process has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// The file systems of the image, each in its turn, with a size that it can have.
const IMAGES: [&str; 3] = ["ext4:256M", "xfs:300M", "btrfs:256M"];

/// One place of each kind, and the directory itself.
pub(super) fn places(directory: &Path, number: u64) -> Vec<String> {
    let here = directory.display();
    let image = IMAGES[number as usize % IMAGES.len()];
    vec![
        format!("a={here}"),
        "b=tmpfs:256M".to_owned(),
        format!("c=image:{image}@{here}"),
        "d=zram:256M".to_owned(),
        format!("e=overlay:{here}"),
    ]
}

/// The right to make places while nobody else does, as the tests take it, too: they look at
/// devices that all share.
pub(super) fn turn() -> Result<File> {
    let turn = File::create(std::env::temp_dir().join("iotoll-tests-made.lock"))?;
    turn.lock()?;
    Ok(turn)
}

/// Mounts, devices and folders of the machine that a run in the directory may have made.
pub(super) fn there(directory: &Path) -> BTreeSet<String> {
    let names = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    };
    let is_made = |name: &String| {
        let held = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
        name.starts_with("zram") || held.is_ok_and(|file| Path::new(&file).starts_with(directory))
    };
    let devices = names("/sys/block").filter(is_made);
    let folders = names("/run").filter(|name| name.starts_with(".iotoll-"));
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounts = mounts.lines().filter(|line| line.contains(".iotoll-")).map(str::to_owned);
    devices.chain(folders).chain(mounts).collect()
}

/// What is there that was not before.
pub(super) fn left_since(directory: &Path, before: &BTreeSet<String>) -> Vec<String> {
    let began = Instant::now();
    loop {
        let left: Vec<String> = there(directory).difference(before).cloned().collect();
        if left.is_empty() || began.elapsed() > PATIENCE {
            return left;
        }
        sleep(Duration::from_millis(20));
    }
}
