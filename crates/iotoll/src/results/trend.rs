//! What arms took in the saved runs, and when that changed.

use std::collections::HashMap;

use analysis::{Point, setting};
use model::trend::Trend;
use store::{Entry, Kind, State, Store};

use crate::results::summaries;
use crate::terminal::output;

/// The trend over these runs, the latest first. One that cannot be read is left out with a note.
pub(crate) fn of(store: &mut Store, mut entries: Vec<Entry>) -> Trend {
    entries.retain(|entry| entry.kind == Kind::Comparison && entry.state != State::Running);
    summaries::complete(store, &mut entries);
    let point = |entry: &Entry| match point(store, entry) {
        Ok(point) => Some(point),
        Err(error) => {
            output::note(&format!("{} is not part of the trend: {error}", entry.short_id()));
            None
        }
    };
    let points: Vec<Point> = entries.iter().rev().filter_map(point).collect();
    analysis::trend(&points)
}

fn point(store: &Store, entry: &Entry) -> Result<Point, store::Error> {
    let run = store.load_record(entry)?;
    let times: HashMap<String, f64> = store.typical_times(&entry.id)?;
    let log_typical =
        run.plan.arms.iter().map(|arm| times.get(&setting(&run, arm)?).copied()).collect();
    Ok(Point { run, log_typical })
}
