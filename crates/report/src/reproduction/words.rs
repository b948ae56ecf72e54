//! The words and figures of a reproduction, for every form of it.

use model::article::ScaledServer;
use model::figure::Unit;
use model::grouped::each_once;
use model::printable::{printable, shortened};
use model::reproduction::{
    ConclusionHere, Decision, FigureHere, Measured, PreconditionHere, Reproduction, TestHere,
};
use units::{percent, three_digits};

/// What a column is called is no longer than this.
const NAME_CHARS_MAX: usize = 25;
/// More of what decided than this is not told.
const TESTS_MAX: usize = 3;

/// The figures, those of each chart or table together.
pub(crate) fn groups(reproduction: &Reproduction) -> impl Iterator<Item = &[FigureHere]> {
    reproduction.figures.chunk_by(|a, b| a.group == b.group)
}

/// `Repeated in a tenth of the time: 40 arms, 25 blocks, took 60 s.`
pub(crate) fn how_measured(reproduction: &Reproduction, extent: &str) -> String {
    let how = if reproduction.is_quick { " in a tenth of the time" } else { "" };
    format!("Repeated{how}: {extent}.")
}

/// A sentence for each program that is missing.
fn missing(reproduction: &Reproduction) -> impl Iterator<Item = String> + '_ {
    reproduction.missing.iter().map(|missing| {
        format!("Not measured: what needs {} (`{}`).", missing.what, missing.install)
    })
}

/// All sentences about how the article was repeated here.
pub(crate) fn manner(reproduction: &Reproduction) -> impl Iterator<Item = String> + '_ {
    let scaled = reproduction.scaled.iter().map(scaled);
    missing(reproduction).chain(scaled).chain(other_runs(reproduction))
}

fn scaled(ScaledServer { arms, held_then, held_here, times }: &ScaledServer) -> String {
    let [then, here, times] = [held_then, held_here, times].map(|figure| three_digits(*figure));
    format!(
        "Rates of {arms} are {times} times the article's: its server held some {then} requests a \
         second, and this one holds {here}."
    )
}

/// How decisions allow for other runs; nothing where saved runs show how much they vary.
fn other_runs(reproduction: &Reproduction) -> Option<String> {
    let varies = percent(reproduction.assumed_variation?);
    Some(format!(
        "Decisions allow for other runs, whose ratios of times are assumed to differ by {varies}: no \
         saved run of the same plan shows it."
    ))
}

/// What a reader of a group has to know, each sentence once.
pub(crate) fn notes(group: &[FigureHere]) -> Vec<&str> {
    each_once(group.iter().filter_map(|figure| figure.note.as_deref()))
}

/// A column of a group's table: what was published, or what was measured.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) is_published: bool,
    /// Row by row.
    pub(crate) cells: Vec<Cells>,
}

/// A figure and its ratio to the one that it is held against, as text.
pub(crate) struct Cells {
    pub(crate) value: String,
    pub(crate) ratio: String,
}

/// All that there is of a group.
pub(crate) fn columns(reproduction: &Reproduction, group: &[FigureHere]) -> Vec<Column> {
    let original = format!("{} here", reproduction.original);
    let all = [
        published(group),
        column(&original, group, |figure| figure.original.clone()),
        column("native here", group, |figure| figure.native.clone()),
    ];
    all.into_iter().flatten().collect()
}

/// The columns of several runs, of those that have all of a group, each called after its run where that
/// has a name; what was published is the same in all.
pub(crate) fn columns_beside<'a>(
    runs: impl IntoIterator<Item = (String, &'a Reproduction)>,
    group: &[FigureHere],
) -> Vec<Column> {
    let of_run = |(position, (run, reproduction)): (usize, (String, &Reproduction))| {
        let own = group.iter().map(|figure| same(reproduction, figure).cloned());
        let columns = own.collect::<Option<Vec<_>>>().map(|own| columns(reproduction, &own));
        let wanted = columns.into_iter().flatten();
        let wanted = wanted.filter(move |column| position == 0 || !column.is_published);
        wanted.map(move |column| match (column.is_published, run.as_str()) {
            (true, _) | (_, "") => column,
            _ => Column { name: format!("{run}: {}", column.short_name()), ..column },
        })
    };
    runs.into_iter().enumerate().flat_map(of_run).collect()
}

/// What was published of a group; nothing where that is nothing.
pub(crate) fn published(group: &[FigureHere]) -> Option<Column> {
    let of = |figure: &FigureHere| {
        let (value, ratio) = (figure.published, figure.published_ratio);
        value.or(ratio)?;
        Some(Measured { value, ratio, ..Measured::default() })
    };
    let column = column("published", group, of)?;
    Some(Column { is_published: true, ..column })
}

/// What a run has of a group: measured as the article did or, where that is missing,
/// natively.
pub(crate) fn either(
    name: &str,
    reproduction: &Reproduction,
    group: &[FigureHere],
) -> Option<Column> {
    column(name, group, |figure| {
        let own = same(reproduction, figure)?;
        own.original.clone().or_else(|| own.native.clone())
    })
}

