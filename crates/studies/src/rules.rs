//! What strategies and parameters change about a study, written short: what strategies promise
//! instead, how they are adopted, and which parameters mean something to which arms.

use model::condition::{AppliesWhenDescription, Condition, ParamCondition, PromiseWhenDescription};
use model::strategy::Recipe;

/// The parameter has one of these values.
pub(crate) fn is(param: &str, values: &[&str]) -> ParamCondition {
    ParamCondition::one_of(param, values)
}

/// It has another value than this.
pub(crate) fn not(param: &str, value: &str) -> ParamCondition {
    ParamCondition::not(param, value)
}

/// What a strategy promises, and what instead with which parameters.
pub(crate) struct Promise {
    pub(crate) text: String,
    pub(crate) when: Vec<(Vec<ParamCondition>, String)>,
}

impl From<&str> for Promise {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), when: Vec::new() }
    }
}

impl Promise {
    /// With these parameters it is this, unless an earlier one fits.
    pub(crate) fn when<const N: usize>(
        mut self,
        params: [ParamCondition; N],
        promise: &str,
    ) -> Self {
        self.when.push((params.into(), promise.to_owned()));
        self
    }
}

/// What to type or change, how to check that it took, and how to undo it.
pub(crate) fn change(adopt: &str, check: &str, undo: &str) -> Recipe {
    let [adopt, check, undo] = [adopt, check, undo].map(str::to_owned);
    Recipe::Change { adopt, check, undo }
}

/// Arms with these parameters promise this, whatever their strategy.
pub(crate) fn promise<const N: usize>(
    params: [ParamCondition; N],
    promise: &str,
) -> PromiseWhenDescription {
    let when = Condition::params(params.into());
    PromiseWhenDescription { when, promise: promise.to_owned() }
}

/// The parameters are for arms with these others.
pub(crate) fn where_set<const N: usize>(
    params: &[&str],
    others: [ParamCondition; N],
) -> AppliesWhenDescription {
    let params = params.iter().map(ToString::to_string).collect();
    AppliesWhenDescription { params, when: Condition::params(others.into()) }
}

#[cfg(test)]
mod tests {
    use model::condition::ValueTest;

    use super::*;

    #[test]
    fn what_rules_name_is_their_studys() {
        for spec in crate::specs() {
            let rules = spec.promise_when.iter().map(|rule| &rule.when);
            let rules = rules.chain(spec.relies_on.iter().map(|rule| &rule.when));
            for when in rules.chain(spec.applies_when.iter().map(|rule| &rule.when)) {
                for ParamCondition { param: name, is, values } in &when.params {
                    let param = spec.param(name).unwrap_or_else(|| panic!("no {name}"));
                    if *is == ValueTest::Beginning {
                        continue;
                    }
                    // A value that the parameter cannot have would never fit.
                    for value in values {
                        let written = param.parse(value).map(|value| value.to_string());
                        assert_eq!(written.as_deref(), Ok(value.as_str()), "{}.{name}", spec.name);
                    }
                }
            }
            let of_rules = spec.applies_when.iter().flat_map(|rule| &rule.params);
            of_rules.for_each(|name| assert!(spec.param(name).is_some(), "{name}"));
        }
    }

    #[test]
    fn every_change_says_how_it_is_checked_and_undone() {
        for spec in crate::specs() {
            for strategy in &spec.strategies {
                let name = format!("{}/{}", spec.name, strategy.name);
                match &strategy.facts.recipe {
                    Recipe::Change { adopt, check, undo } => {
                        for text in [adopt, check, undo] {
                            let length = text.chars().count();
                            assert!((10..=400).contains(&length), "{name}: {text}");
                        }
                    }
                    Recipe::Control => {
                        assert!(!strategy.by_default, "{name}: nobody should adopt it");
                    }
                    Recipe::AsItIs => {}
                }
            }
        }
    }
}
