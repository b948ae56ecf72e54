//! Figures for articles: each kind of chart by itself, as an SVG file with its title, units and
//! source.

use model::analysis::{Analysis, ArmResult};
use model::description::{ParamDescription, StudyDescription};
use model::grouped::in_groups;
use model::run::Run;
use thiserror::Error;
use units::listed;

use super::block_times::BlockTimes;
use super::chart::{Drawing, file_name};
use super::curves::{CURVES_MAX, Curves};
use super::picture::{self, Colours};
use super::scale::Scale;
use super::{forest, grid, latency, overview, parameters, parts, time};
use crate::answer::headline;
use crate::subject::Subject;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each comparison with its interval; of all studies, the best changes.
    Forest,
    /// Times along a parameter.
    Lines,
    /// What each combination takes on each place.
    Grid,
    /// Where the time goes.
    Parts,
    /// How long single operations take.
    Distribution,
}

/// A figure that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// What is drawn.
    pub kind: Kind,
    /// Of which study; may be left out where there is one.
    pub study: Option<&'a str>,
    /// The parameter along the axis.
    pub x: Option<&'a str>,
    /// The parameter that has a panel for each value.
    pub facet: Option<&'a str>,
    /// In which colours.
    pub colours: Colours,
}

/// A figure that was drawn.
#[derive(Debug)]
pub struct Drawn {
    /// The name of its file without the ending: `sqlite-forest`.
    pub name: String,
    /// The file.
    pub svg: String,
}

/// Why there is no figure.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FigureError {
    /// No study was named, and there are several.
    #[error("the run has several studies: name one with --study: {0}")]
    WhichStudy(String),
    /// There is no such study.
    #[error("the run has no study {0}; it has {1}")]
    NoStudy(String, String),
    /// Nothing that can be drawn was measured.
    #[error("{0} has nothing for this kind of chart: {1}")]
    Nothing(String, &'static str),
    /// No such parameter has enough values.
    #[error("{study} has no numbers to draw along {param}: it needs three values of it{known}")]
    NoNumbers {
        /// The study.
        study: String,
        /// The parameter.
        param: String,
        /// Parameters that have them.
        known: String,
    },
    /// There are several parameters along which lines can be drawn.
    #[error("{0} varies in several numbers: name one with --x: {1}")]
    WhichX(String, String),
    /// There is no such parameter.
    #[error("{0} has no parameter {1}; it has {2}")]
    NoParam(String, String, String),
    /// More lines than can be told apart.
    #[error(
        "{0} lines cannot be told apart, at most {CURVES_MAX} can: divide them with --facet{1}"
    )]
    TooMany(usize, String),
}

/// Draws a figure.
pub fn figure(run: &Run, analysis: &Analysis, asked: &Figure) -> Result<Drawn, FigureError> {
    let subject = Subject { run, analysis };
    if asked.kind == Kind::Forest && asked.study.is_none() && run.studies.len() > 1 {
        let why = "no change was compared";
        let nothing = || FigureError::Nothing("the run".to_owned(), why);
        let drawing = overview::drawing(subject).ok_or_else(nothing)?;
        let title = headline(subject).ok_or_else(nothing)?;
        return Ok(drawn(subject, "iotoll", "forest", &title, drawing, asked.colours));
    }
    let study = study(run, asked.study)?;
    let name = study.name.as_str();
    let nothing = |why| move || FigureError::Nothing(name.to_owned(), why);
    let (kind, title, drawing) = match asked.kind {
        Kind::Forest => {
            let chart = forest::chart(subject, name);
            let chart = chart.ok_or_else(nothing("nothing was compared"))?;
            ("forest", "time per operation, compared".to_owned(), chart.drawing)
        }
        Kind::Parts => {
            let chart = time::chart(subject, name).or_else(|| parts::chart(subject, study));
            let chart = chart.ok_or_else(nothing("it is not known where its time went"))?;
            ("parts", format!("where the time goes, per {}", study.operation), chart.drawing)
        }
        Kind::Distribution => {
            let chart = latency::chart(subject, name);
            let chart = chart.ok_or_else(nothing("no single operations were timed"))?;
            let title = format!("how long single {}s take", study.operation);
            ("distribution", title, chart.drawing)
        }
        Kind::Grid => {
            let drawing = grid::drawing(subject, name);
            let drawing = drawing.ok_or_else(nothing("nothing was timed"))?;
            ("grid", format!("time per {} on each place", study.operation), drawing)
        }
        Kind::Lines => {
            let (x, drawing) = lines(subject, study, asked)?;
            ("lines", format!("time per {} by {x}", study.operation), drawing)
        }
    };
    Ok(drawn(subject, name, kind, &format!("{name}: {title}"), drawing, asked.colours))
}

