//! Which arms something holds of: what a strategy promises instead, given some value of
//! a parameter, what it relies on, and to which arms a parameter means anything at all.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::guarantee::Guarantee;

/// What an arm must be.
#[derive(Clone, Copy, Debug)]
pub struct When {
    /// One of these is its strategy; any is where there are none.
    pub strategies: &'static [&'static str],
    /// Each of these parameters is so.
    pub params: &'static [(&'static str, Is)],
}

/// What a parameter's value must be, as it is written.
#[derive(Clone, Copy, Debug)]
pub enum Is {
    /// One of these.
    OneOf(&'static [&'static str]),
    /// Anything else than this.
    Not(&'static str),
    /// A text that begins so.
    Beginning(&'static str),
}

/// What such arms promise instead of what their strategy does by itself.
#[derive(Clone, Copy, Debug)]
pub struct PromiseWhen {
    /// Which arms.
    pub when: When,
    /// What they promise if the process or the machine dies, in a line; empty where
    /// nothing depends on it.
    pub promise: &'static str,
}

/// What such arms rely on where several processes share their files.
#[derive(Clone, Copy, Debug)]
pub struct ReliesOn {
    /// What it is.
    pub on: Guarantee,
    /// Which arms.
    pub when: When,
}

/// Parameters that mean something to such arms alone.
#[derive(Clone, Copy, Debug)]
pub struct AppliesWhen {
    /// The parameters.
    pub params: &'static [&'static str],
    /// Which arms.
    pub when: When,
}

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
impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let condition = |(name, is): &(&str, Is)| match is {
            Is::OneOf(values) => format!("{name}={}", values.join(" or ")),
            Is::Not(value) => format!("{name} other than {value}"),
            Is::Beginning(text) => format!("{name}={text}…"),
        };
        let params: Vec<String> = self.params.iter().map(condition).collect();
        let params = params.join(" and ");
        let strategies = self.strategies.join(", ");
        match (params.is_empty(), strategies.is_empty()) {
            (false, false) => write!(f, "{params} with {strategies}"),
            (true, true) => f.write_str("all"),
            _ => f.write_str(&(params + &strategies)),
        }
    }
}

impl When {
    fn describe(&self) -> Condition {
        let condition = |(param, is): &(&str, Is)| {
            let (is, values) = match is {
                Is::OneOf(values) => (ValueTest::OneOf, owned(values)),
                Is::Not(value) => (ValueTest::NoneOf, owned(&[value])),
                Is::Beginning(value) => (ValueTest::Beginning, owned(&[value])),
            };
            ParamCondition { param: (*param).to_owned(), is, values }
        };
        Condition {
            strategies: owned(self.strategies),
            params: self.params.iter().map(condition).collect(),
        }
    }
}

impl PromiseWhen {
    pub(crate) fn describe(&self) -> PromiseWhenDescription {
        PromiseWhenDescription { when: self.when.describe(), promise: self.promise.to_owned() }
    }
}

impl ReliesOn {
    pub(crate) fn describe(&self) -> ReliesOnDescription {
        ReliesOnDescription { on: self.on, when: self.when.describe() }
    }
}

impl AppliesWhen {
    pub(crate) fn describe(&self) -> AppliesWhenDescription {
        AppliesWhenDescription { params: owned(self.params), when: self.when.describe() }
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

impl Condition {
    /// Whether an arm with this strategy and these parameters, as they are written, is so.
    pub fn fits(&self, strategy: &str, params: &BTreeMap<String, String>) -> bool {
        let has_strategy =
            self.strategies.is_empty() || self.strategies.iter().any(|s| s == strategy);
        has_strategy && self.params.iter().all(|condition| condition.fits(params))
    }
}

impl ParamCondition {
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
    use crate::study::{StrategySpec, StudySpec};

    const fn strategy(name: &'static str, promise: &'static str) -> StrategySpec {
        StrategySpec { name, about: "", promise, by_default: true }
    }

    static SPEC: StudySpec = StudySpec {
        strategies: &[strategy("kept", "lost"), strategy("other", "never")],
        promises: &[
            PromiseWhen {
                when: When { strategies: &["kept"], params: &[("sync", Is::OneOf(&["each"]))] },
                promise: "safe",
            },
            PromiseWhen {
                when: When { strategies: &[], params: &[("sync", Is::Beginning("every "))] },
                promise: "some",
            },
        ],
        applies: &[
            AppliesWhen {
                params: &["files", "total"],
                when: When { strategies: &[], params: &[("set", Is::OneOf(&[""]))] },
            },
            AppliesWhen {
                params: &["files"],
                when: When { strategies: &["kept"], params: &[("sync", Is::Not("each"))] },
            },
        ],
        relies_on: &[
            ReliesOn { on: Guarantee::Appends, when: When { strategies: &["kept"], params: &[] } },
            ReliesOn {
                on: Guarantee::FcntlLocks,
                when: When { strategies: &[], params: &[("sync", Is::Not("never"))] },
            },
        ],
        ..StudySpec::EMPTY
    };

    fn written(params: &[(&str, &str)]) -> BTreeMap<String, String> {
        params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_condition_reads_well() {
        let told = SPEC.promises.iter().map(|rule| rule.when.to_string());
        let told = told.chain(SPEC.applies.iter().map(|rule| rule.when.to_string()));
        let expected =
            ["sync=each with kept", "sync=every …", "set=", "sync other than each with kept"];
        assert!(told.eq(expected));
        assert_eq!(When { strategies: &[], params: &[] }.to_string(), "all");
    }

    #[test]
    fn the_first_promise_that_fits_counts() {
        let study = SPEC.describe();
        let promise = |strategy, sync| study.promise_of(strategy, &written(&[("sync", sync)]));
        assert_eq!(promise("kept", "never"), "lost");
        assert_eq!(promise("kept", "each"), "safe");
        assert_eq!(promise("other", "each"), "never");
        assert_eq!(promise("other", "every 20"), "some");
        assert_eq!(study.promise_of("kept", &BTreeMap::new()), "lost");
        assert_eq!(study.promise_of("nobody's", &BTreeMap::new()), "");
    }

    #[test]
    fn all_that_an_arm_relies_on_counts() {
        let study = SPEC.describe();
        let relied = |strategy, sync| study.guarantees_of(strategy, &written(&[("sync", sync)]));
        assert_eq!(relied("kept", "never"), [Guarantee::Appends]);
        assert_eq!(relied("kept", "each"), [Guarantee::Appends, Guarantee::FcntlLocks]);
        assert_eq!(relied("other", "never"), []);
    }

    #[test]
    fn a_parameter_applies_where_all_that_is_said_of_it_holds() {
        let study = SPEC.describe();
        let applies = |param, strategy, set, sync| {
            study.applies(param, strategy, &written(&[("set", set), ("sync", sync)]))
        };
        assert!(applies("files", "kept", "", "never"));
        assert!(!applies("files", "kept", "/srv", "never"));
        assert!(!applies("files", "kept", "", "each"));
        assert!(!applies("files", "other", "", "never"));
        assert!(applies("total", "other", "", "each"));
        assert!(applies("set", "other", "/srv", "each"));
    }
}
