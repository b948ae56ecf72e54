//! Whether what tests and benches try of studies can be tried, and leaves none out.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use model::case::Case;

use crate::ALL;

fn is_tried(case: &Case) -> bool {
    case.calls_fail || case.is_killed || case.footprint.is_some() || case.power_cut.is_some()
}

#[test]
fn every_strategy_has_a_case_that_is_tried_or_says_why_not() {
    for study in ALL {
        let (spec, cases) = (study.spec(), study.cases());
        for strategy in &spec.strategies {
            let name = format!("{}/{}", spec.name, strategy.name);
            let of_it: Vec<&Case> = cases.iter().filter(|c| c.strategy == strategy.name).collect();
            assert!(!of_it.is_empty(), "{name} has no case in its study's cases");
            for case in of_it {
                assert_ne!(is_tried(case), !case.untried.is_empty(), "{name}: {case:?}");
            }
        }
        for case in cases {
            assert!(spec.strategy(case.strategy).is_some(), "{}: {case:?}", spec.name);
            case.params(spec).unwrap_or_else(|why| panic!("{}: {case:?}: {why}", spec.name));
        }
        let of_faults = || cases.iter().filter(|case| case.calls_fail).map(Case::name);
        assert!(of_faults().count() > 0, "no system call of {} is failed", spec.name);
        let unique: BTreeSet<String> = of_faults().collect();
        assert_eq!(unique.len(), of_faults().count(), "{}: two have one name", spec.name);
    }
}

/// Those that have none of a kind of case. A new study has all that it can have.
#[test]
fn studies_without_a_kind_of_case_are_few() {
    let without = |has: fn(&Case) -> bool| -> Vec<&str> {
        let without = ALL.into_iter().filter(|study| !study.cases().iter().any(has));
        without.map(|study| study.spec().name.as_str()).collect()
    };
    // They write by what the user gives them, or by the code of another study.
    assert_eq!(without(|case| case.footprint.is_some()), ["serve", "exec", "replay"]);
    assert_eq!(without(|case| case.is_killed), ["journal", "exec", "replay"]);
    // The others write nothing that a promise is made of, or what another study cuts.
    let uncut = ["stream", "storage", "page", "serve", "exec", "replay"];
    assert_eq!(without(|case| case.power_cut.is_some()), uncut);
}

#[test]
fn a_power_failure_can_be_tried_where_a_case_says_so_and_nowhere_else() {
    for study in ALL {
        let spec = study.spec();
        for case in study.cases().iter().filter(|case| case.power_cut.is_some()) {
            let trial = study.power_trial(case.strategy, &case.params(spec).unwrap());
            assert!(trial.unwrap().is_some(), "{}: {case:?}", spec.name);
        }
        if study.cases().iter().all(|case| case.power_cut.is_none()) {
            let defaults = spec.params_with([]).unwrap();
            let trial = study.power_trial(&spec.strategies[0].name, &defaults);
            assert!(matches!(trial, Ok(None)), "{} has a trial that no case tries", spec.name);
        }
    }
}
