//! A published measurement as it is kept in the program: a plan that repeats it, and what
//! it found, in terms of that plan's arms.
//!
//! Arms are named by what tells them from others, `log/php-held writers=1 @disk`: study and
//! strategy, parameters as a plan file has them, and a place: `@disk` for the first, `@ram`
//! for the second, and the label of one that is made for the article. Two arms may be set
//! against each other: `A over B`, `A minus B`.

use crate::arm::Arm;
use crate::article::{
    Article, Is, Measure, MissingProgram, Precondition, PublishedConclusion, PublishedFigure,
    Quantity, SetAgainst, Test,
};
use crate::figure::Unit;
use crate::place::PlaceRequest;
use crate::plan::{Draft, Plan, PlanError};
use crate::plan_file;
use crate::scaled_rates::{HeldHere, ScaledRates, rate_here};
use crate::study::{ParamValue, StudyDescription};

/// A published measurement.
#[derive(Debug)]
pub struct ArticleSpec {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// When it was published.
    pub year: u32,
    /// What it measured with: `PHP`.
    pub original: &'static str,
    /// What it asked.
    pub question: &'static str,
    /// The plan that repeats it, as a plan file.
    pub plan: &'static str,
    /// Places that are made for it, besides the two.
    pub places: &'static [MadeFor],
    /// The counts of which a quick run takes a tenth.
    pub tenth: &'static [&'static str],
    /// The servers whose rates follow what they hold here.
    pub scaled: &'static [ScaledRates],
    /// What some of the plan's studies need.
    pub needs: &'static [Need],
    /// What it published.
    pub figures: &'static [FigureOf],
    /// What it concluded.
    pub conclusions: &'static [Conclusion],
}

/// A place that is made for an article.
#[derive(Clone, Copy, Debug)]
pub struct MadeFor {
    /// What it is called.
    pub label: &'static str,
    /// What it is: `image:btrfs:2G`.
    pub target: &'static str,
    /// The studies of the plan that are measured there, from 0.
    pub studies: &'static [usize],
}

/// Programs without which studies of the plan, or at places, cannot be measured.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The studies of the plan that need it, from 0.
    pub studies: &'static [usize],
    /// The labels of the places that it makes.
    pub places: &'static [&'static str],
    /// What it is called.
    pub what: &'static str,
    /// A command for the shell that succeeds where it is there.
    pub test: &'static str,
    /// The command that installs it.
    pub install: &'static str,
}

/// A figure that was published.
#[derive(Clone, Copy, Debug)]
pub struct FigureOf {
    /// The chart or table that it is part of.
    pub group: &'static str,
    /// What it is of.
    pub what: &'static str,
    /// What it is in.
    pub unit: Unit,
    /// The figure in that unit: times in nanoseconds, sizes in bytes.
    pub published: Option<f64>,
    /// What the figure is of that it is held against, in the same group; empty for none.
    pub against: &'static str,
    /// What is taken of the arms.
    pub measure: MeasureOf,
    /// How many times.
    pub times: f64,
    /// The arms that measure as the article did; empty for none.
    pub original: &'static str,
    /// Native arms; empty for none.
    pub native: &'static str,
    /// What a reader has to know of it, as a sentence; empty where it is plain.
    pub note: &'static str,
}

