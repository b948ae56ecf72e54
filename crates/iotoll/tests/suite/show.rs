//! `iotoll show`: a saved result says what was said when it was measured.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use common::{Places, assert_fails, at_once, run, stderr, stdout};
use report::formats::{FORMATS, Format, JSON};
use serde_json::Value;

/// Runs a comparison that is saved; what it printed, and where it was saved.
fn saved(places: &Places, more: &[&str]) -> (String, String) {
    let file = places.disk.path().with_extension("json").display().to_string();
    let mut args = vec!["compare".to_owned()];
    args.extend(places.args());
    args.extend(
        ["--budget", "20s", "--rounds", "10", "--full", "--json", &file].map(str::to_owned),
    );
    args.extend(more.iter().map(ToString::to_string));
    let output = run(args);
    assert!(output.status.success(), "{}", stderr(&output));
    (stdout(&output), file)
}

fn shown(file: &str, more: &[&str]) -> String {
    let output = run([&["show", file, "--full"], more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn every_study_is_shown_as_it_was_printed() {
    let studies = [
        &["--study", "log", "--strategy", "reopen,held", "--set", "log.sync=never,every 10"][..],
        &["--study", "log", "--strategy", "held", "--set", "log.writers=2"],
        &["--study", "stream", "--set", "stream.total=2 MiB"],
        &["--study", "blocks", "--set", "blocks.file=1 MiB"],
        &["--study", "page"],
        &["--study", "cache"],
        &["--study", "files"],
        &["--study", "sqlite"],
        &["--study", "serve", "--set", "serve.connections=20"],
    ];
    at_once(3, studies, |study| {
        let places = Places::new();
        let (printed, file) = saved(&places, study);
        assert_eq!(shown(&file, &[]), printed, "{study:?}");
        fs::remove_file(file).unwrap();
        places.assert_empty();
    });
}

#[test]
fn another_worth_decides_the_same_blocks_anew() {
    let places = Places::new();
    let (_, file) = saved(&places, &["--study", "log", "--strategy", "reopen,held"]);
    let unwrapped = |threshold: &[&str]| {
        let text = shown(&file, threshold);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(unwrapped(&["--threshold", "100%"]).contains("under 100% counts as none"));
    assert!(unwrapped(&["--error-rate", "0.1%"]).contains("99.9% confidence"));
    // Nothing differs by less than nothing.
    assert!(!unwrapped(&["--threshold", "0%"]).contains("differ by less than"));
}

#[test]
fn what_cannot_be_shown_is_said_in_a_sentence() {
    let places = Places::new();
    let (_, file) = saved(&places, &["--study", "log", "--strategy", "held"]);
    let whole = fs::read_to_string(&file).unwrap();
    let with = |text: &str| {
        fs::write(&file, text).unwrap();
        run(["show", &file])
    };
    let out = format!("{file}.out");
    let twice = run(["show", &file, "--json", &out, "--csv", &out]);
    assert_fails(&twice, 2, &["--json and --csv would write", "name two files"]);
    let cut = &whole[..whole.len() / 2];
    assert_fails(&with(cut), 2, &["cannot show", &file, "cut short"]);
    assert_fails(&with(""), 2, &["it is empty"]);
    assert_fails(&with("What is this?"), 2, &["it is not a result of iotoll"]);
    assert_fails(&with("{}"), 2, &["it has no `schema`"]);
    assert_fails(&with("{\"schema\": \"other/1\"}"), 2, &["it has no `schema`"]);
    let older = whole.replace("iotoll.result/2", "iotoll.result/1");
    assert_fails(&with(&older), 2, &["iotoll.result/1", "reads only iotoll.result/2"]);
    let newer = whole.replace("iotoll.result/2", "iotoll.result/99");
    assert_fails(&with(&newer), 2, &["iotoll.result/99", "reads only iotoll.result/2"]);
    let mut damaged: Value = serde_json::from_str(&whole).unwrap();
    damaged["slices"][0]["arm"] = 99.into();
    assert_fails(&with(&damaged.to_string()), 2, &["it is damaged", "refers to arm 99 of 2"]);
    let mut damaged: Value = serde_json::from_str(&whole).unwrap();
    damaged["plan"]["error_rate"] = 2.into();
    assert_fails(&with(&damaged.to_string()), 2, &["it is damaged", "error rate of 2"]);
    damaged["slices"] = "none".into();
    assert_fails(&with(&damaged.to_string()), 2, &["it is damaged"]);
    for (bytes, says) in [
        (&b"{\"schema\": \"\xff\xfe"[..], "it is not UTF-8 text"),
        (b"\xff\xfe{", "it does not begin with a `{`"),
    ] {
        fs::write(&file, bytes).unwrap();
        assert_fails(&run(["show", &file]), 2, &[says]);
    }
    fs::remove_file(&file).unwrap();
    assert_fails(&run(["show", &file]), 2, &["neither a file nor a saved run"]);
    let folder: &Path = places.disk.path();
    assert_fails(&run(["show", &folder.display().to_string()]), 2, &["cannot show"]);
}

#[test]
fn a_report_holds_the_record_and_nothing_of_the_environment() {
    const SECRET: &str = "hunter2-is-no-password";
    let places = Places::new();
    let file = places.disk.path().with_extension("json").display().to_string();
    let [html, again] = ["html", "again.html"].map(|end| file.replace("json", end));
    let mut args = vec!["compare".to_owned()];
    args.extend(places.args());
    args.extend(
        ["--study", "log", "--budget", "2s", "--json", &file, "--html", &html].map(str::to_owned),
    );
    let output = common::iotoll().args(args).env("TOKEN", SECRET).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.starts_with("<!doctype html>") && !page.contains(SECRET));
    assert_eq!(shown(&html, &[]), shown(&file, &[]));
    let markdown = shown(&html, &["--markdown", "-"]);
    assert!(markdown.starts_with("```text\niotoll ") && markdown.contains("\n<details>"));
    assert!(!markdown.contains('\u{1b}') && !markdown.contains(SECRET), "{markdown}");
    let json = shown(&html, &["--json", "-"]);
    assert!(!json.contains(SECRET));
    assert_eq!(json, fs::read_to_string(&file).unwrap());
    let output = run(["report", &file, &html, "--output", &again]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_fails(&run(["show", &again]), 2, &["has the records of 2 runs", "report.html#"]);
    let id = &serde_json::from_str::<Value>(&json).unwrap()["run"]["id"].clone();
    let named = format!("{again}#{}", id.as_str().unwrap());
    assert_eq!(shown(&named, &["--json", "-"]), json);
    fs::write(&html, page.replace("data-bytes=\"", "data-bytes=\"9999999999")).unwrap();
    assert_fails(&run(["show", &html]), 2, &["which is over the limit"]);
    fs::write(&html, &page[..page.find("<script").unwrap()]).unwrap();
    assert_fails(&run(["show", &html]), 2, &["not an iotoll report"]);
    for file in [&file, &html, &again] {
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_saved_run_is_exported_as_it_was_when_it_was_fresh() {
    let places = Places::new();
    let folder = tempfile::tempdir().unwrap();
    // `saved` has every run written as JSON.
    let formats = || FORMATS.iter().filter(|format| format.flag != JSON.format.flag);
    let name =
        |prefix: &str, format: &Format| folder.path().join(format!("{prefix}-{}", format.flag));
    let variants = formats().map(|format| format.choice.as_ref().map_or(1, |c| c.values.len()));
    let mut heads = HashSet::new();
    for number in 0..variants.max().unwrap() {
        let flags = |prefix: &str| {
            let each = formats().flat_map(|format| {
                let file = format!("--{}={}", format.flag, name(prefix, format).display());
                let choice = format.choice.as_ref();
                let value = choice.and_then(|choice| choice.values.get(number));
                let chosen =
                    value.map(|value| format!("--{}={}", choice.unwrap().flag, value.name));
                [file].into_iter().chain(chosen)
            });
            each.collect::<Vec<_>>()
        };
        let fresh = flags("fresh");
        let more = fresh.iter().map(String::as_str);
        let more: Vec<_> =
            ["--study", "log", "--strategy", "held"].into_iter().chain(more).collect();
        let (_, file) = saved(&places, &more);
        let output = run([&["show".to_owned(), file.clone()][..], &flags("again")].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        for format in formats() {
            let [fresh, again] =
                ["fresh", "again"].map(|name_of| fs::read(name(name_of, format)).unwrap());
            assert!(fresh.len() > 100 && fresh == again, "{}, {number}", format.flag);
            let head = fresh.split(|byte| *byte == b'\n').next().unwrap().to_owned();
            let is_new = heads.insert(head);
            assert!(format.choice.is_none() || is_new, "{}: no other variant", format.flag);
        }
        fs::remove_file(file).unwrap();
    }
    let metrics = fs::read_to_string(folder.path().join("again-openmetrics")).unwrap();
    assert!(metrics.contains("\niotoll_toll_seconds{study=\"log\",strategy=\"held\""), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"));
    assert_fails(&run(["show", "--csv-rows", "blocks"]), 2, &["--csv <FILE>"]);
    let both = run(["show", "--csv", "-", "--openmetrics", "-"]);
    assert_fails(&both, 2, &["only one of --json, --csv, --openmetrics"]);
}
