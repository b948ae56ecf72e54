//! The memory that a result from elsewhere may take while it is read.
//!
//! JSON can be much smaller than what becomes of it: `"",` is three bytes, and a text in a list
//! takes more than twenty. All lists and maps of a record are read by these functions, which
//! count what each item takes, and end the reading where that is more than it may.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// About what an allocation takes besides what was asked for.
const ALLOCATION_BYTES: usize = 32;
/// About what an entry of a map takes: its share of a node that is half full, and its name.
const ENTRY_BYTES: usize = 128;

thread_local! {
    /// What may still be taken; as much as there is where nobody set a bound.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Reads something that may take so much memory, and no more than a bound around this leaves.
pub(crate) fn within<T>(bytes: usize, read: impl FnOnce() -> T) -> T {
    let around = LEFT.get();
    let most = bytes.min(around);
    LEFT.set(most);
    let done = read();
    let taken = most - LEFT.get();
    LEFT.set(if around == usize::MAX { around } else { around - taken });
    done
}

fn take<E: Error>(bytes: usize) -> Result<(), E> {
    let left = LEFT.get().checked_sub(bytes);
    LEFT.set(
        left.ok_or_else(|| E::custom("it is larger than results may be that are read at once"))?,
    );
    Ok(())
}

/// A list whose items are counted.
pub(crate) fn list<'de, D, T>(source: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    source.deserialize_seq(Items(PhantomData))
}

/// The same where there may be none.
pub(crate) fn optional_list<'de, D, T>(source: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Counted<T>(Vec<T>);

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Counted<T> {
        fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
            list(source).map(Self)
        }
    }

    Ok(Option::<Counted<T>>::deserialize(source)?.map(|counted| counted.0))
}

/// A map whose entries are counted.
pub(crate) fn map<'de, D, T>(source: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    source.deserialize_map(Entries(PhantomData))
}

struct Items<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Vec<T>, A::Error> {
        let allocation = if std::mem::needs_drop::<T>() { ALLOCATION_BYTES } else { 0 };
        let mut items = Vec::new();
        take(ALLOCATION_BYTES)?;
        while let Some(item) = source.next_element()? {
            take(size_of::<T>() + allocation)?;
            items.push(item);
        }
        items.shrink_to_fit();
        Ok(items)
    }
}

struct Entries<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = BTreeMap<String, T>;

    fn expecting(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some((name, value)) = source.next_entry()? {
            take(ENTRY_BYTES + size_of::<T>())?;
            entries.insert(name, value);
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;
    use crate::load::LoadRun;
    use crate::run::Run;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Record {
        #[serde(deserialize_with = "list")]
        texts: Vec<String>,
        #[serde(deserialize_with = "optional_list")]
        numbers: Option<Vec<u64>>,
        #[serde(deserialize_with = "map")]
        figures: BTreeMap<String, f64>,
    }

    fn read(text: &str, bytes: usize) -> Result<Record, String> {
        within(bytes, || serde_json::from_str(text)).map_err(|error| error.to_string())
    }

    /// Fails where each of several documents may take what all may together.
    #[test]
    fn what_is_read_first_leaves_less_for_the_next() {
        let text = r#"{"numbers": [1, 2, 3, 4, 5, 6, 7, 8]}"#;
        let read_both = |bytes| within(bytes, || [read(text, 150), read(text, 150)]);
        assert!(read_both(300).iter().all(Result::is_ok));
        let [first, second] = read_both(180);
        assert!(first.is_ok() && second.unwrap_err().contains("read at once"));
        assert!(read(text, 150).is_ok(), "a bound outlived its work");
    }

    #[test]
    fn what_takes_more_than_it_may_is_refused() {
        let text = r#"{"texts": ["a", ""], "numbers": [1, 2], "figures": {"b": 0.5}}"#;
        let record = read(text, 1000).unwrap();
        assert_eq!(record.texts, ["a", ""]);
        assert_eq!(
            (record.numbers, record.figures["b"].to_bits()),
            (Some(vec![1, 2]), 0.5_f64.to_bits())
        );
        assert_eq!(read(r#"{"numbers": null}"#, 0).unwrap(), Record::default());
        for list in [r#""","#, "0,", r#""a":1,"#].map(|item| item.repeat(1000)) {
            let list = list.trim_end_matches(',');
            let text = match list.as_bytes() {
                [b'0', ..] => format!(r#"{{"numbers": [{list}]}}"#),
                _ if list.contains(':') => format!(r#"{{"figures": {{{list}}}}}"#),
                _ => format!(r#"{{"texts": [{list}]}}"#),
            };
            assert!(read(&text, 1 << 20).is_ok(), "{text}");
            assert!(read(&text, 5000).unwrap_err().contains("larger than results"), "{text}");
        }
        assert_eq!(LEFT.get(), usize::MAX, "a bound stayed");
    }

    /// Where lists and maps are in a document, as RFC 6901 has it.
    fn collections(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Array(values) => {
                found.push(at.to_owned());
                for (number, value) in values.iter().enumerate() {
                    collections(value, &format!("{at}/{number}"), found);
                }
            }
            Value::Object(fields) => {
                found.push(at.to_owned());
                for (name, value) in fields {
                    collections(value, &format!("{at}/{name}"), found);
                }
            }
            _ => {}
        }
    }

    /// With so much more in one place; nothing where it has nothing that could be there again.
    fn grown(document: &Value, at: &str) -> Option<Value> {
        let mut document = document.clone();
        match document.pointer_mut(at)? {
            Value::Array(values) => {
                let first = values.first()?.clone();
                values.extend(std::iter::repeat_n(first, MORE));
            }
            Value::Object(fields) => {
                let first = fields.values().next()?.clone();
                fields.extend((0..MORE).map(|number| (format!("more {number}"), first.clone())));
            }
            _ => {}
        }
        Some(document)
    }

    const MORE: usize = 300;

    /// Grows each list and map of a record in turn: it is refused where it takes more than the
    /// record did, unless nothing of what was added is read.
    fn check<T: PartialEq + for<'a> Deserialize<'a>>(text: &str) {
        let document: Value = serde_json::from_str(text).unwrap();
        let read = |text: &str, bytes: usize| within(bytes, || serde_json::from_str::<T>(text));
        let whole = read(text, usize::MAX).unwrap_or_else(|error| panic!("{error}"));
        let (mut too_few, mut enough) = (0, 1 << 30);
        while too_few + 1 < enough {
            let middle = usize::midpoint(too_few, enough);
            *(if read(text, middle).is_ok() { &mut enough } else { &mut too_few }) = middle;
        }
        let mut places = Vec::new();
        collections(&document, "", &mut places);
        let mut counted = 0;
        for at in places {
            let Some(grown) = grown(&document, &at).map(|grown| grown.to_string()) else {
                continue;
            };
            match read(&grown, enough + MORE) {
                Ok(read) => assert!(read == whole, "{at} is not counted"),
                Err(error) => {
                    let why = error.to_string();
                    counted += usize::from(why.contains("larger than results may be"));
                }
            }
        }
        assert!(counted > 2, "{counted} are counted");
    }

    #[test]
    fn each_list_and_each_map_of_a_record_is_counted() {
        check::<Run>(include_str!("../../../tools/fuzz/seeds/log.json"));
        check::<Run>(include_str!("../../../tools/fuzz/seeds/serve.json"));
        check::<LoadRun>(include_str!("../../../tools/fuzz/seeds/load.json"));
    }
}
