//! Plan files that are right, and plan files that are wrong in every way there is.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

use model::arm::pairs;
use model::plan::StudyPlan;
use model::plan_file::parse;

fn plans(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What a plan makes of a file: its arms and comparisons, or what is wrong.
fn told(file: &Path) -> String {
    let name = file.file_name().unwrap().to_string_lossy();
    let registry = iotoll_studies::specs();
    let plan = parse(&fs::read_to_string(file).unwrap(), &name, &registry)
        .map_err(|e| e.to_string())
        .and_then(|mut draft| {
            if draft.places.is_empty() {
                draft.places = vec!["here=.".parse().unwrap()];
            }
            if draft.studies.is_empty() {
                draft.studies = registry.iter().map(|spec| StudyPlan::new(spec)).collect();
            }
            draft.finish(1).map_err(|e| e.to_string())
        });
    let text = match plan {
        Err(wrong) => wrong,
        Ok(plan) => {
            let arms = plan.arms();
            let compared = pairs(&arms)
                .iter()
                .map(|p| format!("  {} against {}\n", arms[p.other].id, arms[p.base].id))
                .collect::<String>();
            format!(
                "threshold {} budget {:?} seed {}\n{compared}",
                plan.threshold, plan.budget, plan.seed
            )
        }
    };
    format!("{name}: {}\n", text.trim_start_matches(&format!("{name}:")))
}

#[test]
fn valid_plans_become_arms_and_comparisons() {
    let all: String = plans("valid").iter().map(|file| told(file)).collect();
    insta::assert_snapshot!(all);
}

#[test]
fn invalid_plans_are_answered_with_line_column_and_remedy() {
    let all: String = plans("invalid").iter().map(|file| told(file)).collect();
    insta::assert_snapshot!(all);
}

proptest::proptest! {
    /// Whatever a file holds, it is read or answered, never a panic.
    #[test]
    fn no_text_is_too_strange(text in "(\\[\\[study\\]\\]\n|name = |\"log\"\n|record|sync|\\PC|[\\[\\]=\"\n,{}]){0,40}") {
        let _ = parse(&text, "strange.toml", &iotoll_studies::specs());
    }

    #[test]
    fn no_quantity_is_too_strange(text in "\\PC{0,24}|[0-9.eE+-]{1,12} ?[a-zA-Z%]{0,3}") {
        let _ = units::parse_size(&text);
        let _ = units::parse_duration(&text);
        let _ = units::parse_share(&text);
        let _ = text.parse::<model::place::PlaceRequest>();
    }
}
