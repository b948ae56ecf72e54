//! Ranks without MPI: threads that are joined by channels, with workers as threads; and a
//! thousand that answer at once, to see what they cost rank 0.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use host::clock::monotonic_ns;
use process::StopFlag;
use process::worker::{
    Assignment, CLOCK_ERROR, Clients as _, FromWorker, Report, Session, WorkerGroup, WorkerKind,
};
use serde_json::{Value, json};

use crate::comm::{Comm, Failure};
use crate::message::{FromRank, Greeting, Mark, OwnPlace, Sight, ToRank, read, written};
use crate::tree::{Said, branch};
use crate::{Here, Leader, serve};

/// One rank's ends of the channels between all of them.
struct Wire {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

impl Comm for Wire {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), Failure> {
        self.to[to].send(message.to_vec()).map_err(|_| Failure(format!("rank {to} is gone")))
    }

    fn receive(&self, from: usize) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.from[from].try_recv().ok())
    }
}

fn wires(ranks: usize) -> Vec<Wire> {
    let mut wires: Vec<Wire> =
        (0..ranks).map(|rank| Wire { rank, to: Vec::new(), from: Vec::new() }).collect();
    for a in 0..ranks {
        for b in 0..ranks {
            let (to, from) = channel();
            wires[a].to.push(to);
            wires[b].from.push(from);
        }
    }
    wires
}

/// What the tests' workers do: wait, fail, or go on until they are ended.
fn work(assignment: &Assignment, session: Session<'_>) -> Result<Report, String> {
    let told = &assignment.work;
    if let Some(why) = told["fails"].as_str() {
        return Err(why.to_owned());
    }
    let start = session.start().map_err(|error| error.to_string())?;
    let started_after_ns = start.elapsed_ns();
    thread::sleep(Duration::from_millis(told["works_ms"].as_u64().unwrap_or(0)));
    let ended_after_ns = start.elapsed_ns();
    let acknowledged = told["number"].as_u64().unwrap_or(0);
    if let Some(why) = told["breaks"].as_str() {
        return Err(why.to_owned());
    }
    assert!(told["dies"].is_null(), "the death of a worker");
    let report = Report { acknowledged, started_after_ns, ended_after_ns, ..Report::default() };
    let latencies = vec![(100 + acknowledged, acknowledged)];
    Ok(Report { unit_ns: 1.0, latencies, latency_max: 100 + acknowledged, ..report })
}

const KIND: WorkerKind = WorkerKind::Threads(work);

