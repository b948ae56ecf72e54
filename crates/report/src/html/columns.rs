//! Slices, column by column: what one slice after another has under the same name stands
//! together, arm by arm, and so compresses to half of what it does slice by slice.
//!
//! It is JSON still. A list of objects with the same names becomes `{"of": {name: column}}`,
//! a list of histograms `{"values": […], "steps": […], "times": […]}`, where the values of all
//! of them are listed once and each histogram has steps from one to the next in that list.
//! Of rows that are not of one kind, as where some objects lack a name, each kind has a column:
//! `{"kinds": [0, 1, 0, …], "each": [column, column]}`. Whole numbers that are shorter as
//! differences become `{"first": 5, "then": [1, -2, …]}`. Any other list stays as it is.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// What the rows may take at most, for each byte of the columns: names and brackets are
/// written again with each row.
const GROWTH_MAX: usize = 64;
/// Larger numbers have no differences, which might not fit.
const WHOLE_MAX: i64 = 1 << 61;

/// A document with its slices as columns.
pub(super) fn packed(mut document: Value) -> Value {
    let Some(Value::Array(slices)) = document.get_mut("slices").map(Value::take) else {
        return document;
    };
    let mut order: Vec<usize> = (0..slices.len()).collect();
    order.sort_by_key(|slice| slices[*slice]["arm"].as_u64());
    let mut slices: Vec<Option<Value>> = slices.into_iter().map(Some).collect();
    let sorted = order.iter().filter_map(|slice| slices[*slice].take());
    let columns = pack(sorted.collect());
    document["slices"] = json!({ "order": order, "columns": columns });
    document
}

/// What rows have in common that have one column.
#[derive(PartialEq, Eq)]
enum Kind {
    /// These names.
    Object(Vec<String>),
    List,
    /// Anything else, null among it.
    Other,
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Object(object) => Kind::Object(object.keys().cloned().collect()),
        Value::Array(_) => Kind::List,
        _ => Kind::Other,
    }
}

fn pack(values: Vec<Value>) -> Value {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut kind_of = Vec::with_capacity(values.len());
    for value in &values {
        let kind = kind(value);
        let position = kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len());
        if position == kinds.len() {
            kinds.push(kind);
        }
        kind_of.push(position);
    }
    match kinds.as_slice() {
        [Kind::Object(names)] => pack_objects(names, values),
        [Kind::List] => match values.iter().map(histogram).collect::<Option<Vec<_>>>() {
            Some(histograms) => pack_histograms(&histograms),
            None => Value::Array(values),
        },
        [Kind::Other] => differences(&values).unwrap_or(Value::Array(values)),
        [] => Value::Array(values),
        several => {
            let mut rows: Vec<Vec<Value>> = several.iter().map(|_| Vec::new()).collect();
            values.into_iter().zip(&kind_of).for_each(|(value, kind)| rows[*kind].push(value));
            let each: Vec<Value> = rows.into_iter().map(pack).collect();
            json!({ "kinds": kind_of, "each": each })
        }
    }
}

fn pack_objects(names: &[String], mut rows: Vec<Value>) -> Value {
    let mut columns: Map<String, Value> = Map::new();
    for name in names {
        let column = rows.iter_mut().map(|row| row[name].take()).collect();
        columns.insert(name.clone(), pack(column));
    }
    json!({ "of": columns })
}

/// Whole numbers as what each differs by from the one before, where that takes fewer digits.
fn differences(values: &[Value]) -> Option<Value> {
    let whole = |value: &Value| value.as_i64().filter(|n| value.is_i64() && n.abs() < WHOLE_MAX);
    let numbers: Vec<i64> = values.iter().map(whole).collect::<Option<_>>()?;
    let first = *numbers.first()?;
    let then: Vec<i64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let digits = |numbers: &[i64]| numbers.iter().map(|n| n.to_string().len()).sum::<usize>();
    (digits(&then) < digits(&numbers[1..])).then(|| json!({ "first": first, "then": then }))
}

/// Values, the smallest first, each with how often it is there.
type Histogram = Vec<(u64, u64)>;

fn histogram(value: &Value) -> Option<Histogram> {
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [value, times] => Some((value.as_u64()?, times.as_u64()?)),
        _ => None,
    };
    let pairs: Histogram = value.as_array()?.iter().map(pair).collect::<Option<_>>()?;
    pairs.is_sorted_by(|a, b| a.0 < b.0).then_some(pairs)
}

