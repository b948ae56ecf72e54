//! `iotoll compare` on real places, from end to end.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;

use common::{Places, assert_fails, place, run, stderr, stdout};
use serde_json::Value;

/// Rounds rather than seconds: on a busy machine too, each combination is measured.
const ROUNDS: [&str; 4] = ["--rounds", "2", "--budget", "60s"];

fn compare(places: &Places, more: &[&str]) -> Vec<String> {
    let mut args = vec!["compare".to_owned()];
    args.extend(places.args());
    args.extend(more.iter().map(ToString::to_string));
    args
}

fn json(places: &Places, more: &[&str]) -> Value {
    let output = run(compare(places, &[more, &["--json", "-"]].concat()));
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/result-2.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_result_obeys_the_schema_and_adds_up() {
    let places = Places::new();
    let result = json(&places, &[&ROUNDS[..], &["--seed", "7", "--study", "log,stream"]].concat());
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mistakes: Vec<String> = validator.iter_errors(&result).map(|e| e.to_string()).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");

    let arms = result["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 8);
    for (index, arm) in arms.iter().enumerate() {
        let slices = result["slices"].as_array().unwrap();
        let of_arm = slices.iter().filter(|s| s["arm"] == index && s["phase"]["block"].is_u64());
        let operations: u64 = of_arm.clone().map(|s| s["operations"].as_u64().unwrap()).sum();
        let elapsed = |slice: &Value| slice["spent"]["elapsed_ns"].as_u64().unwrap();
        let elapsed_ns: u64 = of_arm.map(elapsed).sum();
        assert_eq!(arm["operations"], operations);
        let mean = arm["time_per_op_ns"]["mean"].as_f64().unwrap();
        assert!((mean - elapsed_ns as f64 / operations as f64).abs() < mean * 1e-9);
        let times = &arm["time_per_op_ns"];
        let percentiles = ["p50", "p90", "p99", "p999", "max"].map(|p| times[p].as_f64().unwrap());
        assert!(percentiles.is_sorted(), "{percentiles:?}");
    }
    assert_eq!(result["run"]["seed"], 7);
    assert_eq!(result["schema"], "iotoll.result/2");
    places.assert_empty();
}

#[test]
fn the_schema_refuses_a_result_that_breaks_it() {
    let places = Places::new();
    let mut result = json(&places, &["--budget", "1s", "--study", "log", "--strategy", "held"]);
    let validator = jsonschema::validator_for(&schema()).unwrap();
    assert!(validator.is_valid(&result));
    result["comparisons"][0]["verdict"] = "better".into();
    assert!(!validator.is_valid(&result));
}

/// Of each block, the time per operation of one arm over that of another.
fn block_ratios(result: &Value, other: &Value, base: &Value) -> Vec<f64> {
    let arms = result["arms"].as_array().unwrap();
    let [other, base] = [other, base].map(|id| arms.iter().position(|arm| arm["id"] == *id));
    let slices = result["slices"].as_array().unwrap();
    let time_ns = |arm: Option<usize>, block: &Value| -> Option<f64> {
        let of = |s: &&Value| s["arm"].as_u64() == arm.map(|a| a as u64) && s["phase"] == *block;
        let slice = slices.iter().find(of)?;
        Some(slice["spent"]["elapsed_ns"].as_f64()? / slice["operations"].as_f64()?)
    };
    let blocks = slices.iter().filter(|s| s["arm"].as_u64() == base.map(|a| a as u64));
    let blocks = blocks.map(|s| &s["phase"]).filter(|phase| phase["block"].is_u64());
    blocks.filter_map(|block| Some(time_ns(other, block)? / time_ns(base, block)?)).collect()
}

#[test]
fn reopening_is_compared_with_holding_and_the_verdict_is_what_was_measured() {
    let places = Places::new();
    let result = json(
        &places,
        &["--rounds=8", "--budget=30s", "--study=log", "--strategy=held,reopen", "--threshold=20%"],
    );
    let comparisons = result["comparisons"].as_array().unwrap();
    let comparisons: Vec<&Value> = comparisons.iter().filter(|c| c["axis"] == "strategy").collect();
    assert_eq!(comparisons.len(), 2, "{comparisons:#?}");
    for (comparison, place) in comparisons.into_iter().zip(["disk", "ram"]) {
        assert_eq!(comparison["base"], format!("log/held@{place}"));
        assert_eq!(comparison["other"], format!("log/reopen@{place}"));
        let ratios = block_ratios(&result, &comparison["other"], &comparison["base"]);
        let [least, most] = [f64::min, f64::max].map(|f| ratios.iter().copied().reduce(f).unwrap());
        let ratio = comparison["ratio"].as_f64().unwrap();
        assert!(least <= ratio && ratio <= most, "{ratio} of {ratios:?}");
        assert_eq!(ratio > 1.0, comparison["saves_ns_per_op"].as_f64().unwrap() < 0.0);
        // On a machine where these rounds decide nothing, nothing may be said.
        let is_sure = comparison["ratio_low"].as_f64().is_some_and(|low| low > 1.2);
        let verdicts = if is_sure { &["slower"][..] } else { &["slower", "unclear"] };
        let verdict = comparison["verdict"].as_str().unwrap();
        assert!(verdicts.contains(&verdict), "{comparison:#}");
    }
}

#[test]
fn syncs_are_counted_and_their_time_is_within_the_toll() {
    let places = Places::new();
    let set = ["--study", "log", "--strategy", "held", "--set", "log.sync=every 10"];
    let result = json(&places, &[&ROUNDS[..], &set].concat());
    for arm in result["arms"].as_array().unwrap() {
        let calls = arm["io"]["sync_calls"].as_u64().unwrap();
        assert_eq!(calls * 10, arm["operations"].as_u64().unwrap(), "{arm:#}");
        let sync_ns = arm["io"]["sync_ns_per_op"].as_f64().unwrap();
        assert!(sync_ns > 0.0 && sync_ns < arm["time_per_op_ns"]["mean"].as_f64().unwrap());
    }
}

#[test]
fn a_parameter_with_several_values_is_a_factor() {
    let places = Places::new();
    let held = ["--study", "log", "--strategy", "held"];
    let set = ["--set", "log.record=70,8193", "--budget", "2s"];
    let result = json(&places, &[held.as_slice(), &set].concat());
    let ids: Vec<&str> =
        result["arms"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "log/held(record=70 B)@disk",
            "log/held(record=70 B)@ram",
            "log/held(record=8193 B)@disk",
            "log/held(record=8193 B)@ram"
        ]
    );
}

#[test]
fn the_report_fits_eighty_columns_and_has_no_styles_in_a_pipe() {
    let places = Places::new();
    let output = run(compare(&places, &["--budget", "6s", "--full"]));
    assert!(output.status.success());
    let text = stdout(&output);
    assert!(!text.contains('\u{1b}'), "styles in a pipe");
    for heading in ["Places", "log:", "stream:", "What it means", "Risks of moving to ram"] {
        assert!(text.contains(heading), "no {heading:?} in:\n{text}");
    }
    // A command stands on a line of its own, to be copied whole.
    let is_command = |line: &str| line.contains("iotoll compare ");
    let lines = text.lines().filter(|line| !is_command(line));
    // Rows of the longest strategy's table are one or two columns wider where an interval is below
    // a tenth, and the verdict has seven letters.
    let most = |line: &str| if line.starts_with("  ") && line.contains(" to ") { 82 } else { 80 };
    let too_long: Vec<&str> = lines.filter(|line| line.chars().count() > most(line)).collect();
    assert!(too_long.is_empty(), "{too_long:#?}");
    // So many arms leave a stretch less time than a round takes.
    let said = stderr(&output);
    // Any run of root may find what the killed runs of other tests left in /run.
    let known =
        ["stretches that an answer takes; --budget ", "removed what a killed run had created"];
    let is_known = |line: &str| known.iter().any(|text| line.contains(text));
    assert!(said.lines().all(is_known), "progress where no terminal is: {said}");
}

#[test]
fn a_dry_run_touches_nothing() {
    let places = Places::new();
    let output = run(compare(&places, &["--dry-run", "--seed", "3"]));
    assert!(output.status.success());
    let text = stdout(&output);
    assert!(text.contains("ram against disk"), "{text}");
    assert!(text.replace('\n', " ").contains("Nothing was measured"), "{text}");
    places.assert_empty();
}

/// The lines of a study in a dry run, each with what follows it further in.
fn planned(text: &str, study: &str) -> Vec<String> {
    let (_, section) = text.split_once(&format!("\n{study}: ")).unwrap();
    let (section, _) = section.split_once("\n\n").unwrap();
    let lines = section.replace("\n            ", " ");
    lines.lines().skip(1).map(ToOwned::to_owned).collect()
}

#[test]
fn a_dry_run_says_of_arms_what_differs() {
    let places = Places::new();
    let text = stdout(&run(compare(&places, &["--dry-run"])));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.lines().count() < 76, "{text}");
    assert_eq!(
        planned(&text, "log"),
        [
            "  shared    record 70 B, writers 1, records 0, threads 1, sync never, rate max, kill 0",
            "  measured  reopen, held, flock; on disk, ram (6 combinations)",
            "  compared  ram against disk; held, flock against reopen; held on ram, flock on ram \
             against reopen on disk",
            "  data      generated: records of 70 B; log.sample takes your own",
        ]
    );
    let page = planned(&text, "page");
    assert_eq!(page[0], "  shared    files 5, total 211800 B");
    assert_eq!(page[1], "  measured  read; with cache warm, cold; on disk, ram (4 combinations)");
    // A folder of one's own has its own files.
    let folder = places.ram.path().join("page");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("one"), "of one").unwrap();
    let set = format!("page.set={}", folder.display());
    let text = stdout(&run(compare(&places, &["--dry-run", "--study", "page", "--set", &set])));
    assert_eq!(planned(&text, "page")[0], format!("  shared    set {}", folder.display()));
    fs::remove_dir_all(&folder).unwrap();
    // Where not each goes with each, arms are named.
    let plan = places.disk.path().join("plan.toml");
    let text = "[[study]]\nname = \"log\"\nstrategy = \"held\"\n[[study]]\nname = \"log\"\n\
                strategy = \"reopen\"\nsync = \"each\"\n";
    fs::write(&plan, text).unwrap();
    let text = stdout(&run(compare(&places, &["--dry-run", "--plan", plan.to_str().unwrap()])));
    let named = "  measured  held(sync=never), reopen(sync=each); on disk, ram (4 combinations)";
    assert_eq!(planned(&text, "log")[1], named);
}