/// The figure of the same name that another run has.
pub(crate) fn same<'a>(
    reproduction: &'a Reproduction,
    figure: &FigureHere,
) -> Option<&'a FigureHere> {
    let is_it = |own: &&FigureHere| own.group == figure.group && own.what == figure.what;
    reproduction.figures.iter().find(is_it)
}

fn column(
    name: &str,
    group: &[FigureHere],
    of: impl Fn(&FigureHere) -> Option<Measured>,
) -> Option<Column> {
    let name = shortened(&printable(name), NAME_CHARS_MAX).into_owned();
    let found: Vec<Option<Measured>> = group.iter().map(of).collect();
    found.iter().flatten().next()?;
    let cells = group.iter().zip(found).map(|(figure, found)| Cells::of(figure.unit, found));
    Some(Column { name, is_published: false, cells: cells.collect() })
}

impl Column {
    /// What it is called beside those of other runs.
    pub(crate) fn short_name(&self) -> &str {
        self.name.trim_end_matches(" here")
    }

    /// How wide it is.
    pub(crate) fn width(&self) -> usize {
        let [value, ratio] = self.widths();
        (value + gap(ratio) + ratio).max(self.name.chars().count())
    }

    /// Its head, to stand above its cells.
    pub(crate) fn head(&self) -> String {
        let width = self.width();
        format!("{:>width$}", self.name)
    }

    /// A row's cell, to stand below its head.
    pub(crate) fn cell(&self, row: usize) -> String {
        let Some(cells) = self.cells.get(row) else { return String::new() };
        let ([value, ratio], width) = (self.widths(), self.width());
        let gap = " ".repeat(gap(ratio));
        let text = format!("{:>value$}{gap}{:>ratio$}", cells.value, cells.ratio);
        format!("{text:>width$}")
    }

    /// The widths of the figures and of the ratios.
    fn widths(&self) -> [usize; 2] {
        let widest = |text: fn(&Cells) -> &String| {
            self.cells.iter().map(|cells| text(cells).chars().count()).max().unwrap_or_default()
        };
        [widest(|cells| &cells.value), widest(|cells| &cells.ratio)]
    }
}

/// What stands between figures and ratios of that width.
fn gap(ratio: usize) -> usize {
    usize::from(ratio > 0)
}

impl Cells {
    fn of(unit: Unit, found: Option<Measured>) -> Self {
        let Measured { value, ratio, .. } = found.unwrap_or_default();
        // A figure that is a ratio itself has no other.
        let ratio = ratio.filter(|_| unit != Unit::Ratio);
        Self {
            value: value.map_or_else(|| "–".to_owned(), |value| figure_text(unit, value)),
            ratio: ratio.map_or_else(String::new, times),
        }
    }
}

/// A figure in its unit; a ratio as so many times.
pub(crate) fn figure_text(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ratio => times(value),
        Unit::MegabytesPerSecond => format!("{} MB/s", three_digits(value)),
        unit => unit.show(value),
    }
}

/// `×2.13`.
pub(crate) fn times(ratio: f64) -> String {
    format!("×{}", three_digits(ratio))
}

/// What decided a conclusion, and what the time went into, in sentences.
pub(crate) fn reasons(conclusion: &ConclusionHere) -> Vec<String> {
    let unmet = conclusion.preconditions.iter().filter(|of| of.decision != Decision::Holds);
    let mut out: Vec<String> = unmet.map(precondition).collect();
    // What is not so decides; where all is, each does.
    let decides = |test: &&TestHere| {
        conclusion.decision == Decision::NotComparable || test.decision == conclusion.decision
    };
    let deciding: Vec<&TestHere> = conclusion.tests.iter().filter(decides).collect();
    out.extend(deciding.iter().take(TESTS_MAX).map(|test| tested(test)));
    let untold = deciding.len().saturating_sub(TESTS_MAX);
    if untold > 0 {
        let are = if untold == 1 { "is" } else { "are" };
        out.push(match conclusion.decision {
            Decision::NotComparable => format!("There {are} {untold} more."),
            _ => format!("So {are} {untold} more."),
        });
    }
    if conclusion.tests.is_empty() {
        out.push("Nothing was measured that would tell.".to_owned());
    }
    if let Some(native) = conclusion.native.filter(|native| *native != conclusion.decision) {
        out.push(format!("Natively it {}.", native_words(native)));
    }
    out.extend(conclusion.cause.as_ref().map(|cause| format!("Cause: {cause}")));
    out
}

/// `Precondition not met: the server is saturated as theirs was. …`
fn precondition(PreconditionHere { says, decision, test }: &PreconditionHere) -> String {
    let is = if *decision == Decision::Unclear { "unclear" } else { "not met" };
    let shown = test.as_ref().map_or_else(String::new, |test| format!(" {}", tested(test)));
    format!("Precondition {is}: {says}.{shown}")
}

fn native_words(decision: Decision) -> &'static str {
    match decision {
        Decision::Holds => "holds here",
        Decision::DoesNotHold => "does not hold here",
        Decision::Unclear => "is unclear here",
        Decision::NotComparable => "cannot be compared here",
    }
}

