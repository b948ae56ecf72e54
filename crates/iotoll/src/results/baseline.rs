//! A run compared with an earlier one, by what saved runs show of how much runs vary.

use analysis::{Analysed, Judged};
use model::diff::Diff;
use model::matching::Matching;
use model::run::Run;
use store::{Repeats, Store};

use crate::results::{saving, summaries};
use crate::terminal::output;

/// So many of the latest runs are looked at for such as repeat the two.
const LOOKED_AT: usize = 200;

/// What the saved runs say of how much runs vary; nothing where they cannot be read.
pub(crate) fn repeats() -> Repeats {
    let store = match saving::if_any() {
        Ok(store) => store,
        Err(error) => {
            output::note(&format!("cannot learn from saved runs how much runs vary: {error}"));
            None
        }
    };
    store.map(with_times).and_then(|store| store.repeats().ok()).unwrap_or_default()
}

/// What changed, with how much such runs vary.
pub(crate) fn diff(
    before: Analysed<'_>,
    after: Analysed<'_>,
    matching: &Matching,
    judged: Judged,
    repeats: &Repeats,
) -> Diff {
    let but = [before.run.run.id.as_str(), after.run.run.id.as_str()];
    analysis::diff(before, after, matching, judged, &mut |setting| repeats.of(setting, but))
}

/// The store, with the times of the latest comparisons, of which an older version may have
/// kept none.
fn with_times(mut store: Store) -> Store {
    let mut latest = store.list().unwrap_or_default();
    latest.truncate(LOOKED_AT);
    summaries::complete(&mut store, &mut latest);
    store
}

/// By what two runs are judged: as the later one was, unless something else is said.
pub(crate) fn judged(run: &Run, threshold: Option<f64>, error_rate: Option<f64>) -> Judged {
    Judged {
        threshold: threshold.unwrap_or(run.plan.threshold),
        error_rate: error_rate.unwrap_or(run.plan.error_rate),
    }
}
