//! Results that have more of something than any plan can ask for are refused, in a sentence.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::foreign;

use foreign::{Other, Which, outputs, records};
use serde_json::{Value, json};

/// Why the measured comparison is refused once it is changed.
fn refused(change: impl Fn(&mut Value)) -> String {
    let other = Other::measured();
    let mut document = records::comparison();
    change(&mut document);
    match outputs(&document.to_string(), &other, Which::OfNumbers) {
        Ok(_) => String::new(),
        Err(why) => why,
    }
}

fn times(value: &mut Value, times: usize) {
    let all = value.as_array_mut().unwrap();
    *all = std::iter::repeat_n(all.clone(), times).flatten().collect();
}

#[test]
fn more_than_a_plan_can_have_is_refused() {
    for (what, place) in [
        ("arms, but at most 256", "/plan/arms"),
        ("places, but at most 256", "/places"),
        ("studies, but at most 256", "/studies"),
        ("failures, but at most 256", "/failures"),
    ] {
        let why = refused(|document| times(document.pointer_mut(place).unwrap(), 300));
        assert!(why.contains(what), "{why}");
    }
    let why = refused(|document| times(&mut document["plan"]["pairs"], 11));
    assert!(why.contains("11 comparisons, but at most 10"), "{why}");
    let why = refused(|document| times(&mut document["plan"]["pairs"], 2));
    assert!(why.contains("compares two arms twice"), "{why}");
    let why = refused(|document| document["plan"]["pairs"][0]["base"] = json!(1));
    assert!(why.contains("or an arm with itself"), "{why}");
}

#[test]
fn a_text_that_no_plan_file_has_room_for_is_refused() {
    let long = json!("a".repeat(300_000));
    for place in ["/places/0/label", "/machine/cpu", "/unread/0", "/slices/1/outcome/untrusted"] {
        let why = refused(|document| *document.pointer_mut(place).unwrap() = long.clone());
        assert!(why.contains("a text of 300000 bytes, but at most 262144"), "{place}: {why}");
    }
    assert_eq!(refused(|document| document["places"][0]["label"] = json!("a".repeat(9000))), "");
}
