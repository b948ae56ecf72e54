//! The commands beside `compare`.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;

use common::{Places, iotoll, run, stdout};
use serde_json::Value;

#[test]
fn studies_lists_every_study_strategy_and_parameter() {
    let text = stdout(&run(["studies"]));
    let sections: Vec<&str> = text.split("\n\n").collect();
    for spec in studies::specs() {
        let name = spec.name.as_str();
        let begins = |section: &&&str| section.split_whitespace().next() == Some(name);
        let section = sections.iter().find(begins).unwrap_or_else(|| panic!("no {name}: {text}"));
        let line = |name: &str| {
            let found = section.lines().find(|l| l.split_whitespace().next() == Some(name));
            found.unwrap_or_else(|| panic!("no {name} in:\n{section}"))
        };
        spec.strategies.iter().for_each(|strategy| _ = line(&strategy.name));
        for param in &spec.params {
            line(&param.name);
            let default = format!("[default: {}]", param.default.join(", "));
            assert!(section.contains(&default), "no {default} in:\n{section}");
        }
    }
}

#[test]
fn places_tells_a_disk_from_memory() {
    let text = stdout(&run(["places", "a=/dev/shm"]));
    assert!(text.starts_with("a  /dev/shm\ntmpfs, mounted at /dev/shm\n"), "{text}");
    assert!(text.contains("the data is lost [it is in memory]"), "{text}");
    assert!(text.contains("free [statvfs]"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_path_alone_is_a_place() {
    let places = Places::new();
    let [a, b] = ["a", "b"].map(|name| places.ram.path().join(name).join("data"));
    for folder in [&a, &b] {
        fs::create_dir_all(folder).unwrap();
    }
    let labels = |args: &[&str]| {
        let output = iotoll().args(args).args(["--json", "-"]).current_dir(&a).output().unwrap();
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["schema"], "iotoll.places/1");
        let label = |place: &Value| place["label"].as_str().unwrap().to_owned();
        result["places"].as_array().unwrap().iter().map(label).collect::<Vec<_>>()
    };
    assert_eq!(labels(&["places", "/var", "/dev/shm"]), ["var", "shm"]);
    assert_eq!(labels(&["places", ".", "../../b/data", "/"]), ["a-data", "b-data", "root"]);
    assert_eq!(labels(&["places", "here=.", "/dev/shm"]), ["here", "shm"]);
    let cleaned = iotoll().args(["clean", "."]).current_dir(&a).output().unwrap();
    // What other tests are making elsewhere meanwhile is told as well.
    let told = stdout(&cleaned);
    let others = |line: &&str| line.starts_with("kept ") && line.contains(": in use by process ");
    let own: Vec<&str> = told.lines().filter(|line| !others(line)).collect();
    assert_eq!(own, ["nothing to remove in ."]);
}

#[test]
fn completions_and_manual_pages_come_out() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&run(["completions", shell])).contains("iotoll"));
    }
    // A path alone is a place; or a plan, which compare takes, too.
    let zsh = stdout(&run(["completions", "zsh"]));
    let places: Vec<&str> = zsh.lines().filter(|l| l.starts_with("'*::places")).collect();
    let (plans, folders): (Vec<&str>, Vec<&str>) =
        places.iter().partition(|line| line.contains("ends in .toml is a plan"));
    assert!(plans.len() == 1 && plans[0].contains(":_files'"), "{plans:?}");
    assert!(folders.len() == 5 && folders.iter().all(|l| l.contains(":_files -/")), "{folders:?}");
    let page = stdout(&run(["man"]));
    assert!(page.contains(".TH") && page.contains("compare"));
    assert!(stdout(&run(["man", "compare"])).contains("budget"));
}

#[test]
fn help_names_the_exit_codes() {
    for args in [&["--help"][..], &["compare", "--help"]] {
        let text = stdout(&run(args));
        assert!(text.contains("130"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
