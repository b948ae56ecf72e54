//! How a gate ended, as programs that run tests for others read it.

use std::fmt::Write as _;

use askama::Template;
use model::analysis::Verdict;
use model::diff::{ArmChange, Diff, Missing};
use model::limit::Limited;
use model::printable::printable;
use units::{Judgement, counted, percent};

use crate::diff::sentence;
use crate::limits;

/// What a run is compared with, in sentences.
const BASELINE: &str = "the baseline";
/// The failure of a gate if two runs have nothing in common.
const NOTHING_COMPARED: &str = "no combination of the baseline was measured in this run, so that \
                                nothing was compared";

/// Everything that a gate judges a run by.
#[derive(Clone, Copy, Default)]
pub struct Gate<'a> {
    /// What changed since the baseline, where there is one.
    pub diff: Option<&'a Diff>,
    /// What became of the limits.
    pub limits: &'a [Limited],
    /// Whether combinations of the baseline may be missing.
    pub allow_missing: bool,
    /// When the run began, RFC 3339.
    pub started: &'a str,
    /// How long it took.
    pub seconds: f64,
}

impl Gate<'_> {
    /// Whether the baseline has what this run lacks, and that is not allowed.
    pub fn is_incomplete(&self) -> bool {
        !self.allow_missing && self.diff.is_some_and(|diff| !diff.is_complete())
    }

    /// The test cases of `JUnit`'s XML, one for each combination of the two runs and for each
    /// limit. One fails that is slower, that this run lacks, or that misses a limit. One has
    /// an error that could not be measured, or whose limit is undecided. One that is not sure
    /// to have changed passes and says so.
    pub fn junit(&self) -> String {
        let cases: Vec<Case> = self.cases().collect();
        let count = |kind: &str| cases.iter().filter(|case| case.kind == kind).count();
        let suite = Suite {
            failures: count(FAILURE),
            errors: count(ERROR),
            skipped: count(SKIPPED),
            started: printable(self.started).into_owned(),
            seconds: format!("{:.1}", self.seconds),
            cases,
        };
        // Memory takes all that is written to it.
        suite.render().unwrap_or_default()
    }

    /// The workflow commands by which GitHub puts notes next to a change: an error for
    /// whatever fails, and a notice that sums up.
    pub fn github(&self) -> String {
        let mut text = String::new();
        for case in self.cases().filter(|case| [FAILURE, ERROR].contains(&case.kind)) {
            let _ = writeln!(text, "::error title={}::{}", property(&case.title), data(&case.text));
        }
        let _ = writeln!(text, "::notice title=iotoll::{}", data(&self.summary()));
        text
    }

    fn cases(&self) -> impl Iterator<Item = Case> + '_ {
        let compared = self.diff.into_iter().flat_map(|diff| {
            diff.arms.iter().map(|arm| judged(diff, arm)).chain(self.missing(diff))
        });
        compared.chain(self.limits.iter().map(limited))
    }

    fn missing<'a>(&'a self, diff: &'a Diff) -> impl Iterator<Item = Case> + 'a {
        let nothing = diff.arms.is_empty().then(|| {
            let kind = if self.allow_missing { SKIPPED } else { FAILURE };
            Case::new("baseline", kind, NOTHING_COMPARED, NOTHING_COMPARED)
        });
        let of = |missing: &Missing| {
            let kind = match missing {
                Missing { failed: true, .. } => ERROR,
                Missing { lost: true, .. } if !self.allow_missing => FAILURE,
                Missing { .. } => SKIPPED,
            };
            let title = format!("{} was not compared", missing.id);
            Case::new(&missing.id, kind, &title, &missing.why)
        };
        nothing.into_iter().chain(diff.missing.iter().map(of))
    }

    fn summary(&self) -> String {
        let compared = self.diff.map(|diff| {
            let lost = diff.lost().count();
            let lost = match lost {
                0 => String::new(),
                _ => format!("; {lost} of the baseline not measured"),
            };
            format!(
                "{} of {} combinations are slower than {BASELINE} by more than {}{lost}",
                diff.slower().count(),
                diff.arms.len(),
                percent(diff.threshold)
            )
        });
        let limits = (!self.limits.is_empty()).then(|| {
            let of = |judgement| self.limits.iter().filter(|l| l.judgement == judgement).count();
            let checked = counted(self.limits.len() as u64, "limit");
            let (missed, open) = (of(Judgement::Missed), of(Judgement::Undecided));
            format!("{missed} of {checked} missed, {open} undecided")
        });
        compared.into_iter().chain(limits).collect::<Vec<_>>().join("; ")
    }
}

const FAILURE: &str = "failure";
const ERROR: &str = "error";
const SKIPPED: &str = "skipped";
const PASSED: &str = "passed";

/// What a command's message may have: percent signs and ends of lines have other meanings.
fn data(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The same of a command's property, which a colon or a comma would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[derive(Template)]
#[template(
    source = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="iotoll" tests="{{ cases.len() }}" failures="{{ failures }}" errors="{{ errors }}" skipped="{{ skipped }}" time="{{ seconds }}" timestamp="{{ started }}">
{%- for case in cases %}
    <testcase classname="{{ case.class }}" name="{{ case.name }}">
{%- if case.kind == "passed" %}
      <system-out>{{ case.text }}</system-out>
{%- else %}
      <{{ case.kind }} message="{{ case.text }}"/>
{%- endif %}
    </testcase>
{%- endfor %}
  </testsuite>
</testsuites>
"#,
    ext = "xml"
)]
struct Suite {
    cases: Vec<Case>,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: String,
    started: String,
}

struct Case {
    class: String,
    name: String,
    /// The element that it has, or [`PASSED`].
    kind: &'static str,
    /// What happened, in short.
    title: String,
    text: String,
}

