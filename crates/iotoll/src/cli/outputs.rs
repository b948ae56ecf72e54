//! What a result is to be written as: a flag for each format that applies to it.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint, value_parser};
use report::formats::{Choice, FORMATS, Format, Kind, Variant};

use crate::cli::heading;

/// What each of them has in common.
const STDOUT: &str = "With - as FILE, print it in place of the report.";
/// For a command that has results of any kind.
const ANY: u8 = u8::MAX;
/// For a command that compares two results: runs, or recordings.
const DIFF: u8 = u8::MAX - 1;

/// The files that are asked for, each with its format.
pub(crate) type Files = [(Variant, PathBuf)];

pub(crate) type FormatsOfComparison = FormatArgs<{ Kind::Comparison as u8 }>;
pub(crate) type FormatsOfLoad = FormatArgs<{ Kind::Load as u8 }>;
pub(crate) type FormatsOfSelftest = FormatArgs<{ Kind::Selftest as u8 }>;
pub(crate) type FormatsOfDiff = FormatArgs<DIFF>;
pub(crate) type FormatsOfAny = FormatArgs<ANY>;

/// The flags of the formats that apply to a kind of result.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormatArgs<const KIND: u8>(Vec<(Variant, PathBuf)>);

impl<const KIND: u8> FormatArgs<KIND> {
    pub(crate) fn files(&self) -> &Files {
        &self.0
    }
}

impl<const KIND: u8> Args for FormatArgs<KIND> {
    fn augment_args(command: Command) -> Command {
        formats(KIND).fold(command, |command, format| {
            let flag = Arg::new(format.flag).long(format.flag).value_name("FILE");
            let flag = flag.value_parser(value_parser!(PathBuf)).help_heading(heading::OUTPUT);
            let flag = flag.value_hint(ValueHint::FilePath).help(format.help);
            let flag = flag.long_help(format!("{}\n\n{STDOUT}", format.help));
            let choice = format.choice.as_ref().filter(|_| has_variants(format, KIND));
            command.arg(flag).args(choice.map(|choice| chosen(format, choice)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The flag that chooses among a format's variants.
fn chosen(format: &Format, choice: &Choice) -> Arg {
    let Choice { flag, value_name, help, details, values } = choice;
    let values = values.iter().map(|value| PossibleValue::new(value.name).aliases(value.aliases));
    let flag = Arg::new(*flag).long(*flag).value_name(*value_name).help_heading(heading::OUTPUT);
    flag.help(*help)
        .long_help(format!("{help}\n\n{details}"))
        .value_parser(PossibleValuesParser::new(values))
        .default_value(choice.values[0].name)
        .hide_default_value(true)
        .hide_possible_values(true)
        .requires(format.flag)
}

/// The kinds of results that a command has.
fn kinds(kind: u8) -> Vec<Kind> {
    match kind {
        ANY => Kind::ALL.to_vec(),
        DIFF => vec![Kind::Diff, Kind::BillDiff],
        one => Kind::ALL.into_iter().filter(|known| *known as u8 == one).collect(),
    }
}

fn formats(kind: u8) -> impl Iterator<Item = &'static Format> {
    let kinds = kinds(kind);
    FORMATS.iter().filter(move |format| kinds.iter().any(|kind| format.applies_to(*kind)))
}

fn has_variants(format: &Format, kind: u8) -> bool {
    kinds(kind).iter().any(|kind| format.variants_of(*kind) > 1)
}

impl<const KIND: u8> FromArgMatches for FormatArgs<KIND> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let file = |format: &'static Format| {
            let path = matches.get_one::<PathBuf>(format.flag)?;
            let choice = format.choice.as_ref();
            // A command that has no such choice has no such flag.
            let name =
                choice.and_then(|choice| matches.try_get_one::<String>(choice.flag).ok().flatten());
            Some((format.variant(name.map_or("", String::as_str)), path.clone()))
        };
        Ok(Self(formats(KIND).filter_map(file).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flags of formats for which this holds, as in `--json, --csv and --html`; `also` are others
/// that stand before them.
pub(crate) fn flags(also: &[&str], is_meant: impl Fn(&Format) -> bool) -> String {
    let formats = FORMATS.iter().filter(|format| is_meant(format));
    let mut flags: Vec<String> = also.iter().map(ToString::to_string).collect();
    flags.extend(formats.map(|format| format!("--{}", format.flag)));
    match flags.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => flags.concat(),
    }
}
