//! Where runs are kept, and that nobody else can lead there.
//!
//! Who may rename a folder above ours decides what our files are. Root therefore keeps
//! runs only below folders that are root's alone, as sshd trusts a key: not in the home
//! of whoever called `sudo`. Everybody needs a folder of their own at the end.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use model::ownership::{Directory, Objection, objection};
use rustix::process::geteuid;

use crate::error::Error;

/// Rights of a folder that is its owner's alone.
const OWNERS_ALONE: u32 = 0o700;

/// Where a user's runs are kept: `$IOTOLL_DIR`, else `$XDG_DATA_HOME/iotoll`, else
/// `~/.local/share/iotoll`.
pub fn usual(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    let given = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The specification of XDG's directories has relative ones ignored.
    let absolute = |name| given(name).filter(|path: &PathBuf| path.is_absolute());
    given("IOTOLL_DIR")
        .or_else(|| Some(absolute("XDG_DATA_HOME")?.join("iotoll")))
        .or_else(|| Some(absolute("HOME")?.join(".local/share/iotoll")))
        .ok_or_else(Error::no_home)
}

/// Where is kept what can be found out again: `$IOTOLL_DIR/cache`, else `$XDG_CACHE_HOME/iotoll`,
/// else `~/.cache/iotoll`.
pub fn usual_cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |name| given(name).filter(|path: &PathBuf| path.is_absolute());
    given("IOTOLL_DIR")
        .map(|folder| folder.join("cache"))
        .or_else(|| Some(absolute("XDG_CACHE_HOME")?.join("iotoll")))
        .or_else(|| Some(absolute("HOME")?.join(".cache/iotoll")))
}

/// The folder without links, made where it lacks with those above it.
pub(crate) fn make(folder: &Path) -> Result<PathBuf, Error> {
    let folder = std::path::absolute(folder).map_err(Error::io(folder, "finding it"))?;
    check_links(&folder)?;
    let (there, lacking) = nearest(&folder)?;
    check_above(&there)?;
    // Joined with nothing, it would end in a slash.
    let made = if lacking.as_os_str().is_empty() { there } else { there.join(lacking) };
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(OWNERS_ALONE);
    builder.create(&made).map_err(Error::io(&made, "making it"))?;
    check(&made)?;
    Ok(made)
}

