//! Whole runs of a simulated machine, kept and read again.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::measure::Event;
use iotoll_store::{Content, Entry, Error, Kind, Recording, State, Store, Summary, Toll, is_name};
use model::analysis::Analysis;
use model::plan::{Draft, Plan, StudyPlan};
use model::run::{ArmFailure, Run};
use rusqlite::Connection;
use tempfile::TempDir;
use testkit::{ArmBehaviour, SimulatedRunner, run_watched};

fn folder() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("data");
    (home, folder)
}

fn plan() -> Plan {
    let registry = studies::specs();
    let log = model::plan::find_study("log", &registry).unwrap();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(10)),
        places: ["disk=/var/lib/app", "ram=/dev/shm"].iter().map(|p| p.parse().unwrap()).collect(),
        studies: vec![StudyPlan::new(log)],
        ..Draft::default()
    };
    draft.select_strategies(&["reopen".to_owned(), "held".to_owned()]).unwrap();
    draft.finish(7).unwrap()
}

/// Four arms, the last of which fails after some blocks.
fn runner() -> SimulatedRunner {
    let mut arms = [1930.0, 1620.0, 290.0, 292.0].map(|ns| ArmBehaviour::steady(ns, 0.03)).to_vec();
    arms[3].full_from_slice = Some(12);
    SimulatedRunner::new(arms, 1)
}

/// Measures and keeps, until `takes` says no more; the run, and the recording where it is
/// not finished.
fn kept(store: Store, id: &str, takes: &mut dyn FnMut(&Event<'_>) -> bool) -> (Run, Recording) {
    let (mut store, mut recording) = (Some(store), None::<Recording>);
    let run = run_watched(&plan(), &mut runner(), &mut |event| {
        if !takes(&event) {
            return;
        }
        match event {
            Event::Begun(run) => {
                recording = Some(store.take().unwrap().begin(&named(run.clone(), id)).unwrap());
            }
            Event::Kept(slices) => recording.as_mut().unwrap().append(slices).unwrap(),
            Event::Failed { arm, why } => {
                recording.as_mut().unwrap().fail(ArmFailure { arm, why: why.to_owned() }).unwrap();
            }
            _ => {}
        }
    });
    (named(run, id), recording.unwrap())
}

fn named(mut run: Run, id: &str) -> Run {
    id.clone_into(&mut run.run.id);
    run
}

fn loaded(store: &Store, name: &str) -> (Entry, Run) {
    let entry = store.find(name).unwrap();
    match store.load(&entry).unwrap() {
        Content::Comparison(run) => (entry, *run),
        Content::Document(_) => panic!("{name} is a comparison"),
    }
}

#[test]
fn a_finished_run_is_read_as_it_was() {
    let (_home, folder) = folder();
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    drop(recording.finish(&run).unwrap());
    let mut store = Store::open(&folder).unwrap();
    assert_eq!(store.find_killed().unwrap(), []);
    let (entry, read) = loaded(&store, "aa11");
    assert_eq!(read, run);
    assert_eq!(entry, Entry::of_comparison(&run, State::Finished));
    assert_eq!((entry.subject.as_str(), entry.short_id()), ("log on disk, ram", "aa11"));
    assert!(entry.blocks > 5 && run.failures.len() == 1, "{entry:?}");
    drop(store);
    assert_eq!(names_in(&folder), ["runs.db"]);
}

#[test]
fn what_followed_from_a_run_is_kept_for_the_program_that_found_it() {
    let (_home, folder) = folder();
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    let analysis = analysis::analyse(&run);
    let mut store = Store::open(&folder).unwrap();
    store.keep_analysis("aa11", "1.0 a", &analysis).unwrap();
    let running = store.find("aa11").unwrap();
    assert!(store.load_analysed(&running, "1.0 a").unwrap().is_none(), "it goes on");
    recording.finish(&run).unwrap();
    let entry = store.find("aa11").unwrap();
    assert!(store.load_analysed(&entry, "1.0 b").unwrap().is_none(), "another found it");
    let kept = store.load_analysed(&entry, "1.0 a").unwrap().unwrap();
    assert_eq!((kept.run, kept.analysis), (run.without_slices(), analysis.clone()));
    // That of another plan would have reports look for arms that are not there.
    let other = Analysis { arms: Vec::new(), ..analysis };
    store.keep_analysis("aa11", "1.0 a", &other).unwrap();
    let refused = store.load_analysed(&entry, "1.0 a").err().unwrap().to_string();
    assert!(refused.contains("another run's"), "{refused}");
    store.remove(&entry).unwrap();
    let database = Connection::open(folder.join("runs.db")).unwrap();
    let left = database.query_row("SELECT count(*) FROM analysis", (), |row| row.get(0));
    assert_eq!(left, Ok(0_i64));
}

#[test]
fn a_killed_run_has_every_block_that_was_complete() {
    let (_home, folder) = folder();
    let mut blocks = 0;
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |event| {
        let goes_on = blocks < 9;
        blocks += usize::from(matches!(event, Event::Block { .. }));
        goes_on
    });
    // What a process that is killed leaves: the lock is gone, its file is not.
    let running = folder.join("aa11.running");
    let mut other = Store::open(&folder).unwrap();
    assert_eq!(other.find_killed().unwrap(), [], "it goes on");
    assert_eq!(other.find("aa").unwrap().state, State::Running);
    drop(recording);
    fs::write(&running, "").unwrap();
    let killed = other.find_killed().unwrap();
    assert_eq!((killed.len(), killed[0].blocks), (1, 9));
    assert_eq!(other.find_killed().unwrap(), [], "it is told once");
    assert!(!running.exists());

    let (entry, read) = loaded(&other, "aa11");
    assert_eq!(entry.state, State::Killed);
    assert!(read.run.interrupted && !run.run.interrupted);
    assert_eq!(read.blocks().count(), 9);
    assert!(read.blocks().eq(run.blocks().take(9)));
    assert_eq!(read.slices[..], run.slices[..read.slices.len()]);
    assert_eq!(read.failures, run.failures, "the arm had failed by then");
    assert_eq!((&read.plan, &read.places, &read.studies), (&run.plan, &run.places, &run.studies));
}