#[test]
fn a_parameter_without_effect_is_told() {
    let places = Places::new();
    let with = |strategy: &str| {
        let more = ["--dry-run", "--study", "log", "--strategy", strategy, "--set", "log.batch=9"];
        stderr(&run(compare(&places, &more)))
    };
    assert!(with("held").contains("log.batch has no effect here"), "{}", with("held"));
    assert_eq!(with("held,batched"), "");
}

#[test]
fn a_value_without_effect_makes_no_arm() {
    let places = Places::new();
    let more = ["--dry-run", "--study", "log", "--strategy", "held,batched"];
    let set = ["--set", "log.batch=1,64"];
    let text = stdout(&run(compare(&places, &[&more[..], &set].concat())));
    let named =
        "  measured  held, batched(batch=1), batched(batch=64); on disk, ram (6 combinations)";
    assert_eq!(planned(&text, "log")[1], named);
    assert!(planned(&text, "log")[2].contains("batched(batch=64) against held;"), "{text}");
}

#[test]
fn a_parameter_that_is_set_again_has_more_values() {
    let places = Places::new();
    let held = ["--dry-run", "--study", "log", "--strategy", "held"];
    let arms = |set: &[&str]| {
        let text = stdout(&run(compare(&places, &[&held, set].concat())));
        planned(&text, "log").into_iter().find(|line| line.starts_with("  measured")).unwrap()
    };
    let both = "  measured  held; with sync never, each; on disk, ram (4 combinations)";
    assert_eq!(arms(&["--set", "log.sync=never", "--set", "log.sync=each"]), both);
    assert_eq!(arms(&["--set", "log.sync=never,each"]), both);
    let plan = places.disk.path().join("plan.toml");
    fs::write(&plan, "[[study]]\nname = \"log\"\nsync = \"every 9\"\n").unwrap();
    let plan = plan.display().to_string();
    let over = ["--plan", &plan, "--set", "log.sync=never", "--set", "log.sync=each"];
    assert_eq!(arms(&over), both, "flags replace what the plan file says");
}

