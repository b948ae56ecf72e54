//! Clients as threads of this process, through the studies' own trait.

#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine::study::{Part, Study};
use host::clock::Clock;
use model::integrity::Integrity;
use model::slice::Outcome;
use model::study::{FigureDescription, Fold};
use process::StopFlag;
use process::worker::{
    Assignment, CLOCK_ERROR, Clients, FromWorker, LocalWorker, Transport, WorkerKind, path_of,
};

use super::joined::joined;
use super::*;
use crate::specs::figure;
use crate::testing::{finish, in_memory, params, timer};

/// So many threads.
struct Threads {
    count: usize,
    idle: Workers,
    /// Where all but the first have folders of their own, if so.
    own: Option<PathBuf>,
}

type Workers = Rc<RefCell<Vec<LocalWorker>>>;

impl Threads {
    fn start(count: usize, own: Option<&Path>) -> Rc<dyn Clients> {
        let kind = WorkerKind::Threads(do_assignment);
        let start = |_| LocalWorker::start(kind, &Clock::new(), &StopFlag::default()).unwrap();
        let idle = Rc::new(RefCell::new((0..count).map(start).collect()));
        Rc::new(Self { count, idle, own: own.map(Path::to_owned) })
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} threads", self.count)
    }
}

/// The threads, until they are released.
struct Group(Vec<LocalWorker>, Workers);

impl Clients for Threads {
    fn count(&self) -> usize {
        self.count
    }

    fn group(&self, workers: usize) -> Box<dyn Transport> {
        let taken: Vec<LocalWorker> = self.idle.borrow_mut().drain(..workers).collect();
        Box::new(Group(taken, Rc::clone(&self.idle)))
    }

    fn path_to(&self, client: usize, folder: BorrowedFd<'_>) -> io::Result<String> {
        let path = path_of(folder)?;
        let own = self.own.as_ref().filter(|_| client > 0);
        Ok(own.map_or(path.clone(), |own| format!("{}/{client}{path}", own.display())))
    }

    fn is_each_ones_own(&self, _: BorrowedFd<'_>) -> io::Result<bool> {
        Ok(self.own.is_some())
    }
}

impl Transport for Group {
    fn workers(&self) -> usize {
        self.0.len()
    }

    fn assign(&mut self, worker: usize, to: &Assignment) -> Result<(), process::Error> {
        self.0[worker].assign(to)
    }

    fn start_together(&mut self) -> Result<(), process::Error> {
        self.go_on()
    }

    fn go_on(&mut self) -> Result<(), process::Error> {
        self.0.iter_mut().try_for_each(|worker| worker.start_at(0))
    }

    fn receive(&mut self, worker: usize, _: &StopFlag) -> Result<FromWorker, process::Error> {
        loop {
            let patience = std::time::Duration::from_millis(100);
            if let Some(mut message) = self.0[worker].receive_within(patience)? {
                if let FromWorker::Done(report) = &mut message {
                    report.figures.insert(CLOCK_ERROR.to_owned(), 1.0);
                }
                return Ok(message);
            }
        }
    }

    fn kill(&mut self) {
        self.0.clear();
    }

    fn release(self: Box<Self>) {
        self.1.borrow_mut().extend(self.0);
    }
}

/// What is left in the folders of a slice and of its arm.
type Look<'a> = &'a dyn Fn(&Path, &Path);

/// Runs slices of three clients in an arm's folders, of which the last has another; what each
/// came to.
fn slices(
    study: &dyn Study,
    strategy: &str,
    given: &[(&str, &str)],
    own: Option<&Path>,
    look: Look<'_>,
) -> Vec<crate::testing::Slice> {
    let given = [given, &[("clients", "3")]].concat();
    let mut workload = study.workload(strategy, &params(study, &given)).unwrap();
    let operations = workload.about().operations.fit(30.0);
    assert_eq!(operations % 3, 0, "each has its share");
    let kepts = [in_memory(), in_memory()];
    let clients = Threads::start(3, own);
    let one = |number: usize| {
        let (fresh, kept) = (in_memory(), &kepts[number / 2]);
        let [open, open_kept] = [fresh.path(), kept.path()].map(|path| File::open(path).unwrap());
        let folders = SliceFolders {
            fresh: open.as_fd(),
            kept: open_kept.as_fd(),
            kept_is_new: number.is_multiple_of(2),
            clients: Some(&clients),
            part: Part::WHOLE,
        };
        let ready = workload.ready(folders, operations, &timer()).unwrap();
        let slice = finish(ready).unwrap();
        assert_eq!(slice.laps, operations);
        look(fresh.path(), kept.path());
        slice
    };
    (0..3).map(one).collect()
}