#[test]
fn what_could_not_be_kept_meanwhile_is_kept_at_the_end() {
    let (_home, folder) = folder();
    let mut blocks = 0;
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |event| {
        blocks += usize::from(matches!(event, Event::Block { .. }));
        blocks < 4
    });
    recording.finish(&run).unwrap();
    let (entry, read) = loaded(&Store::open(&folder).unwrap(), "aa11");
    assert_eq!((read, entry.state), (run.clone(), State::Finished));
    assert_eq!(entry.blocks as usize, run.blocks().count());
}

#[test]
fn a_commit_that_fails_loses_nothing_that_was_kept() {
    let (_home, folder) = folder();
    let (run, mut recording) =
        kept(Store::open(&folder).unwrap(), "aa11", &mut |event| matches!(event, Event::Begun(_)));
    let blocks: Vec<_> = run.blocks().collect();
    recording.append(blocks[0]).unwrap();
    let other = Connection::open(folder.join("runs.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = recording.append(blocks[1]).unwrap_err();
    assert!(error.to_string().contains("saving a block failed: database is locked"), "{error}");
    other.execute_batch("COMMIT").unwrap();
    recording.append(blocks[1]).unwrap();
    let (entry, read) = loaded(&Store::open(&folder).unwrap(), "aa11");
    assert_eq!((entry.blocks, read.blocks().count()), (2, 2));
}

#[test]
fn runs_are_found_by_the_beginning_of_their_names() {
    let (_home, folder) = folder();
    assert!(Store::open_existing(&folder).unwrap().is_none());
    assert!(!folder.exists());
    for id in ["aa11", "aa22", "bb33"] {
        let (run, recording) = kept(Store::open(&folder).unwrap(), id, &mut |_| true);
        recording.finish(&run).unwrap();
    }
    let mut store = Store::open_existing(&folder).unwrap().unwrap();
    let document = Entry {
        id: "cc44".to_owned(),
        kind: Kind::Load,
        ..Entry::of_comparison(&loaded(&store, "aa11").1, State::Finished)
    };
    store.keep(&document, &[1.5, 2.5]).unwrap();
    assert_eq!(store.latest().unwrap().as_ref(), Some(&document));
    let ids: Vec<String> = store.list().unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, ["cc44", "bb33", "aa22", "aa11"]);
    assert_eq!(store.find("b").unwrap().id, "bb33");
    let Error::Ambiguous { names, .. } = store.find("aa").unwrap_err() else { panic!("two") };
    assert_eq!(names, ["aa11", "aa22"]);
    assert!(matches!(store.find("dd"), Err(Error::NoSuchRun(_))));
    // A name is no pattern.
    assert!(matches!(store.find("%"), Err(Error::NoSuchRun(_))));
    let Content::Document(text) = store.load(&document).unwrap() else { panic!("a document") };
    assert_eq!(text, "[1.5,2.5]");
}

/// Saves runs of these names.
fn filled(folder: &Path, ids: &[&str]) -> Store {
    for id in ids {
        let (run, recording) = kept(Store::open(folder).unwrap(), id, &mut |_| true);
        recording.finish(&run).unwrap();
    }
    Store::open(folder).unwrap()
}

fn ids(store: &Store) -> Vec<String> {
    store.list().unwrap().into_iter().map(|entry| entry.id).collect()
}

#[test]
fn the_last_runs_are_found_by_how_far_back_they_are() {
    let (_home, folder) = folder();
    let store = filled(&folder, &["aa11", "aa22", "bb33"]);
    let found = |name: &str| store.find(name).map(|entry| entry.id);
    assert_eq!(found("last").unwrap(), "bb33");
    assert_eq!(found("last~0").unwrap(), "bb33");
    assert_eq!(found("last~2").unwrap(), "aa11");
    let error = found("last~3").unwrap_err();
    assert_eq!(error.to_string(), "there is no last~3: `iotoll history` has only 3 runs");
    assert!(matches!(found("last~x"), Err(Error::NoSuchRun(_))));
    for name in ["last", "last~12", "0", "1a2b3c4d", "0123456789abcdef"] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "last~", "last~-1", "run.json", "0123456789abcdef0", "A1", "./last"] {
        assert!(!is_name(name), "{name}");
    }
}

