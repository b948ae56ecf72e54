//! Whole runs of a simulated machine, kept and read again.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use common::{filled, folder, ids, kept, loaded, names_in, plan, runner};
use engine::measure::Event;
use iotoll_store::{Content, Entry, Error, Kind, State, Store, Summary, TypicalTime, is_name};
use model::analysis::Analysis;
use rusqlite::Connection;
use testkit::run_watched;

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
    let error = store.find("aa").unwrap_err().to_string();
    assert!(error.contains("several saved runs begin with it: aa11, aa22;"), "{error}");
    assert!(matches!(store.find("dd"), Err(Error::NoSuchRun(_))));
    // A name is no pattern.
    assert!(matches!(store.find("%"), Err(Error::NoSuchRun(_))));
    let Content::Document(text) = store.load(&document).unwrap() else { panic!("a document") };
    assert_eq!(text, "[1.5,2.5]");
}

/// Saves runs of these names.

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
    for (id, log_typical) in [("aa11", 1.0), ("aa22", 2.0), ("bb33", 3.0)] {
        let typical =
            |setting: &str, log_typical| TypicalTime { setting: setting.to_owned(), log_typical };
        let typical_times = [typical("here", log_typical), typical("there", -log_typical)];
        // A second time replaces the first.
        store.summarise(id, &Summary::default(), &typical_times[1..]).unwrap();
        store.summarise(id, &summary, &typical_times).unwrap();
    }
    assert_eq!(store.find("aa11").unwrap().summary, Some(summary));
    assert_eq!(store.repeats().unwrap().of("here", ["", ""]), [1.0, 2.0, 3.0]);
    assert_eq!(store.repeats().unwrap().of("there", ["aa22", "bb33"]), [-1.0]);
    assert_eq!(store.repeats().unwrap().of("elsewhere", ["", ""]), [0.0; 0]);
    let gone = store.find("bb33").unwrap();
    store.remove(&gone).unwrap();
    assert_eq!(store.repeats().unwrap().of("here", ["", ""]), [1.0, 2.0]);
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
fn a_run_without_checksums_that_cannot_be_read_is_said_to_be_damaged() {
    let (_home, folder) = folder();
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    recording.finish(&run).unwrap();
    let says = |sql: &str, says: &str| {
        let older = "UPDATE record SET checksum = NULL; UPDATE part SET checksum = NULL;";
        let database = Connection::open(folder.join("runs.db")).unwrap();
        database.execute_batch(&format!("{older} {sql}")).unwrap();
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
