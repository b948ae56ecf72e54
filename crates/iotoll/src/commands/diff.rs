//! `iotoll diff`: what changed from one run to another.

use std::path::{Path, PathBuf};

use analysis::{Analysed, analyse};
use clap::Args;
use model::study::{parse_error_rate, parse_threshold};
use report::formats::Content;

use crate::cli::{FormatsOfDiff, MatchArgs, heading};
use crate::exit::Exit;
use crate::results::{Targets, baseline, cannot, confined, open, render};

/// What is done with results, for a sentence about what keeps them from that.
const COMPARE: &str = "compare";

const DIFF_EXAMPLES: &str = "\
Examples:
  iotoll diff                       the last run with the one before
  iotoll diff 1a2b3c4d last         two saved runs
  iotoll diff before.json after.json --threshold 10%
  iotoll diff before.trace after.trace";

const DIFF_NOTES: &str = "\
Two runs are not interleaved: other things that changed between them are part of
the difference. The intervals allow for how much repeated runs vary. This is
learned from neighbours in time among other saved runs of the same combinations
on the same setup, if enough are saved: four for one combination, fewer for
several. Otherwise it is assumed to be 5% (one standard deviation). By default,
any of the intervals is wrong in at most 1 of 20 comparisons of two runs
(--error-rate). See docs/runs.md.";

/// Compare two saved runs or recordings
#[derive(Args)]
#[command(after_help = DIFF_EXAMPLES)]
#[command(after_long_help = format!("{DIFF_EXAMPLES}\n\n{DIFF_NOTES}"))]
pub(crate) struct DiffArgs {
    /// Compare with this earlier run [default: last~1]
    ///
    /// Give a file written by --json, the trace of a recording, or a saved run: the beginning of
    /// its name, `last`, or `last~1` for the one before.
    #[arg(value_name = "FILE|RUN")]
    before: Option<PathBuf>,

    /// Compare this later run [default: last]
    #[arg(value_name = "FILE|RUN")]
    after: Option<PathBuf>,

    /// Ignore smaller differences, as in 10%
    ///
    /// [default: the later run's]
    #[arg(help_heading = heading::PRECISION)]
    #[arg(long, alias = "worth", value_name = "SHARE", value_parser = parse_threshold)]
    threshold: Option<f64>,

    /// Chance that any interval is wrong
    ///
    /// [default: the later run's]
    #[arg(help_heading = heading::PRECISION)]
    #[arg(long, value_name = "SHARE", value_parser = parse_error_rate)]
    error_rate: Option<f64>,

    #[command(flatten)]
    matching: MatchArgs,

    #[command(flatten)]
    formats: FormatsOfDiff,
}

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<Exit> {
    let targets = Targets::open(args.formats.files())?;
    let before = Some(args.before.as_deref().unwrap_or(Path::new("last~1")));
    let after = Some(args.after.as_deref().unwrap_or(Path::new("last")));
    let sources = [open(before, COMPARE)?, open(after, COMPARE)?];
    // The child has no way to the saved runs.
    let repeats = baseline::repeats();
    let (asked, matching) = (targets.asked(), args.matching.rule());
    let rendered = confined::rendered(sources, |[first, second]| {
        if first.is_trace() || second.is_trace() {
            let [first, second] = [first.bill()?, second.bill()?];
            let diff = report::recording::between(&first, &second);
            let text = |width| diff.tables().text(width);
            return render(&asked, Content::BillDiff(&diff), text);
        }
        let before = first.comparison().map_err(|why| cannot(before, COMPARE, &why))?;
        let after = second.comparison().map_err(|why| cannot(after, COMPARE, &why))?;
        matching.check([&before, &after])?;
        let analyses = [analyse(&before), analyse(&after)];
        let judged = baseline::judged(&after, args.threshold, args.error_rate);
        let diff = baseline::diff(
            Analysed { run: &before, analysis: &analyses[0] },
            Analysed { run: &after, analysis: &analyses[1] },
            &matching,
            judged,
            &repeats,
        );
        render(&asked, Content::Diff(&diff), |width| report::diff(&diff, width))
    })?;
    targets.deliver(rendered)?;
    Ok(Exit::Done)
}
