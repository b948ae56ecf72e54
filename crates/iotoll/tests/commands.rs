//! The commands beside `compare`.

#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{run, stdout};

#[test]
fn studies_lists_every_study_strategy_and_parameter() {
    let text = stdout(&run(["studies"]));
    let sections: Vec<&str> = text.split("\n\n").collect();
    for spec in studies::specs() {
        let name = spec.name;
        let begins = |section: &&&str| section.split_whitespace().next() == Some(name);
        let section = sections.iter().find(begins).unwrap_or_else(|| panic!("no {name}: {text}"));
        let line = |name: &str| {
            let found = section.lines().find(|l| l.split_whitespace().next() == Some(name));
            found.unwrap_or_else(|| panic!("no {name} in:\n{section}"))
        };
        spec.strategies.iter().for_each(|strategy| _ = line(strategy.name));
        for param in spec.params {
            line(param.name);
            let default = format!("[default: {}]", param.default);
            assert!(section.contains(&default), "no {default} in:\n{section}");
        }
    }
}

#[test]
fn places_tells_a_disk_from_memory() {
    let text = stdout(&run(["places", "a=/dev/shm"]));
    assert!(text.contains("tmpfs, in memory"), "{text}");
    assert!(text.contains("free"), "{text}");
}

#[test]
fn completions_and_manual_pages_come_out() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&run(["completions", shell])).contains("iotoll"));
    }
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
