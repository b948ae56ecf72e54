//! Ranks without MPI: threads that are joined by channels, with workers as threads.

#![allow(clippy::unwrap_used)]

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use process::StopFlag;
use process::worker::{
    Assignment, CLOCK_ERROR, Clients as _, FromWorker, Program, Report, Session, WorkerGroup,
    WorkerKind,
};
use serde_json::{Value, json};

use crate::comm::{Comm, Failure};
use crate::message::{FromRank, Greeting, Mark, OwnPlace, Sight, ToRank, read, written};
use crate::tree::Said;
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
    let told: Value = assignment.read()?;
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
    let one = |work: &Value| Assignment::of("made", work).unwrap();
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
            // All are told when to start by a clock that they have in common.
            assert!(reports.iter().all(|report| report.figures[CLOCK_ERROR] == 0.0));
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
fn what_is_said_of_an_earlier_round_is_not_taken_for_this_one() {
    let mut wires = wires(2);
    let (other, first) = (wires.pop().unwrap(), wires.pop().unwrap());
    let say = |message: &FromRank| other.send(0, &written(message).unwrap()).unwrap();
    let gathered = |round, what| {
        say(&FromRank::Gathered { round, all: vec![Said::of(1, Ok(what))] });
    };
    let done =
        |acknowledged| FromWorker::Done(Box::new(Report { acknowledged, ..Report::default() }));
    let machine = host::machine::as_client();
    say(&FromRank::Greeting(Greeting { version: "1".to_owned(), machine }));
    let leader = Leader::greet(Box::new(first), "1", KIND).unwrap();
    // The first round is given up before the other rank has said that it is ready.
    drop(leader.group(2));
    let mut group = leader.group(2);
    let assigned = assignments(&[json!({}), json!({})]);
    (0..2).for_each(|worker| group.assign(worker, &assigned[worker]).unwrap());
    let stop = StopFlag::default();
    gathered(1, FromWorker::Failed("of the first round".to_owned()));
    gathered(2, FromWorker::Ready);
    assert!(matches!(group.receive(1, &stop), Ok(FromWorker::Ready)));
    group.go_on().unwrap();
    gathered(1, done(7));
    gathered(2, done(8));
    let FromWorker::Done(report) = group.receive(1, &stop).unwrap() else { panic!("not done") };
    assert_eq!(report.acknowledged, 8);
    // The other rank is told of both.
    let mut told = Vec::new();
    while let Some(bytes) = other.receive(0).unwrap() {
        let message: ToRank<'_> = read(&bytes).unwrap();
        told.push(message);
    }
    assert!(matches!(
        told[..],
        [
            ToRank::Greet,
            ToRank::Kill,
            ToRank::Work { round: 2, of: 2, .. },
            ToRank::Start { round: 2, when: None }
        ]
    ));
}

#[test]
fn a_worker_that_dies_before_it_is_started_is_an_error_that_names_its_rank() {
    const ONCE: Program =
        Program { command: "sh", args: &["-c", "read work; echo '\"ready\"'"], install: "" };
    let mut wires = wires(2);
    let (other, first) = (wires.pop().unwrap(), wires.pop().unwrap());
    let kind = WorkerKind::Processes(ONCE);
    let serving = thread::spawn(move || serve(&other, "1", kind, &mut There(1)).unwrap());
    let leader = Leader::greet(Box::new(first), "1", KIND).unwrap();
    let works = assignments(&[json!({}), json!({})]);
    let group = WorkerGroup::over(leader.group(2), &works, &StopFlag::default()).unwrap();
    thread::sleep(Duration::from_millis(50));
    let why = group.start().unwrap().reports().unwrap_err().to_string();
    assert!(why.starts_with("rank 1 on ") && why.contains("exited early"), "{why}");
    drop(leader);
    serving.join().unwrap();
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
