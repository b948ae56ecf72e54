//! Whole traces, planted.

#![allow(clippy::unwrap_used)]

mod advice;
mod anew;
mod anonymous;
mod awaited;
mod bills;
mod bounds;
mod damage;
mod needless;
mod patterns;
mod round_trip;
mod sizes;

use crate::{Bill, Entry, Error, TraceReader, bill_of};

/// All entries of a trace; an error where it is damaged.
fn entries(trace: &[u8]) -> Result<Vec<Entry>, Error> {
    let mut reader = TraceReader::new(trace)?;
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry()? {
        entries.push(entry);
    }
    Ok(entries)
}

fn bill(trace: &[u8]) -> Bill {
    bill_of(&mut TraceReader::new(trace).unwrap(), |_, _| "iotoll compare".to_owned()).unwrap()
}
