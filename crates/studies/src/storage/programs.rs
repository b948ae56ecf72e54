//! Programs whose commits were recorded, with what their documentation asks of storage.
//!
//! Each is a file of TOML, written by `cargo xtask bench profiles`, which records it again.

use std::sync::LazyLock;

use model::check::Program;
use serde::Deserialize;
use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::profile::FileAtStart;

/// The files, in the order in which programs are listed.
const FILES: &[(&str, &str)] = &[
    ("etcd", include_str!("programs/etcd.toml")),
    ("postgresql", include_str!("programs/postgresql.toml")),
    ("sqlite", include_str!("programs/sqlite.toml")),
    ("redis-aof", include_str!("programs/redis-aof.toml")),
];

/// A program and its commits.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RecordedProgram {
    /// What is known of it, and what it needs.
    #[serde(flatten)]
    pub(crate) program: Program,
    /// Its files.
    pub(super) files: Vec<FileAtStart>,
    /// Its commits, as `profile` describes them.
    pub(super) commits: Vec<String>,
}

static ALL: LazyLock<Vec<RecordedProgram>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| match read(text) {
        Ok(program) => program,
        Err(why) => unreachable!("the program's file of {name} is kept with this one: {why}"),
    };
    FILES.iter().map(read).collect()
});

fn read(text: &str) -> Result<RecordedProgram, String> {
    let table = DeTable::parse(text).map_err(|error| error.to_string())?;
    let value = DeValue::Table(table.into_inner());
    serde_json::from_value(json(&value)).map_err(|error| error.to_string())
}

/// The same value in another notation, which types of ours can be read of.
fn json(value: &DeValue<'_>) -> Value {
    let number = |text: &str| text.replace('_', "").parse::<Number>().map(Value::Number);
    match value {
        DeValue::Table(table) => {
            let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                (key.to_string(), json(value.get_ref()))
            };
            Value::Object(table.iter().map(entry).collect())
        }
        DeValue::Array(list) => list.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Integer(integer) => number(integer.as_str()).unwrap_or_default(),
        DeValue::Float(float) => number(float.as_str()).unwrap_or_default(),
        DeValue::Boolean(boolean) => Value::Bool(*boolean),
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Datetime(time) => Value::String(time.to_string()),
    }
}

/// All of them.
pub(crate) fn all() -> &'static [RecordedProgram] {
    &ALL
}
