//! `iotoll show`: a saved result, printed as it was then, or the bill of a trace.

use std::fs::File;
use std::path::{Path, PathBuf};

use ::load::analyse_load;
use analysis::analyse;
use anyhow::{anyhow, ensure};
use clap::Args;
use model::analysis::Analysis;
use model::plan::parse_per_second;
use model::run::Run;
use model::study::{parse_error_rate, parse_threshold};
use report::formats::{Content, FORMATS, Kind};
use report::load::Layout;
use report::terminal::Rest;
use units::quoted;

use crate::cli::{FormatsOfAny, LAYOUTS, flags, heading, one_of};
use crate::exit::{Exit, UsageError};
use crate::recording::billed;
use crate::results::{
    Asked, Rendered, Saved, Source, Targets, cannot, confined, entry, is_file, loaded, open,
    render, this_program,
};
use crate::terminal::output;

/// What is done with a result, for a sentence about what keeps it from that.
const SHOW: &str = "show";
/// What applies to no other results, besides formats.
const OF_COMPARISONS: [&str; 5] =
    ["--threshold", "--error-rate", "--per-second", "--full", "--how"];

const SHOW_EXAMPLES: &str = "\
Examples:
  iotoll show                       the last run
  iotoll show --how                 how to make the changes that it advises
  iotoll show last~1 --full         all tables of the run before
  iotoll show run.json --threshold 10%
  iotoll show clone.trace           the trace of a recording
  iotoll record -o - -- make | iotoll show -";

/// Print the report of a saved run
#[derive(Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArgs {
    /// Show this run or file [default: last]
    ///
    /// Give a file written by --json or --html, the trace of a recording, or a saved run: the
    /// beginning of its name, `last`, or `last~1` for the one before. `-` is standard input.
    #[arg(value_name = "FILE|RUN")]
    run: Option<PathBuf>,

    /// Decide again: ignore smaller differences
    #[arg(help_heading = heading::PRECISION)]
    #[arg(long, alias = "worth", value_name = "SHARE", value_parser = parse_threshold)]
    threshold: Option<f64>,

    /// Decide again with this chance of being wrong
    #[arg(help_heading = heading::PRECISION)]
    #[arg(long, value_name = "SHARE", value_parser = parse_error_rate)]
    error_rate: Option<f64>,

    /// Say what changes save at N per second
    ///
    /// N is how many operations your application does in a second.
    #[arg(long, value_name = "N", value_parser = parse_per_second)]
    #[arg(help_heading = heading::WORKLOAD)]
    per_second: Option<f64>,

    /// Show another run of the same article as well
    #[arg(long, value_name = "FILE|RUN", help_heading = heading::OUTPUT)]
    #[arg(conflicts_with_all = ["full"].into_iter().chain(FORMATS.iter().map(|format| format.flag)))]
    beside: Option<PathBuf>,

    /// Lay out a load: plain, httperf or ab
    #[arg(long, value_name = "LAYOUT", value_parser = one_of(&LAYOUTS))]
    #[arg(help_heading = heading::OUTPUT, hide_possible_values = true)]
    layout: Option<Layout>,

    /// Print every table, cause and check
    #[arg(long, help_heading = heading::OUTPUT)]
    full: bool,

    /// Print how to make each advised change
    ///
    /// Print how to check that it took, and how to undo it, as well.
    #[arg(long, conflicts_with = "full", help_heading = heading::OUTPUT)]
    how: bool,

    #[command(flatten)]
    formats: FormatsOfAny,
}

impl ShowArgs {
    /// The run as it is typed: nothing where none is named.
    fn typed(&self) -> String {
        let Some(run) = &self.run else { return String::new() };
        let named = run.to_string_lossy();
        match &*named {
            // Standard input cannot be read twice.
            "-" => "FILE".to_owned(),
            file if is_file(run) => quoted(file),
            // The name of a run needs no quotes.
            name => name.to_owned(),
        }
    }

    fn rest<'a>(&self, typed: &'a str) -> Rest<'a> {
        if self.full { Rest::Below } else { Rest::Of(typed) }
    }
}

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let targets = Targets::open(args.formats.files())?;
    if let Some(other) = &args.beside {
        return beside(args.run.as_deref(), other);
    }
    let rendered = rendered(args, &targets.asked())?;
    targets.deliver(rendered)?;
    Ok(Exit::Done)
}

