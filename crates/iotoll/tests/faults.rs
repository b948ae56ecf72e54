//! Each study makes the system calls that its list says, and takes their failures as it
//! says: `cargo xtask faults` fails all of them, here a few are.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use testkit::faults::{
    Call, Defect, Fault, Injection, Judged, List, Program, Scene, Site, Subject, Taken, When,
    call_named, subjects, unavailable,
};

static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| subjects(&studies::ALL));
/// How long the runs of a subject last, in seconds. The next one is made only if a call was not seen: a
/// short run may end before that call on a busy machine.
const BUDGETS_S: [u32; 5] = [1, 1, 2, 4, 16];

fn list(study: &str) -> List {
    let file = format!("{}/tests/faults/{study}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!("{file}: {error}; `cargo xtask faults --own --study {study} --write` makes it")
    });
    List::read(&text).unwrap()
}

fn name(subject: &Subject) -> String {
    format!("{}/{}", subject.study, subject.name)
}

/// A run of a subject. One verdict in twenty may be wrong by chance.
fn run(subject: &Subject, budget_s: u32, injection: Option<&Injection>) -> Judged {
    let (iotoll, arguments) = (env!("CARGO_BIN_EXE_iotoll").into(), subject.flags.clone());
    let program = Program { iotoll, arguments, budget_s };
    let scene = Scene::within(Path::new("/dev/shm")).unwrap();
    let mut judged = scene.run(&program, injection).unwrap();
    judged.defects.retain(|defect| !matches!(defect, Defect::WrongVerdict(_)));
    judged
}

/// A run that came to the call that fails.
fn struck(subject: &Subject, injection: &Injection) -> Option<Judged> {
    let mut runs = BUDGETS_S.into_iter().map(|budget_s| run(subject, budget_s, Some(injection)));
    runs.find(|judged| judged.traced.injected > 0)
}

/// Each study's first subject, whose calls are those of most others.
fn first_of_each_study() -> impl Iterator<Item = &'static Subject> {
    let mut studies = BTreeSet::new();
    SUBJECTS.iter().filter(move |subject| studies.insert(subject.study))
}

fn is_available() -> bool {
    let why = unavailable();
    if let Some(why) = &why {
        println!("SKIPPED: system calls cannot be traced: {why}");
    }
    why.is_none()
}

#[test]
fn lists_name_every_subject_and_nothing_else() {
    for study in studies::ALL.map(|study| study.spec().name.as_str()) {
        let of_study = SUBJECTS.iter().filter(|subject| subject.study == study);
        let subjects: BTreeSet<String> = of_study.map(name).collect();
        let listed: BTreeSet<String> = list(study).0.into_keys().collect();
        let differing: Vec<&String> = subjects.symmetric_difference(&listed).collect();
        assert!(
            differing.is_empty(),
            "{differing:?}: `cargo xtask faults --own --study {study} --write` brings its list up \
             to date"
        );
    }
}

/// A failure to write or to sync that is no interruption must never pass for a success.
#[test]
fn no_list_expects_a_failed_write_or_sync_to_be_silent() {
    let makes_data_last = |site: &Site| call_named(&site.call).is_some_and(Call::makes_data_last);
    let of_slices = |site: &Site| site.object.starts_with("place/work/");
    let mut seen = 0;
    for subject in first_of_each_study() {
        for (subject, sites) in list(subject.study).0 {
            for (site, expected) in sites.iter().filter(|(site, _)| of_slices(site)) {
                let lasting = expected.faults.iter().filter(|(fault, _)| {
                    makes_data_last(site) && !["EINTR", "short"].contains(&&***fault)
                });
                for (fault, taken) in lasting {
                    assert_eq!(*taken, Taken::Told, "{subject}: {site}: {fault}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} were looked at");
}

#[test]
fn studies_make_the_calls_that_are_listed() {
    if !is_available() {
        return;
    }
    for subject in first_of_each_study() {
        let expected = list(subject.study).0.remove(&name(subject)).unwrap();
        let mut missing: BTreeSet<&Site> =
            expected.iter().filter(|(_, e)| !e.now_and_then).map(|(site, _)| site).collect();
        for budget_s in BUDGETS_S {
            let Judged { traced, defects, said, .. } = run(subject, budget_s, None);
            assert_eq!(defects, [], "{}: {said}", name(subject));
            assert_eq!(traced.unknown, BTreeMap::new(), "{}", name(subject));
            for site in traced.sites.keys().filter(|site| site.is_slices_own()) {
                assert!(expected.contains_key(site), "{}: {site} is not listed", name(subject));
                missing.remove(site);
            }
            missing.retain(|site| !traced.sites.contains_key(site));
            if missing.is_empty() {
                break;
            }
        }
        assert!(missing.is_empty(), "{} does not call {missing:?}", name(subject));
    }
}

#[test]
fn a_failure_of_each_study_is_told_and_leaves_nothing() {
    if !is_available() {
        return;
    }
    for subject in first_of_each_study() {
        let expected = list(subject.study).0.remove(&name(subject)).unwrap();
        let always = expected.iter().filter(|(_, expected)| !expected.now_and_then);
        let told = always.flat_map(|(site, expected)| {
            let faults = call_named(&site.call).unwrap().faults.iter();
            let told = faults.filter(|f| expected.faults.get(&f.to_string()) == Some(&Taken::Told));
            // What transfers a single byte cannot transfer half of it.
            let told = told.filter(|fault| **fault != Fault::Short);
            told.map(move |fault| (site, *fault))
        });
        // The first and the last of the list, which are as good as any.
        let told: Vec<_> = told.collect();
        for (site, fault) in [told[0], told[told.len() - 1]] {
            let injection = Injection { site: site.clone(), fault, when: When::Nth(1) };
            let what = format!("{}: {site}: {fault}", name(subject));
            let Judged { traced, told, defects, said } = struck(subject, &injection).expect(&what);
            let what = format!("{what}: {said}");
            assert_eq!((traced.injected, told), (1, true), "{what}");
            assert_eq!(defects, [], "{what}");
        }
    }
}

/// Neither side may wait for ever for what the other could not say.
#[test]
fn workers_that_cannot_be_talked_to_are_told_of() {
    if !is_available() {
        return;
    }
    let subject = SUBJECTS.iter().find(|subject| subject.name == "held-processes").unwrap();
    let site = Site { call: "write".to_owned(), object: "pipe".to_owned() };
    let fault = call_named("write").unwrap().faults[1];
    // The assignments to two workers.
    for nth in [1, 2] {
        let injection = Injection { site: site.clone(), fault, when: When::Nth(nth) };
        let Judged { traced, told, defects, said } = struck(subject, &injection).unwrap();
        assert_eq!((traced.injected, told), (1, true), "{nth}: {said}");
        assert_eq!(defects, [], "{nth}: {said}");
    }
}
