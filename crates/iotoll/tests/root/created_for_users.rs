//! What a user without rights gets of places that are created for a run.

use crate::common;
use crate::created::{BRIEF, Machine, result};

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Output;

use common::{assert_fails, copy_program, entries, skip, stderr, stdout};
use serde_json::Value;
use tempfile::TempDir;

/// A user without rights, with a program and a directory of their own.
struct Nobody {
    place: TempDir,
}

impl Nobody {
    const ID: u32 = 65_534;

    fn new() -> Self {
        let nobody = Self { place: tempfile::tempdir_in("/dev/shm").unwrap() };
        copy_program(&nobody.place.path().join("iotoll"));
        fs::create_dir(nobody.work()).unwrap();
        for owned in [nobody.place.path(), &nobody.work()] {
            std::os::unix::fs::chown(owned, Some(Self::ID), Some(Self::ID)).unwrap();
        }
        nobody
    }

    fn work(&self) -> PathBuf {
        self.place.path().join("work")
    }

    fn output(&self, args: &[&str]) -> Output {
        let mut command = std::process::Command::new(self.place.path().join("iotoll"));
        command.args(args).env_clear().current_dir(self.work()).uid(Self::ID).gid(Self::ID);
        command.output().unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        let output = self.output(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        assert_eq!(entries(&self.work()), Vec::<PathBuf>::new());
        output
    }

    /// The result of a comparison of these places.
    fn compare(&self, places: &[&str], more: &[&str]) -> Value {
        let rest = ["--no-save", "--json", "-"];
        result(&self.run(&[&["compare"], places, &rest, more].concat()))
    }
}

/// Why a place was left out, where it was.
fn left_out<'a>(result: &'a Value, label: &str) -> Option<&'a str> {
    let left_out = result["run"]["left_out"].as_array().into_iter().flatten();
    left_out.filter(|place| place["label"] == label).find_map(|place| place["why"].as_str())
}

/// Without root there is a tmpfs where the kernel has user namespaces, and a reason for
/// everything else.
#[test]
fn another_user_gets_what_needs_no_root_and_the_reasons_for_the_rest() {
    let Some(machine) = Machine::new("another_user_gets") else { return };
    let nobody = Nobody::new();
    let told = stdout(&nobody.run(&["places"]));
    assert!(told.contains("tmpfs") && told.contains("the data is lost"), "{told}");

    let rest = ["xfs=image:xfs:1G", "packed=image:btrfs:1G:compress=zstd", "zram=zram:512M:ext4"];
    let places = [&["disk=.", "ram=tmpfs:256M"], &rest[..]].concat();
    let many = nobody.compare(&places, &BRIEF);
    for label in ["xfs", "packed", "zram"] {
        let why = left_out(&many, label).unwrap();
        assert!(why.contains("only root can create this place"), "{why}");
        assert!(why.contains("use tmpfs:SIZE, or a directory that exists, such as /dev/shm"));
    }
    let two = ["shm=/dev/shm", "big=tmpfs:512M:huge=within_size"];
    let two = nobody.compare(&two, &["--study", "page,files", "--budget", "20s", "--blocks", "2"]);
    for (result, label, made) in
        [(&many, "ram", "tmpfs:256MiB"), (&two, "big", "tmpfs:512MiB:huge=within_size")]
    {
        if let Some(why) = left_out(result, label) {
            assert!(why.contains("user namespaces"), "{why}");
            skip("another_user_gets", "no user namespaces for users here");
        } else {
            assert_eq!(result["places"][1]["made"], made);
        }
        assert!(result["arms"][0]["slices"].as_u64() > Some(0), "{}", result["arms"][0]);
    }
    machine.assert_unmade();
}

/// A file that only its owner may replace is refused before anything is measured.
#[test]
fn a_file_of_another_user_is_replaced_unless_its_folder_is_sticky() {
    let Some(_machine) = Machine::new("a_file_of_another_user_is_replaced") else { return };
    let nobody = Nobody::new();
    let shared = tempfile::tempdir_in("/dev/shm").unwrap();
    let file = shared.path().join("places.json");
    fs::write(&file, "root's").unwrap();
    let allow = |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(file.as_path(), 0o666);

    allow(shared.path(), 0o1777);
    let args = ["places", "--json", file.to_str().unwrap()];
    let why = "it belongs to another user, and only that user may replace it";
    assert_fails(&nobody.output(&args), 2, &[why]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "root's");
    allow(shared.path(), 0o777);
    nobody.run(&args);
    assert_ne!(fs::read_to_string(&file).unwrap(), "root's");
}
