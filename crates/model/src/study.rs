//! What plans and flags are read with: a study's description, and what is typed.

use std::collections::BTreeMap;

pub use crate::condition::{Condition, ParamCondition};
pub use crate::description::{Score, StudyDescription};
pub use crate::figure::{Better, FigureDescription, Fold, Unit};
pub use crate::param::{ParamForm, ParamKind, ParamValue, Params, Rate, Sizes, SyncPolicy};
pub use crate::param_description::ParamDescription;
pub use crate::strategy::StrategyDescription;

impl StudyDescription {
    /// The study's parameters with these values, as they are written. All others have their
    /// default. Of several values or defaults the first counts.
    pub fn params_with<'a>(
        &'static self,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Params, String> {
        let first = |param: &'static ParamDescription| (param.name.as_str(), param.default_value());
        let mut params = Params(self.params.iter().map(first).collect());
        for (name, text) in given {
            let unknown = || format!("the study {} has no parameter {name}", self.name);
            let at = self.params.iter().position(|p| p.name == name).ok_or_else(unknown)?;
            let param = &self.params[at];
            params.0[at].1 = param.parse(param.parts(text).first().unwrap_or(&""))?;
        }
        Ok(params)
    }

    /// Values as [`Params::written`] gave them, each whole.
    ///
    /// # Errors
    /// Where one is no parameter's, in words.
    pub fn params_written(
        &'static self,
        written: &BTreeMap<String, String>,
    ) -> Result<Params, String> {
        let value = |param: &'static ParamDescription| {
            let text = written.get(&param.name);
            let value = text.map_or_else(|| Ok(param.default_value()), |text| param.parse(text));
            Ok((param.name.as_str(), value?))
        };
        Ok(Params(self.params.iter().map(value).collect::<Result<_, String>>()?))
    }
}

impl Params {
    /// The values as a plan file has them.
    pub fn written(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
    }
}

/// The nearest of `names` to a mistyped one, if it is near enough to suggest.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&typed.to_lowercase(), name), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.chars().count() / 3)
        .map(|(_, name)| name)
}

/// Reads a share that can serve as `threshold`.
pub fn parse_threshold(text: &str) -> Result<f64, String> {
    let threshold = units::parse_share(text).map_err(|error| match error {
        units::UnitError::Share(_) => {
            format!("`{text}` is not a threshold: write a percentage from 0% to 100%, as in 5%")
        }
        other => other.to_string(),
    })?;
    if threshold <= 1.0 {
        Ok(threshold)
    } else {
        Err(format!(
            "`{text}` is too much: the threshold is the smallest difference you care about, at most 100%"
        ))
    }
}

/// Reads a share that can serve as the error rate of a comparison.
pub fn parse_error_rate(text: &str) -> Result<f64, String> {
    let error_rate = units::parse_share(text).map_err(|e| e.to_string())?;
    if (0.0001..=0.2).contains(&error_rate) {
        Ok(error_rate)
    } else {
        Err(format!(
            "an error rate of {text} makes no sense: give from 0.01% to 20% of runs in which a \
             verdict may be wrong"
        ))
    }
}