impl Case {
    fn new(id: &str, kind: &'static str, title: &str, text: &str) -> Self {
        let class = id.split('/').next().unwrap_or_default();
        let [class, name, title, text] =
            [class, id, title, text].map(|text| printable(text).into_owned());
        Self { class: format!("iotoll.{class}"), name, kind, title, text }
    }
}

fn judged(diff: &Diff, arm: &ArmChange) -> Case {
    let sentence = sentence(arm, BASELINE);
    let (kind, text) = match arm.verdict {
        Verdict::Slower => (FAILURE, sentence),
        Verdict::Faster => (PASSED, sentence),
        Verdict::Same => {
            let threshold = percent(diff.threshold);
            (PASSED, format!("it differs from {BASELINE} by less than {threshold}"))
        }
        Verdict::Unclear | Verdict::Invalid => {
            (PASSED, format!("unclear whether it changed: {sentence}"))
        }
    };
    Case::new(&arm.id, kind, &format!("{} is slower", arm.id), &text)
}

fn limited(limited: &Limited) -> Case {
    let (kind, end) = match limited.judgement {
        Judgement::Met => (PASSED, "is met"),
        Judgement::Missed => (FAILURE, "is missed"),
        Judgement::Undecided => (ERROR, "is undecided"),
    };
    let name = format!("{} {}", limited.id, limited.limit);
    Case::new(&name, kind, &format!("{} {end}", limited.limit), &limits::sentence(limited))
}

#[cfg(test)]
mod tests {
    use units::{Quantity, Range};

    use super::*;
    use crate::made_diff::{self, arm};

    fn made(id: &str) -> Diff {
        let slower = arm(id, 1.5, Verdict::Slower, None);
        let mut diff = made_diff::diff(vec![slower, arm("log/b@x", 1.0, Verdict::Unclear, None)]);
        diff.missing.push(Missing {
            id: "log/c@x".to_owned(),
            why: "No <space> & no\nhope".to_owned(),
            failed: true,
            lost: true,
        });
        diff
    }

    fn gate(diff: &Diff) -> Gate<'_> {
        Gate { diff: Some(diff), seconds: 61.25, started: "now", ..Gate::default() }
    }

    #[test]
    fn slower_arms_fail_and_what_has_meaning_in_xml_is_escaped() {
        let diff = made("log/a\"<\u{1b}>@x");
        let xml = gate(&diff).junit();
        assert!(
            xml.contains("tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\" time=\"61.2\""),
            "{xml}"
        );
        assert!(!xml.contains('\u{1b}') && !xml.contains("a\"<"), "{xml}");
        assert!(xml.contains("<failure message="), "{xml}");
        assert!(xml.contains("&#60;space&#62; &#38; no\\nhope"), "{xml}");
        assert_eq!(xml.matches("</testcase>").count(), 3, "{xml}");
    }

    #[test]
    fn no_text_ends_a_command_or_begins_another() {
        let diff = made("log/a::error,%\n::stop@x");
        let printed = gate(&diff).github();
        assert_eq!(printed.lines().count(), 3, "{printed}");
        let first = printed.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("::error title=log/a%3A%3Aerror%2C%25\\n%3A%3Astop@x is slower::"),
            "{printed}"
        );
        assert!(first.contains("1.5× slower than the baseline"), "{printed}");
        assert!(printed.contains("::error title=log/c@x was not compared::"), "{printed}");
        assert!(printed.contains("1 of 2 combinations are slower than the baseline by more than"));
    }

    #[test]
    fn what_the_baseline_has_and_the_run_lacks_fails_unless_that_is_allowed() {
        let mut diff = made_diff::diff(vec![arm("log/a@x", 1.0, Verdict::Same, None)]);
        assert!(!gate(&diff).is_incomplete());
        let missing = |id: &str, lost| Missing {
            id: id.to_owned(),
            why: "only in one".to_owned(),
            failed: false,
            lost,
        };
        diff.missing = vec![missing("log/new@x", false)];
        assert!(!gate(&diff).is_incomplete(), "what is new has no baseline");
        diff.missing.push(missing("log/old@x", true));
        let xml = gate(&diff).junit();
        assert!(gate(&diff).is_incomplete() && xml.contains("failures=\"1\""), "{xml}");
        assert!(gate(&diff).github().contains("::error title=log/old@x was not compared::"));
        let allowed = Gate { allow_missing: true, ..gate(&diff) };
        assert!(!allowed.is_incomplete() && allowed.junit().contains("skipped=\"2\""));
        assert!(!allowed.github().contains("::error"));
    }

    #[test]
    fn nothing_compared_is_a_failure_by_itself() {
        let diff = made_diff::diff(Vec::new());
        assert!(gate(&diff).is_incomplete());
        assert!(gate(&diff).junit().contains("nothing was compared"));
        assert!(gate(&diff).github().starts_with("::error title=no combination of the baseline"));
    }

    #[test]
    fn a_limit_is_a_case_that_fails_or_is_undecided() {
        let limited = |judgement| Limited {
            limit: "log.p99 > 5ms".to_owned(),
            id: "log/a@x".to_owned(),
            figure: "p99".to_owned(),
            quantity: Quantity::Time,
            range: Some(Range { value: 6e6, low: 5.5e6, high: 6.5e6 }),
            judgement,
        };
        let limits = [Judgement::Met, Judgement::Missed, Judgement::Undecided].map(limited);
        let gate = Gate { limits: &limits, ..Gate::default() };
        let xml = gate.junit();
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"1\""), "{xml}");
        let printed = gate.github();
        assert!(printed.contains("::error title=log.p99 > 5ms is missed::log/a@x: p99 is 6.00 ms"));
        assert!(printed.contains("1 of 3 limits missed, 1 undecided"), "{printed}");
    }
}
