//! JSON Schemas, as schemars makes them of types.

use std::collections::HashSet;

use rand::Rng;
use rand::seq::IndexedRandom as _;
use serde_json::{Map, Value};

use super::values;

/// Values are made so deep.
const DEPTH_MAX: usize = 6;

/// The schema of a type.
pub struct Schema {
    whole: Value,
    /// Of all its objects.
    fields: HashSet<String>,
    words: &'static [&'static str],
}

impl Schema {
    /// Takes a JSON Schema, and words for its texts.
    pub fn new(whole: Value, words: &'static [&'static str]) -> Self {
        let mut fields = HashSet::new();
        collect_fields(&whole, &mut fields);
        Self { whole, fields, words }
    }

    /// The part that describes whole inputs.
    pub fn root(&self) -> &Value {
        &self.whole
    }

    /// Whether any object has a field of that name.
    pub fn has_field(&self, name: &str) -> bool {
        self.fields.contains(name)
    }

    /// Words that the parser knows.
    pub fn words(&self) -> &'static [&'static str] {
        self.words
    }

    /// The part that describes a value. References are followed, and of several alternatives the
    /// fitting one is chosen.
    pub fn of<'a>(&'a self, part: &'a Value, value: &Value) -> Option<&'a Value> {
        let part = self.resolved(part);
        match alternatives(part) {
            Some(all) => all.iter().find_map(|one| self.of(one, value)),
            None => fits(part, value).then_some(part),
        }
    }

    fn resolved<'a>(&'a self, mut part: &'a Value) -> &'a Value {
        while let Some(name) = part["$ref"].as_str().and_then(|at| at.strip_prefix("#/$defs/")) {
            part = &self.whole["$defs"][name];
        }
        part
    }

    /// Makes a value that this part describes.
    pub fn make(&self, part: &Value, random: &mut impl Rng) -> Value {
        self.make_within(part, DEPTH_MAX, random)
    }

    fn make_within(&self, part: &Value, depth: usize, random: &mut impl Rng) -> Value {
        let part = self.resolved(part);
        if let Some(chosen) = alternatives(part).and_then(|all| choose(all, depth, random)) {
            return self.make_within(chosen, depth, random);
        }
        if let Some(only) = part.get("const") {
            return only.clone();
        }
        if let Some(one) = part["enum"].as_array().and_then(|all| all.choose(random)) {
            return one.clone();
        }
        let format = part["format"].as_str();
        match type_of(part, random) {
            Some("null") => Value::Null,
            Some("boolean") => random.random::<bool>().into(),
            Some("integer") => values::whole(format, None, random),
            Some("number") => values::fraction(None, random),
            Some("string") => values::text(self.words, random).into(),
            Some("array") => self.make_list(part, depth, random),
            Some("object") => self.make_object(part, depth, random),
            _ => values::whole(None, None, random),
        }
    }

    fn make_list(&self, part: &Value, depth: usize, random: &mut impl Rng) -> Value {
        if let Some(items) = part["prefixItems"].as_array() {
            return items.iter().map(|item| self.make_below(item, depth, random)).collect();
        }
        let least = part["minItems"].as_u64().unwrap_or(0);
        let count = random.random_range(0..=if depth == 0 { 0 } else { 3 }).max(least);
        (0..count).map(|_| self.make_below(&part["items"], depth, random)).collect()
    }

    fn make_object(&self, part: &Value, depth: usize, random: &mut impl Rng) -> Value {
        let mut object = Map::new();
        for (name, property) in part["properties"].as_object().into_iter().flatten() {
            if is_required(part, name) || depth > 0 && random.random() {
                object.insert(name.clone(), self.make_below(property, depth, random));
            }
        }
        if let Some(any) = part.get("additionalProperties").filter(|any| any.is_object())
            && depth > 0
        {
            for _ in 0..random.random_range(0..3) {
                let name = values::text(self.words, random);
                object.insert(name, self.make_below(any, depth, random));
            }
        }
        object.into()
    }

    fn make_below(&self, part: &Value, depth: usize, random: &mut impl Rng) -> Value {
        self.make_within(part, depth.saturating_sub(1), random)
    }
}

