//! The formats of files that results are written in.
//!
//! Each format is described once, in [`FORMATS`]. Flags, their help, what is said where a format
//! does not apply, and the tests of all formats follow from that.

pub mod csv;
pub mod markdown;
pub mod openmetrics;
mod parameters;

use model::analysis::Analysis;
use model::check_document::CheckDocument;
use model::diff::Diff;
use model::document::{self, Document};
use model::load::{LoadAnalysis, LoadRun};
use model::run::Run;
use model::selftest::SelftestResult;
use serde::Serialize;
use trace::Bill;

use self::csv::Rows;
use crate::html::{self, Sheet};
use crate::recording::{self, BillDiff};
use crate::tables;

/// All of them, in the order of the help.
pub static FORMATS: [Format; 5] = [
    Format {
        flag: "json",
        help: "Write the result as JSON",
        choice: None,
        needs_slices: true,
        writers: &[Writers {
            comparison: Some(|run, analysis| json(&Document::new(run, analysis))),
            load: Some(|run, analysis| json(&run.with_analysis(analysis))),
            selftest: Some(json),
            diff: Some(json),
            bill: Some(json),
            bill_diff: Some(json),
        }],
    },
    Format {
        flag: "csv",
        help: "Write the figures as CSV",
        choice: Some(Choice {
            flag: "csv-rows",
            value_name: "ROWS",
            help: "Choose rows: arms, rounds, buckets or comparisons",
            details: "A row is a combination of a study, a strategy, its parameters and a place \
                      (arms), a combination in one round (rounds), a bucket of its latency \
                      histogram (buckets), or two that were compared (comparisons). [default: \
                      arms]",
            values: &[
                Value { name: "arms", aliases: &[] },
                Value { name: "rounds", aliases: &["blocks"] },
                Value { name: "buckets", aliases: &[] },
                Value { name: "comparisons", aliases: &[] },
            ],
        }),
        needs_slices: true,
        writers: &[
            Writers {
                bill: Some(|bill| Ok(tables::csv(recording::rows(bill)))),
                bill_diff: Some(|diff| Ok(tables::csv(diff.rows()))),
                ..Writers::of_comparisons(|run, analysis| Ok(csv::table(run, analysis, Rows::Arms)))
            },
            Writers::of_comparisons(|run, analysis| Ok(csv::table(run, analysis, Rows::Blocks))),
            Writers::of_comparisons(|run, analysis| Ok(csv::table(run, analysis, Rows::Buckets))),
            Writers::of_comparisons(|run, analysis| {
                Ok(csv::table(run, analysis, Rows::Comparisons))
            }),
        ],
    },
    Format {
        flag: "openmetrics",
        help: "Write the figures for Prometheus",
        choice: None,
        needs_slices: true,
        writers: &[Writers::of_comparisons(|run, analysis| {
            Ok(openmetrics::text(run, analysis).into_bytes())
        })],
    },
    Format {
        flag: "html",
        help: "Write the report as HTML with charts",
        choice: None,
        needs_slices: true,
        writers: &[Writers {
            bill: Some(|bill| Ok(html::page_of_tables(&recording::tables(bill)).into_bytes())),
            bill_diff: Some(|diff| Ok(html::page_of_tables(&diff.tables()).into_bytes())),
            ..Writers::of_comparisons(|run, analysis| {
                Ok(html::page(&[Sheet::Comparison { run, analysis }]).into_bytes())
            })
        }],
    },
    Format {
        flag: "markdown",
        help: "Write the report as Markdown",
        choice: None,
        needs_slices: false,
        writers: &[Writers {
            bill: Some(|bill| Ok(recording::tables(bill).markdown().into_bytes())),
            bill_diff: Some(|diff| Ok(diff.tables().markdown().into_bytes())),
            ..Writers::of_comparisons(
                |run, analysis| Ok(markdown::text(run, analysis).into_bytes()),
            )
        }],
    },
];

/// The complete record, which every result can be written as.
pub static JSON: Variant = Variant { format: &FORMATS[0], choice: 0 };

/// A format of files.
#[derive(Debug)]
pub struct Format {
    /// What asks for it, without dashes.
    pub flag: &'static str,
    /// What the flag does.
    pub help: &'static str,
    /// Another flag, for a format that has several variants.
    pub choice: Option<Choice>,
    /// Whether a comparison without its slices, of which there is the analysis, is too little.
    pub needs_slices: bool,
    /// One for each value of the choice.
    writers: &'static [Writers],
}

/// A flag that chooses among the variants of a format, the first unless another is given.
#[derive(Debug)]
pub struct Choice {
    /// Without dashes.
    pub flag: &'static str,
    /// What stands for its value in the help.
    pub value_name: &'static str,
    /// What it chooses.
    pub help: &'static str,
    /// What each value means.
    pub details: &'static str,
    /// The variants.
    pub values: &'static [Value],
}

/// The name of a variant.
#[derive(Debug)]
pub struct Value {
    /// Its name.
    pub name: &'static str,
    /// Its former names, which go on working.
    pub aliases: &'static [&'static str],
}

