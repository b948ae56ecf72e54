//! Where the copies of a trial are: a working folder on the storage of the command's own, and one in
//! memory. Both go with the trial; what a killed one left, the next run or `iotoll clean` removes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use model::place::{PlaceFacts, StorageKind};
use places::{Folder, WorkDir, spread};
use rustix::fs::{Access, access};

use crate::exit::{UsageError, sentence};
use crate::measuring::preflight::note_unread_counters;
use crate::terminal::output;

/// Where working folders belong that nobody looks at.
const SCRATCH: [&str; 2] = ["/var/tmp", "/tmp"];
/// Memory that every system has.
const MEMORY: &str = "/dev/shm";

/// Where copies are.
pub(crate) struct Grounds {
    /// The storages: the usual one, and memory where there is some.
    pub(crate) places: Vec<PlaceFacts>,
    disk: (WorkDir, Folder),
    ram: Option<(WorkDir, Folder)>,
}

impl Grounds {
    /// For a command that works in a folder.
    pub(crate) fn open(folder: &Path, ram: Option<&Path>) -> anyhow::Result<Self> {
        let storage = beside(folder).with_context(|| {
            format!("there is nowhere to put copies on the file system of {}", folder.display())
        })?;
        let mut places = vec![inspected("disk", &storage)?];
        let memory =
            inspected("ram", ram.unwrap_or(Path::new(MEMORY))).and_then(|facts| match facts.kind {
                StorageKind::Memory => Ok(facts),
                _ => anyhow::bail!("it is not in memory"),
            });
        let open = |facts: &PlaceFacts| {
            let work = WorkDir::create(&facts.label, &facts.path)?;
            let copies = work.subdir("copies")?;
            spread(copies.fd(), facts);
            anyhow::Ok((work, copies))
        };
        let disk = open(&places[0])?;
        let ram = match memory {
            Ok(facts) => {
                let ram = open(&facts)?;
                places.push(facts);
                Some(ram)
            }
            Err(error) if ram.is_some() => {
                return Err(UsageError(format!("--ram: {}", sentence(&error))).into());
            }
            Err(error) => {
                output::note(&format!(
                    "nothing is moved into memory: {}; name a folder of a tmpfs with --ram",
                    sentence(&error)
                ));
                None
            }
        };
        Ok(Self { places, disk, ram })
    }

    /// The working folder on the usual storage.
    pub(crate) fn work(&self) -> &WorkDir {
        &self.disk.0
    }

    /// Where copies are on the usual storage.
    pub(crate) fn disk(&self) -> &Path {
        self.disk.1.path()
    }

    /// Where they are in memory.
    pub(crate) fn ram(&self) -> Option<&Path> {
        self.ram.as_ref().map(|(_, copies)| copies.path())
    }

    /// Removes them.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        let ram = self.ram.map_or(Ok(()), |(work, _)| work.remove());
        Ok(self.disk.0.remove().and(ram)?)
    }
}

fn inspected(label: &str, path: &Path) -> anyhow::Result<PlaceFacts> {
    let mut facts = places::inspect(label, path)?;
    note_unread_counters(&mut facts);
    Ok(facts)
}

/// A folder on the same file system: one for scratch files, what the folder is in, or itself.
fn beside(folder: &Path) -> Option<PathBuf> {
    let device = |path: &Path| fs::metadata(path).map(|facts| facts.dev()).ok();
    let scratch = SCRATCH.map(PathBuf::from).into_iter();
    let own = folder.ancestors().take(2).map(Path::to_owned).collect::<Vec<_>>();
    scratch
        .chain(own.into_iter().rev())
        .find(|path| device(path) == device(folder) && access(path, Access::WRITE_OK).is_ok())
}
