//! Changes values, and follows their schema in most of what it changes.
//!
//! Values at the same place of their type are of one kind, whichever list item they are in. Each kind
//! is equally likely to be changed: a field of the whole record as often as a field of every slice. A
//! change applies to one value of a kind, or to all of them.

use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{Rng, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Number, Value, json};

use super::schema::{Schema, item, property};
use super::values;

/// One change adds fewer copies of an item.
const COPIES_MAX: usize = 100;

/// Changes a value in one place, or in all that are of one kind.
pub(super) fn change(value: &mut Value, schema: &Schema, random: &mut ChaCha8Rng) {
    let mut kinds = Vec::new();
    walk(value, schema, 0, &mut |kind| kinds.push(kind));
    kinds.sort_unstable();
    let groups: Vec<&[u64]> = kinds.chunk_by(|a, b| a == b).collect();
    let Some(group) = groups.choose(random) else { return };
    let only = random.random_ratio(3, 5).then(|| random.random_range(0..group.len()));
    let seed = random.random();
    let mut change = Change { schema, kind: group[0], only, seed, met: 0 };
    change.apply(value, Some(schema.root()), 0);
}

/// Calls `see` with the kind of each value.
fn walk(value: &Value, schema: &Schema, kind: u64, see: &mut impl FnMut(u64)) {
    see(kind);
    match value {
        Value::Array(items) => {
            for item in items {
                walk(item, schema, of_item(kind), see);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                walk(field, schema, of_field(kind, name, schema), see);
            }
        }
        _ => {}
    }
}

fn of_item(kind: u64) -> u64 {
    kind.rotate_left(5).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Keys of maps are all of one kind: they are names that no type has.
fn of_field(kind: u64, name: &str, schema: &Schema) -> u64 {
    if !schema.has_field(name) {
        return of_item(kind);
    }
    name.bytes().fold(of_item(kind), |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// One change.
struct Change<'a> {
    schema: &'a Schema,
    kind: u64,
    /// The number of the value among its kind; all of them change if it is none.
    only: Option<usize>,
    seed: u64,
    met: usize,
}

impl Change<'_> {
    fn apply(&mut self, value: &mut Value, part: Option<&Value>, kind: u64) {
        let part = part.and_then(|part| self.schema.of(part, value).or(Some(part)));
        if kind == self.kind {
            if self.only.is_none_or(|only| only == self.met) {
                self.edit(value, part, &mut ChaCha8Rng::seed_from_u64(self.seed));
            }
            self.met += 1;
            return;
        }
        match value {
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    self.apply(value, part.and_then(|part| item(part, index)), of_item(kind));
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    let part = part.and_then(|part| property(part, name));
                    self.apply(value, part, of_field(kind, name, self.schema));
                }
            }
            _ => {}
        }
    }

    fn edit(&self, value: &mut Value, part: Option<&Value>, random: &mut ChaCha8Rng) {
        match random.random_range(0..40) {
            0 => *value = Value::Null,
            1 => *value = other_type(random),
            2 | 3 if part.is_some() => {
                *value = part.map_or(Value::Null, |part| self.schema.make(part, random));
            }
            4..8 if value.is_array() || value.is_object() => {
                self.fill(value, part, random.random());
            }
            _ => self.edit_as_it_is(value, part, random),
        }
    }

    /// Sets all numbers within to one end of their types: they may be added up.
    fn fill(&self, value: &mut Value, part: Option<&Value>, is_high: bool) {
        let part = part.and_then(|part| self.schema.of(part, value).or(Some(part)));
        match value {
            Value::Number(number) => {
                let format = part.and_then(|part| part["format"].as_str());
                *value = values::end(format, is_whole(number, format), is_high);
            }
            Value::Array(items) => {
                for (index, value) in items.iter_mut().enumerate() {
                    self.fill(value, part.and_then(|part| item(part, index)), is_high);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.fill(value, part.and_then(|part| property(part, name)), is_high);
                }
            }
            _ => {}
        }
    }

    /// Leaves the type as it is.
    fn edit_as_it_is(&self, value: &mut Value, part: Option<&Value>, random: &mut ChaCha8Rng) {
        let words = self.schema.words();
        match value {
            Value::Null => {
                if let Some(part) = part {
                    *value = self.schema.make(part, random);
                }
            }
            Value::Bool(is) => *is = !*is,
            Value::Number(number) => {
                let format = part.and_then(|part| part["format"].as_str());
                *value = if is_whole(number, format) {
                    values::whole(format, Some(number), random)
                } else {
                    values::fraction(number.as_f64(), random)
                };
            }
            Value::String(text) => match random.random_range(0..6) {
                0 => text.insert_str(0, &values::text(words, random)),
                1 => text.push_str(&values::text(words, random)),
                2 => *text = text.chars().rev().collect(),
                _ => *text = values::text(words, random),
            },
            Value::Array(items) => self.edit_list(items, part, random),
            Value::Object(fields) => self.edit_object(fields, part, random),
        }
    }

    fn edit_list(&self, items: &mut Vec<Value>, part: Option<&Value>, random: &mut ChaCha8Rng) {
        let at = random.random_range(0..=items.len());
        match random.random_range(0..10) {
            0 => items.clear(),
            1 => items.truncate(at),
            2 => drop(items.drain(..at)),
            3 => items.extend_from_within(..),
            4 => items.reverse(),
            5 => items.shuffle(random),
            6 if at < items.len() => drop(items.remove(at)),
            7 if at < items.len() => {
                let copies = vec![items[at].clone(); random.random_range(1..COPIES_MAX)];
                items.splice(at..at, copies);
            }
            _ => {
                if let Some(part) = part.and_then(|part| item(part, at)) {
                    items.insert(at, self.schema.make(part, random));
                }
            }
        }
    }

    fn edit_object(
        &self,
        fields: &mut Map<String, Value>,
        part: Option<&Value>,
        random: &mut ChaCha8Rng,
    ) {
        let names: Vec<String> = fields.keys().cloned().collect();
        let name = names.choose(random);
        match (random.random_range(0..8), name) {
            (0, Some(name)) => drop(fields.remove(name)),
            (1, _) => fields.clear(),
            (2 | 3, Some(name)) => {
                if let Some(value) = fields.remove(name) {
                    fields.insert(values::text(self.schema.words(), random), value);
                }
            }
            _ => {
                let known = part.and_then(|part| part["properties"].as_object());
                let missing: Vec<&String> = known
                    .into_iter()
                    .flat_map(Map::keys)
                    .filter(|name| !fields.contains_key(*name))
                    .collect();
                let name = match missing.choose(random) {
                    Some(name) => (*name).clone(),
                    None => values::text(self.schema.words(), random),
                };
                if let Some(part) = part.and_then(|part| property(part, &name)) {
                    fields.insert(name, self.schema.make(part, random));
                }
            }
        }
    }
}