fn drawn(
    subject: Subject,
    study: &str,
    kind: &str,
    title: &str,
    drawing: Drawing,
    colours: Colours,
) -> Drawn {
    let source = picture::source(subject.run, subject.analysis);
    Drawn { name: file_name(study, kind), svg: picture::file(title, drawing, &source, colours) }
}

fn study<'a>(run: &'a Run, name: Option<&str>) -> Result<&'a StudyDescription, FigureError> {
    let names: Vec<&str> = run.studies.iter().map(|study| study.name.as_str()).collect();
    match (name, run.studies.as_slice()) {
        (None, [only]) => Ok(only),
        (None, _) => Err(FigureError::WhichStudy(names.join(", "))),
        (Some(name), _) => run
            .study(name)
            .ok_or_else(|| FigureError::NoStudy(name.to_owned(), listed(&names, "and"))),
    }
}

/// Lines along a parameter, in panels where they are to be divided, all on the same axes.
fn lines(
    subject: Subject,
    study: &StudyDescription,
    asked: &Figure,
) -> Result<(String, Drawing), FigureError> {
    let arms: Vec<(usize, &ArmResult)> = subject.arms_of(&study.name).collect();
    let times = BlockTimes::of(subject.run);
    let curves = |param: &ParamDescription, arms: &[(usize, &ArmResult)]| {
        parameters::of_param(subject, &study.name, param, arms, &times, asked.facet)
    };
    let x = x_of(study, asked.x, |param| curves(param, &arms).is_some())?;
    let facet = asked.facet.map(|name| param(study, name)).transpose()?;
    let heading = |arm: &ArmResult| {
        let value = facet.and_then(|facet| Some((facet, arm.params.get(&facet.name)?)));
        value.map_or_else(String::new, |(facet, value)| format!("{}={value}", facet.name))
    };
    let panels: Vec<(String, Curves)> = in_groups(arms.into_iter().map(|a| (heading(a.1), a)))
        .into_iter()
        .filter_map(|(heading, arms)| Some((heading, curves(x, &arms)?)))
        .collect();
    let most = panels.iter().map(|(_, curves)| curves.all.len()).max().unwrap_or_default();
    if most > CURVES_MAX {
        let more = if facet.is_some() { ", or choose other parameters" } else { "" };
        return Err(FigureError::TooMany(most, more.to_owned()));
    }
    let drawing = on_same_axes(&panels).ok_or_else(|| no_numbers(study, &x.name, &[]))?;
    Ok((x.name.clone(), drawing))
}

/// The parameter along which lines are drawn: the one that was named, or the only one that can
/// be.
fn x_of<'a>(
    study: &'a StudyDescription,
    asked: Option<&str>,
    has_lines: impl Fn(&ParamDescription) -> bool,
) -> Result<&'a ParamDescription, FigureError> {
    let candidates: Vec<&ParamDescription> =
        study.params.iter().filter(|param| has_lines(param)).collect();
    let names: Vec<&str> = candidates.iter().map(|param| param.name.as_str()).collect();
    if let Some(name) = asked {
        let found = param(study, name)?;
        return if names.contains(&name) {
            Ok(found)
        } else {
            Err(no_numbers(study, name, &names))
        };
    }
    match candidates.as_slice() {
        [only] => Ok(only),
        [] => Err(no_numbers(study, "a parameter", &[])),
        _ => Err(FigureError::WhichX(study.name.clone(), names.join(", "))),
    }
}

fn no_numbers(study: &StudyDescription, param: &str, able: &[&str]) -> FigureError {
    let known = match able {
        [] => String::new(),
        names => format!("; there are for {}", names.join(", ")),
    };
    FigureError::NoNumbers { study: study.name.clone(), param: param.to_owned(), known }
}

fn param<'a>(study: &'a StudyDescription, name: &str) -> Result<&'a ParamDescription, FigureError> {
    let names: Vec<&str> = study.params.iter().map(|param| param.name.as_str()).collect();
    study.param(name).ok_or_else(|| {
        FigureError::NoParam(study.name.clone(), name.to_owned(), listed(&names, "and"))
    })
}

fn on_same_axes(panels: &[(String, Curves)]) -> Option<Drawing> {
    let curves = || panels.iter().flat_map(|(_, curves)| &curves.all);
    let points = || curves().flat_map(|curve| &curve.points);
    let ranges = curves().flat_map(|curve| &curve.ranges).flat_map(|(_, ends)| *ends);
    let across = Scale::log(points().map(|(x, _)| *x))?;
    let up = Scale::log(points().map(|(_, y)| *y).chain(ranges))?;
    let panel = |(heading, curves): &(String, Curves)| {
        let drawing = curves.drawing(&across, &up, &curves.values(), CURVES_MAX);
        if heading.is_empty() { drawing } else { Drawing::words("heading", heading).above(drawing) }
    };
    let note = Drawing::words("dim", "The upright lines hold the middle half of the rounds.");
    let all = panels.iter().map(panel).reduce(Drawing::above)?;
    Some(all.above(note))
}