#[test]
fn summaries_are_kept_and_repeats_found_by_their_setting() {
    let (_home, folder) = folder();
    let mut store = filled(&folder, &["aa11", "aa22", "bb33"]);
    let entry = store.find("aa11").unwrap();
    assert_eq!(entry.summary, None);
    assert_eq!((entry.studies, entry.places.join(", ")), (vec!["log".into()], "disk, ram".into()));
    let summary = Summary { ended: "finished".into(), answer: "do: nothing 'much'".into() };
    for (id, log_toll) in [("aa11", 1.0), ("aa22", 2.0), ("bb33", 3.0)] {
        let toll = |setting: &str, log_toll| Toll { setting: setting.to_owned(), log_toll };
        let tolls = [toll("here", log_toll), toll("there", -log_toll)];
        // A second time replaces the first.
        store.summarise(id, &Summary::default(), &tolls[1..]).unwrap();
        store.summarise(id, &summary, &tolls).unwrap();
    }
    assert_eq!(store.find("aa11").unwrap().summary, Some(summary));
    assert_eq!(store.repeats("here", ["", ""]).unwrap(), [3.0, 2.0, 1.0]);
    assert_eq!(store.repeats("there", ["aa22", "bb33"]).unwrap(), [-1.0]);
    assert_eq!(store.repeats("elsewhere", ["", ""]).unwrap(), [0.0; 0]);
    let gone = store.find("bb33").unwrap();
    store.remove(&gone).unwrap();
    assert_eq!(store.repeats("here", ["", ""]).unwrap(), [2.0, 1.0]);
}

