//! What changed since a baseline, as programs that run tests for others read it.

use askama::Template;
use model::analysis::Verdict;
use model::diff::{ArmChange, Diff};
use model::printable::printable;
use units::percent;

use crate::diff::sentence;

/// What a run is held against, in sentences.
const BASELINE: &str = "the baseline";

/// The arms as test cases of `JUnit`'s XML: one that is slower has failed, one that could not
/// be measured has an error, one that only one of the runs has is skipped, and one that is
/// not sure passes and says so.
pub fn junit(diff: &Diff, seconds: f64) -> String {
    let cases: Vec<Case> =
        diff.arms.iter().map(|arm| judged(diff, arm)).chain(missing(diff)).collect();
    let count = |kind: &str| cases.iter().filter(|case| case.kind == kind).count();
    let suite = Suite {
        failures: count("failure"),
        errors: count("error"),
        skipped: count("skipped"),
        started: printable(&diff.after.started).into_owned(),
        seconds: format!("{seconds:.1}"),
        cases,
    };
    // Memory takes all that is written to it.
    suite.render().unwrap_or_default()
}

/// The workflow commands by which GitHub puts notes beside a change: an error for each arm
/// that is slower, and a notice that sums up.
pub fn github(diff: &Diff) -> String {
    let error = |arm: &ArmChange| {
        let (title, text) = (property(&format!("{} is slower", arm.id)), sentence(arm, BASELINE));
        format!("::error title={title}::{}\n", data(&text))
    };
    let missing = |missing: &model::diff::Missing| {
        let title = property(&format!("{} was not compared", missing.id));
        format!("::warning title={title}::{}\n", data(&missing.why))
    };
    let slower: String = diff.slower().map(error).collect();
    let missing: String = diff.missing.iter().filter(|m| m.failed).map(missing).collect();
    let summed = format!(
        "{} of {} arms are slower than {BASELINE} by more than {}",
        diff.slower().count(),
        diff.arms.len(),
        percent(diff.threshold)
    );
    format!("{slower}{missing}::notice title=iotoll::{}\n", data(&summed))
}

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
{%- if case.kind == "said" %}
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
    /// `failure`, `error`, or `said` where neither.
    kind: &'static str,
    text: String,
}

fn judged(diff: &Diff, arm: &ArmChange) -> Case {
    let told = sentence(arm, BASELINE);
    let (kind, text) = match arm.verdict {
        Verdict::Slower => ("failure", told),
        Verdict::Faster => ("said", told),
        Verdict::Same => {
            ("said", format!("it differs from {BASELINE} by less than {}", percent(diff.threshold)))
        }
        Verdict::Unclear | Verdict::Invalid => {
            ("said", format!("unclear whether it changed: {told}"))
        }
    };
    case(&arm.id, kind, &text)
}

fn missing(diff: &Diff) -> impl Iterator<Item = Case> + '_ {
    diff.missing.iter().map(|missing| {
        case(&missing.id, if missing.failed { "error" } else { "skipped" }, &missing.why)
    })
}

fn case(id: &str, kind: &'static str, text: &str) -> Case {
    let class = id.split('/').next().unwrap_or_default();
    let text_of = |text: &str| printable(text).into_owned();
    Case {
        class: format!("iotoll.{}", text_of(class)),
        name: text_of(id),
        kind,
        text: text_of(text),
    }
}

#[cfg(test)]
mod tests {
    use model::diff::Missing;

    use super::*;
    use crate::made_diff::{self, arm};

    fn made(id: &str) -> Diff {
        let slower = arm(id, 1.5, Verdict::Slower, None);
        let mut diff = made_diff::diff(vec![slower, arm("log/b@x", 1.0, Verdict::Unclear, None)]);
        diff.missing.push(Missing {
            id: "log/c@x".to_owned(),
            why: "No <space> & no\nhope".to_owned(),
            failed: true,
        });
        diff
    }

    #[test]
    fn slower_arms_fail_and_what_has_meaning_in_xml_is_escaped() {
        let xml = junit(&made("log/a\"<\u{1b}>@x"), 61.25);
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
        let said = github(&made("log/a::error,%\n::stop@x"));
        assert_eq!(said.lines().count(), 3, "{said}");
        let first = said.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("::error title=log/a%3A%3Aerror%2C%25\\n%3A%3Astop@x is slower::"),
            "{said}"
        );
        assert!(first.contains("1.5× slower than the baseline"), "{said}");
        assert!(said.ends_with("1 of 2 arms are slower than the baseline by more than 5%25\n"));
    }
}