/// A format, in one of its variants.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The format.
    pub format: &'static Format,
    /// Which value of its choice.
    choice: usize,
}

/// What is known of a result: its record, and what follows from that.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Content<'a> {
    Comparison {
        run: &'a Run,
        analysis: &'a Analysis,
    },
    /// A run that checks storage, whose JSON is the check alone.
    Check {
        run: &'a Run,
        analysis: &'a Analysis,
    },
    Load {
        run: &'a LoadRun,
        analysis: &'a LoadAnalysis,
    },
    Selftest(&'a SelftestResult),
    Diff(&'a Diff),
    Bill(&'a Bill),
    BillDiff(&'a BillDiff),
}

/// The kinds of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Comparison,
    Load,
    Selftest,
    Diff,
    Bill,
    BillDiff,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Comparison, Self::Load, Self::Selftest, Self::Diff, Self::Bill, Self::BillDiff];
}

/// A file's bytes.
pub type Written = serde_json::Result<Vec<u8>>;

/// What writes each kind of result; nothing for those that a format does not apply to.
#[derive(Debug)]
struct Writers {
    comparison: Option<fn(&Run, &Analysis) -> Written>,
    load: Option<fn(&LoadRun, &LoadAnalysis) -> Written>,
    selftest: Option<fn(&SelftestResult) -> Written>,
    diff: Option<fn(&Diff) -> Written>,
    bill: Option<fn(&Bill) -> Written>,
    bill_diff: Option<fn(&BillDiff) -> Written>,
}

impl Writers {
    const fn of_comparisons(write: fn(&Run, &Analysis) -> Written) -> Self {
        let (load, selftest, diff, bill, bill_diff) = (None, None, None, None, None);
        Self { comparison: Some(write), load, selftest, diff, bill, bill_diff }
    }
}

impl Format {
    /// All of its variants.
    pub fn variants(&'static self) -> impl Iterator<Item = Variant> {
        (0..self.writers.len()).map(move |choice| Variant { format: self, choice })
    }

    /// The variant of that name; the first one where there is no such name.
    pub fn variant(&'static self, name: &str) -> Variant {
        let values = self.choice.as_ref().map_or(&[][..], |choice| choice.values);
        let is_meant = |value: &Value| value.name == name || value.aliases.contains(&name);
        let choice = values.iter().position(is_meant).unwrap_or_default();
        Variant { format: self, choice }
    }

    /// Whether results of that kind can be written in it.
    pub fn applies_to(&self, kind: Kind) -> bool {
        self.variants_of(kind) > 0
    }

    /// In how many of its variants results of that kind can be written.
    pub fn variants_of(&self, kind: Kind) -> usize {
        let applies = |writers: &&Writers| match kind {
            Kind::Comparison => writers.comparison.is_some(),
            Kind::Load => writers.load.is_some(),
            Kind::Selftest => writers.selftest.is_some(),
            Kind::Diff => writers.diff.is_some(),
            Kind::Bill => writers.bill.is_some(),
            Kind::BillDiff => writers.bill_diff.is_some(),
        };
        self.writers.iter().filter(applies).count()
    }
}

impl Variant {
    /// The file of a result; nothing where the format does not apply to it.
    pub fn write(self, content: Content<'_>) -> Option<Written> {
        let writers = self.format.writers.get(self.choice)?;
        Some(match content {
            Content::Comparison { run, analysis } => writers.comparison?(run, analysis),
            Content::Check { run, analysis } => {
                let found = run.checks.as_ref().zip(analysis.check.as_ref());
                match found.filter(|_| std::ptr::eq(self.format, JSON.format)) {
                    Some((request, check)) => json(&CheckDocument::new(run, request, check)),
                    None => writers.comparison?(run, analysis),
                }
            }
            Content::Load { run, analysis } => writers.load?(run, analysis),
            Content::Selftest(result) => writers.selftest?(result),
            Content::Diff(diff) => writers.diff?(diff),
            Content::Bill(bill) => writers.bill?(bill),
            Content::BillDiff(diff) => writers.bill_diff?(diff),
        })
    }
}

/// A document as JSON, which ends with a line's end.
pub fn json<T: Serialize>(document: &T) -> Written {
    let mut json = Vec::new();
    document::write(document, &mut json)?;
    json.push(b'\n');
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_complete_and_no_two_have_one_flag() {
        assert_eq!(JSON.format.flag, "json");
        let choices = FORMATS.iter().filter_map(|format| format.choice.as_ref());
        let mut flags: Vec<&str> = choices.map(|choice| choice.flag).collect();
        for format in &FORMATS {
            flags.push(format.flag);
            let values = format.choice.as_ref().map_or(1, |choice| choice.values.len());
            assert_eq!(format.variants().count(), values, "{}", format.flag);
            assert!(format.applies_to(Kind::Comparison), "{}", format.flag);
            assert!(!format.help.is_empty(), "{}", format.flag);
        }
        let all = flags.len();
        flags.sort_unstable();
        flags.dedup();
        assert_eq!(flags.len(), all);
    }
}
