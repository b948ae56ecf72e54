//! How a server is loaded, as the command line says it.

use std::time::Duration;

use load::{Plan, Steps, Target};
use trial::Serving;

use crate::commands::TryArgs;
use crate::exit::UsageError;

/// A run lasts so long unless it is said how many connections it has.
const SECONDS: f64 = 2.0;
/// A server may take so long to be ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// The load; none of a command that ends by itself.
pub(crate) fn serving(args: &TryArgs) -> anyhow::Result<Option<Serving>> {
    let (Some(_), Some(ready), Some(load)) = (&args.serve, &args.ready, &args.load) else {
        return Ok(None);
    };
    let wrong = |why: &str| UsageError(format!("--load '{load}': {why}"));
    let (mut url, mut rate, mut connections) = (None, None, None);
    let mut words = load.split_whitespace();
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse::<f64>().ok());
        match word {
            "--rate" => rate = number().filter(|rate| *rate > 0.0),
            "--connections" => connections = number().filter(|count| *count >= 1.0),
            _ if word.starts_with('-') => {
                return Err(wrong("there is --rate N and --connections N").into());
            }
            _ => url = Some(word),
        }
    }
    let (Some(url), Some(rate)) = (url, rate) else {
        return Err(
            wrong("write a URL and a rate, as in 'http://localhost:8000/ --rate 50'").into()
        );
    };
    let connections = connections.unwrap_or(rate * SECONDS).ceil().max(1.0) as u64;
    let steps = Steps::Rates { rates: vec![rate], connections: Some(connections) };
    let plan = Plan::new(Target::parse(url)?, steps);
    let ready = Target::parse(ready)?.address;
    Ok(Some(Serving { ready, patience: PATIENCE, plan }))
}
