//! Making file systems, by the system's own programs.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use model::created::ImageFs;

use super::error::CreateError;

/// Where systems have them. Not all of it is in every user's search path, and root runs no
/// program from one that others may have set.
const FOLDERS: [&str; 6] =
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin", "/run/current-system/sw/bin", "/usr/local/sbin"];
/// Even a large one takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);
const APART: Duration = Duration::from_millis(10);
/// More of what it says is not read.
const SAID_BYTES_MAX: u64 = 4096;

struct MkfsProgram {
    program: &'static str,
    package: &'static str,
    arguments: &'static [&'static str],
}

fn mkfs_program(filesystem: ImageFs) -> MkfsProgram {
    match filesystem {
        // What is else left for later would be written while something is measured.
        ImageFs::Ext4 => MkfsProgram {
            program: "mkfs.ext4",
            package: "e2fsprogs",
            arguments: &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
        },
        ImageFs::Xfs => {
            MkfsProgram { program: "mkfs.xfs", package: "xfsprogs", arguments: &["-q", "-f"] }
        }
        ImageFs::Btrfs => {
            MkfsProgram { program: "mkfs.btrfs", package: "btrfs-progs", arguments: &["-q", "-f"] }
        }
    }
}

/// Whether there is a program for it; an error that says which is missing.
pub(super) fn check(filesystem: ImageFs) -> Result<(), CreateError> {
    find(&mkfs_program(filesystem)).map(drop)
}

fn find(mkfs_program: &MkfsProgram) -> Result<PathBuf, CreateError> {
    let mut paths = FOLDERS.iter().map(|folder| Path::new(folder).join(mkfs_program.program));
    let MkfsProgram { program, package, .. } = *mkfs_program;
    paths.find(|path| path.is_file()).ok_or_else(|| {
        CreateError(format!(
            "{program} was not found; install it (package {package}), or use another file system"
        ))
    })
}

/// Makes a file system on a device.
pub(super) fn make(
    filesystem: ImageFs,
    device: &Path,
    stop: &AtomicBool,
) -> Result<(), CreateError> {
    let mkfs_program = mkfs_program(filesystem);
    let program = find(&mkfs_program)?;
    let failed = |said: String| {
        let program = mkfs_program.program;
        CreateError(format!("{program} failed: {said}; check the size, or use another file system"))
    };
    let mut command = Command::new(program);
    command.args(mkfs_program.arguments).arg(device);
    // Nothing that others set may change what it does.
    command.env_clear().env("PATH", FOLDERS.join(":")).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let ended = wait(&mut child, stop);
    if !matches!(ended, Ok(Some(_))) {
        // Where it cannot be ended, it holds the device, and that is told of then.
        let _ = child.kill();
        let _ = child.wait();
    }
    match ended {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(_) if stop.load(Ordering::Relaxed) => Err(CreateError::interrupted()),
        Ok(Some(status)) => Err(failed(first_line(&mut child).unwrap_or(status.to_string()))),
        Ok(None) => Err(failed(format!("it took more than {} s", PATIENCE.as_secs()))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// How it ended; nothing where it was waited for in vain.
fn wait(child: &mut Child, stop: &AtomicBool) -> std::io::Result<Option<std::process::ExitStatus>> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE && !stop.load(Ordering::Relaxed) {
        match child.try_wait() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(None) => sleep(APART),
            ended => return ended,
        }
    }
    Ok(None)
}

/// What it complained of first.
fn first_line(child: &mut Child) -> Option<String> {
    let mut said = String::new();
    child.stderr.take()?.take(SAID_BYTES_MAX).read_to_string(&mut said).ok()?;
    let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.trim_end_matches('.').to_owned())
}