/// What is taken of an arm: [`Measure`], as a constant may have it.
pub type MeasureOf = Measure<&'static str, &'static [&'static str]>;

/// A conclusion.
#[derive(Clone, Copy, Debug)]
pub struct Conclusion {
    /// The conclusion, as a sentence.
    pub says: &'static str,
    /// What must be so where it holds.
    pub tests: &'static [TestOf],
    /// What must be so for it to be compared at all.
    pub preconditions: &'static [PreconditionOf],
}

/// What must be so for a conclusion to be compared.
#[derive(Clone, Copy, Debug)]
pub struct PreconditionOf {
    /// The precondition, as a clause.
    pub says: &'static str,
    /// What shows it; nothing where it is that the article's own program is measured.
    pub test: Option<TestOf>,
}

/// What must be so of arms.
#[derive(Clone, Copy, Debug)]
pub struct TestOf {
    /// What is taken of the arms.
    pub measure: MeasureOf,
    /// The arms that measure as the article did; empty for none.
    pub original: &'static str,
    /// Native arms; empty for none.
    pub native: &'static str,
    /// Where it has to lie.
    pub is: Is,
}

/// An article that is to be repeated.
#[derive(Clone, Debug)]
pub struct Repetition {
    /// Which.
    pub spec: &'static ArticleSpec,
    /// What the places are called that stand for the article's disk and RAM.
    pub labels: [String; 2],
    /// Whether a tenth of its counts is enough.
    pub is_quick: bool,
    /// Programs that are not there.
    pub missing: Vec<MissingProgram>,
    /// What servers hold here, where rates were scaled to that.
    pub held: Vec<HeldHere>,
}

/// How much of an article a quick run takes.
const TENTH: u64 = 10;

impl ArticleSpec {
    /// What is to be measured, without the studies of the plan that need what is missing.
    ///
    /// # Errors
    /// Where the plan is wrong, which is a defect of the program.
    pub fn draft(
        &self,
        registry: &[&'static StudyDescription],
        is_quick: bool,
        missing: &[&Need],
    ) -> Result<Draft, PlanError> {
        let parsed = plan_file::parse(self.plan, self.name, registry);
        let mut draft = parsed.map_err(|error| PlanError(error.to_string()))?;
        for (index, study) in draft.studies.iter_mut().enumerate() {
            let elsewhere = self.places.iter().filter(|place| !place.studies.contains(&index));
            study.not_at = elsewhere.map(|place| place.label.to_owned()).collect();
        }
        let studies = std::mem::take(&mut draft.studies).into_iter().enumerate();
        let is_there = |index: usize| missing.iter().all(|need| !need.studies.contains(&index));
        draft.studies = studies.filter(|(i, _)| is_there(*i)).map(|(_, study)| study).collect();
        if is_quick {
            draft.budget = draft.budget.map(|budget| budget / TENTH as u32);
            for study in &mut draft.studies {
                for (_, values) in study.factors.iter_mut().filter(|(n, _)| self.tenth.contains(n))
                {
                    for value in values {
                        if let ParamValue::Count(count) = value {
                            *count /= TENTH;
                        }
                    }
                }
            }
        }
        Ok(draft)
    }

    /// The places that are made for it, besides those that need what is missing.
    pub fn places_without(&self, missing: &[&Need]) -> impl Iterator<Item = &'static MadeFor> {
        let lacks = |label: &str| missing.iter().any(|need| need.places.contains(&label));
        self.places.iter().filter(move |place| !lacks(place.label))
    }

    fn index_of(&self, group: &str, what: &str) -> Option<usize> {
        self.figures.iter().position(|figure| figure.group == group && figure.what == what)
    }
}

impl Repetition {
    /// What the record of a run of this plan has of the article.
    pub fn article(&self, plan: &Plan) -> Article {
        let spec = self.spec;
        let (all, places, labels, held) = (plan.arms(), &plan.places, &self.labels, &self.held);
        let arms = Arms { all, places, labels, held };
        let figure = |figure: &FigureOf| PublishedFigure {
            group: figure.group.to_owned(),
            what: figure.what.to_owned(),
            unit: figure.unit,
            published: figure.published,
            against: spec.index_of(figure.group, figure.against),
            original: arms.quantity(figure.measure, figure.times, figure.original),
            native: arms.quantity(figure.measure, figure.times, figure.native),
            note: (!figure.note.is_empty()).then(|| figure.note.to_owned()),
        };
        let conclusion = |conclusion: &Conclusion| PublishedConclusion {
            says: conclusion.says.to_owned(),
            original: arms.tests(conclusion.tests, |test| test.original),
            native: arms.tests(conclusion.tests, |test| test.native),
            preconditions: conclusion
                .preconditions
                .iter()
                .map(|of| arms.precondition(of))
                .collect(),
        };
        Article {
            name: spec.name.to_owned(),
            title: spec.title.to_owned(),
            year: spec.year,
            original: spec.original.to_owned(),
            question: spec.question.to_owned(),
            is_quick: self.is_quick,
            figures: spec.figures.iter().map(figure).collect(),
            conclusions: spec.conclusions.iter().map(conclusion).collect(),
            missing: self.missing.clone(),
            scaled: self.held.iter().map(HeldHere::server).collect(),
        }
    }
}

/// The arms of a plan, to be found by what tells them apart.
struct Arms<'a> {
    all: Vec<Arm>,
    places: &'a [PlaceRequest],
    labels: &'a [String; 2],
    held: &'a [HeldHere],
}

