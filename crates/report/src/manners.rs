//! How the run treated the machine: what ended it early, what it wrote, and what gentleness
//! does to its figures.

use model::run::{Invocation, LeftOut, PlaceWrites, PlanRecord, Run};
use units::{exact_size, rough_size};

use crate::text::{Width, paragraph};

/// Why the run ended before its budget did, if so.
pub(crate) fn ended_early(run: &Invocation, width: Width) -> String {
    let Some(why) = &run.ended_early else { return String::new() };
    paragraph("", "", &format!("Ended early: {why}."), width)
}

/// The places that could not be made, each with the reason.
pub(crate) fn left_out(run: &Invocation, width: Width) -> String {
    left_out_sentences(run).map(|text| paragraph("", "", &text, width)).collect()
}

/// The same in sentences.
pub(crate) fn left_out_sentences(run: &Invocation) -> impl Iterator<Item = String> {
    run.left_out.iter().map(|LeftOut { label, target, why }| {
        format!("Left out: {label}={target}: {}.", why.trim_end_matches('.'))
    })
}

/// What was written to each place that wears, and what might have been.
pub(crate) fn writes(run: &Run, width: Width) -> String {
    writes_sentence(run).map_or_else(String::new, |text| paragraph("", "", &text, width))
}

/// The same in a sentence.
pub(crate) fn writes_sentence(run: &Run) -> Option<String> {
    let writes = run.run.writes.as_ref()?;
    let told = run.places.iter().zip(&writes.places).filter(|(_, place)| place.wears);
    let told = told.map(|(place, PlaceWrites { written_bytes, .. })| {
        format!("{} to {}", rough_size(*written_bytes), place.label)
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        return None;
    }
    let limit = exact_size(writes.limit_bytes);
    Some(format!("Written: {}, of {limit} allowed (--write-limit).", told.join(", ")))
}

/// What gentleness does to the figures.
pub(crate) fn gentle(plan: &PlanRecord, width: Width) -> String {
    if !plan.gentle {
        return String::new();
    }
    paragraph("", "", GENTLE, width)
}

/// What a gentle run says of itself.
pub(crate) const GENTLE: &str = "Gentle: slices were small, with pauses many times as long between them, and \
                the storage was asked to serve others first. Processor caches and devices go \
                cold meanwhile, so that times may be higher than in a busy application, and \
                intervals are wider than without --gentle.";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::run::Writes;

    use super::*;

    fn plan(gentle: bool) -> PlanRecord {
        let (arms, pairs) = (Vec::new(), Vec::new());
        PlanRecord {
            threshold: 0.05,
            error_rate: 0.05,
            budget_s: 60.0,
            rounds: None,
            arms,
            pairs,
            gentle,
            per_second: [].into(),
            taken_for: [].into(),
        }
    }

    #[test]
    fn a_gentle_run_says_what_that_does_to_its_figures_and_another_says_nothing() {
        assert!(gentle(&plan(true), 80).contains("times may be higher"));
        assert_eq!(gentle(&plan(false), 80), "");
    }

    #[test]
    fn an_early_end_is_told_with_its_reason() {
        let place = PlaceWrites { wears: true, written_bytes: 1 };
        let run = Invocation {
            ended_early: Some("the disk is full".to_owned()),
            writes: Some(Writes { limit_bytes: 2, places: vec![place] }),
            ..Invocation::default()
        };
        assert_eq!(ended_early(&run, 80), "Ended early: the disk is full.\n");
        assert_eq!(ended_early(&Invocation { ended_early: None, ..run }, 80), "");
    }
}