#[test]
fn one_place_compares_strategies_alone() {
    let places = Places::new();
    let ram = place("ram", places.ram.path());
    let output = run(["compare", &ram, "--study", "log", "--budget", "2s", "--json", "-"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let comparisons = result["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 2);
    assert!(comparisons.iter().all(|c| c["axis"] == "strategy"));
}

#[test]
fn a_verdict_that_is_required_and_missing_is_code_4() {
    let places = Places::new();
    // No two slices are ever within a millionth of one another for sure, and one time in twenty
    // two equal places are said to differ, unless that is allowed one time in ten thousand.
    let never = ["--threshold", "0.0001%", "--error-rate", "0.01%"];
    let more = [&["--budget", "1s", "--require-verdict"], never.as_slice()].concat();
    let one_strategy = ["--study", "log", "--strategy", "held"];
    let ram = places.ram.path();
    let twins = [place("a", ram), place("b", ram)];
    let args = [&["compare", &twins[0], &twins[1]], more.as_slice(), &one_strategy].concat();
    let output = run(args);
    assert_fails(&output, 4, &["--require-verdict", "are on the same file system"]);
    assert!(stdout(&output).contains("0 of 1 sure"), "{}", stdout(&output));
}

#[test]
fn a_verdict_that_is_required_where_nothing_is_compared() {
    let one = ["compare", "/dev/shm", "--study", "log", "--strategy", "held"];
    let required = |more: &[&str]| run([&one, more, &["--require-verdict"]].concat());
    let says = ["nothing to compare", "only log/held@shm", "/dev/shm", "--strategy reopen,held"];
    assert_fails(&required(&[]), 2, &says);
    assert_fails(&required(&["--dry-run"]), 2, &says);
    let stream = ["compare", "/dev/shm", "--study", "stream", "--require-verdict"];
    assert_fails(&run(stream), 2, &["nothing to compare", "iotoll compare . /dev/shm"]);
}

#[test]
fn json_goes_to_a_file_beside_the_report() {
    let places = Places::new();
    let file = places.disk.path().join("result.json");
    let path = file.display().to_string();
    let more = ["--budget", "1s", "--study", "log", "--strategy", "held", "--json", &path];
    let output = run(compare(&places, &more));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("iotoll "), "{}", stdout(&output));
    let result: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(result["schema"], "iotoll.result/2");
}

#[test]
fn a_plan_file_is_run_and_flags_go_before_it() {
    let places = Places::new();
    let plan = places.disk.path().join("plan.toml");
    let text = format!(
        "threshold = \"10%\"\nerror_rate = \"1%\"\nbudget = \"40s\"\nseed = 5\n[places]\nram = {:?}\n\
         [[study]]\nname = \"log\"\nstrategy = [\"held\", \"reopen\"]\nrecord = \"100 B\"\n",
        places.ram.path()
    );
    fs::write(&plan, text).unwrap();
    let plan = plan.display().to_string();
    let output = run(["compare", "--plan", &plan, "--budget", "1s", "--json", "-"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["run"]["seed"], 5);
    assert!(result["run"]["seconds"].as_f64().unwrap() < 20.0, "the flag's budget did not count");
    assert_eq!(result["arms"][0]["params"]["record"], "100 B");
    assert_eq!(result["comparisons"][0]["worth"], 0.1);
    assert_eq!(result["comparisons"][0]["confidence"], 0.99);
}

#[test]
fn a_plan_keeps_how_long_and_how_gently_it_is_measured_and_flags_override_it() {
    let places = Places::new();
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["a.toml", "b.toml"].map(|name| folder.path().join(name));
    let [one, other] = [&first, &second].map(|path| path.to_str().unwrap());
    let how = ["--gentle", "--rounds", "7", "--write-limit", "1GiB", "--study", "log"];
    let dry = run(compare(&places, &[&how[..], &["--write-plan", one, "--dry-run"]].concat()));
    assert!(dry.status.success(), "{}", stderr(&dry));
    let again = run(["compare", one, "--rounds", "3", "--write-plan", other, "--dry-run"]);
    assert!(again.status.success(), "{}", stderr(&again));
    assert!(stdout(&again).contains("1 GiB written over the run"), "{}", stdout(&again));
    for (file, rounds) in [(first, 7), (second, 3)] {
        let text = fs::read_to_string(&file).unwrap();
        let says = format!("rounds = {rounds}\ngentle = true\nwrite_limit = \"1 GiB\"\n");
        assert!(text.contains(&says), "{text}");
        // What others wrote may ask for less than usual alone.
        fs::write(&file, text.replace("\"1 GiB\"", "\"1 TiB\"")).unwrap();
        let dry = ["compare", file.to_str().unwrap(), "--dry-run"];
        assert_fails(&run(dry), 2, &["add --write-limit '1024 GiB'"]);
        assert!(run([&dry[..], &["--write-limit", "1 TiB"]].concat()).status.success());
    }
}

#[test]
fn where_nothing_is_known_what_would_help_is_named() {
    let places = Places::new();
    let none = run(compare(&places, &["--study", "log", "--write-limit", "0", "--no-save"]));
    assert_eq!(none.status.code(), Some(1), "{}", stderr(&none));
    let says = stdout(&none).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(says.contains("pass a larger --write-limit"), "{says}");
    assert!(says.contains("a longer --budget would not change that"), "{says}");
}
