//! What strategies and parameters change about a study, written short: what strategies promise
//! instead, what they rely on, and which parameters mean something to which arms.

use model::guarantee::Guarantee;
use model::study::{AppliesWhen, Is, PromiseWhen, ReliesOn, When};

/// Arms with one of these strategies, or with any where there are none, and with these
/// parameters promise this.
pub(crate) const fn promise(
    strategies: &'static [&'static str],
    params: &'static [(&'static str, Is)],
    promise: &'static str,
) -> PromiseWhen {
    PromiseWhen { when: When { strategies, params }, promise }
}

/// Arms with one of these strategies, or with any where there are none, and with these
/// parameters rely on this where several processes share their files.
pub(crate) const fn relies(
    on: Guarantee,
    strategies: &'static [&'static str],
    params: &'static [(&'static str, Is)],
) -> ReliesOn {
    ReliesOn { on, when: When { strategies, params } }
}

/// The parameters are for these strategies.
pub(crate) const fn for_strategies(
    params: &'static [&'static str],
    strategies: &'static [&'static str],
) -> AppliesWhen {
    AppliesWhen { params, when: When { strategies, params: &[] } }
}

/// The parameters are for arms with these others.
pub(crate) const fn where_set(
    params: &'static [&'static str],
    others: &'static [(&'static str, Is)],
) -> AppliesWhen {
    AppliesWhen { params, when: When { strategies: &[], params: others } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rules_name_is_their_studys() {
        for spec in crate::specs() {
            let rules = spec.promises.iter().map(|rule| rule.when);
            let rules = rules.chain(spec.relies_on.iter().map(|rule| rule.when));
            for When { strategies, params } in
                rules.chain(spec.applies.iter().map(|rule| rule.when))
            {
                let known = |name: &&str| spec.strategy(name).is_some();
                assert!(strategies.iter().all(known), "{}: {strategies:?}", spec.name);
                for (name, is) in params {
                    let param = spec.param(name).unwrap_or_else(|| panic!("no {name}"));
                    // A value that the parameter cannot have would never fit.
                    let values: &[&str] = match is {
                        Is::OneOf(values) => values,
                        Is::Not(value) => &[value],
                        Is::Beginning(_) => &[],
                    };
                    for value in values {
                        let written = param.parse(value).map(|value| value.to_string());
                        assert_eq!(written.as_deref(), Ok(*value), "{}.{name}", spec.name);
                    }
                }
            }
            let of_rules = spec.applies.iter().flat_map(|rule| rule.params);
            of_rules.for_each(|name| assert!(spec.param(name).is_some(), "{name}"));
        }
    }
}
