//! Slices, column by column: what one slice after another has under the same name stands
//! together, arm by arm, and so compresses to half of what it does slice by slice.
//!
//! It is JSON still. A list of objects with the same names becomes `{"of": {name: column}}`,
//! a list of histograms `{"values": […], "steps": […], "times": […]}`, where the values of all
//! of them are listed once and each histogram has steps from one to the next in that list,
//! and any other list stays as it is.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// What the rows may take at most, for each byte of the columns: names and brackets are
/// written again with each row.
const GROWTH_MAX: usize = 64;

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

fn pack(values: Vec<Value>) -> Value {
    let names = |value: &Value| value.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
    let Some(first) = values.first() else { return Value::Array(values) };
    if let Some(names) =
        names(first).filter(|own| values.iter().all(|v| names(v).as_ref() == Some(own)))
    {
        let mut columns: Map<String, Value> = Map::new();
        let mut rows = values;
        for name in names {
            let column = rows.iter_mut().map(|row| row[&name].take()).collect();
            columns.insert(name, pack(column));
        }
        return json!({ "of": columns });
    }
    match values.iter().map(histogram).collect::<Option<Vec<_>>>() {
        Some(histograms) => pack_histograms(&histograms),
        None => Value::Array(values),
    }
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
    let columns = &slices["columns"];
    let mut row_of = vec![None; order.len()];
    for (row, slice) in order.iter().enumerate() {
        *row_of.get_mut(*slice)? = Some(row);
    }
    let bytes_max = text.len().saturating_mul(GROWTH_MAX).min(bytes_max as usize);
    let bounds = Bounds { rows: order.len(), bytes_max };
    let mut out = serde_json::to_vec(&document).ok()?;
    out.pop();
    out.extend_from_slice(b",\"slices\":[");
    for (slice, row) in row_of.into_iter().enumerate() {
        if slice > 0 {
            out.extend_from_slice(b",\n");
        }
        write_row(columns, row?, bounds, &mut out)?;
    }
    out.extend_from_slice(b"]}");
    Some(out)
}

/// How many rows there are, and what they may take.
#[derive(Clone, Copy)]
struct Bounds {
    rows: usize,
    bytes_max: usize,
}

/// Writes what a column has in a row, unless that would be too much.
fn write_row(column: &Value, row: usize, bounds: Bounds, out: &mut Vec<u8>) -> Option<()> {
    match column {
        Value::Array(values) if values.len() != bounds.rows => return None,
        Value::Array(values) => serde_json::to_writer(&mut *out, values.get(row)?).ok()?,
        Value::Object(object) => match (object.get("of"), object.get("values")) {
            (Some(Value::Object(columns)), _) => {
                out.push(b'{');
                for (position, (name, column)) in columns.iter().enumerate() {
                    out.extend_from_slice(if position > 0 { b"," } else { b"" });
                    serde_json::to_writer(&mut *out, name).ok()?;
                    out.push(b':');
                    write_row(column, row, bounds, out)?;
                }
                out.push(b'}');
            }
            (_, Some(Value::Array(values))) => {
                let of_row = |name: &str| object.get(name)?.get(row)?.as_array();
                write_histogram(values, of_row("steps")?, of_row("times")?, out)?;
            }
            _ => return None,
        },
        _ => return None,
    }
    (out.len() <= bounds.bytes_max).then_some(())
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
        ]})
    }

    #[test]
    fn what_is_packed_is_unpacked_in_its_order() {
        let packed = packed(document());
        assert_eq!(packed["slices"]["order"], json!([1, 0, 2]));
        let buckets = &packed["slices"]["columns"]["of"]["x"]["of"]["buckets"];
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
            ("[1,0,2]", "[1,0,3]"),
            ("[1,0,2]", "[1,1,2]"),
            ("[1,0,2]", "[1,0]"),
            ("[1,0,2]", "[1,0,2,3]"),
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
