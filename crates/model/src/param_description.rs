//! A parameter, as help texts, plans and a run's record have it.

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::param::{ParamForm, ParamKind, ParamValue};

/// One parameter of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParamDescription {
    /// Its name in plans and flags.
    pub name: String,
    /// What it means, in a line.
    pub about: String,
    /// What may be given, in words.
    pub accepts: String,
    /// What kind of value it has.
    pub kind: ParamForm,
    /// The values when none is given, as one would write them.
    #[serde(deserialize_with = "bounded::list")]
    pub default: Vec<String>,
    /// What it may be. A run's record has it in words alone.
    #[serde(skip)]
    pub limits: Option<ParamKind>,
}

impl ParamDescription {
    /// A parameter with all that there is to it. Several defaults have commas between them,
    /// where the study's question takes them all.
    pub fn new(name: &str, about: &str, kind: ParamKind, default: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
            accepts: kind.accepts(),
            kind: kind.form(),
            default: kind.form().parts(default).into_iter().map(str::to_owned).collect(),
            limits: Some(kind),
        }
    }

    /// Reads a value; the error says what would be one.
    pub fn parse(&self, text: &str) -> Result<ParamValue, String> {
        let limits = self.limits.ok_or_else(|| {
            format!("{} is a parameter of a saved run, which does not have its limits", self.name)
        })?;
        limits.parse(text)
    }

    /// The values of what was given on the command line, which may have commas between them.
    pub fn parts<'a>(&self, given: &'a str) -> Vec<&'a str> {
        self.kind.parts(given)
    }

    /// The defaults, read: one, or several that make a factor.
    pub fn default_values(&self) -> Vec<ParamValue> {
        let read = |text: &String| {
            self.parse(text).unwrap_or_else(|e| {
                unreachable!("the default of {} cannot be parsed: {e}", self.name)
            })
        };
        self.default.iter().map(read).collect()
    }

    /// Whether a value is what the parameter has when none is given.
    pub fn is_default(&self, value: &str) -> bool {
        self.default.first().is_some_and(|default| default == value)
    }

    /// The default, or the first of several.
    pub fn default_value(&self) -> ParamValue {
        self.default_values().swap_remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_defaults_are_all_read() {
        let kind = ParamKind::Choice(&["load", "rebuild"]);
        let several = ParamDescription::new("p", "", kind, "rebuild, load");
        let words = ["rebuild", "load"].map(ParamValue::Choice);
        assert_eq!(several.default_values(), words);
        assert_eq!(several.default_value(), words[0]);
    }
}
