//! From a trace to its bill.

use std::io::Read;

use crate::advice;
use crate::bill::{Bill, BillBuilder, Billed, UnitCost};
use crate::error::Error;
use crate::pattern::CommandOf;
use crate::patterns;
use crate::reader::TraceReader;

/// The bill of a trace, which is read to its end, with a command for each pattern in it.
///
/// It takes some 50 MB of memory at the most, however long the trace is.
pub fn bill_of<R: Read>(reader: &mut TraceReader<R>, command_of: CommandOf) -> Result<Bill, Error> {
    let mut bill_builder = BillBuilder::new(reader.header().clone());
    while let Some(entry) = reader.next_entry()? {
        bill_builder.take(&entry);
    }
    let billed = bill_builder.finish(reader.summary(), reader.lost());
    Ok(completed(billed, patterns::WORTH_TELLING, command_of))
}

/// A bill with what is found in the rest, and with needless work of this share of the time on.
pub(crate) fn completed(billed: Billed, least: f64, command_of: CommandOf) -> Bill {
    let Billed { mut bill, uses, requests, needless } = billed;
    bill.needless = needless.found(&bill, least);
    bill.patterns = patterns::find(&bill, &uses, command_of);
    bill.advice = advice::find(&bill, &uses);
    bill.unit = UnitCost::of(&bill, requests);
    bill
}