fn is_whole(number: &Number, format: Option<&str>) -> bool {
    (number.is_i64() || number.is_u64()) && format != Some("double")
}

fn other_type(random: &mut impl Rng) -> Value {
    let all = [json!(0), json!(1e308), json!(""), json!([]), json!({}), json!(true), json!([[[]]])];
    all.choose(random).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let number = json!({"type": "integer", "format": "uint64"});
        let whole = json!({
            "type": "object",
            "properties": {
                "once": number, "optional": {"type": "string"},
                "slices": {"type": "array", "items": {
                    "type": "object", "properties": {"a": number, "b": {"type": "boolean"}},
                }},
            },
        });
        Schema::new(whole, &["word"])
    }

    fn changed(seed: u64) -> Value {
        let slice = json!({"a": 7, "b": true});
        let mut value = json!({"once": 7, "slices": vec![slice; 50]});
        change(&mut value, &schema(), &mut ChaCha8Rng::seed_from_u64(seed));
        value
    }

    #[test]
    fn each_field_comes_to_its_last_number_soon() {
        let last = json!(u64::MAX);
        let (mut single, mut one, mut all, mut made) = (0, 0, 0, 0);
        for value in (0..4000).map(changed) {
            single += u32::from(value["once"] == last);
            let slices = value["slices"].as_array().map_or(&[][..], Vec::as_slice);
            let count = slices.iter().filter(|slice| slice["a"] == last).count();
            one += u32::from(count == 1);
            all += u32::from(count == 50);
            made += u32::from(value["optional"].is_string());
        }
        assert!(
            [single, one, all, made].iter().all(|times| *times > 10),
            "{single} {one} {all} {made}"
        );
    }

    #[test]
    fn numbers_that_may_be_added_up_come_to_their_last_together() {
        let is_full = |value: Value| {
            let slices = value["slices"].as_array().map_or(&[][..], Vec::as_slice);
            value["once"] == json!(u64::MAX)
                && !slices.is_empty()
                && slices.iter().all(|slice| slice["a"] == json!(u64::MAX))
        };
        assert!((0..4000).map(changed).any(is_full));
    }

    #[test]
    fn the_same_seed_makes_the_same_change() {
        assert!((0..200).all(|seed| changed(seed) == changed(seed)));
        assert!((0..200).any(|seed| changed(seed) != changed(seed + 1)));
    }
}
