//! Errors that name what was meant.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::process::Output;

use crate::common::{self, assert_fails, iotoll, run, stderr};

/// What a command says to a user whose runs are in a folder of these tests' own.
fn with_runs(folder: &tempfile::TempDir, args: &[&str]) -> Output {
    iotoll().args(args).env("IOTOLL_DIR", folder.path()).output().unwrap()
}

#[test]
fn a_run_that_is_not_there_names_those_that_are() {
    let runs = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    for command in ["show", "report", "rerun", "diff", "share"] {
        let neither =
            "zzz: there is neither a file nor a saved run of that name; no runs are saved";
        let neither = neither.replace("zzz", if command == "rerun" { "zzz again" } else { "zzz" });
        assert_fails(&with_runs(&runs, &[command, "zzz"]), 2, &[&neither]);
    }
    let a = format!("a={}", place.path().display());
    let compare = ["compare", &a, "--study", "log", "--strategy", "held", "--rounds", "1"];
    assert!(with_runs(&runs, &compare).status.success());
    let list = common::stdout(&with_runs(&runs, &["history", "--json", "-"]));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let id = &list["runs"][0]["id"].as_str().unwrap()[..8];
    let says = format!("1 saved run, the latest first: {id} (`iotoll history` lists them)");
    for name in ["zzz", "0123abcd"] {
        assert_fails(&with_runs(&runs, &["show", name]), 2, &[&says]);
    }
    let study = with_runs(&runs, &["history", "--study", "lgo"]);
    assert_fails(&study, 2, &["no study `lgo`; did you mean `log`?"]);
}

#[test]
fn a_folder_for_a_file_and_a_file_for_a_folder_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().display().to_string();
    let a_file = folder.path().join("notes");
    fs::write(&a_file, "notes").unwrap();
    let says = "it is a directory; name a file in it";
    assert_fails(&run(["show", &name]), 2, &[&format!("cannot show {name}: {says}")]);
    assert_fails(&run(["compare", "--plan", &name]), 2, &[says, &name]);
    let load = ["load", "http://127.0.0.1:1/", "--rate", "1", "--body", &name];
    assert_fails(&run(load), 2, &[says, &name]);
    for command in ["compare", "places", "clean"] {
        let given = run([command, a_file.to_str().unwrap()]);
        assert_fails(&given, 2, &["this is not a directory; pass the directory that holds it"]);
    }
}

/// Fails where a sentence has what is to be typed for another command.
#[test]
fn what_is_wrong_is_told_in_the_words_of_the_command_that_was_given() {
    let sentence = "one of the commands is empty: write what the shell is to run";
    assert_fails(&run(["bench", "", "true"]), 2, &[sentence]);
    let sentence = "there is no plan file no-such.toml; name one that exists";
    assert_fails(&run(["compare", "no-such.toml"]), 2, &[sentence]);
    let watch = run(["watch", "--for", "0", "1"]);
    assert_fails(&watch, 2, &["'--for <TIME>': a time of 0 makes no sense"]);
    let record = run(["record", "--", "no-such-program"]);
    assert_fails(&record, 2, &["needs a shell, as in -- sh -c 'COMMAND | COMMAND'"]);
}

/// Fails where the stack overflows instead.
#[test]
fn too_small_a_stack_is_refused_with_what_to_do() {
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "ulimit -s 64 && exec \"$0\" studies", env!("CARGO_BIN_EXE_iotoll")]);
    let output = shell.env_clear().output().unwrap();
    assert_fails(&output, 1, &["the stack may have 64 KiB", "`ulimit -s 8192`"]);
}

#[test]
fn a_program_that_is_not_there_is_named_and_a_shell_suggested() {
    for command in ["no-such-program-at-all", "ls -l", "/no/such/program"] {
        let says = format!("cannot run {command}: there is no program of that name");
        assert_fails(&run(["record", "--", command]), 2, &[&says, "-- sh -c '"]);
    }
    assert_fails(&run(["record", "--", "/dev"]), 2, &["/dev: it is a directory"]);
}

