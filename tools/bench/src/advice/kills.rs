//! Trials killed at random moments: nothing of the user's may change, and nothing may be left.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, ensure};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;
use xtask::process;

/// A trial takes longer than this, so that every part of it is cut short by some.
const LONGEST_MS: u64 = 4000;
/// It changes, removes, makes, moves and syncs files, also elsewhere.
const COMMAND: &str = "echo new > data/1; rm data/2; mv data/3 data/moved; mkdir -p data/deep/er; \
                       dd if=/dev/zero of=data/synced bs=4k count=4 conv=fsync status=none; mktemp";

/// Kills them.
pub(crate) fn run(iotoll: &Path, kills: u64, seed: u64, disk: &Path) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let folder = TempDir::new_in(disk)?;
    fs::create_dir(folder.path().join("data"))?;
    for number in 0..20 {
        fs::write(folder.path().join(format!("data/{number}")), vec![number; 3000])?;
    }
    let before = state(folder.path())?;
    for number in 1..=kills {
        let mut command = Command::new(iotoll);
        command.args(["try", "--budget", "20", "--mechanism", "ptrace", "--", "sh", "-c", COMMAND]);
        command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.process_group(0).spawn()?;
        sleep(Duration::from_millis(random.random_range(0..LONGEST_MS)));
        child.kill()?;
        child.wait()?;
        ensure!(state(folder.path())? == before, "kill {number} changed something of the user's");
    }
    for place in ["/var/tmp", "/dev/shm"] {
        process::succeed(Command::new(iotoll).args(["clean", place]).stdout(Stdio::null()))?;
        let left = fs::read_dir(place)?
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(".iotoll-"));
        let left: Vec<_> = left.map(|entry| entry.path()).collect();
        ensure!(left.is_empty(), "left after cleaning: {left:?}");
    }
    println!("{kills} trials killed: nothing of the user's changed, and nothing is left");
    Ok(())
}

/// All below a folder, with contents, rights, times and inodes.
fn state(folder: &Path) -> Result<Vec<String>> {
    let mut state = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let facts = fs::symlink_metadata(&path)?;
            let contents = if facts.is_file() { fs::read(&path)? } else { Vec::new() };
            let times = (facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec());
            state.push(format!(
                "{} {} {} {times:?} {contents:?}",
                path.display(),
                facts.mode(),
                facts.ino()
            ));
            if facts.is_dir() {
                folders.push(path);
            }
        }
    }
    state.sort();
    Ok(state)
}
