//! What became of the tests of a program of tests, read from what it prints.
//!
//! A test that skips itself passes, and prints `SKIPPED: why`. With `--show-output`
//! the harness repeats what a test printed under a heading with its name:
//!
//! ```text
//! ---- mounts::a_mount_is_found stdout ----
//! SKIPPED: only root can mount
//! ```
//!
//! What stands elsewhere was not said by a test of itself, but for instance by a
//! child of one.

/// How a test says that it skipped itself, or a part of itself.
pub const MARK: &str = "SKIPPED: ";
/// Around the name of a test that printed something.
const HEADING: [&str; 2] = ["---- ", " stdout ----"];
/// After the last test's output.
const END: [&str; 3] = ["successes:", "failures:", RESULT];
/// Before the counts: `test result: ok. 2 passed; 0 failed; 0 ignored; …`.
const RESULT: &str = "test result:";

/// A line for each test that skipped something: its name, and why.
pub fn skipped(output: &str) -> Vec<String> {
    let mut skipped = Vec::new();
    let mut test = None;
    for line in output.lines() {
        let heading = line.strip_prefix(HEADING[0]).and_then(|rest| rest.strip_suffix(HEADING[1]));
        if heading.is_some() || END.iter().any(|end| line.starts_with(end)) {
            test = heading;
        }
        if let (Some(test), Some(why)) = (test, line.strip_prefix(MARK)) {
            skipped.push(format!("{test}: {}", why.trim_end()));
        }
    }
    skipped.dedup();
    skipped
}

/// The names of the tests that failed, which the harness lists last.
pub fn failed(output: &str) -> Vec<&str> {
    let Some((_, list)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    list.lines().map_while(|line| line.strip_prefix("    ")).collect()
}

/// How many tests passed and failed.
pub fn counts(output: &str) -> (u64, u64) {
    let words = output.lines().filter_map(|line| line.strip_prefix(RESULT));
    let words: Vec<&str> = words.flat_map(str::split_whitespace).collect();
    let sum = |what: &str| {
        let pairs = words.windows(2).filter(|pair| pair[1] == what);
        pairs.filter_map(|pair| pair[0].parse::<u64>().ok()).sum()
    };
    (sum("passed;"), sum("failed;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tests_skip_has_their_names() {
        let output = "\nrunning 4 tests\ntest a ... ok\nSKIPPED: a child said so\ntest b ... ok\n\n\
            successes:\n\n---- a stdout ----\nfine\nSKIPPED: no php\n\n\
            ---- m::b stdout ----\nnothing was SKIPPED: here\nSKIPPED: no right\nSKIPPED: no right\n\n\
            \nsuccesses:\n    a\n    m::b\n\nSKIPPED: said by none\ntest result: ok. 2 passed\n";
        assert_eq!(skipped(output), ["a: no php", "m::b: no right"]);
    }

    #[test]
    fn a_failed_test_may_have_skipped_something_as_well() {
        let output = "failures:\n\n---- a stdout ----\nSKIPPED: no php\nthread panicked\n\nfailures:\n    a\n";
        assert_eq!(skipped(output), ["a: no php"]);
        assert_eq!(failed(output), ["a"]);
    }

    #[test]
    fn the_tests_that_failed_are_listed_last() {
        let output = "failures:\n\n---- m::b stdout ----\nfailures:\n    said by a test\n\n\
            \nfailures:\n    a\n    m::b\n\ntest result: FAILED. 12 passed; 2 failed\n    more\n";
        assert_eq!(failed(output), ["a", "m::b"]);
        assert!(failed("test result: ok. 12 passed; 0 failed\n").is_empty());
    }

    #[test]
    fn what_passed_and_failed_is_counted() {
        let output = "7 passed; says a test\ntest result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured\n";
        assert_eq!(counts(output), (12, 3));
        assert_eq!(counts("killed"), (0, 0));
    }
}