fn folders_in(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn clients_do_whole_slices_each_in_a_folder_of_its_own() {
    for (study, strategy, given) in [
        (&crate::files::FILES as &dyn Study, "direct", &[("operation", "write")][..]),
        (&crate::files::FILES, "direct", &[("operation", "read"), ("cache", "warm")]),
        (&crate::page::PAGE, "read", &[("cache", "warm")]),
        (&crate::page::PAGE, "mmap", &[("cache", "cold"), ("clients_read", "same")]),
        (&crate::blocks::BLOCKS, "buffered", &[("access", "write"), ("file", "1 MiB")]),
    ] {
        let look = |fresh: &Path, _: &Path| assert_eq!(folders_in(fresh), 3);
        for slice in slices(study, strategy, given, None, &look) {
            let integrity: &Integrity = slice.integrity();
            assert!(integrity.is_intact() && integrity.records > 0, "{strategy}: {integrity:?}");
            for figure in figures() {
                assert!(slice.figure(&figure.name) > 0.0, "{strategy}: {}", figure.name);
            }
        }
    }
}

#[test]
fn clients_write_find_and_remove_files_of_their_own_in_one_folder() {
    let own_files = crate::testing::own_folder();
    let set = own_files.path().to_str().unwrap();
    for (strategy, operation, left) in [
        ("direct", "write", [1, 0]),
        ("rename", "write", [1, 0]),
        ("direct", "create", [1, 0]),
        ("direct", "unlink", [0, 0]),
        ("direct", "stat", [0, 1]),
        ("rename", "rename", [0, 1]),
    ] {
        let given = [("operation", operation), ("clients_folder", "same"), ("size", "1 KiB")];
        // Each client does whole sets.
        for (more, files) in [(("folders", "2"), 30), (("set", set), 27)] {
            let look = |fresh: &Path, kept: &Path| {
                let found = [fresh, kept].map(|folder| files_in(folder).len());
                assert_eq!(found, left.map(|times| times * files), "{strategy} {operation}");
            };
            let given = [&given[..], &[more]].concat();
            for slice in slices(&crate::files::FILES, strategy, &given, None, &look) {
                let integrity = slice.integrity();
                assert!(integrity.is_intact(), "{strategy} {operation}: {integrity:?}");
                assert_eq!(integrity.records, files as u64, "{strategy} {operation}");
            }
        }
    }
}

#[test]
fn clients_have_blocks_of_their_own_in_one_file() {
    for (layout, order) in [("stretch", "random"), ("same", "random"), ("same", "sequential")] {
        for access in ["read", "write", "mixed"] {
            let size = [("size", "4 KiB"), ("file", "64 KiB"), ("clients_file", layout)];
            let given = [&size[..], &[("order", order), ("access", access)]].concat();
            let look = |fresh: &Path, kept: &Path| {
                assert_eq!(files_in(fresh).len(), 0);
                let [file] = &files_in(kept)[..] else { panic!("not one file") };
                assert_eq!(fs::metadata(file).unwrap().len(), 3 * (64 << 10));
            };
            for slice in slices(&crate::blocks::BLOCKS, "buffered", &given, None, &look) {
                let integrity = slice.integrity();
                assert!(integrity.is_intact(), "{layout} {access}: {integrity:?}");
                assert_eq!(integrity.records, 30, "{layout} {access}");
            }
        }
    }
}

#[test]
fn on_disks_of_their_own_clients_leave_nothing_but_what_the_arm_keeps() {
    let own = in_memory();
    for (study, strategy, given, kept) in [
        (&crate::page::PAGE as &dyn Study, "read", &[("cache", "warm")][..], true),
        (&crate::blocks::BLOCKS, "buffered", &[("file", "64 KiB"), ("clients_file", "same")], true),
        (&crate::files::FILES, "direct", &[("clients_folder", "same")], false),
        (&crate::log::LOG, "held", &[], false),
    ] {
        let look = |fresh: &Path, _: &Path| assert_eq!(folders_in(fresh), 1);
        let records: Vec<u64> = slices(study, strategy, given, Some(own.path()), &look)
            .iter()
            .map(|slice| slice.integrity().records)
            .collect();
        assert!(records.iter().all(|records| *records > 0), "{records:?}");
        for client in ["1", "2"] {
            let files = files_in(&own.path().join(client));
            let of_arm = ["page0-part0", "blocks.bin"];
            let of_arm = files.iter().filter(|path| of_arm.iter().any(|name| path.ends_with(name)));
            assert_eq!(of_arm.count(), usize::from(kept), "the folder before is gone: {files:?}");
        }
        assert_eq!(folders_in(own.path()), 2, "the first client works where the run does");
        for client in ["1", "2"] {
            fs::remove_dir_all(own.path().join(client)).unwrap();
        }
    }
}

/// The paths of all files below a folder.
fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| {
        if path.is_dir() { files_in(&path) } else { vec![path.display().to_string()] }
    };
    entries.flat_map(below).collect()
}

#[test]
fn more_clients_than_there_are_cannot_begin() {
    let study = &crate::files::FILES;
    let mut workload = study.workload("direct", &params(study, &[("clients", "2")])).unwrap();
    let (folder, file) = (in_memory(), |path: &Path| File::open(path).unwrap());
    let open = file(folder.path());
    let clients = Threads::start(1, None);
    for there in [None, Some(&clients)] {
        let (fresh, kept) = (open.as_fd(), open.as_fd());
        let folders = SliceFolders { clients: there, ..SliceFolders::alone(fresh, kept, true) };
        let why = workload.ready(folders, 4, &timer()).err().unwrap().to_string();
        assert_eq!(why, "there are fewer than 2 clients");
    }
}

#[test]
fn figures_of_clients_become_one_as_those_of_slices_do() {
    let of = |figures: &[(&str, f64)], records| Outcome {
        integrity: Some(Integrity { records, ..Integrity::default() }),
        figures: figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        ..Outcome::default()
    };
    let folded = [Fold::Mean, Fold::Max, Fold::PerOperation, Fold::Mean];
    let folded = folded.into_iter().zip(["mean", "max", "each", "none"]);
    let figures = folded.map(|(fold, name)| FigureDescription { fold, ..figure(name, "", "") });
    let empty = StudyDescription::new("", "", "");
    let study = StudyDescription { figures: figures.collect(), ..empty };
    let a = of(&[("mean", 1.0), ("max", 9.0), ("each", 5.0)], 3);
    let b = of(&[("mean", 2.0), ("max", 4.0), ("each", 6.0)], 4);
    let both = joined(&study, &[a, b]);
    assert_eq!(both.integrity.unwrap().records, 7);
    let figures: Vec<f64> = both.figures.values().copied().collect();
    assert_eq!(figures, [11.0, 9.0, 1.5], "each, max, mean");
}
