//! A plan as flags would make it.

use std::error::Error;
use std::time::Duration;

use model::plan::{Draft, Plan, StudyPlan};
use model::study::StudyDescription;

/// A minute with these studies (those that run by default where none is named) on these
/// places, with these settings.
pub fn plan(
    registry: &[&'static StudyDescription],
    studies: &[&str],
    places: &[&str],
    settings: &[&str],
) -> Result<Plan, Box<dyn Error + Send + Sync>> {
    let chosen = registry.iter().filter(|spec| match studies {
        [] => spec.by_default,
        named => named.contains(&spec.name.as_str()),
    });
    let places: Result<Vec<_>, _> = places.iter().map(|place| place.parse()).collect();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(60)),
        places: places?,
        studies: chosen.map(|spec| StudyPlan::new(spec)).collect(),
        ..Draft::default()
    };
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    draft.set_all(&settings, registry)?;
    Ok(draft.finish(7)?)
}
