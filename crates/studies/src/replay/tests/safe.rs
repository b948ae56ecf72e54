//! Traces that would have a replay leave its folder.

use super::*;
use crate::testing::in_memory;

/// A place with a folder of its own, beside which there is what nobody may touch.
struct Place {
    all: TempDir,
}

impl Place {
    fn new() -> Self {
        let all = in_memory();
        fs::create_dir(all.path().join("slice")).unwrap();
        fs::create_dir(all.path().join("outside")).unwrap();
        fs::write(all.path().join("outside/precious"), "as it was").unwrap();
        Self { all }
    }

    fn outside(&self) -> String {
        self.all.path().join("outside").to_str().unwrap().to_owned()
    }

    /// Replays it; nothing outside may have changed.
    fn replay(&self, told: TestTrace) -> Slice {
        let slice = told.replayed(&self.all.path().join("slice"), &[("folder", "/srv/app")]);
        let outside = self.all.path().join("outside");
        assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "as it was");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_dir(self.all.path()).unwrap().count(), 2);
        slice.unwrap()
    }
}

const EMPTIES: i32 = MAKES | libc::O_TRUNC;

/// Whatever a trace does to a folder that leads out.
fn destroy(told: &mut TestTrace, within: &str) {
    told.open(MAIN, &format!("{within}/precious"), EMPTIES);
    told.open(MAIN, &format!("{within}/new"), EMPTIES);
    told.on(MAIN, Op::Mkdir, &format!("{within}/folder"), 0);
    told.on(MAIN, Op::Truncate, &format!("{within}/precious"), 0);
    told.on(MAIN, Op::Chmod, &format!("{within}/precious"), 0);
    told.on_both(Op::Rename, &format!("{within}/precious"), "mine");
    told.on_both(Op::Rename, "mine", &format!("{within}/precious"));
    told.on_both(Op::Symlink, "x", &format!("{within}/link"));
    told.on(MAIN, Op::Unlink, &format!("{within}/precious"), 0);
    told.on(MAIN, Op::Rmdir, within, 0);
}

#[test]
fn paths_that_lead_out_are_not_replayed() {
    let place = Place::new();
    let mut told = TestTrace::new();
    told.open(MAIN, "log", MAKES);
    let outside = place.outside();
    for within in ["../outside", "../../../outside", &outside, "a/../../outside"] {
        destroy(&mut told, within);
    }
    // What comes from there is taken for having been here.
    assert!(place.replay(told).figure("calls") >= 1.0);
}

#[test]
fn links_that_lead_out_lead_nowhere() {
    for says in ["../outside", ".."] {
        let place = Place::new();
        let outside = place.outside();
        for says in [says, &outside] {
            let mut told = TestTrace::new();
            told.on_both(Op::Symlink, says, "link");
            destroy(&mut told, "link");
            destroy(&mut told, "link/outside");
            place.replay(told);
            fs::remove_dir_all(place.all.path().join("slice")).unwrap();
            fs::create_dir(place.all.path().join("slice")).unwrap();
        }
    }
}

#[test]
fn a_link_that_was_there_before_leads_nowhere_either() {
    let place = Place::new();
    let mut told = TestTrace::new();
    let (path, target) = (told.path("/srv/app/link"), told.path("../outside"));
    told.push(Entry::File(FileFacts {
        at_ns: 0,
        path,
        kind: FileKind::Link,
        bytes: 10,
        device: 1,
        inode: 1,
        mode: 0o777,
        sample_bytes: 0,
        compressed_bytes: 0,
        target: Some(target),
    }));
    told.on(MAIN, Op::Readlink, "link", 10);
    destroy(&mut told, "link");
    let slice = place.replay(told);
    assert!(slice.outcome.untrusted.is_some());
}

#[test]
fn a_link_that_is_moved_up_does_not_lead_out_from_there() {
    let place = Place::new();
    let mut told = TestTrace::new();
    told.on(MAIN, Op::Mkdir, "deep", 0);
    told.on_both(Op::Symlink, "../outside", "deep/link");
    told.on_both(Op::Rename, "deep/link", "link");
    destroy(&mut told, "link");
    place.replay(told);
}