/// The folder without links, where there is one.
pub(crate) fn existing(folder: &Path) -> Result<Option<PathBuf>, Error> {
    let folder = &std::path::absolute(folder).map_err(Error::io(folder, "finding it"))?;
    check_links(folder)?;
    match folder.canonicalize() {
        Ok(found) if !found.is_dir() => {
            Err(Error::io(folder, "opening it")(ErrorKind::NotADirectory.into()))
        }
        Ok(found) => check(&found).map(|()| Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(Error::io(folder, "finding it")(error)),
    }
}

/// What of a path exists, without links, and the rest of it.
fn nearest(folder: &Path) -> Result<(PathBuf, PathBuf), Error> {
    for there in folder.ancestors() {
        if fs::symlink_metadata(there).is_ok() {
            let lacking = folder.strip_prefix(there).unwrap_or(Path::new("")).to_owned();
            let there = there.canonicalize().map_err(Error::io(there, "finding it"))?;
            return Ok((there, lacking));
        }
    }
    Err(Error::no_home())
}

/// The folder itself must be the user's.
fn check(folder: &Path) -> Result<(), Error> {
    let owner = fs::metadata(folder).map_err(Error::io(folder, "looking at it"))?.uid();
    if owner != geteuid().as_raw() {
        return Err(Error::foreign(folder, folder, owner));
    }
    check_above(folder)
}

/// For root, no link on the way may be another's, nor in a folder where others could put one:
/// they would choose where root's files are made.
fn check_links(folder: &Path) -> Result<(), Error> {
    if !geteuid().is_root() {
        return Ok(());
    }
    for of in folder.ancestors() {
        let Ok(metadata) = fs::symlink_metadata(of) else { continue };
        if !metadata.is_symlink() {
            continue;
        }
        if metadata.uid() != 0 {
            return Err(Error::foreign(folder, of, metadata.uid()));
        }
        if let Some(within) = of.parent() {
            let within = within.canonicalize().map_err(Error::io(within, "finding it"))?;
            check_above(&within)?;
        }
    }
    Ok(())
}

/// What is above it must be root's, for root.
fn check_above(folder: &Path) -> Result<(), Error> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let look = |of: &Path| {
        let metadata = fs::symlink_metadata(of).map_err(Error::io(of, "looking at it"))?;
        Ok(Directory { path: of.to_owned(), uid: metadata.uid(), mode: metadata.mode() })
    };
    let way = folder.ancestors().map(look).collect::<Result<Vec<_>, Error>>()?;
    match objection(&way, None) {
        None => Ok(()),
        Some(Objection::OthersOwn { directory, uid }) => {
            Err(Error::foreign(folder, &directory, uid))
        }
        Some(Objection::OthersRename { directory, .. }) => Err(Error::Refused(format!(
            "{} may be written by other users, so files in {} would not be safe there; set \
             IOTOLL_DIR to a directory of your own",
            directory.display(),
            folder.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fmt::Debug;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

    use super::*;

    fn usual_of(variables: &[(&str, &str)]) -> Option<String> {
        let find = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into());
        Some(usual(find).ok()?.display().to_string())
    }

    #[test]
    fn the_folder_is_where_the_environment_says() {
        let (own, xdg, home) = (("IOTOLL_DIR", "/own"), ("XDG_DATA_HOME", "/xdg"), ("HOME", "/h"));
        assert_eq!(usual_of(&[own, xdg, home]).unwrap(), "/own");
        assert_eq!(usual_of(&[xdg, home]).unwrap(), "/xdg/iotoll");
        assert_eq!(usual_of(&[home]).unwrap(), "/h/.local/share/iotoll");
        assert_eq!(
            usual_of(&[("IOTOLL_DIR", ""), ("XDG_DATA_HOME", "x"), home]),
            usual_of(&[home])
        );
        assert_eq!(usual_of(&[("HOME", "")]), None);
        assert_eq!(usual_of(&[("IOTOLL_DIR", "here")]).unwrap(), "here");
    }

    #[test]
    fn what_lacks_is_made_for_the_owner_alone_and_links_of_the_owner_are_followed() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("elsewhere")).unwrap();
        symlink("elsewhere", home.path().join(".local")).unwrap();
        let made = make(&home.path().join(".local/share/iotoll")).unwrap();
        assert_eq!(made, home.path().canonicalize().unwrap().join("elsewhere/share/iotoll"));
        for folder in [&made, made.parent().unwrap()] {
            assert_eq!(fs::metadata(folder).unwrap().mode() & 0o7777, 0o700);
        }
        assert_eq!(existing(&home.path().join(".local/share/iotoll")).unwrap(), Some(made));
        assert_eq!(existing(&home.path().join("none")).unwrap(), None);
    }

    fn refused<T: Debug>(found: Result<T, Error>) -> String {
        found.unwrap_err().to_string()
    }

    #[test]
    fn root_is_led_nowhere_by_a_link_of_another() {
        if !geteuid().is_root() {
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own");
        fs::create_dir(&own).unwrap();
        let link = home.path().join("link");
        symlink(&own, &link).unwrap();
        assert!(make(&link).is_ok() && make(&link.join("new")).is_ok());
        lchown(&link, Some(12), None).unwrap();
        for way in [link.clone(), link.join("new"), link.join("other/deeper")] {
            assert!(refused(make(&way)).contains("belongs to user 12"), "{way:?}");
        }
        assert!(refused(existing(&link)).contains("belongs to user 12"));
        // Others could put another of root's links there.
        lchown(&link, Some(0), None).unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(refused(make(&link)).contains("may be written by other users"));
        assert_eq!(fs::read_dir(&own).unwrap().count(), 1);
    }

    #[test]
    fn root_makes_nothing_in_what_others_control() {
        if !geteuid().is_root() {
            return;
        }
        let home = tempfile::tempdir().unwrap();
        chown(home.path(), Some(12), None).unwrap();
        assert!(refused(make(&home.path().join("a/b"))).contains("belongs to user 12"));
        // A folder that is root's may be exchanged all the same.
        let inner = home.path().join("inner");
        fs::create_dir(&inner).unwrap();
        assert!(refused(make(&inner)).contains("belongs to user 12"));
        chown(home.path(), Some(0), None).unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(refused(make(&inner)).contains("may be written by other users"));
        fs::set_permissions(home.path(), Permissions::from_mode(0o1777)).unwrap();
        assert!(make(&inner).is_ok());
        chown(&inner, Some(12), None).unwrap();
        assert!(refused(existing(&inner)).contains("belongs to user 12"));
        assert_eq!(fs::read_dir(&inner).unwrap().count(), 0);
    }
}
