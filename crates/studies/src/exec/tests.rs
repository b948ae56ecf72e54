#![allow(clippy::unwrap_used)]

use std::fs;
use std::time::{Duration, Instant};

use engine::study::StudyError;

use super::*;
use crate::testing::{self, in_memory, on_disk, refusal, slice};

/// Two runs by one arm.
fn twice(given: &[(&str, &str)]) -> Vec<Result<testing::Slice, StudyError>> {
    let mut arm = testing::workload(&EXEC, "command", given);
    let run = |_| {
        let folder = on_disk();
        testing::finish(testing::ready(arm.as_mut(), folder.path(), 1)?)
    };
    (0..2).map(run).collect()
}

#[test]
fn a_command_runs_in_a_folder_that_was_prepared_for_it() {
    for folder in [on_disk(), in_memory()] {
        let given = [
            ("prepare", "seq {variant} > {place}/lines"),
            ("command", "sort -r {place}/lines > {place}/sorted; cat {place}/sorted; exit 3"),
            ("check", "test $(wc -l < $IOTOLL_PLACE/sorted) = $IOTOLL_VARIANT"),
            ("status", "3"),
            ("variant", "20"),
        ];
        let slice = slice(&EXEC, "command", &given, folder.path(), 1).unwrap();
        assert_eq!((slice.laps, slice.integrity().is_intact()), (1, true));
        assert!(fs::read_to_string(folder.path().join("sorted")).unwrap().starts_with("9\n8\n"));
    }
}

#[test]
fn a_command_that_fails_is_no_fast_one() {
    let folder = in_memory();
    let failed = |given: &[(&str, &str)]| {
        slice(&EXEC, "command", given, folder.path(), 1).unwrap_err().to_string()
    };
    let told = failed(&[("command", "echo no such table >&2; exit 4 # {place}")]);
    assert!(
        told.contains("exit status 4 instead of 0") && told.contains("no such table"),
        "{told}"
    );
    let told = failed(&[("command", "kill -9 $$ # {place}")]);
    assert!(told.contains("exit status 137"), "{told}");
    let told = failed(&[("command", "true"), ("prepare", "false # {place}")]);
    assert!(told.contains("exec.prepare ended with exit status 1"), "{told}");
    let told = failed(&[("command", "true"), ("check", "test -e {place}/made")]);
    assert!(told.contains("exec.check ended with exit status 1"), "{told}");
    let told = failed(&[("command", "sleep 100 # {place}"), ("timeout", "100ms")]);
    assert!(told.contains("had not ended after 0.1 s"), "{told}");
    let told = failed(&[("command", "yes {place} | head -c 2000000")]);
    assert!(told.contains("more than 1048576 bytes"), "{told}");
}

#[test]
fn each_run_writes_what_the_first_one_wrote() {
    let same = twice(&[("command", "echo in {place}")]);
    assert!(same.into_iter().all(|run| run.unwrap().integrity().is_intact()));
    let given = [("command", "echo $$; echo {place}")];
    let other = twice(&given);
    let second = other[1].as_ref().unwrap().integrity();
    assert_eq!((second.overwritten, second.records), (1, 1));
    let any = twice(&[given[0], ("output", "any")]);
    assert!(any.into_iter().all(|run| run.unwrap().integrity().is_intact()));
}

#[test]
fn a_run_has_ended_once_all_that_it_started_has() {
    let folder = in_memory();
    let given = [("command", "(sleep 0.2; echo late > {place}/late) & echo now")];
    let began = Instant::now();
    slice(&EXEC, "command", &given, folder.path(), 1).unwrap();
    assert!(began.elapsed() > Duration::from_millis(200));
    assert!(folder.path().join("late").exists());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let refused = |given: &[(&str, &str)]| refusal(&EXEC, "command", given);
    assert!(refused(&[]).contains("there is no command"));
    assert!(refused(&[("command", "true")]).contains("the same in every place"));
    assert!(refused(&[("command", "ls {place}"), ("variant", "a")]).contains("{variant}"));
}