fn pack_histograms(histograms: &[Histogram]) -> Value {
    let values: BTreeSet<u64> = histograms.iter().flatten().map(|(value, _)| *value).collect();
    let values: Vec<u64> = values.into_iter().collect();
    let steps = |histogram: &Histogram| {
        let places = histogram.iter().map(|(value, _)| values.partition_point(|v| v < value));
        let mut last = 0;
        places.map(|place| place - std::mem::replace(&mut last, place)).collect::<Vec<_>>()
    };
    let times = |histogram: &Histogram| histogram.iter().map(|(_, times)| *times).collect();
    let all_steps: Vec<Vec<usize>> = histograms.iter().map(steps).collect();
    let all_times: Vec<Vec<u64>> = histograms.iter().map(times).collect();
    json!({ "values": values, "steps": all_steps, "times": all_times })
}

/// The text of a document whose slices are columns, with its slices as rows; nothing where
/// it is not what was packed, or the rows would take more than rows do.
pub(super) fn unpacked(text: &[u8], bytes_max: u64) -> Option<Vec<u8>> {
    let mut document: Map<String, Value> = serde_json::from_slice(text).ok()?;
    let slices = document.remove("slices")?;
    let order: Vec<usize> = serde_json::from_value(slices["order"].clone()).ok()?;
    let column = Column::of(&slices["columns"], order.len())?;
    let mut row_of = vec![None; order.len()];
    for (row, slice) in order.iter().enumerate() {
        *row_of.get_mut(*slice)? = Some(row);
    }
    let bytes_max = text.len().saturating_mul(GROWTH_MAX).min(bytes_max as usize);
    let mut out = serde_json::to_vec(&document).ok()?;
    out.pop();
    out.extend_from_slice(b",\"slices\":[");
    for (slice, row) in row_of.into_iter().enumerate() {
        if slice > 0 {
            out.extend_from_slice(b",\n");
        }
        column.write_row(row?, bytes_max, &mut out)?;
    }
    out.extend_from_slice(b"]}");
    Some(out)
}

/// A column that can be read row by row.
enum Column<'a> {
    Rows(&'a [Value]),
    Numbers(Vec<i64>),
    Objects(Vec<(&'a String, Self)>),
    Histograms {
        values: &'a [Value],
        steps: &'a [Value],
        times: &'a [Value],
    },
    /// Of each row its kind and its position among those, and the columns of the kinds.
    Kinds(Vec<(usize, usize)>, Vec<Self>),
}

impl<'a> Column<'a> {
    /// Reads one of so many rows.
    fn of(column: &'a Value, rows: usize) -> Option<Self> {
        let object = match column {
            Value::Array(values) => return (values.len() == rows).then_some(Self::Rows(values)),
            Value::Object(object) => object,
            _ => return None,
        };
        let list = |name: &str| object.get(name)?.as_array().map(Vec::as_slice);
        if let Some(columns) = object.get("of") {
            let column = |(name, column)| Some((name, Self::of(column, rows)?));
            return columns
                .as_object()?
                .iter()
                .map(column)
                .collect::<Option<_>>()
                .map(Self::Objects);
        }
        if let Some(values) = list("values") {
            let (steps, times) = (list("steps")?, list("times")?);
            let fits = steps.len() == rows && times.len() == rows;
            return fits.then_some(Self::Histograms { values, steps, times });
        }
        if let Some(kinds) = list("kinds") {
            return Self::of_kinds(kinds, list("each")?, rows);
        }
        let mut numbers = vec![object.get("first")?.as_i64()?];
        for difference in list("then")? {
            numbers.push(numbers.last()?.checked_add(difference.as_i64()?)?);
        }
        (numbers.len() == rows).then_some(Self::Numbers(numbers))
    }

    fn of_kinds(kinds: &[Value], each: &'a [Value], rows: usize) -> Option<Self> {
        let mut counts = vec![0; each.len()];
        let mut places = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let kind = kind.as_u64()? as usize;
            let count = counts.get_mut(kind)?;
            places.push((kind, *count));
            *count += 1;
        }
        let columns = each.iter().zip(counts).map(|(column, rows)| Self::of(column, rows));
        let columns = columns.collect::<Option<_>>()?;
        (places.len() == rows).then_some(Self::Kinds(places, columns))
    }

    /// Writes what it has in a row, unless that would be too much.
    fn write_row(&self, row: usize, bytes_max: usize, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Rows(values) => serde_json::to_writer(&mut *out, values.get(row)?).ok()?,
            Self::Numbers(numbers) => {
                out.extend_from_slice(numbers.get(row)?.to_string().as_bytes());
            }
            Self::Objects(columns) => {
                out.push(b'{');
                for (position, (name, column)) in columns.iter().enumerate() {
                    out.extend_from_slice(if position > 0 { b"," } else { b"" });
                    serde_json::to_writer(&mut *out, name).ok()?;
                    out.push(b':');
                    column.write_row(row, bytes_max, out)?;
                }
                out.push(b'}');
            }
            Self::Histograms { values, steps, times } => {
                write_histogram(
                    values,
                    steps.get(row)?.as_array()?,
                    times.get(row)?.as_array()?,
                    out,
                )?;
            }
            Self::Kinds(places, columns) => {
                let (kind, row) = *places.get(row)?;
                columns.get(kind)?.write_row(row, bytes_max, out)?;
            }
        }
        (out.len() <= bytes_max).then_some(())
    }
}

