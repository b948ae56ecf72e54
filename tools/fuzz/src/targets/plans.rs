//! Plan files, places and settings.

use model::created::CreatedPlace;
use model::place::{self, PlaceRequest};
use model::place_argument::PlaceArgument;
use model::plan::{Draft, StudyPlan};
use model::plan_file;
use model::printable::printable;
use model::study::{ParamDescription, ParamValue, StudyDescription};
use serde_json::{Map, Value, json};

use super::{checks, lines};
use crate::Target;
use crate::mutate::Form;
use crate::mutate::schema::Schema;

const PLAN: &[&str] = &[
    "/var/log",
    "tmpfs:64M",
    "image:ext4:64M",
    "overlay:/srv",
    "5%",
    "2s",
    "1.5 min",
    "8 KiB",
    "every 10ms",
    "each",
    "never",
    "max",
    "uniform 50 B..500 B",
    "1979-05-27",
    "1000/s",
];
const SETTINGS: &[&str] = &[
    "log.", "page.", "serve.", "sqlite.", "sync=", "every ", "uniform ", "..", "max", "never",
    "each", "ms", " KiB", ",", "=", "/s",
];
const PLACES: &[&str] = &[
    "=", ":", "@", "/", "tmpfs:", "image:", "ext4", "xfs", "btrfs", "overlay:", "zram:", "huge=",
    "always", "sync", "noatime", "1G", "64M",
];

pub(super) fn all() -> Vec<Target> {
    let of_plans = || Form::Toml(Schema::new(plan_schema(), PLAN));
    vec![
        Target::new("plan", 300, of_plans, plans, plan),
        Target::new("setting", 800, || Form::Text(SETTINGS), settings, setting).bytes_max(1 << 12),
        Target::new("place", 1100, || Form::Text(PLACES), places, place).bytes_max(1 << 12),
    ]
}

/// The schema of plan files, made from the studies' specifications.
fn plan_schema() -> Value {
    let text = json!({"type": ["string", "integer", "number"]});
    let several = |one: Value| json!({"anyOf": [one, {"type": "array", "items": one}]});
    let study = |spec: &&StudyDescription| {
        let names: Vec<&str> =
            spec.strategies.iter().map(|strategy| strategy.name.as_str()).collect();
        let mut properties = Map::new();
        for param in &spec.params {
            properties.insert(param.name.clone(), several(text.clone()));
        }
        properties.insert("name".to_owned(), json!({"const": spec.name}));
        properties.insert("strategy".to_owned(), several(json!({"enum": names})));
        properties.insert("per_second".to_owned(), text.clone());
        json!({"type": "object", "properties": properties, "required": ["name"]})
    };
    let studies: Vec<Value> = studies::specs().iter().map(study).collect();
    json!({
        "type": "object",
        "properties": {
            "worth": text, "error_rate": text, "budget": text,
            "seed": {"type": "integer", "format": "int64"},
            "places": {"type": "object", "additionalProperties": {"type": "string"}},
            "study": {"type": "array", "items": {"anyOf": studies}},
        },
    })
}

/// The project's examples, and for each study a plan that sets all of its parameters.
fn plans() -> Vec<Vec<u8>> {
    let examples: [&[u8]; 5] = [
        include_bytes!("../../../../examples/log.toml"),
        include_bytes!("../../../../examples/log-locking.toml"),
        include_bytes!("../../../../examples/page.toml"),
        include_bytes!("../../../../examples/serve.toml"),
        include_bytes!("../../../../examples/php-sqlite.toml"),
    ];
    let mut all = examples.map(<[u8]>::to_vec).to_vec();
    for spec in studies::specs() {
        let mut study = Map::new();
        for param in &spec.params {
            study.insert(param.name.clone(), param.default.join(", ").into());
        }
        study.insert("name".to_owned(), spec.name.clone().into());
        let places = json!({"a": "/x", "b": "tmpfs:64M"});
        let plan = json!({"worth": "5%", "seed": 7, "places": places, "study": [study]});
        all.extend(toml::to_string(&plan).map(String::into_bytes));
    }
    all
}

fn plan(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    match plan_file::parse(text, "plan.toml", &studies::specs()) {
        Ok(mut draft) => {
            draft.fill_in("plan", "/a folder's");
            finished(draft);
            true
        }
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "a plan: {error}");
            checks::message(&error.to_string());
            false
        }
    }
}

/// From a draft to the arms and their pairs, with defaults where nothing was said.
fn finished(mut draft: Draft) {
    if draft.places.is_empty() {
        draft.places = ["a=/a", "b=/b"].iter().filter_map(|place| place.parse().ok()).collect();
    }
    match draft.finish(7) {
        Ok(plan) => {
            let arms = plan.arms();
            model::arm::pairs(&arms);
        }
        Err(error) => checks::message(&error.to_string()),
    }
}

fn places() -> Vec<Vec<u8>> {
    lines(
        "disk=/var/log\na=tmpfs:1G:huge=always\nimage:xfs:1G:sync@/a\nzram:1G\nx=\noverlay:/srv\n\
         image:btrfs:256M:noatime,compress=zstd@/var/tmp\n/dev/shm",
    )
}

fn place(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if let Err(error) = text.parse::<PlaceArgument>() {
        checks::message(&error.to_string());
    }
    match text.parse::<PlaceRequest>() {
        Ok(place) => {
            assert_eq!(printable(&place.label), place.label, "a label: it is hidden");
            // A run's record has it as text, which reads back as the same.
            if let place::Target::Created(created) = &place.target {
                let again = created.to_string().parse::<CreatedPlace>();
                assert_eq!(again.as_ref(), Ok(created), "a place: it reads otherwise");
            }
            true
        }
        Err(error) => {
            checks::message(&error.to_string());
            false
        }
    }
}

fn settings() -> Vec<Vec<u8>> {
    let setting = |spec: &StudyDescription| {
        let of = |param: &ParamDescription| {
            format!("{}.{}={}", spec.name, param.name, param.default.join(","))
        };
        spec.params.iter().map(of).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = studies::specs().into_iter().flat_map(setting).collect();
    all.extend(
        ["log.record=uniform 50 B..500 B", "log.sync=every 10ms", "log.rate=1000/s"]
            .map(String::from),
    );
    all.into_iter().map(String::into_bytes).collect()
}

/// A setting's values read back as the same from what the record of a run has of them.
fn setting(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let registry = studies::specs();
    let studies = registry.iter().map(|spec| StudyPlan::new(spec)).collect();
    let mut draft = Draft { studies, ..Draft::default() };
    if let Err(error) = draft.set_all(&[text.to_string()], &registry) {
        checks::message(&error.to_string());
        return false;
    }
    draft.studies.retain(|study| !study.factors.is_empty());
    for study in &draft.studies {
        for (name, values) in &study.factors {
            let Some(param) = study.spec.param(name) else { continue };
            for value in values.iter().filter(|value| !matches!(value, ParamValue::Text(_))) {
                let again = param.parse(&value.to_string());
                assert_eq!(again.as_ref(), Ok(value), "a setting: {text}");
            }
        }
    }
    finished(draft);
    true
}