fn rendered(args: &ShowArgs, asked: &Asked) -> anyhow::Result<Rendered> {
    let given = args.run.as_deref();
    let cannot = |why: anyhow::Error| cannot(given, SHOW, &why);
    if given.is_some_and(is_file) {
        let source = open(given, SHOW)?;
        return confined::rendered([source], |[source]| {
            let rendered = match source {
                Source::Trace(trace) => bill_rendered(trace, args, asked),
                source => source.read().and_then(|saved| saved_rendered(saved, args, asked)),
            };
            rendered.map_err(|why| cannot(why).into())
        });
    }
    let (store, entry) = entry(given.and_then(Path::to_str)).map_err(cannot)?;
    if let Some(program) = this_program().filter(|_| needs_no_slices(args))
        && let Some(mut kept) =
            store.load_analysed(&entry, &program).map_err(|why| cannot(why.into()))?
    {
        studies::complete(&mut kept.run.studies);
        return comparison_rendered(&kept.run, &kept.analysis, args, asked);
    }
    let saved = loaded(&store, &entry).map_err(cannot)?;
    saved_rendered(saved, args, asked).map_err(|why| cannot(why).into())
}

fn bill_rendered(trace: File, args: &ShowArgs, asked: &Asked) -> anyhow::Result<Rendered> {
    fits(Kind::Bill, args)?;
    let bill = billed::bill_in(trace)?;
    render(asked, Content::Bill(&bill), |width| report::bill(&bill, args.full, width))
}

/// Whether nothing is decided anew and all is text, which needs no slices: they are most of a
/// record.
fn needs_no_slices(args: &ShowArgs) -> bool {
    !decides_again(args)
        && args.formats.files().iter().all(|(variant, _)| !variant.format.needs_slices)
        && args.layout.is_none()
}

fn decides_again(args: &ShowArgs) -> bool {
    args.threshold.or(args.error_rate).or(args.per_second).is_some()
}

/// Shows two runs of one article.
fn beside(given: Option<&Path>, other: &Path) -> anyhow::Result<Exit> {
    let given = given.unwrap_or(Path::new("last"));
    let sources = [open(Some(given), SHOW)?, open(Some(other), SHOW)?];
    let width = output::width();
    let rendered = confined::rendered(sources, |[first, second]| {
        let repeated = |given: &Path, source: Source| {
            let analysis = source.comparison().map(|run| analyse(&run));
            let none = || anyhow!("it repeats no article");
            let found = analysis.and_then(|analysis| analysis.reproduction.ok_or_else(none));
            found.map_err(|why| cannot(Some(given), SHOW, &why))
        };
        let runs = [repeated(given, first)?, repeated(other, second)?];
        let name =
            |given: &Path| given.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let names = [name(given), name(other)];
        let both = [(names[0].as_str(), &runs[0]), (names[1].as_str(), &runs[1])];
        let text = report::beside(both, width).ok_or_else(|| {
            UsageError(format!("{} repeats {}, not {}", names[1], runs[1].article, runs[0].article))
        })?;
        Ok(Rendered { report: text, ..Rendered::default() })
    })?;
    output::result(&rendered.report)?;
    Ok(Exit::Done)
}

/// Whether what is asked for applies to results of that kind.
fn fits(kind: Kind, args: &ShowArgs) -> anyhow::Result<()> {
    let formats_fit =
        args.formats.files().iter().all(|(variant, _)| variant.format.applies_to(kind));
    let fits = formats_fit && (kind == Kind::Comparison || !decides_again(args));
    if kind == Kind::Bill {
        ensure!(
            fits && args.layout.is_none() && !args.how,
            "it is a trace: {} apply to it, and no other option",
            flags(&["--full"], |format| format.applies_to(kind))
        );
        return Ok(());
    }
    ensure!(
        fits && (kind == Kind::Comparison || !(args.full || args.how)),
        "it is not a comparison, and {} apply only to comparisons",
        flags(&OF_COMPARISONS, |format| !format.applies_to(kind))
    );
    ensure!(
        kind == Kind::Load || args.layout.is_none(),
        "it is not a result of `iotoll load`, and --layout applies only to those"
    );
    Ok(())
}

fn saved_rendered(saved: Saved, args: &ShowArgs, asked: &Asked) -> anyhow::Result<Rendered> {
    fits(saved.kind(), args)?;
    match saved {
        Saved::Comparison(run) => {
            let run = args.threshold.into_iter().fold(*run, Run::with_threshold);
            let run = args.error_rate.into_iter().fold(run, Run::with_error_rate);
            let run = args.per_second.into_iter().fold(run, Run::with_per_second);
            comparison_rendered(&run, &analyse(&run), args, asked)
        }
        Saved::Load(run) => {
            let (analysis, layout) = (analyse_load(&run), args.layout.unwrap_or_default());
            let content = Content::Load { run: &run, analysis: &analysis };
            render(asked, content, |_| report::load::render(layout, &run, &analysis))
        }
        Saved::Selftest(result) => render(asked, Content::Selftest(&result), |width| {
            report::selftest::report(&result, width)
        }),
    }
}

fn comparison_rendered(
    run: &Run,
    analysis: &Analysis,
    args: &ShowArgs,
    asked: &Asked,
) -> anyhow::Result<Rendered> {
    let typed = args.typed();
    render(asked, Content::Comparison { run, analysis }, |width| {
        if args.how {
            return report::how(run, analysis, width);
        }
        report::terminal::report(run, analysis, args.rest(&typed), width)
    })
}