/// Does something as rank 0, with others of these versions.
fn among<T>(versions: &[&'static str], lead: impl FnOnce(Result<Leader, crate::Error>) -> T) -> T {
    let mut wires = wires(versions.len()).into_iter();
    let first = wires.next().unwrap();
    let others: Vec<_> = wires
        .zip(&versions[1..])
        .map(|(wire, version)| {
            let version = *version;
            thread::spawn(move || {
                serve(&wire, version, KIND, &mut There(wire.rank)).map_err(|e| e.to_string())
            })
        })
        .collect();
    let done = lead(Leader::greet(Box::new(first), versions[0], KIND));
    for other in others {
        other.join().unwrap().unwrap();
    }
    done
}

/// A rank's places.
struct There(usize);

impl Here for There {
    fn mounted_at(&mut self, directory: &Path) -> String {
        format!("{} of {}", directory.display(), self.0)
    }

    fn open(&mut self, place: &OwnPlace) -> Result<PathBuf, String> {
        if place.label == "full" && self.0 == 2 {
            return Err("full: there is no space left".to_owned());
        }
        Ok(place.path.join(format!("of-{}", self.0)))
    }
}

fn assignments(works: &[Value]) -> Vec<Assignment> {
    let one = |work: &Value| Assignment { study: "made".to_owned(), work: work.clone() };
    works.iter().map(one).collect()
}

fn done(leader: &Leader, works: &[Value]) -> Result<Vec<Report>, process::Error> {
    let group = leader.group(works.len());
    WorkerGroup::over(group, &assignments(works), &StopFlag::default())?.start()?.reports()
}

#[test]
fn ranks_work_at_one_time_and_end_with_rank_0() {
    // So many that some are below ranks that are below rank 0.
    among(&["1"; 12], |leader| {
        let leader = leader.unwrap();
        assert_eq!(leader.count(), 12);
        for _ in 0..3 {
            let works: Vec<_> = (0..12).map(|n| json!({"number": n, "works_ms": 1})).collect();
            let reports = done(&leader, &works).unwrap();
            let numbers: Vec<u64> = reports.iter().map(|report| report.acknowledged).collect();
            assert_eq!(numbers, (0..12).collect::<Vec<_>>());
            let all = reports.iter().flat_map(|report| &report.latencies);
            assert_eq!(all.map(|(_, times)| times).sum::<u64>(), (0..12).sum::<u64>());
            let error_ns = |report: &Report| report.figures[CLOCK_ERROR];
            assert!(error_ns(&reports[0]) < 0.5, "rank 0 has its own clock");
            assert!(reports[1..].iter().all(|report| error_ns(report) > 0.0));
        }
        // Fewer clients than ranks: the others wait.
        let works = [json!({"number": 7}), json!({"number": 8})];
        assert_eq!(done(&leader, &works).unwrap().len(), 2);
    });
}

#[test]
fn one_rank_that_fails_fails_the_slice_and_works_again() {
    among(&["1"; 3], |leader| {
        let leader = leader.unwrap();
        for at in 0..3 {
            let mut works = vec![json!({"works_ms": 1}); 3];
            for how in ["fails", "breaks"] {
                works[at] = json!({how: "no space"});
                assert_eq!(done(&leader, &works).unwrap_err().to_string(), "no space");
            }
            // What the others said meanwhile is no part of the next slice.
            assert_eq!(done(&leader, &[json!({}), json!({}), json!({})]).unwrap().len(), 3);
        }
    });
}

#[test]
fn a_worker_that_dies_is_an_error_that_names_its_rank() {
    among(&["1"; 3], |leader| {
        let leader = leader.unwrap();
        let why = done(&leader, &[json!({}), json!({}), json!({"dies": true})]).unwrap_err();
        let why = why.to_string();
        assert!(why.starts_with("rank 2 on ") && why.contains("ended early"), "{why}");
        assert_eq!(done(&leader, &[json!({}), json!({}), json!({})]).unwrap().len(), 3);
    });
}

#[test]
fn another_version_is_refused_by_name() {
    let why = among(&["1.0", "1.0", "1.1"], |leader| leader.err().unwrap().to_string());
    assert!(why.starts_with("rank 2 on "), "{why}");
    assert!(why.contains("it runs iotoll 1.1 and rank 0 runs 1.0"), "{why}");
}

#[test]
fn what_is_no_message_of_ours_is_an_error_that_names_the_rank() {
    let mut wires = wires(2);
    let (other, first) = (wires.pop().unwrap(), wires.pop().unwrap());
    other.send(0, b"{\"greeting\":{\"name\":\"other\"}}").unwrap();
    let why = Leader::greet(Box::new(first), "1", KIND).err().unwrap().to_string();
    assert!(why.starts_with("rank 1: a message of another program"), "{why}");
}

#[test]
fn a_run_that_is_stopped_does_not_wait_for_ranks() {
    let mut wires = wires(2);
    let (silent, first) = (wires.pop().unwrap(), wires.pop().unwrap());
    let greeting = Greeting { version: "1".to_owned(), machine: host::machine::as_client() };
    silent.send(0, &written(&FromRank::Greeting(greeting)).unwrap()).unwrap();
    let leader = Leader::greet(Box::new(first), "1", KIND).unwrap();
    let stop = StopFlag::default();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let works = assignments(&[json!({}), json!({})]);
    let stopped = WorkerGroup::over(leader.group(2), &works, &stop).err().unwrap();
    assert!(matches!(stopped, process::Error::Stopped), "{stopped}");
}

#[test]
fn ranks_tell_a_shared_place_from_another_and_from_none() {
    let shared = tempfile::tempdir().unwrap();
    let file = shared.path().join("mark");
    std::fs::write(&file, "token").unwrap();
    let mark = |place: &Path, file: &Path| Mark {
        place: place.to_owned(),
        file: file.to_owned(),
        content: "token".to_owned(),
    };
    let other = tempfile::tempdir().unwrap();
    let stale = other.path().join("mark");
    std::fs::write(&stale, "of an earlier run").unwrap();
    let marks = [
        mark(shared.path(), &file),
        mark(other.path(), &other.path().join("none")),
        mark(other.path(), &stale),
        mark(Path::new("/no/such"), Path::new("/no/such/mark")),
    ];
    among(&["1"; 2], |leader| {
        let seen = leader.unwrap().look(&marks).unwrap();
        let [(1, sights)] = &seen[..] else { panic!("{seen:?}") };
        let [Sight::Same, Sight::Another, Sight::Another, Sight::Missing(why)] = &sights[..] else {
            panic!("{sights:?}")
        };
        assert!(why.contains("No such file"), "{why}");
    });
}

#[test]
fn what_ranks_have_mounted_is_known_by_rank() {
    among(&["1"; 3], |leader| {
        let leader = leader.unwrap();
        leader.describe(&["/a".into(), "/b".into()], vec!["mine".to_owned()]).unwrap();
        let mounts = leader.clients().into_iter().map(|client| client.mounts.join(", "));
        assert_eq!(mounts.collect::<Vec<_>>(), ["mine", "/a of 1, /b of 1", "/a of 2, /b of 2"]);
    });
}

#[test]
fn each_rank_has_its_own_folder_where_machines_have_disks_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    let own = |label: &str| OwnPlace { label: label.to_owned(), path: place.path().to_owned() };
    let of_leader = place.path().join("of-0");
    std::fs::create_dir_all(of_leader.join("slice")).unwrap();
    let slice = std::fs::File::open(of_leader.join("slice")).unwrap();
    let elsewhere = std::fs::File::open(place.path()).unwrap();
    among(&["1"; 3], |leader| {
        let leader = leader.unwrap();
        assert!(!leader.is_each_ones_own(slice.as_fd()).unwrap());
        leader.open_own(&own("disk"), of_leader.clone()).unwrap();
        let paths = [0, 1, 2].map(|rank| leader.path_to(rank, slice.as_fd()).unwrap());
        let wanted = [0, 1, 2].map(|rank| place.path().join(format!("of-{rank}/slice")));
        assert_eq!(paths.map(PathBuf::from), wanted);
        assert!(leader.is_each_ones_own(slice.as_fd()).unwrap());
        assert!(!leader.is_each_ones_own(elsewhere.as_fd()).unwrap());
        assert_eq!(leader.path_to(2, elsewhere.as_fd()).unwrap(), place.path().to_str().unwrap());
        let why = leader.open_own(&own("full"), of_leader.clone()).unwrap_err().to_string();
        assert!(why.starts_with("rank 2 on ") && why.ends_with("no space left"), "{why}");
    });
}