#[test]
fn a_flag_of_another_command_names_that_command() {
    let keep = run(["compare", "--keep=3"]);
    assert_fails(&keep, 2, &["--keep is a flag of the command prune: see `iotoll prune -h`"]);
    assert!(!stderr(&keep).contains("as a value"), "{}", stderr(&keep));
    let several = run(["history", "--rounds", "3"]);
    assert_fails(&several, 2, &["--rounds is a flag of the commands compare, bench"]);
    let before = run(["--study", "log", "compare"]);
    assert_fails(&before, 2, &["--study is a flag of the commands compare, chart, history"]);
    let nowhere = run(["history", "--no-such-flag"]);
    assert_fails(&nowhere, 2, &["unexpected argument '--no-such-flag'"]);
    assert!(!stderr(&nowhere).contains("is a flag of"), "{}", stderr(&nowhere));
}

#[test]
fn what_would_be_ignored_is_refused() {
    let now = ["compare", "--study", "log", "--now", "log=held", "--now", "log=reopen"];
    let load = ["load", "http://127.0.0.1:1/", "--no-save"];
    let closed = ["--concurrency", "1", "--requests", "1", "--gap", "uniform"];
    let cases: [(&[&str], &[&str]); 7] = [
        (&now, &["--now log=held and --now log=reopen: an application does one of them now"]),
        (&["history", "--limit", "0"], &["a whole number of runs, at least 1"]),
        (&["compare", "--threshold", "nan"], &["`nan` is not a threshold", "from 0% to 100%"]),
        (&["report", "-o", "r.txt"], &["r.txt: the name of the file ends in .html or .htm or .md"]),
        (&["share", "-o", "a.pdf"], &["a.pdf: the name of the file ends in .json or .html"]),
        (&[&load[..], &["--rate", "9", "--requests", "1"]].concat(), &["--rate", "--requests"]),
        (&[&load[..], &closed].concat(), &["--gap", "--concurrency"]),
    ];
    for (args, says) in cases {
        assert_fails(&run(args), 2, says);
    }
    let hidden = run(["serve"]);
    assert_fails(&hidden, 2, &["unrecognized subcommand 'serve'"]);
    assert!(!stderr(&hidden).contains("__serve"), "{}", stderr(&hidden));
}

#[test]
fn a_misspelt_name_is_answered_by_the_nearest() {
    let cases: [(&[&str], &str); 8] = [
        (&["shwo"], "'show'"),
        (&["compare", "--sutdy", "log"], "'--study'"),
        (&["compare", "--study", "lgo"], "did you mean `log`?"),
        (&["compare", "--study", "log", "--strategy", "hled"], "did you mean `held`?"),
        (&["compare", "--set", "log.writrs=2"], "did you mean `writers`?"),
        (&["studies", "lgo"], "did you mean `log`?"),
        (&["studies", "log", "hled"], "did you mean `held`?"),
        (&["man", "shwo"], "did you mean `show`?"),
    ];
    for (args, says) in cases {
        assert_fails(&run(args), 2, &[says]);
    }
}

#[test]
fn a_created_place_that_is_too_small_says_which_size_is_enough() {
    let compare = |size: &str| {
        let place = format!("t=tmpfs:{size}");
        run(["compare", &place, "--study", "log", "--dry-run", "--no-save"])
    };
    let small = compare("8M");
    let text = stderr(&small);
    if text.contains("root") {
        return common::skip("a created place", "a tmpfs cannot be created here");
    }
    assert_fails(&small, 1, &["t=tmpfs:8MiB", "create it with a size of"]);
    let size = text.split("a size of ").nth(1).unwrap().split(' ').next().unwrap();
    let enough = compare(size);
    assert!(enough.status.success(), "{size}: {}", stderr(&enough));
}