fn write_histogram(
    values: &[Value],
    steps: &[Value],
    times: &[Value],
    out: &mut Vec<u8>,
) -> Option<()> {
    if steps.len() != times.len() {
        return None;
    }
    let mut place: usize = 0;
    out.push(b'[');
    for (position, (step, times)) in steps.iter().zip(times).enumerate() {
        place = place.checked_add(step.as_u64()? as usize)?;
        let (value, times) = (values.get(place)?.as_u64()?, times.as_u64()?);
        out.extend_from_slice(if position > 0 { b"," } else { b"" });
        out.extend_from_slice(format!("[{value},{times}]").as_bytes());
    }
    out.push(b']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        json!({ "schema": "iotoll.result/2", "slices": [
            { "arm": 1, "phase": { "block": 0 }, "x": { "buckets": [[5, 1], [9, 2]], "max": 9 } },
            { "arm": 0, "phase": "warmup", "x": { "buckets": [], "max": 1.5 } },
            { "arm": 1, "phase": "warmup", "x": { "buckets": [[7, 3], [9, 1]], "max": null } },
            { "arm": 1, "n": 1_000_000, "x": null },
            { "arm": 1, "n": 1_000_001, "x": { "max": 2 } },
            { "arm": 1, "n": 999_999, "x": { "max": [1, "a"] } },
        ]})
    }

    #[test]
    fn what_is_packed_is_unpacked_in_its_order() {
        let packed = packed(document());
        assert_eq!(packed["slices"]["order"], json!([1, 0, 2, 3, 4, 5]));
        let columns = &packed["slices"]["columns"];
        assert_eq!(columns["kinds"], json!([0, 0, 0, 1, 1, 1]));
        assert_eq!(columns["each"][1]["of"]["n"], json!({ "first": 1_000_000, "then": [1, -2] }));
        let buckets = &columns["each"][0]["of"]["x"]["of"]["buckets"];
        assert_eq!(
            *buckets,
            json!({ "values": [5, 7, 9], "steps": [[], [0, 2], [1, 1]], "times": [[], [1, 2], [3, 1]] })
        );
        let rows = unpacked(packed.to_string().as_bytes(), 1 << 20);
        let rows: Value = serde_json::from_slice(&rows.unwrap_or_default()).unwrap_or_default();
        assert_eq!(rows, document());
    }

    #[test]
    fn what_was_never_packed_is_refused() {
        let text = packed(document()).to_string();
        let refused = |text: &str| unpacked(text.as_bytes(), 1 << 20).is_none();
        for (from, to) in [
            ("[1,0,2,3,", "[1,0,2,9,"),
            ("[1,0,2,3,", "[1,1,2,3,"),
            ("[1,0,2,3,", "[1,0,2,"),
            ("[1,0,2,3,", "[1,0,2,3,6,"),
            ("[0,0,0,1,1,1]", "[0,0,0,1,1,2]"),
            ("[0,0,0,1,1,1]", "[0,0,0,0,1,1]"),
            ("[0,0,0,1,1,1]", "[0,0,0,1,1]"),
            ("\"first\":1000000", "\"first\":9223372036854775807"),
            ("[1,-2]", "[1]"),
            ("[0,2]", "[0,99]"),
            ("[0,2]", "[0]"),
            ("[0,2]", "[18446744073709551615,2]"),
            ("\"times\"", "\"time\""),
            ("\"of\"", "\"if\""),
        ] {
            assert!(text.contains(from), "{text}");
            assert!(refused(&text.replacen(from, to, 1)), "{from} as {to}");
        }
        assert!(!refused(&text));
    }

    #[test]
    fn rows_that_would_take_far_more_than_the_columns_are_refused() {
        let order: Vec<usize> = (0..5000).collect();
        let name = "x".repeat(100_000);
        let columns = json!({ "of": { name: vec![0; 5000] } });
        let text = json!({ "slices": { "order": order, "columns": columns } }).to_string();
        assert_eq!(unpacked(text.as_bytes(), u64::MAX >> 1), None);
    }
}
