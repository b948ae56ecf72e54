//! Names that completions offer. Others are taken as well: the command that reads them says
//! which name is nearest.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use studies::articles;

/// Reads a text, and offers some.
#[derive(Clone)]
pub(crate) struct Offered(fn() -> Vec<String>);

impl Offered {
    /// The studies.
    pub(crate) fn studies() -> Self {
        Self(|| studies::specs().into_iter().map(|spec| spec.name.clone()).collect())
    }

    /// The strategies of all studies, each once.
    pub(crate) fn strategies() -> Self {
        Self(|| {
            let all = studies::specs().into_iter().flat_map(|spec| &spec.strategies);
            let mut names: Vec<String> = all.map(|strategy| strategy.name.clone()).collect();
            names.sort();
            names.dedup();
            names
        })
    }

    /// `STUDY=STRATEGY`.
    pub(crate) fn ways() -> Self {
        Self(|| {
            let all = studies::specs().into_iter();
            let ways = all.flat_map(|spec| {
                spec.strategies.iter().map(|way| format!("{}={}", spec.name, way.name))
            });
            ways.collect()
        })
    }

    /// `STUDY.KEY=`, to be completed by a value.
    pub(crate) fn keys() -> Self {
        Self(|| {
            let all = studies::specs().into_iter();
            let keys = all.flat_map(|spec| {
                spec.params.iter().map(|param| format!("{}.{}=", spec.name, param.name))
            });
            keys.collect()
        })
    }

    /// The articles, and all of them.
    pub(crate) fn articles() -> Self {
        Self(|| {
            let names = articles::ALL.iter().map(|article| article.name);
            names.chain(["all"]).map(str::to_owned).collect()
        })
    }

    /// These names.
    pub(crate) fn of(names: fn() -> Vec<String>) -> Self {
        Self(names)
    }
}

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
