//! What is run with faults: of every study, the cases that say so, which make calls that no
//! other case makes.

use engine::study::Study;

/// Something that `iotoll compare` is given.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its study.
    pub study: &'static str,
    /// Its strategy, and what else tells it from others: the name of its list.
    pub name: String,
    /// The flags. `{trace}` stands for a small recording.
    pub flags: Vec<String>,
    /// A program that must be installed.
    pub needs: Option<&'static str>,
}

/// All of them.
pub fn subjects(studies: &[&'static dyn Study]) -> Vec<Subject> {
    let of_study = |study: &&'static dyn Study| {
        let (spec, cases) = (study.spec(), study.cases().iter());
        cases.filter(|case| case.calls_fail).map(move |case| Subject {
            study: &spec.name,
            name: case.name(),
            flags: case.flags(spec),
            needs: case.program(spec),
        })
    };
    studies.iter().flat_map(of_study).collect()
}