/// `log/held@ram against log/held@disk: ×0.84 (×0.80 to ×0.89); needed: at most ×0.75.`
fn tested(test: &TestHere) -> String {
    let arms = test.arms.iter().rev().map(String::as_str).collect::<Vec<_>>();
    let arms = match arms.as_slice() {
        [base, arm] if test.unit == Unit::Ratio => format!("{arm} against {base}"),
        [base, arm] => format!("{arm} less {base}"),
        arms => arms.join(", "),
    };
    let arms = test.of.iter().fold(arms, |arms, of| format!("{of}, {arms}"));
    let show = |value: f64| {
        // A figure that is a number without a unit is not so many times something.
        match (test.unit, test.arms.len()) {
            (Unit::Ratio, 1) => three_digits(value),
            (unit, _) => figure_text(unit, value),
        }
    };
    let value = test.value.map_or_else(|| "nothing is known".to_owned(), show);
    let interval = match (test.low, test.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", show(low), show(high)),
        _ => String::new(),
    };
    let note = test.note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
    let bounds = match (test.at_least, test.at_most) {
        (Some(least), Some(most)) => format!("between {} and {}", show(least), show(most)),
        (Some(least), None) => format!("at least {}", show(least)),
        (None, Some(most)) => format!("at most {}", show(most)),
        (None, None) => return format!("{arms}{note}."),
    };
    format!("{arms}: {value}{interval}{note}; needed: {bounds}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(arms: usize, unit: Unit) -> TestHere {
        TestHere {
            of: None,
            arms: ["log/held@ram", "log/held@disk"][..arms]
                .iter()
                .map(ToString::to_string)
                .collect(),
            unit,
            value: Some(0.84),
            low: Some(0.8),
            high: Some(0.889),
            at_least: None,
            at_most: Some(0.75),
            decision: Decision::DoesNotHold,
            note: None,
        }
    }

    #[test]
    fn what_decided_is_told_with_its_interval_and_its_bound() {
        assert_eq!(
            tested(&test(2, Unit::Ratio)),
            "log/held@ram against log/held@disk: ×0.84 (×0.80 to ×0.89); needed: at most ×0.75."
        );
        let of = Some("fairness".to_owned());
        let alone = TestHere { of, at_least: Some(0.9), at_most: None, ..test(1, Unit::Ratio) };
        assert_eq!(
            tested(&alone),
            "fairness, log/held@ram: 0.84 (0.80 to 0.89); needed: at least 0.90."
        );
        let counted = TestHere {
            at_most: None,
            note: Some("none of 9 records broken".to_owned()),
            ..test(1, Unit::Count)
        };
        assert_eq!(tested(&counted), "log/held@ram; none of 9 records broken.");
    }

    #[test]
    fn of_many_reasons_some_are_told_and_the_rest_counted() {
        let conclusion = ConclusionHere {
            says: String::new(),
            decision: Decision::DoesNotHold,
            native: Some(Decision::Holds),
            tests: vec![test(2, Unit::Ratio); 5],
            preconditions: Vec::new(),
            cause: Some("the page cache".to_owned()),
        };
        let told = reasons(&conclusion);
        assert_eq!(told.len(), TESTS_MAX + 3);
        assert_eq!(told[TESTS_MAX], "So are 2 more.");
        assert_eq!(told[TESTS_MAX + 1], "Natively it holds here.");
        assert_eq!(told[TESTS_MAX + 2], "Cause: the page cache");
    }

    #[test]
    fn the_precondition_that_failed_is_told_first_with_its_figure() {
        let of =
            |decision, test| PreconditionHere { says: "theirs waited".to_owned(), decision, test };
        let conclusion = |decision, preconditions| ConclusionHere {
            says: String::new(),
            decision,
            native: None,
            tests: vec![TestHere { decision: Decision::Holds, ..test(2, Unit::Ratio) }],
            preconditions,
            cause: None,
        };
        let met = of(Decision::Holds, None);
        let failed = of(Decision::DoesNotHold, Some(test(1, Unit::Percent)));
        let told = reasons(&conclusion(Decision::NotComparable, vec![met.clone(), failed]));
        let figure = "log/held@ram: 0.8% (0.8% to 0.9%); needed: at most 0.8%.";
        assert_eq!(told[0], format!("Precondition not met: theirs waited. {figure}"));
        assert!(told[1].starts_with("log/held@ram against"), "what was measured follows: {told:?}");
        let program = of(Decision::DoesNotHold, None);
        let told = reasons(&conclusion(Decision::NotComparable, vec![program]));
        assert_eq!(told[0], "Precondition not met: theirs waited.");
        let unsure = of(Decision::Unclear, None);
        let told = reasons(&conclusion(Decision::Unclear, vec![unsure]));
        assert_eq!(told, ["Precondition unclear: theirs waited."]);
        assert_eq!(reasons(&conclusion(Decision::Holds, vec![met])).len(), 1);
    }
}
