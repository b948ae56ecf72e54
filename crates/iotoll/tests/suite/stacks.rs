//! The examples of real servers, Django's and PHP's, through the built binary. Each
//! test skips itself, and says so, where its programs are not installed.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::float_cmp, missing_docs)]

use crate::common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Places, place, run, stderr};
use serde_json::Value;

const DJANGO: &str = "python3 -c 'import django, gunicorn' ||
    /usr/bin/python3 -c 'import django, gunicorn'";
const PHP_CGI: &str = "PATH=$PATH:/usr/sbin
    command -v lighttpd && php-cgi -m | grep -x 'Zend OPcache' && php-cgi -m | grep -x pdo_sqlite";
const FPM: &str = "PATH=$PATH:/usr/sbin
    command -v nginx && { command -v php-fpm || ls /usr/sbin/php-fpm[0-9]*; }";

fn installed(test: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", test]).stdout(Stdio::null()).stderr(Stdio::null());
    let installed = shell.status().unwrap().success();
    if !installed {
        eprintln!("SKIPPED: one of these fails: {}", test.replace('\n', " "));
    }
    installed
}

/// A short run of an example in memory alone, of which every arm must have been
/// measured without an error, and nothing be left.
fn measured(example: &str, more: &[&str]) -> Vec<Value> {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let places = Places::new();
    let ram = place("ram", places.ram.path());
    let args =
        ["compare", "--plan", plan.to_str().unwrap(), "--allow-commands", &ram, "--json", "-"];
    // A machine that is busy needs longer to get as far as the first block.
    let few = ["--set", "serve.connections=10", "--blocks", "1", "--budget", "140s"];
    let output = run([&args[..], &few, more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    places.assert_empty();
    assert_eq!(processes_about(places.ram.path()), Vec::<String>::new());
    let mut result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let Value::Array(arms) = result["arms"].take() else { panic!("no arms") };
    let all = arms.iter().all(|arm| arm["slices"].as_u64() > Some(0));
    assert!(all, "140 s did not suffice for a single block");
    for arm in &arms {
        assert_eq!(metric(arm, "errors_percent"), 0.0, "{arm:#}");
    }
    arms
}

fn evidence(arm: &Value, name: &str) -> f64 {
    arm["evidence"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {arm:#}"))
}

fn metric(arm: &Value, name: &str) -> f64 {
    arm["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {arm:#}"))
}

/// The command lines of processes whose environment or arguments name the folder.
fn processes_about(folder: &Path) -> Vec<String> {
    let named = |id: &Path, file: &str| {
        let text = fs::read(id.join(file)).unwrap_or_default();
        String::from_utf8_lossy(&text).replace('\0', " ")
    };
    let folder = folder.to_str().unwrap();
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|id| ["environ", "cmdline"].iter().any(|file| named(id, file).contains(folder)))
        .map(|id| named(&id, "cmdline"))
        .collect()
}

#[test]
fn django_answers_on_its_own_server_and_on_gunicorn() {
    if installed(DJANGO) {
        let arms = measured("django-five-files.toml", &["--set", "serve.rate=100"]);
        assert_eq!(arms.len(), 2);
    }
}

#[test]
fn php_keeps_its_database_whole_through_php_cgi_and_fpm() {
    if installed(PHP_CGI) && installed(FPM) {
        let arms = measured("php-sqlite.toml", &["--set", "serve.rate=20"]);
        assert_eq!(arms.len(), 2);
        for arm in &arms {
            // 21 statements change the database, each in a transaction of its own that
            // writes its journal and then the database.
            assert!(metric(arm, "write_calls_per_connection") >= 2.0 * 21.0, "{arm:#}");
        }
    }
}

#[test]
fn opcache_says_what_it_kept_of_a_page_in_php() {
    if !installed(PHP_CGI) {
        return;
    }
    let arms = measured("php-manifest-cache.toml", &[]);
    assert_eq!(arms.len(), 4 + 2);
    for arm in arms.iter().filter(|arm| arm["params"]["url"] == "/") {
        let variant = arm["params"]["variant"].as_str().unwrap();
        let (on, included) = (variant.ends_with("-on"), variant.starts_with("included"));
        assert_eq!(evidence(arm, "opcache_enabled"), f64::from(on), "{arm:#}");
        assert_eq!(evidence(arm, "opcache_hits") > 0.0, on, "{arm:#}");
        // The page's own two scripts, the manifest, and 20 templates.
        let scripts = if included { 2.0 + 1.0 + 20.0 } else { 2.0 };
        assert_eq!(evidence(arm, "included_files"), scripts, "{arm:#}");
        let kept = evidence(arm, "opcache_cached_scripts");
        assert!(if on { kept >= scripts } else { kept == 0.0 }, "{arm:#}");
    }
}
