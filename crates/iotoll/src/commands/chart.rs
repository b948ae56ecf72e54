//! `iotoll chart`: a figure of a saved run, for an article.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, anyhow, ensure};
use clap::{Args, ValueEnum};
use report::html::figure::{Drawn, Figure, Kind, figure};
use report::html::picture::Colours;

use crate::exit::{Exit, UsageError};
use crate::results::{Analysed, Destination, Rendered, cannot, confined, open};

/// What is done with a result, for a sentence about what keeps it from that.
const CHART: &str = "chart";
/// The program that makes other formats of an SVG file.
const CONVERTER: &str = "rsvg-convert";

const CHART_EXAMPLES: &str = "\
Examples:
  iotoll chart                               the best changes, as iotoll-forest.svg
  iotoll chart --study sqlite --kind parts   where the time of SQLite goes
  iotoll chart run.json --study log --kind lines --x record -o fig.pdf";

/// Draw a figure of a saved run as SVG, PNG or PDF
#[derive(Args)]
#[command(after_help = CHART_EXAMPLES)]
pub(crate) struct ChartArgs {
    /// Draw this run [default: last]
    ///
    /// Give a file written by --json or --html, or a saved run: the beginning of its name,
    /// `last`, or `last~1` for the one before.
    #[arg(value_name = "FILE|RUN")]
    run: Option<PathBuf>,

    /// Draw this kind of figure
    ///
    /// forest: each comparison with its interval. lines: times along a parameter. grid: each
    /// combination on each place. parts: where the time goes. distribution: how long single
    /// operations take.
    #[arg(long, value_enum, default_value_t = KindArg::Forest)]
    #[arg(hide_possible_values = true)]
    kind: KindArg,

    /// Draw this study [default: the only one]
    #[arg(long, value_name = "STUDY")]
    study: Option<String>,

    /// Draw lines along this parameter
    #[arg(long, value_name = "PARAMETER")]
    x: Option<String>,

    /// Draw a panel for each value of this parameter
    #[arg(long, value_name = "PARAMETER")]
    facet: Option<String>,

    /// Draw light on dark
    #[arg(long)]
    dark: bool,

    /// Write it here [default: STUDY-KIND.svg]
    ///
    /// The name ends in .svg, .png or .pdf; the latter two need rsvg-convert (Debian: apt install
    /// librsvg2-bin). With - as FILE, print the SVG.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum KindArg {
    Forest,
    Lines,
    Grid,
    Parts,
    Distribution,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Forest => Self::Forest,
            KindArg::Lines => Self::Lines,
            KindArg::Grid => Self::Grid,
            KindArg::Parts => Self::Parts,
            KindArg::Distribution => Self::Distribution,
        }
    }
}

pub(crate) fn run(args: &ChartArgs) -> anyhow::Result<Exit> {
    let kind = Kind::from(args.kind);
    if kind != Kind::Lines && (args.x.is_some() || args.facet.is_some()) {
        return Err(UsageError("--x and --facet are for --kind lines".to_owned()).into());
    }
    let format = args.output.as_deref().map(format_of).transpose()?;
    let destination = args.output.as_deref().map(Destination::open).transpose()?;
    let named = args.run.as_deref();
    let rendered = confined::rendered([open(named, CHART)?], |[source]| {
        let saved = source.read().map_err(|why| cannot(named, CHART, &why))?;
        let analysed = Analysed::of(saved).map_err(|why| cannot(named, CHART, &why))?;
        let (run, analysis) = analysed.comparison().ok_or_else(|| {
            UsageError("only comparisons have figures; `iotoll report` draws a load".to_owned())
        })?;
        let asked = Figure {
            kind,
            study: args.study.as_deref(),
            x: args.x.as_deref(),
            facet: args.facet.as_deref(),
            colours: if args.dark { Colours::Dark } else { Colours::Light },
        };
        let Drawn { name, svg } =
            figure(run, analysis, &asked).map_err(|why| UsageError(why.to_string()))?;
        Ok(Rendered { id: name, files: vec![svg.into_bytes()], ..Rendered::default() })
    })?;
    let usual = || Destination::open(&usual_file(&rendered.id));
    let destination = destination.map_or_else(usual, Ok)?;
    let svg = rendered.into_file()?;
    let bytes = match format.flatten() {
        Some(format) => converted(&svg, format)?,
        None => svg,
    };
    destination.write_and_tell(&bytes, |file| format!("the figure is in {file}"))?;
    Ok(Exit::Done)
}

/// The file for a figure of that name. The name may be by a stranger, and is letters, digits and
/// dashes.
fn usual_file(name: &str) -> PathBuf {
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let name: String = name.chars().filter(is_safe).collect();
    PathBuf::from(format!("{name}.svg"))
}

/// The format to convert the SVG to, by the end of the file's name; `None` keeps the SVG.
fn format_of(file: &Path) -> Result<Option<&'static str>, UsageError> {
    match file.extension().and_then(OsStr::to_str) {
        Some("png") => Ok(Some("png")),
        Some("pdf") => Ok(Some("pdf")),
        Some("svg") => Ok(None),
        None if file == Path::new("-") => Ok(None),
        _ => Err(UsageError(format!(
            "{}: the name of a figure ends in .svg, .png or .pdf",
            file.display()
        ))),
    }
}

/// The same figure in another format.
fn converted(svg: &[u8], format: &str) -> anyhow::Result<Vec<u8>> {
    let mut command = Command::new(CONVERTER);
    // Twice as many dots, for paper and good screens; a PDF has none.
    let zoom = if format == "png" { "2" } else { "1" };
    command.args(["--format", format, "--zoom", zoom]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "no {format} file without {CONVERTER}, which is not installed (Debian: apt install \
             librsvg2-bin); a name that ends in .svg needs no program"
        ),
        _ => anyhow!(error).context(CONVERTER),
    })?;
    // It reads all of its input before it writes.
    let input = child.stdin.take().ok_or_else(|| anyhow!("{CONVERTER} has no input"))?;
    let mut input = input;
    let sent = input.write_all(svg);
    drop(input);
    let output = child.wait_with_output().context(CONVERTER)?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{CONVERTER} failed: {}", told.trim());
    sent.context(CONVERTER)?;
    Ok(output.stdout)
}
