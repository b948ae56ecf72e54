//! What is told of saved runs in lists: how each ended, what it answered in a few words, and
//! what its arms took. It is saved with a run when that is over, and for one that was killed,
//! or saved by an older version, once it is first listed.

use ::load::analyse_load;
use analysis::analyse;
use model::analysis::Analysis;
use model::load::LoadRun;
use model::run::Run;
use model::selftest::SelftestResult;
use store::{Entry, State, Store, Summary, TypicalTime};
use units::{counted, three_digits};

use crate::exit::sentence;
use crate::results::identity::this_program;
use crate::results::source::Saved;
use crate::terminal::output;

/// Saves that of a comparison which is over, and what follows from it.
pub(crate) fn keep(store: Option<Store>, run: &Run, analysis: &Analysis) {
    let Some(mut store) = store else { return };
    let (summary, typical_times) = (of_comparison(run, analysis), typical_times(run, analysis));
    if let Err(error) = store.summarise(&run.run.id, &summary, &typical_times) {
        output::note(&format!("could not save this run's summary for `iotoll history`: {error}"));
    }
    // Without it, `iotoll show` analyses the run again.
    if let Some(program) = this_program() {
        let _ = store.keep_analysis(&run.run.id, &program, analysis);
    }
}

/// Finds out what is not known yet of runs that are over. One that cannot be read says so.
pub(crate) fn complete(store: &mut Store, entries: &mut [Entry]) {
    let lacking = |entry: &&mut Entry| entry.summary.is_none() && entry.state != State::Running;
    for entry in entries.iter_mut().filter(lacking) {
        let found = found(store, entry);
        entry.summary = Some(found.unwrap_or_else(|error| Summary {
            ended: entry.state.name().to_owned(),
            answer: format!("it cannot be read: {}", sentence(&error)),
        }));
    }
}

fn found(store: &mut Store, entry: &Entry) -> anyhow::Result<Summary> {
    let (summary, typical_times) = match Saved::load(store, entry)? {
        Saved::Comparison(run) => {
            let analysis = analyse(&run);
            (of_comparison(&run, &analysis), typical_times(&run, &analysis))
        }
        Saved::Load(run) => (of_load(&run), Vec::new()),
        Saved::Selftest(result) => (of_selftest(&result), Vec::new()),
    };
    let killed = entry.state == State::Killed;
    let ended = if killed { "killed".to_owned() } else { summary.ended };
    let summary = Summary { ended, ..summary };
    store.summarise(&entry.id, &summary, &typical_times)?;
    Ok(summary)
}

fn of_comparison(run: &Run, analysis: &Analysis) -> Summary {
    let ended = ended(run.run.interrupted, run.run.ended_early.is_some());
    Summary { ended, answer: report::in_short(run, analysis) }
}

fn ended(interrupted: bool, early: bool) -> String {
    let ended = if early { "ended early" } else { "finished" };
    if interrupted { "interrupted" } else { ended }.to_owned()
}

fn typical_times(run: &Run, analysis: &Analysis) -> Vec<TypicalTime> {
    let kept = analysis::kept(run, analysis).into_iter();
    kept.map(|(setting, log_typical)| TypicalTime { setting, log_typical }).collect()
}

fn of_load(run: &LoadRun) -> Summary {
    let steps = analyse_load(run).steps;
    let p99 = steps.last().and_then(|step| Some((step.achieved_rate, step.connection_ms?.p99)));
    let which = if steps.len() == 1 { "" } else { ", the last" };
    let last = p99.map_or_else(String::new, |(rate, ms)| {
        format!("{which} at {}/s: 99% within {} ms", three_digits(rate), three_digits(ms))
    });
    let answer = format!("{}{last}", counted(steps.len() as u64, "step"));
    Summary { ended: ended(run.run.interrupted, false), answer }
}

fn of_selftest(result: &SelftestResult) -> Summary {
    let trusted = || "verdicts from this machine can be trusted".to_owned();
    let answer = result.objections.first().cloned().unwrap_or_else(trusted);
    Summary { ended: ended(result.run.interrupted, false), answer }
}