#[test]
fn a_removed_run_is_gone_with_all_that_it_had_and_its_room() {
    let (_home, folder) = folder();
    let mut store = filled(&folder, &["aa11", "aa22"]);
    let size = || fs::metadata(folder.join("runs.db")).unwrap().len();
    drop(store);
    let before = size();
    store = Store::open(&folder).unwrap();
    let gone = store.find("aa11").unwrap();
    store.remove(&gone).unwrap();
    // Once more is no harm.
    store.remove(&gone).unwrap();
    assert_eq!(ids(&store), ["aa22"]);
    let freed = store.shrink().unwrap();
    assert!(freed > before / 4 && size() < before, "{freed} of {before}");
    let (_, kept) = loaded(&store, "aa22");
    assert!(kept.blocks().count() > 5);
    let database = Connection::open(folder.join("runs.db")).unwrap();
    let rows = |table: &str| {
        let sql = format!("SELECT count(DISTINCT run) FROM {table}");
        database.query_row(&sql, (), |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!((rows("record"), rows("part")), (1, 1));
}

#[test]
fn a_run_that_goes_on_is_not_removed() {
    let (_home, folder) = folder();
    let (_, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    let mut other = Store::open(&folder).unwrap();
    let running = other.find("aa11").unwrap();
    let error = other.remove(&running).unwrap_err();
    assert!(error.to_string().contains("aa11 is still running"), "{error}");
    // Its space would have to be waited for.
    assert_eq!(other.shrink().unwrap(), 0);
    assert_eq!(ids(&other), ["aa11"]);
    drop(recording);
}

/// What the first version of the layout was, word for word.
const FIRST_LAYOUT: &str = include_str!("layout-1.sql");

/// A database of the first version, with the runs of one of this version.
fn of_first_version(folder: &Path) {
    let present = folder.join("present.db");
    fs::rename(folder.join("runs.db"), &present).unwrap();
    let database = Connection::open(folder.join("runs.db")).unwrap();
    database.execute_batch(FIRST_LAYOUT).unwrap();
    let copied = format!(
        "ATTACH '{}' AS present;
         INSERT INTO run SELECT number, id, kind, started, subject, state, seconds, blocks
             FROM present.run;
         INSERT INTO record SELECT * FROM present.record;
         INSERT INTO part SELECT * FROM present.part;
         DETACH present;",
        present.display()
    );
    database.execute_batch(&copied).unwrap();
    fs::remove_file(present).unwrap();
}

#[test]
fn a_database_of_the_first_version_is_brought_up_to_date_with_all_its_runs() {
    let (_home, folder) = folder();
    let mut store = filled(&folder, &["aa11", "aa22"]);
    let (_, run) = loaded(&store, "aa11");
    let load = Entry { id: "cc44".to_owned(), kind: Kind::Load, ..store.find("aa22").unwrap() };
    store.keep(&load, &[1.5]).unwrap();
    drop(store);
    of_first_version(&folder);
    // One whose record is damaged stays as it is, and keeps none of the others.
    let database = Connection::open(folder.join("runs.db")).unwrap();
    database.execute("UPDATE record SET json = 'what' WHERE run = 2", ()).unwrap();
    drop(database);

    let store = Store::open(&folder).unwrap();
    assert_eq!(ids(&store), ["cc44", "aa22", "aa11"]);
    let (entry, read) = loaded(&store, "aa11");
    assert_eq!(read, run);
    assert_eq!(entry, Entry::of_comparison(&run, State::Finished));
    let studies = |id: &str| store.find(id).unwrap().studies.join(", ");
    assert_eq!((studies("aa22"), studies("cc44")), (String::new(), "load".to_owned()));
    drop(store);
    let mut store = filled(&folder, &["dd55"]);
    assert_eq!(store.find("last").unwrap().id, "dd55");
    store.summarise("aa11", &Summary::default(), &[]).unwrap();
}

#[test]
fn a_database_that_cannot_be_brought_up_to_date_is_left_as_it_was() {
    let (_home, folder) = folder();
    drop(filled(&folder, &["aa11"]));
    of_first_version(&folder);
    // The name of something that the present version has.
    let database = Connection::open(folder.join("runs.db")).unwrap();
    database.execute_batch("CREATE TABLE toll (other TEXT)").unwrap();
    drop(database);
    let error = Store::open(&folder).err().unwrap().to_string();
    assert!(error.contains("upgrading it to this version's format failed"), "{error}");
    let database = Connection::open(folder.join("runs.db")).unwrap();
    let figure = |sql: &str| database.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(figure("PRAGMA user_version"), 1);
    assert_eq!(figure("SELECT count(*) FROM pragma_table_info('run')"), 8);
    assert_eq!(figure("SELECT count(*) FROM run"), 1);
}

#[test]
fn two_that_bring_it_up_to_date_at_once_do_it_once() {
    let (_home, folder) = folder();
    drop(filled(&folder, &["aa11"]));
    of_first_version(&folder);
    std::thread::scope(|scope| {
        let opened: Vec<_> =
            (0..4).map(|_| scope.spawn(|| ids(&Store::open(&folder).unwrap()))).collect();
        for ids in opened {
            assert_eq!(ids.join().unwrap(), ["aa11"]);
        }
    });
}

#[test]
fn all_files_are_the_users_alone() {
    let (_home, folder) = folder();
    let (_, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    assert_eq!(names_in(&folder), ["aa11.running", "runs.db", "runs.db-shm", "runs.db-wal"]);
    for name in names_in(&folder) {
        let mode = fs::metadata(folder.join(&name)).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    drop(recording);
}

#[test]
fn what_is_newer_damaged_or_not_ours_is_refused_and_left_as_it_is() {
    let (_home, folder) = folder();
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    recording.finish(&run).unwrap();
    let file = folder.join("runs.db");
    let whole = fs::read(&file).unwrap();
    let refused = |content: &[u8]| {
        fs::write(&file, content).unwrap();
        let refused = Store::open(&folder).err();
        assert_eq!(fs::read(&file).unwrap(), content, "it was written to");
        assert_eq!(names_in(&folder), ["runs.db"]);
        refused.unwrap()
    };
    // The format is at 60 of the file's header, the application at 68.
    let with = |position: usize, value: u32| {
        let mut changed = whole.clone();
        changed[position..position + 4].copy_from_slice(&value.to_be_bytes());
        changed
    };
    let newer = refused(&with(60, 4));
    assert!(matches!(newer, Error::Newer { found: 4, known: 3, .. }), "{newer}");
    assert!(newer.to_string().contains("was written by a newer version of iotoll"), "{newer}");
    assert!(matches!(refused(&with(68, 7)), Error::NotOurs { .. }));
    assert!(matches!(
        refused(b"What is this? It is a text, and a long one at that."),
        Error::NotOurs { .. }
    ));
    let mut damaged = whole.clone();
    damaged[100..200].fill(0xff);
    let damaged = refused(&damaged);
    assert!(matches!(damaged, Error::Damaged { .. }), "{damaged:?}");
    assert!(damaged.to_string().contains("move it away to begin another"), "{damaged}");
}

#[test]
fn a_run_that_is_damaged_is_said_to_be() {
    let (_home, folder) = folder();
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    recording.finish(&run).unwrap();
    let says = |sql: &str, says: &str| {
        Connection::open(folder.join("runs.db")).unwrap().execute_batch(sql).unwrap();
        let store = Store::open(&folder).unwrap();
        let error = store.load(&store.find("aa").unwrap()).err().unwrap().to_string();
        assert!(error.contains("is damaged") && error.contains(says), "{error}");
    };
    says("UPDATE part SET slices = replace(slices, '\"arm\":3', '\"arm\":33')", "arm 33 of 4");
    says("UPDATE part SET slices = substr(slices, 1, 1000)", "EOF");
    says("UPDATE record SET json = 'what'", "expected");
}

#[test]
fn links_in_the_place_of_files_are_not_followed() {
    let (home, folder) = folder();
    fs::create_dir(&folder).unwrap();
    let victim = home.path().join("victim");
    for name in ["runs.db", "0000000000000000.running"] {
        symlink(&victim, folder.join(name)).unwrap();
        let store = Store::open(&folder);
        let begun =
            store.and_then(|store| store.begin(&run_watched(&plan(), &mut runner(), &mut |_| {})));
        drop(begun);
        assert!(!victim.exists(), "{name} was followed");
        fs::remove_file(folder.join(name)).unwrap();
    }
}

#[test]
fn a_new_one_is_opened_by_many_at_once() {
    for _ in 0..20 {
        let (_home, folder) = folder();
        let opened = std::thread::scope(|scope| {
            let opening: Vec<_> =
                (0..4).map(|_| scope.spawn(|| Store::open(&folder).err())).collect();
            opening.into_iter().filter_map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(opened.is_empty(), "{opened:?}");
    }
}

#[test]
fn many_at_once_keep_all_of_theirs() {
    let (_home, folder) = folder();
    std::thread::scope(|scope| {
        for n in 0..3 {
            let folder = &folder;
            scope.spawn(move || {
                for m in 0..2 {
                    let mut store = Store::open(folder).unwrap();
                    assert_eq!(store.find_killed().unwrap(), [], "a live run was taken for dead");
                    let (run, recording) = kept(store, &format!("aa{n}{m}"), &mut |_| true);
                    recording.finish(&run).unwrap();
                }
            });
        }
    });
    let store = Store::open(&folder).unwrap();
    let entries = store.list().unwrap();
    assert_eq!(entries.len(), 6);
    for entry in entries {
        assert_eq!(loaded(&store, &entry.id).1.blocks().count(), entry.blocks as usize);
    }
    assert_eq!(names_in(&folder)[0], "runs.db");
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