impl Arms<'_> {
    /// The tests of one kind of arms; none where one of them cannot be made.
    fn tests(&self, tests: &[TestOf], side: impl Fn(&TestOf) -> &'static str) -> Vec<Test> {
        let tests = tests.iter().map(|test| self.test(test, side(test)));
        tests.collect::<Option<_>>().unwrap_or_default()
    }

    fn precondition(&self, of: &PreconditionOf) -> Precondition {
        let test = |side: fn(&TestOf) -> &'static str| {
            of.test.as_ref().and_then(|test| self.test(test, side(test)))
        };
        Precondition {
            says: of.says.to_owned(),
            original: test(|test| test.original),
            native: test(|test| test.native),
        }
    }

    fn test(&self, test: &TestOf, arms: &str) -> Option<Test> {
        Some(Test { of: self.quantity(test.measure, 1.0, arms)?, is: test.is })
    }

    fn quantity(&self, measure: MeasureOf, times: f64, text: &str) -> Option<Quantity> {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let measure = match measure {
            MeasureOf::TypicalTime => Measure::TypicalTime,
            MeasureOf::MeanTime => Measure::MeanTime,
            MeasureOf::Throughput => Measure::Throughput,
            MeasureOf::Failed => Measure::Failed,
            MeasureOf::FailedShare => Measure::FailedShare,
            MeasureOf::SyncShare => Measure::SyncShare,
            MeasureOf::Figure(name) => Measure::Figure(name.to_owned()),
            MeasureOf::Sum(names) => Measure::Sum(owned(names)),
            MeasureOf::Share(names) => Measure::Share(owned(names)),
        };
        let set_against = |arm: &str, how: fn(usize) -> SetAgainst| self.find(arm).map(how);
        let (arm, set_against) = if let Some((arm, base)) = text.split_once(" over ") {
            (arm, Some(set_against(base, SetAgainst::Over)?))
        } else if let Some((arm, base)) = text.split_once(" minus ") {
            (arm, Some(set_against(base, SetAgainst::Minus)?))
        } else {
            (text, None)
        };
        Some(Quantity { measure, times, arm: self.find(arm)?, set_against })
    }

    /// The one arm that a text names; nothing where the plan has none or several such.
    fn find(&self, text: &str) -> Option<usize> {
        let mut words = text.split_whitespace();
        let (study, strategy) = words.next()?.split_once('/')?;
        let wanted: Vec<&str> = words.collect();
        let fits = |arm: &Arm, word: &str| match (word.strip_prefix('@'), word.split_once('=')) {
            (Some(place), _) => {
                let label = match place {
                    "disk" => self.labels[0].as_str(),
                    "ram" => self.labels[1].as_str(),
                    made => made,
                };
                self.places[arm.place].label == label
            }
            (None, Some((name, value))) => {
                let written = arm.params.written();
                let rate = (name == "rate").then(|| rate_here(self.held, text, value)).flatten();
                let value = rate.as_deref().unwrap_or(value);
                // `record=70B` is the parameter `70 B`.
                written.get(name).is_some_and(|written| written.replace(' ', "") == value)
            }
            (None, None) => false,
        };
        let is_it = |arm: &Arm| {
            arm.study.name == study
                && arm.strategy.name == strategy
                && wanted.iter().all(|word| fits(arm, word))
        };
        let mut found = self.all.iter().enumerate().filter(|(_, arm)| is_it(arm));
        let (index, _) = found.next()?;
        found.next().is_none().then_some(index)
    }
}
