//! What keeps processes of ours apart from what surrounds them: the program is found
//! where nobody else can have put it, and neither the environment nor the current
//! directory has it run code or read settings that are no part of what is measured.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::root::Root;
use host::users::unmapped_uid;
use rustix::fs::{Access, access};

/// Variables that a process of ours is given. Others choose libraries to load
/// (`LD_PRELOAD`, `PYTHONPATH`, `NODE_OPTIONS`, `PHPRC`) or where files go (`TMPDIR`).
const KEPT: [&str; 3] = ["LANG", "LANGUAGE", "TZ"];
/// Those of the user's language, too.
const KEPT_PREFIX: &str = "LC_";
/// Where programs are found when `PATH` has nothing that can be used.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// Gives a process of ours an environment without what others may have put into it, and
/// a directory to start in that belongs to root.
pub fn isolate(command: &mut Command) {
    let supervised = env::vars_os().filter(|(name, _)| is_kept(name));
    let supervised: Vec<_> = supervised.collect();
    command.env_clear().envs(supervised).env("PATH", search_path(env::var_os("PATH")));
    command.current_dir("/");
}

fn is_kept(name: &OsStr) -> bool {
    KEPT.iter().any(|supervised| name == *supervised)
        || name.as_bytes().starts_with(KEPT_PREFIX.as_bytes())
}

/// The search path without the current directory, in any of the ways to say that, and
/// without what is relative to it.
fn search_path(path: Option<OsString>) -> OsString {
    let path = path.unwrap_or_default();
    let absolute = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let joined = env::join_paths(absolute).unwrap_or_default();
    if joined.is_empty() { PATH_DEFAULT.into() } else { joined }
}

/// The sentence for a program that is nowhere in the search path.
pub(crate) fn not_installed(program: &str, install: &str) -> String {
    format!("{program} is not installed; {install}")
}

/// Where a program is that is named without a path; one with a path is there. An error, in a
/// sentence, also where others could have put it there, or could change it.
pub(crate) fn find(program: &str, install: &str) -> Result<PathBuf, String> {
    if Path::new(program).is_absolute() {
        return Ok(program.into());
    }
    let folders = search_path(env::var_os("PATH"));
    let is_program = |path: &PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    let mut paths = env::split_paths(&folders).map(|folder| folder.join(program));
    let path = paths.find(is_program).ok_or_else(|| not_installed(program, install))?;
    if !rustix::process::geteuid().is_root() {
        return Ok(path);
    }
    let unmapped = unmapped_uid(&Root::real());
    // Where the name is a link, both what holds the link and what holds the program count.
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let parts = [path.parent(), Some(&*real), real.parent()];
    let why = parts.into_iter().flatten().find_map(|part| untrusted(part, unmapped));
    match why {
        None => Ok(path),
        Some(why) => Err(format!(
            "{} was not run: {why}, and as root, iotoll runs no program that other users can \
             change; put a root-owned directory that contains {program} first in PATH, or run \
             iotoll as another user",
            path.display()
        )),
    }
}

/// Who else than root may change a program or a folder of programs.
fn untrusted(path: &Path, unmapped: Option<u32>) -> Option<String> {
    let Ok(facts) = fs::metadata(path) else { return Some("it cannot be looked at".to_owned()) };
    let shown = path.display();
    match (facts.uid(), facts.mode()) {
        (uid, _) if uid != 0 && Some(uid) != unmapped => {
            Some(format!("{shown} belongs to the user with UID {uid}"))
        }
        (_, mode) if mode & 0o002 != 0 => Some(format!("every user may write to {shown}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_current_directory_is_never_searched() {
        let searched = |path: &str| search_path(Some(path.into()));
        assert_eq!(searched(".:/usr/bin::bin:/bin:"), "/usr/bin:/bin");
        assert_eq!(searched(":"), PATH_DEFAULT);
        assert_eq!(searched("./bin:../bin"), PATH_DEFAULT);
        assert_eq!(search_path(None), PATH_DEFAULT);
    }

    #[test]
    fn what_chooses_code_to_run_is_not_kept() {
        assert!(["LANG", "LC_ALL", "LC_TIME", "TZ"].iter().all(|name| is_kept(name.as_ref())));
        for name in ["PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "PHPRC", "LD_PRELOAD", "HOME"] {
            assert!(!is_kept(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn a_program_is_found_by_an_absolute_path() {
        let find = |program| find(program, "install it");
        assert!(find("sh").unwrap().is_absolute());
        assert_eq!(find("/no/such/program").unwrap(), Path::new("/no/such/program"));
        let nowhere = "no-such-program-at-all is not installed; install it";
        assert_eq!(find("no-such-program-at-all").unwrap_err(), nowhere);
    }

    #[test]
    fn root_trusts_what_root_alone_may_change() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("python3");
        fs::write(&program, "").unwrap();
        let own = fs::metadata(&program).unwrap().uid();
        let mode = |mode| fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        mode(0o755);
        // Whoever runs the test stands for one whom the namespace does not know.
        assert_eq!(untrusted(&program, Some(own)), None);
        mode(0o757);
        assert!(untrusted(&program, Some(own)).unwrap().contains("every user may write"));
        assert!(untrusted(&folder.path().join("gone"), None).is_some());
        if own == 0 {
            mode(0o755);
            std::os::unix::fs::chown(&program, Some(65_534), None).unwrap();
            assert!(untrusted(&program, None).unwrap().contains("UID 65534"));
        }
    }
}