/// Ranks that answer at once, each with a report as long as a real one, as the tree brings it.
struct Answering {
    answers: RefCell<Vec<VecDeque<Vec<u8>>>>,
    report: Report,
    /// Without a tree: each with its own histogram.
    is_flat: bool,
}

impl Answering {
    /// What comes by a rank directly below rank 0: all that is below it, too.
    fn gathered(&self, branch_: usize, of: usize) -> Vec<Said> {
        let ranks = (1..of).filter(|rank| branch(*rank) == branch_);
        let said = ranks.enumerate().map(|(position, rank)| {
            let mut report = Box::new(self.report.clone());
            if position > 0 && !self.is_flat {
                report.latencies = Vec::new();
            }
            Said { rank, what: Ok(FromWorker::Done(report)) }
        });
        said.collect()
    }
}

impl Comm for Answering {
    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        self.answers.borrow().len()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), Failure> {
        let answer = match read::<ToRank>(message)? {
            ToRank::Greet => {
                let machine = host::machine::as_client();
                FromRank::Greeting(Greeting { version: "1".to_owned(), machine })
            }
            ToRank::Time => FromRank::Time(monotonic_ns()),
            ToRank::Work { round, .. } => FromRank::Worker { round, what: Ok(FromWorker::Ready) },
            ToRank::Start { round, of, .. } if branch(to) == to => {
                FromRank::Gathered { round, all: self.gathered(to, of) }
            }
            ToRank::Start { .. }
            | ToRank::Look(_)
            | ToRank::Describe(_)
            | ToRank::Open(_)
            | ToRank::Kill
            | ToRank::End => return Ok(()),
        };
        self.answers.borrow_mut()[to].push_back(written(&answer)?);
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.answers.borrow_mut()[from].pop_front())
    }
}

/// A table of what a slice of so many ranks takes of rank 0's time, with what the simulated
/// ranks take. For `cargo test -p iotoll-ranks --release -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table; what it says is time"]
fn what_a_thousand_ranks_cost_rank_0() {
    eprintln!("ranks  all to rank 0  by the tree");
    for ranks in [10, 100, 1000] {
        let [flat, tree] = [true, false].map(|is_flat| slice_ms(ranks, is_flat));
        eprintln!("{ranks:>5}  {flat:>10.2} ms  {tree:>8.2} ms");
    }
}

fn slice_ms(ranks: usize, is_flat: bool) -> f64 {
    let latencies = (0..300).map(|n| (1000 + n * n, 1 + n)).collect();
    let report = Report { unit_ns: 0.4, latencies, acknowledged: 1000, ..Report::default() };
    let answers = RefCell::new(vec![VecDeque::new(); ranks]);
    let leader = Leader::greet(Box::new(Answering { answers, report, is_flat }), "1", KIND);
    let leader = leader.unwrap();
    let work = json!({"strategy": "held", "folder": "/mnt/gv/x", "records": 1000});
    let works = vec![work; ranks];
    done(&leader, &works).unwrap();
    let began = Instant::now();
    let slices = 10;
    (0..slices).for_each(|_| assert_eq!(done(&leader, &works).unwrap().len(), ranks));
    began.elapsed().as_secs_f64() * 1e3 / f64::from(slices)
}
