//! The targets that read saved results, analyse them and print their reports.

use std::sync::LazyLock;

use analysis::{Analysed, Judged, analyse};
use load::analyse_load;
use model::analysis::Analysis;
use model::load::LoadRun;
use model::plan::Draft;
use model::run::Run;
use model::selftest::SelftestResult;
use report::load::{Layout, render};
use report::terminal::report;

use super::target::Target;

const WORDS: &[&str] = &[
    "log",
    "held",
    "reopen",
    "disk",
    "ram",
    "ext4",
    "tmpfs",
    "log/held@disk",
    "tsc",
    "iotoll.result/2",
    "uniform 50 B..500 B",
    "max",
    "sync_ns",
];
/// Of a terminal, from the narrowest to the widest that is written for.
const WIDTHS: [usize; 3] = [40, 80, 100];

pub(super) fn all() -> Vec<Target> {
    let record =
        |name, share, seeds, run| Target { name, share, is_json: true, seeds, words: WORDS, run };
    vec![
        record("run", 60, runs, run),
        record("diff", 60, runs, diff),
        record("load", 80, loads, load),
        record("selftest", 60, selftests, selftest),
    ]
}

fn runs() -> Vec<Vec<u8>> {
    let saved: [&[u8]; 3] = [
        include_bytes!("../../seeds/log.json"),
        include_bytes!("../../seeds/serve.json"),
        include_bytes!("../../seeds/files.json"),
    ];
    saved.map(<[u8]>::to_vec).to_vec()
}

fn run(bytes: &[u8]) -> bool {
    let Some(run) = str::from_utf8(bytes).ok().and_then(|text| Run::read(text).ok()) else {
        return false;
    };
    let analysis = analyse(&run);
    for width in WIDTHS {
        check_printed(&report(&run, &analysis, true, width));
    }
    let mut file = Vec::new();
    let document = model::document::Document::new(&run, &analysis);
    assert!(model::document::write(&document, &mut file).is_ok());
    true
}

/// Held against one that is whole, and planned again.
fn diff(bytes: &[u8]) -> bool {
    static WHOLE: LazyLock<Option<(Run, Analysis)>> = LazyLock::new(|| {
        let run = Run::read(include_str!("../../seeds/log.json")).ok()?;
        let analysis = analyse(&run);
        Some((run, analysis))
    });
    let Some(run) = str::from_utf8(bytes).ok().and_then(|text| Run::read(text).ok()) else {
        return false;
    };
    let Some((whole, of_whole)) = WHOLE.as_ref() else { return false };
    let analysis = analyse(&run);
    let sides =
        [Analysed { run: whole, analysis: of_whole }, Analysed { run: &run, analysis: &analysis }];
    let judged = Judged { worth: run.plan.worth, error_rate: run.plan.error_rate };
    for [before, after] in [[sides[0], sides[1]], [sides[1], sides[0]]] {
        let diff = analysis::diff(before, after, judged, &mut |_| vec![1.0, 2.0, 3.0, 4.0, 5.0]);
        for width in WIDTHS {
            check_printed(&report::diff(&diff, width));
        }
        check_printed(&report::ci::github(&diff));
        check_printed(&report::ci::junit(&diff, 1.0));
    }
    check_printed(&report::in_short(&run, &analysis));
    if let Ok(plan) = Draft::of_run(&run, &studies::specs()).and_then(|draft| draft.finish(1)) {
        let _ = plan.check_against(&run);
    }
    true
}

fn loads() -> Vec<Vec<u8>> {
    let saved: [&[u8]; 2] =
        [include_bytes!("../../seeds/load.json"), include_bytes!("../../seeds/max.json")];
    saved.map(<[u8]>::to_vec).to_vec()
}

fn load(bytes: &[u8]) -> bool {
    let Some(run) = str::from_utf8(bytes).ok().and_then(|text| LoadRun::read(text).ok()) else {
        return false;
    };
    let analysis = analyse_load(&run);
    for layout in [Layout::Plain, Layout::Httperf, Layout::Ab] {
        check_printed(&render(layout, &run, &analysis));
    }
    true
}

fn selftests() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../seeds/selftest.json").to_vec()]
}

fn selftest(bytes: &[u8]) -> bool {
    let text = str::from_utf8(bytes).ok();
    let Some(result) = text.and_then(|text| SelftestResult::read(text).ok()) else { return false };
    for width in WIDTHS {
        check_printed(&report::selftest::report(&result, width));
    }
    true
}

/// Of a foreign text nothing may get to a terminal but what is seen: the only sequences
/// are those of the report's own styles.
fn check_printed(text: &str) {
    const STYLES: [&str; 8] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[34m", "[35m"];
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_control() && *c != '\n') {
        let rest = &text[at + c.len_utf8()..];
        let is_style = c == '\x1b' && STYLES.iter().any(|style| rest.starts_with(style));
        let before = text[..at].chars().rev().take(60).collect::<String>();
        assert!(is_style, "{c:?} is printed after {:?}", before.chars().rev().collect::<String>());
    }
    assert!(!text.contains(['\u{202e}', '\u{2066}']), "the direction of writing is turned");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_are_understood() {
        assert!(runs().iter().all(|bytes| run(bytes)));
        assert!(loads().iter().all(|bytes| load(bytes)));
        assert!(selftests().iter().all(|bytes| selftest(bytes)));
    }

    #[test]
    fn a_sequence_that_is_none_of_ours_is_found() {
        check_printed("\u{1b}[1mbold\u{1b}[0m\n");
        for foreign in ["\u{1b}[41mred", "\u{1b}]0;title\u{7}", "\r", "\u{9b}1m", "\u{202e}"] {
            assert!(std::panic::catch_unwind(|| check_printed(foreign)).is_err(), "{foreign:?}");
        }
    }
}
