//! Where the folders with mount points and records are.

use std::path::PathBuf;

use crate::error::PlaceName;
use crate::open::OpenPlace;

/// It is here for root, on every system with a current layout.
const ROOTS_HOME: &str = "/run";
/// And here for others, where nothing better is told.
const HOMES: [&str; 2] = ["/dev/shm", "/tmp"];

/// Where the folders with mount points and records are: on storage that a reboot clears,
/// as it does all that is made here.
pub fn created_home() -> PathBuf {
    let given = if rustix::process::geteuid().is_root() {
        Some(PathBuf::from(ROOTS_HOME))
    } else {
        std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)
    };
    let homes = given.into_iter().chain(HOMES.map(PathBuf::from));
    let mut usable = homes.filter(|home| home.is_absolute() && home.is_dir());
    usable.next().unwrap_or_else(|| PathBuf::from(HOMES[1]))
}

/// Whether records are acted upon that are found in a directory. For root it is the home
/// alone, as long as nobody else can exchange what is there: elsewhere a record would be
/// someone's who wants root to act upon it. Others can lose no more by a record than is theirs.
pub(crate) fn has_records(place: &OpenPlace) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    let name = PlaceName::bare(&created_home());
    let Ok(home) = OpenPlace::open(&name) else { return false };
    let identity = |place: &OpenPlace| {
        let stat = rustix::fs::fstat(&place.fd);
        stat.map(|stat| (stat.st_dev, stat.st_ino)).ok()
    };
    identity(place).is_some_and(|of_place| identity(&home) == Some(of_place))
        && place.check_owners(&name).is_ok()
}
