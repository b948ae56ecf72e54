//! A tmpfs of the test's own, with options.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::bench::skipped;

/// Unmounted when dropped.
pub(crate) struct Tmpfs(TempDir);

impl Tmpfs {
    /// Nothing where this machine does not allow it, loudly.
    pub(crate) fn with(option: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size=64M,{option}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path());
        match mount.output() {
            Ok(output) if output.status.success() => Some(Self(folder)),
            other => {
                skipped(&format!("because a tmpfs with {option} cannot be mounted: {other:?}"));
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}
