//! `iotoll chart`: figures of a saved run.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{Places, assert_fails, run, stderr};

fn chart(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotoll"));
    // Without a program that converts.
    command.args(["chart", "run.json"]).args(more).current_dir(folder).env("PATH", "/nowhere");
    command.output().unwrap()
}

#[test]
fn figures_are_files_and_what_cannot_be_drawn_is_an_error() {
    let places = Places::new();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json").display().to_string();
    let mut args = vec!["compare".to_owned()];
    args.extend(places.args());
    let more = ["--study", "log", "--budget", "30s", "--rounds", "2", "--json", &json];
    args.extend(more.map(str::to_owned));
    let output = run(args);
    assert!(output.status.success(), "{}", stderr(&output));

    let output = chart(folder.path(), &["--kind", "distribution"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("the figure is in log-distribution.svg"));
    let svg = fs::read_to_string(folder.path().join("log-distribution.svg")).unwrap();
    assert!(svg.starts_with("<svg xmlns="));
    let output = chart(folder.path(), &["--kind", "grid", "-o", "-"]);
    assert!(output.status.success() && output.stdout.starts_with(b"<svg xmlns="));

    let fails = |code, arguments: &[&str], says: &[&str]| {
        assert_fails(&chart(folder.path(), arguments), code, says);
    };
    fails(1, &["-o", "fig.pdf"], &["no pdf file without rsvg-convert", "librsvg2-bin"]);
    fails(2, &["-o", "fig.gif"], &["fig.gif: the name of a figure ends in .svg, .png or .pdf"]);
    fails(2, &["--x", "record"], &["--x and --facet are for --kind lines"]);
    fails(2, &["--kind", "lines"], &["log has no numbers to draw along a parameter"]);
    fails(2, &["--study", "sqlite"], &["the run has no study sqlite; it has log"]);
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["log-distribution.svg", "run.json"]);
}
