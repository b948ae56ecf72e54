//! What every command does with its result, in this order: save it, then print it.

use anyhow::Context as _;
use model::document;
use serde::Serialize;

use crate::json_target::JsonTarget;
use crate::output;

/// Writes a result as JSON where that is asked for, and then prints its report, unless
/// standard output has the JSON. What goes wrong with one does not keep the other.
pub(crate) fn deliver(
    json: Option<JsonTarget>,
    document: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let prints = !json.as_ref().is_some_and(JsonTarget::is_stdout);
    let saved = json.map_or(Ok(()), |json| json.write(&as_json(document)?));
    let printed = if prints { output::result(&report(output::width())) } else { Ok(()) };
    saved.and(printed)
}

fn as_json(document: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut json = Vec::new();
    document::write(document, &mut json).context("writing the result as JSON")?;
    json.push(b'\n');
    Ok(json)
}
