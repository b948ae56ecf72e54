//! Each text of a result in each output: what others wrote stays text, whatever it is.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::foreign;

use foreign::{Form, Other, Output, Which, as_file, of_bill, outputs, places_of, planted, records};
use model::printable::{is_unprintable, printable_lines};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};
use trace::planted::Planted;
use trace::{Op, TraceReader, bill_of};

/// What a terminal, a build server, a browser or a spreadsheet would obey.
const PAYLOADS: [&str; 8] = [
    "A\u{1b}]0;title\u{7}\u{1b}[31mX\u{9b}31m\rY\u{7f}\0",
    "Q\n::error title=x::pwn\n# injected\n| a | b |\r\n##[error]x",
    " ::error title=x::pwn ##vso[x]y",
    "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'><!-- ]]>",
    "=cmd|\" /C calc\"!A0",
    "[x](javascript:alert(1)) ![i](http://evil/x.png) <img src=x> `c` ```` ~~~~ | b &lt;",
    "x\"} 1\n# EOF\nevil 1",
    "a\u{202e}b\u{2066}\u{200b}\u{e0041}",
];

/// All of them, with what matters only at the beginning in front.
fn all_in_one() -> [String; 2] {
    let all = PAYLOADS.join(" ");
    [format!("=1+{all}"), format!("::error title=x::{all}")]
}

/// Plants everything in each kind of text in turn, and each payload in all of them at once.
fn check_all(document: &Value, outputs_of: impl Fn(&str) -> Result<Vec<Output>, String>) {
    let kinds = places_of(document, Value::is_string);
    let mut taken = Vec::new();
    for (kind, places) in &kinds {
        for payload in all_in_one() {
            let text = planted(document, places, &json!(payload)).to_string();
            match outputs_of(&text) {
                Ok(outputs) => {
                    for output in &outputs {
                        check(output, kind);
                    }
                    taken.push((kind, places));
                }
                Err(why) => check_message(&why, kind),
            }
        }
    }
    for payload in PAYLOADS {
        let mut changed = document.clone();
        for (_, places) in &taken {
            changed = planted(&changed, places, &json!(payload));
        }
        for output in outputs_of(&changed.to_string()).unwrap() {
            check(&output, payload);
        }
    }
    assert!(taken.len() > kinds.len(), "only {} of {} are taken", taken.len() / 2, kinds.len());
}

/// What nobody may find in an output, wherever the text stood.
fn check(Output { name, form, text }: &Output, planted: &str) {
    let what = || format!("{name} with {planted:?} planted");
    let plain = match form {
        Form::Terminal => without_styles(text),
        _ => text.clone(),
    };
    for line in plain.split('\n').map(str::trim_start) {
        assert!(!line.contains(is_unprintable), "a control: {line:?} in {}", what());
        let is_ours = *form == Form::Commands && !line.starts_with("::error title=x::");
        assert!(is_ours || !line.starts_with("::"), "a command: {line} in {}", what());
        assert!(!line.contains("##[") && !line.contains("##vso["), "{line} in {}", what());
        let begins = ["# injected", "| a | b", "evil 1", "pwn", "##"];
        let forged = *form != Form::Markdown && begins.iter().any(|text| line.starts_with(text));
        assert!(!forged, "a line: {line} in {}", what());
    }
    match form {
        Form::Html | Form::Xml => {
            let markup = ["<img", "<script>alert", "<!--", "]]>"];
            let found = markup.iter().find(|markup| text.contains(**markup));
            assert_eq!(found, None, "in {}", what());
        }
        Form::Markdown => check_markdown(text, &what),
        Form::Csv => check_csv(text, &what),
        Form::OpenMetrics => check_metrics(text, &what),
        Form::Json => {
            serde_json::from_str::<Value>(text).unwrap();
        }
        Form::Terminal | Form::Commands | Form::Other => {}
    }
}

/// The text without the program's styles; what else begins like one stays.
fn without_styles(text: &str) -> String {
    let styles = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[34m", "[35m"];
    let parts = text.split('\u{1b}').enumerate().map(|(number, part)| {
        let style = styles.iter().find_map(|style| part.strip_prefix(style));
        style.filter(|_| number > 0).map_or_else(|| part.to_owned(), str::to_owned)
    });
    parts.collect()
}

fn check_markdown(text: &str, what: &dyn Fn() -> String) {
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("a link in {}", what()),
            Event::Html(html) | Event::InlineHtml(html) => {
                let ours = ["<details><summary>", "</details>"];
                assert!(ours.iter().any(|tag| html.starts_with(tag)), "{html} in {}", what());
            }
            _ => {}
        }
    }
}

