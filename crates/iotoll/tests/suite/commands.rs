//! The commands beside `compare`.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;

use common::{Places, iotoll, run, stderr, stdout};
use serde_json::Value;

#[test]
fn studies_lists_a_line_for_each_study() {
    let text = stdout(&run(["studies"]));
    let mut lines = text.lines();
    for spec in studies::specs() {
        let first = |line: &str| line.split_whitespace().next() == Some(&spec.name);
        assert_eq!(text.lines().filter(|line| first(line)).count(), 1, "{}: {text}", spec.name);
    }
    assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_study_is_described_with_each_promise_once() {
    for spec in studies::specs() {
        let text = stdout(&run(["studies", &spec.name]));
        let first = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
        let firsts: Vec<String> = text.lines().map(first).collect();
        let strategies = spec.strategies.iter().map(|strategy| &strategy.name);
        for name in strategies.chain(spec.params.iter().map(|param| &param.name)) {
            assert!(firsts.contains(name), "no {name} in:\n{text}");
        }
        let headings = promises(&text);
        for strategy in spec.strategies.iter().filter(|s| !s.promise.is_empty()) {
            let shown = headings.iter().filter(|heading| **heading == strategy.promise);
            assert_eq!(shown.count(), 1, "{}: {headings:?}", strategy.name);
        }
    }
    let held = stdout(&run(["studies", "log", "held"]));
    for part in ["keep the file open", "  to do    open(path", "  check    ", "  undo     "] {
        assert!(held.contains(part), "no {part} in {held}");
    }
}

/// The paragraphs that strategies stand under.
fn promises(text: &str) -> Vec<String> {
    let mut headings: Vec<String> = Vec::new();
    let mut goes_on = false;
    let section = text.split("\n\n").nth(1).unwrap();
    for line in section.lines().skip(1) {
        let is_heading = line.starts_with("  ") && !line.starts_with("   ");
        match headings.last_mut() {
            Some(last) if is_heading && goes_on => *last = format!("{last} {}", line.trim()),
            _ if is_heading => headings.push(line.trim().to_owned()),
            _ => {}
        }
        goes_on = is_heading;
    }
    headings
}

#[test]
fn bench_compares_commands_by_their_names_in_the_current_directory() {
    let places = Places::new();
    let here = places.ram.path();
    fs::write(here.join("words"), "some\n").unwrap();
    let bench = |more: &[&str]| {
        let args = [&["bench", "grep -q some words", "sort words", "--no-save"][..], more].concat();
        iotoll().args(args).current_dir(here).output().unwrap()
    };
    let dry = stdout(&bench(&["--dry-run"]));
    assert!(dry.contains("grep -q some words") && dry.contains("sort words"), "{dry}");
    let output = bench(&["--rounds", "3", "--prepare", "touch prepared", "--json", "-"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let arms = result["arms"].as_array().unwrap();
    let commands: Vec<&Value> = arms.iter().map(|arm| &arm["params"]["command"]).collect();
    assert_eq!(commands, ["grep -q some words", "sort words"]);
    assert_eq!(result["comparisons"].as_array().unwrap().len(), 1);
    assert!(here.join("prepared").exists());
    let one = run(["bench", "true"]);
    assert_eq!(one.status.code(), Some(2));
    let failing = bench(&["--rounds", "3", "--prepare", "false"]);
    assert_eq!(failing.status.code(), Some(1), "{}", stderr(&failing));
    let half = run(["bench", "true", "false", "--rounds", "3", "--no-save", "--markdown", "-"]);
    assert_eq!(half.status.code(), Some(1), "{}", stderr(&half));
    assert!(stdout(&half).contains("command=false") && !stdout(&half).contains(" ()"));
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
    // What other tests make elsewhere meanwhile is told as well.
    let told = stdout(&cleaned);
    assert!(told.lines().any(|line| line == "nothing to remove in ."), "{told}");
}

#[test]
fn completions_and_manual_pages_come_out() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&run(["completions", shell])).contains("iotoll"));
    }
    // A path is a place; compare alone takes a plan's file, too.
    let zsh = stdout(&run(["completions", "zsh"]));
    let places: Vec<&str> = zsh.lines().filter(|l| l.starts_with("'*::places")).collect();
    let (plans, folders): (Vec<&str>, Vec<&str>) =
        places.iter().partition(|line| line.contains(":_files'"));
    assert_eq!(plans.len(), 1, "{plans:?}");
    assert!(folders.len() == 6 && folders.iter().all(|l| l.contains(":_files -/")), "{folders:?}");
    let page = stdout(&run(["man"]));
    assert!(page.contains(".TH") && page.contains("compare"));
    assert!(stdout(&run(["man", "compare"])).contains("budget"));
}

/// The commands that are in the overview.
fn commands() -> Vec<String> {
    let overview = stdout(&run(["-h"]));
    let listed = overview.lines().take_while(|line| *line != "Options:");
    let name = |line: &str| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned);
    listed.filter_map(name).filter(|name| name != "help").collect()
}

#[test]
fn help_names_the_exit_codes() {
    for args in [&["--help"][..], &["compare", "--help"]] {
        let text = stdout(&run(args));
        assert!(text.contains("130"), "{text}");
    }
}

#[test]
fn short_help_has_a_line_for_each_flag_and_every_command_has_examples() {
    let commands = commands();
    assert!(commands.len() > 15, "{commands:?}");
    for command in &commands {
        let [short, long, asked] = [&[command, "-h"], &[command, "--help"], &["help", command]]
            .map(|args: &[&str; 2]| {
                stdout(&iotoll().args(args).env("COLUMNS", "80").output().unwrap())
            });
        let flags = short.split("Examples:").next().unwrap();
        let continued = |line: &&str| line.starts_with("            ") && !line.trim().is_empty();
        assert_eq!(flags.lines().find(continued), None, "{command}");
        for text in [&short, &long] {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert!(text.contains(&format!("Examples:\n  iotoll {command}")), "{text}");
        }
        assert_eq!(long, asked);
    }
    let help = stdout(&run(["compare", "--help"]));
    for heading in ["Workload", "Places", "Precision", "Output", "CI", "Safety", "MPI"] {
        assert!(help.contains(&format!("\n{heading}:\n")), "no {heading} in {help}");
    }
}

#[test]
fn watch_offers_only_what_can_be_done_to_a_running_process() {
    let help = stdout(&run(["watch", "--help"]));
    assert!(help.contains("ptrace") && !help.contains("preload"), "{help}");
    assert_eq!(run(["watch", "1", "--mechanism", "preload"]).status.code(), Some(2));
}

#[test]
fn colors_are_printed_where_they_are_wanted() {
    let has_colors = |args: &[&str]| stdout(&run(args)).contains('\u{1b}');
    assert!(has_colors(&["studies", "log", "--color", "always"]));
    assert!(!has_colors(&["studies", "log", "--color=never"]));
    assert!(!has_colors(&["studies", "log"]));
    assert!(has_colors(&["compare", "-h", "--color=always"]));
    assert!(!has_colors(&["compare", "-h"]));
}

#[test]
fn completions_know_studies_strategies_keys_and_articles() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&run(["completions", shell]));
        // Of arguments without a flag, fish completes commands alone.
        let articles = if shell == "fish" { &[][..] } else { &["log-locking"] };
        for name in ["sqlite", "wal-normal", "log.writers="].iter().chain(articles) {
            assert!(script.contains(name), "{shell}: no {name}");
        }
    }
}
