//! Flags that several commands have.

mod color;
pub(crate) mod heading;
mod offered;
mod outputs;
mod recorder;
mod run;
mod version;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use report::load::Layout;

pub(crate) use self::color::ColorArg;
pub(crate) use self::offered::Offered;
pub(crate) use self::outputs::{
    Files, FormatsOfAny, FormatsOfComparison, FormatsOfDiff, FormatsOfLoad, FormatsOfSelftest,
    flags,
};
pub(crate) use self::recorder::{MECHANISMS, MECHANISMS_OF_RUNNING, TraceArgs, Wanted};
pub(crate) use self::run::{GateArgs, KeptArgs, MatchArgs, RoundsArgs, RunArgs, ShownArgs};
pub(crate) use self::version::version;

/// How a load can be printed.
pub(crate) const LAYOUTS: [(&str, Layout); 3] =
    [("plain", Layout::Plain), ("httperf", Layout::Httperf), ("ab", Layout::Ab)];

/// Reads one of some values by its name.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static>(
    values: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.iter().map(|(name, _)| *name)).try_map(|given| {
        let found = values.iter().find(|(name, _)| *name == given);
        found.map(|(_, value)| value.clone()).ok_or("there is no such value")
    })
}

/// The moment that long ago, or the epoch if that is later: no run is older.
pub(crate) fn ago(age: Duration) -> SystemTime {
    SystemTime::now().checked_sub(age).map_or(UNIX_EPOCH, |moment| moment.max(UNIX_EPOCH))
}

/// Reads an age: `30d`, `12h`, `2weeks`.
pub(crate) fn parse_age(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| format!("`{text}` is not an age: write it as 30d, 12h or 2weeks"))
}