fn collect_fields(part: &Value, fields: &mut HashSet<String>) {
    if let Some(properties) = part["properties"].as_object() {
        fields.extend(properties.keys().cloned());
    }
    let lists = part.as_array().into_iter().flatten();
    let objects = part.as_object().into_iter().flat_map(Map::values);
    for part in lists.chain(objects) {
        collect_fields(part, fields);
    }
}

/// The part that describes a value of an object.
pub fn property<'a>(part: &'a Value, name: &str) -> Option<&'a Value> {
    let named = part["properties"].get(name);
    named.or_else(|| part.get("additionalProperties").filter(|any| any.is_object()))
}

/// The part that describes an item of a list.
pub fn item(part: &Value, index: usize) -> Option<&Value> {
    let fixed = part["prefixItems"].as_array().and_then(|items| items.get(index));
    fixed.or_else(|| part.get("items"))
}

fn alternatives(part: &Value) -> Option<&[Value]> {
    ["anyOf", "oneOf"].iter().find_map(|name| part[name].as_array()).map(Vec::as_slice)
}

/// One at random; at the greatest depth, one without parts.
fn choose<'a>(all: &'a [Value], depth: usize, random: &mut impl Rng) -> Option<&'a Value> {
    let small = |one: &&Value| one["type"] == "null" || one.get("const").is_some();
    let first = if depth == 0 { all.iter().find(small) } else { None };
    first.or_else(|| all.choose(random))
}

fn is_required(part: &Value, name: &str) -> bool {
    part["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
}

/// The type; if there are several, one at random.
fn type_of<'a>(part: &'a Value, random: &mut impl Rng) -> Option<&'a str> {
    match &part["type"] {
        Value::Array(all) => all.choose(random)?.as_str(),
        one => one.as_str(),
    }
}

/// Whether a value may be one of this part, by its type, its constants and its fields' names.
fn fits(part: &Value, value: &Value) -> bool {
    if let Some(only) = part.get("const") {
        return only == value;
    }
    if let Some(all) = part["enum"].as_array() {
        return all.contains(value);
    }
    let is = |name: &str| match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(_) => name == "number" || name == "integer",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    };
    let has_type = match &part["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    let names = part["required"].as_array();
    let has_fields = value.as_object().is_none_or(|object| {
        names.into_iter().flatten().filter_map(Value::as_str).all(|name| object.contains_key(name))
    });
    has_type && has_fields
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let whole = json!({
            "type": "object",
            "properties": {
                "kind": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}]},
                "by_name": {"type": "object", "additionalProperties": {"type": "number"}},
            },
            "required": ["kind"],
            "$defs": {"Kind": {"oneOf": [{"const": "a"}, {
                "type": "object",
                "properties": {"b": {"type": "integer", "format": "uint8"}},
                "required": ["b"],
            }]}},
        });
        Schema::new(whole, &["word"])
    }

    #[test]
    fn a_value_is_described_by_the_alternative_that_it_is_of() {
        let schema = schema();
        let kind = property(schema.root(), "kind").expect("it has one");
        let of = |value| schema.of(kind, &value);
        assert_eq!(of(json!("a")), Some(&json!({"const": "a"})));
        assert_eq!(of(json!("c")), None);
        let b = of(json!({"b": 3})).and_then(|part| property(part, "b"));
        assert_eq!(b.map(|part| &part["format"]), Some(&json!("uint8")));
        let any = property(schema.root(), "by_name").and_then(|part| property(part, "x"));
        assert_eq!(any, Some(&json!({"type": "number"})));
    }

    #[test]
    fn what_is_made_is_as_the_schema_says() {
        let (schema, mut random) = (schema(), ChaCha8Rng::seed_from_u64(1));
        let mut seen = [0; 4];
        for _ in 0..500 {
            let made = schema.make(schema.root(), &mut random);
            match &made["kind"] {
                Value::Null => seen[0] += 1,
                Value::String(text) if text == "a" => seen[1] += 1,
                kind => {
                    assert!(kind["b"].as_u64().is_some_and(|b| b < 256), "{made}");
                    seen[2] += 1;
                }
            }
            if let Some(pair) = made.get("pair") {
                assert!(pair[0].is_string() && pair[1].is_boolean(), "{made}");
                seen[3] += 1;
            }
        }
        assert!(seen.iter().all(|times| *times > 50), "{seen:?}");
    }
}
