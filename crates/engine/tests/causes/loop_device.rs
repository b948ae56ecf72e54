//! A device of the test's own: a file system on a loop device, which may have little
//! unwritten data and be let write slowly.
//!
//! Both limits belong to this device alone; the machine's own stay as they are.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::bench::skipped;

const IMAGE_BYTES: u64 = 96 << 20;
const DIRTY_BYTES: u64 = 2 << 20;
const BYTES_PER_S: u64 = 80 << 20;
const THROTTLE: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device";

/// Taken down when dropped, in the order in which it was made.
pub(crate) struct LoopDevice {
    mounted: Option<Mounted>,
    device: String,
    numbers: String,
    folder: TempDir,
}

struct Mounted;

impl LoopDevice {
    /// A slow one. Nothing where this machine does not allow it, loudly.
    pub(crate) fn with_small_dirty_limit() -> Option<Self> {
        let slow = Self::make("has_journal", "relatime").and_then(|made| {
            made.limit("strict_limit", "1")?;
            made.limit("max_bytes", &DIRTY_BYTES.to_string())?;
            made.slow_down(BYTES_PER_S)?;
            Ok(made)
        });
        Self::or_skip(slow)
    }

    /// With an ext4 that has this feature, or lacks it (`^has_journal`), mounted so.
    /// Nothing where this machine does not allow it, loudly.
    pub(crate) fn with_ext4(feature: &str, options: &str) -> Option<Self> {
        Self::or_skip(Self::make(feature, options))
    }

    fn or_skip(made: Result<Self, String>) -> Option<Self> {
        if let Err(why) = &made {
            skipped(&format!("because no loop device can be made here: {why}"));
        }
        made.ok()
    }

    pub(crate) fn mount_point(&self) -> &Path {
        self.folder.path()
    }

    fn make(feature: &str, options: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let image = folder.path().join("image");
        fs::File::create(&image).and_then(|f| f.set_len(IMAGE_BYTES)).map_err(|e| e.to_string())?;
        let image = image.to_str().ok_or("the path is not text")?;
        run("mkfs.ext4", &["-q", "-F", "-O", feature, image])?;
        let device = run("losetup", &["--find", "--show", image])?;
        let name = device.trim_start_matches("/dev/").to_owned();
        let numbers = fs::read_to_string(format!("/sys/block/{name}/dev"));
        let numbers = numbers.map_err(|e| e.to_string())?.trim().to_owned();
        let mut made = Self { mounted: None, device, numbers, folder };
        let mount_point = made.folder.path().to_str().ok_or("the path is not text")?;
        run("mount", &["-o", options, &made.device, mount_point])?;
        made.mounted = Some(Mounted);
        Ok(made)
    }

    fn limit(&self, name: &str, value: &str) -> Result<(), String> {
        let path = format!("/sys/class/bdi/{}/{name}", self.numbers);
        fs::write(&path, value).map_err(|e| format!("{path}: {e}"))
    }

    /// 0 for as fast as it can.
    fn slow_down(&self, bytes_per_s: u64) -> Result<(), String> {
        let limit = format!("{} {bytes_per_s}", self.numbers);
        fs::write(THROTTLE, limit).map_err(|e| format!("{THROTTLE}: {e}"))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = self.slow_down(0);
        let _ = self.limit("strict_limit", "0");
        let _ = self.limit("max_ratio", "100");
        if self.mounted.is_some() {
            let _ = run("umount", &[self.folder.path().to_str().unwrap_or_default()]);
        }
        let _ = run("losetup", &["--detach", &self.device]);
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}
