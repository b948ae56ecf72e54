//! Which arms something holds of: what a strategy promises instead, given some value of
//! a parameter, what it relies on, and to which arms a parameter means anything at all.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::guarantee::Guarantee;

/// What an arm must be, in a run's record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Condition {
    /// One of these is its strategy; any is where there are none.
    #[serde(deserialize_with = "bounded::list")]
    pub strategies: Vec<String>,
    /// Each of these parameters is so.
    #[serde(deserialize_with = "bounded::list")]
    pub params: Vec<ParamCondition>,
}

/// What a parameter's value must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParamCondition {
    /// The parameter.
    pub param: String,
    /// How its value is held against these texts.
    pub is: ValueTest,
    /// The texts.
    #[serde(deserialize_with = "bounded::list")]
    pub values: Vec<String>,
}

/// How a parameter's value is held against texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ValueTest {
    /// It is one of them.
    OneOf,
    /// It is none of them.
    NoneOf,
    /// It begins with one of them.
    Beginning,
}

/// What some arms promise instead of what their strategy does by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromiseWhenDescription {
    /// Which arms.
    pub when: Condition,
    /// What they promise; empty where nothing depends on it.
    pub promise: String,
}

/// What some arms rely on where several processes share their files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReliesOnDescription {
    /// What it is.
    pub on: Guarantee,
    /// Which arms.
    pub when: Condition,
}

/// Parameters that mean something to some arms alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppliesWhenDescription {
    /// The parameters.
    #[serde(deserialize_with = "bounded::list")]
    pub params: Vec<String>,
    /// Which arms.
    pub when: Condition,
}

/// `sync=each with held, flock`; `all` where nothing is asked.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<String> = self.params.iter().map(ToString::to_string).collect();
        let params = params.join(" and ");
        let strategies = self.strategies.join(", ");
        match (params.is_empty(), strategies.is_empty()) {
            (false, false) => write!(f, "{params} with {strategies}"),
            (true, true) => f.write_str("all"),
            _ => f.write_str(&(params + &strategies)),
        }
    }
}

impl fmt::Display for ParamCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (param, values) = (&self.param, self.values.join(" or "));
        match self.is {
            ValueTest::OneOf => write!(f, "{param}={values}"),
            ValueTest::NoneOf => write!(f, "{param} other than {values}"),
            ValueTest::Beginning => write!(f, "{param}={values}…"),
        }
    }
}

impl Condition {
    /// Any strategy will do, with these parameters.
    pub fn params(params: Vec<ParamCondition>) -> Self {
        Self { strategies: Vec::new(), params }
    }

    /// Whether an arm with this strategy and these parameters, as they are written, is so.
    pub fn fits(&self, strategy: &str, params: &BTreeMap<String, String>) -> bool {
        let has_strategy =
            self.strategies.is_empty() || self.strategies.iter().any(|s| s == strategy);
        has_strategy && self.params.iter().all(|condition| condition.fits(params))
    }
}

impl ParamCondition {
    /// The parameter has one of these values.
    pub fn one_of(param: &str, values: &[&str]) -> Self {
        Self::new(param, ValueTest::OneOf, values)
    }

    /// It has another value than this.
    pub fn not(param: &str, value: &str) -> Self {
        Self::new(param, ValueTest::NoneOf, &[value])
    }

    /// Its value begins so.
    pub fn beginning(param: &str, text: &str) -> Self {
        Self::new(param, ValueTest::Beginning, &[text])
    }

    fn new(param: &str, is: ValueTest, values: &[&str]) -> Self {
        let values = values.iter().map(ToString::to_string).collect();
        Self { param: param.to_owned(), is, values }
    }

    fn fits(&self, params: &BTreeMap<String, String>) -> bool {
        let Some(value) = params.get(&self.param) else { return false };
        match self.is {
            ValueTest::OneOf => self.values.contains(value),
            ValueTest::NoneOf => !self.values.contains(value),
            ValueTest::Beginning => self.values.iter().any(|text| value.starts_with(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_reads_well() {
        let of = |strategies: &[&str], params| {
            let strategies = strategies.iter().map(ToString::to_string).collect();
            Condition { strategies, params }.to_string()
        };
        let sync = |values| ParamCondition::one_of("sync", values);
        assert_eq!(of(&["kept", "held"], vec![sync(&["each"])]), "sync=each with kept, held");
        assert_eq!(of(&[], vec![ParamCondition::beginning("sync", "every ")]), "sync=every …");
        let both = vec![sync(&["each", "never"]), ParamCondition::not("set", "")];
        assert_eq!(of(&[], both), "sync=each or never and set other than ");
        assert_eq!(of(&["kept"], vec![]), "kept");
        assert_eq!(of(&[], vec![]), "all");
    }
}
