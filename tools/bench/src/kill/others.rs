//! What others have on the machine, and a cleaner must leave: a zram device that nobody has
//! given a size yet, and another user's folders and files that look like iotoll's, with a
//! record that names that device.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// A user without rights, by its number on all Linux systems.
const NOBODY: u32 = 65_534;
const CONTROL: &str = "/sys/class/zram-control";

/// Removed when it is dropped.
pub(super) struct Others {
    zram: Option<u32>,
    paths: Vec<PathBuf>,
}

impl Others {
    /// Puts them into a place and where records are.
    pub(super) fn put(place: &Path, number: u64) -> Result<Self> {
        let mut others = Self { zram: None, paths: Vec::new() };
        let mut record = boot()?;
        if Path::new(CONTROL).join("hot_add").exists() {
            let added = fs::read_to_string(format!("{CONTROL}/hot_add"))?.trim().parse()?;
            others.zram = Some(added);
            let disk = fs::read_to_string(format!("/sys/block/zram{added}/diskseq"))?;
            record += &format!("zram-after 0\nzram {added} {disk}");
        }
        for directory in [place, Path::new("/run")] {
            let folder = directory.join(format!(".iotoll-{number:016x}"));
            fs::create_dir(&folder)?;
            others.paths.push(folder.clone());
            fs::write(folder.join("made"), &record)?;
            fs::write(folder.join("lock"), "")?;
            let file = directory.join(format!(".iotoll-{number:016x}.tmp"));
            fs::write(&file, "")?;
            others.paths.push(file.clone());
            for given in [folder.join("made"), folder.join("lock"), folder, file] {
                let chowned = chown(&given, Some(NOBODY), Some(NOBODY));
                chowned.with_context(|| given.display().to_string())?;
            }
        }
        Ok(others)
    }

    /// Whether something is theirs.
    pub(super) fn have(&self, path: &Path) -> bool {
        self.paths.iter().any(|theirs| theirs == path)
    }

    /// What is gone, each in a sentence.
    pub(super) fn gone(&self) -> Vec<String> {
        let device = self.zram.map(|number| PathBuf::from(format!("/sys/block/zram{number}")));
        let all = self.paths.iter().chain(&device);
        let gone = all.filter(|path| !path.exists());
        gone.map(|path| format!("{} of another is gone", path.display())).collect()
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        if let Some(number) = self.zram {
            let _ = fs::write(format!("{CONTROL}/hot_remove"), number.to_string());
        }
        for path in &self.paths {
            let _ = fs::remove_dir_all(path);
            let _ = fs::remove_file(path);
        }
    }
}

fn boot() -> Result<String> {
    Ok(format!("boot {}", fs::read_to_string("/proc/sys/kernel/random/boot_id")?))
}