fn check_csv(text: &str, what: &dyn Fn() -> String) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for record in reader.records() {
        for cell in &record.unwrap() {
            let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert!(!is_formula || cell.parse::<f64>().is_ok(), "{cell} in {}", what());
        }
    }
}

fn check_metrics(text: &str, what: &dyn Fn() -> String) {
    let lines = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end in {}", what()));
    for line in lines.lines() {
        let is_comment = ["# HELP ", "# TYPE ", "# UNIT "].iter().any(|of| line.starts_with(of));
        let is_sample = || {
            let (labelled, value) = line.rsplit_once(' ')?;
            value.parse::<f64>().ok()?;
            let (name, labels) = labelled.split_once('{')?;
            (name.starts_with("iotoll_") && are_labels(labels)).then_some(())
        };
        assert!(is_comment || is_sample().is_some(), "{line} in {}", what());
    }
}

/// `name="value",…}`, whose values end where they should.
fn are_labels(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some((name, value)) = rest.split_once("=\"") else { return false };
        if !name.chars().all(|c| c.is_ascii_lowercase()) {
            return false;
        }
        let mut is_escape = false;
        let end = value.find(|c| {
            let ends = c == '"' && !is_escape;
            is_escape = c == '\\' && !is_escape;
            ends
        });
        let Some(end) = end else { return false };
        match &value[end + 1..] {
            "}" => return true,
            more => match more.strip_prefix(',') {
                Some(more) => rest = more,
                None => return false,
            },
        }
    }
}

/// What is wrong with a result is printed as every message is.
fn check_message(why: &str, planted: &str) {
    let printed = printable_lines(why);
    for (number, line) in printed.lines().enumerate() {
        assert!(!line.chars().any(is_unprintable), "{planted}: {printed}");
        assert!(number == 0 || line.starts_with("  | "), "{planted}: {printed}");
    }
}

#[test]
fn each_text_of_a_comparison_stays_text_in_each_output() {
    let other = Other::measured();
    check_all(&records::comparison(), |text| outputs(text, &other, Which::All));
}

#[test]
fn each_text_of_a_repeated_article_stays_text_in_each_output() {
    let other = Other::measured();
    check_all(&records::article(), |text| outputs(text, &other, Which::All));
}

#[test]
fn each_text_of_a_load_and_of_a_selftest_stays_text_in_each_output() {
    let other = Other::measured();
    for document in [records::load(), records::search(), records::selftest()] {
        check_all(&document, |text| outputs(text, &other, Which::All));
    }
}

#[test]
fn names_in_a_trace_stay_text_in_each_output() {
    let payloads = all_in_one().into_iter().chain(PAYLOADS.map(str::to_owned));
    for payload in payloads.map(|text| text.replace('\0', "")) {
        let header = trace::Header {
            program: payload.clone(),
            kernel: payload.clone(),
            ..trace::planted::header()
        };
        let mut planted = Planted::with(&header, &format!("/{payload}"));
        for file in [format!("{payload}/{payload}"), format!("a.db-{payload}"), payload.clone()] {
            for _ in 0..60 {
                planted.open(&file, 0o2101, 3);
                planted.moved(Op::Write, 3, 137, 100_000);
                planted.on(Op::Fsync, 3, 2_000_000);
                planted.on(Op::Close, 3, 400_000);
                planted.named(Op::Stat, &file, 20_000, 0);
            }
        }
        let trace = planted.finish();
        let bill =
            bill_of(&mut TraceReader::new(trace.as_slice()).unwrap(), report::command_of).unwrap();
        let text = serde_json::to_value(&bill).unwrap().to_string();
        assert!(text.contains("a.db-"), "{text}");
        for output in &of_bill(&bill) {
            check(output, &payload);
        }
    }
}

#[test]
fn json_reads_back_as_it_was() {
    let document = records::comparison();
    let places: Vec<String> =
        places_of(&document, Value::is_string).into_iter().flat_map(|(_, places)| places).collect();
    for payload in PAYLOADS {
        let changed = planted(&document, &places, &json!(payload));
        let mut text = Vec::new();
        model::document::write(&changed, &mut text).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), changed);
        let text = String::from_utf8(text).unwrap();
        check(&Output { name: "json", form: Form::Json, text }, payload);
    }
    assert_eq!(as_file("x", json!({}))["schema"], "x");
}
