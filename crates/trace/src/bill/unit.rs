//! What a unit of the program's work costs: a request, a transaction, an operation.

use serde::Serialize;

use super::Bill;
use crate::pattern::PatternKind;

/// What is done fewer times is no measure.
const OFTEN: u64 = 20;

/// What a unit of the program's work costs, on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnitCost {
    /// What it is.
    pub unit: Unit,
    /// How many there were.
    pub count: u64,
    /// For how long the program was busy for each.
    pub busy_ns: u64,
    /// What of that it spent with files.
    pub files_ns: u64,
}

/// A unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unit {
    /// What the user counted.
    Operation,
    /// A request, answered on a connection that the program accepted.
    Request,
    /// A transaction of SQLite.
    Transaction,
}

impl UnitCost {
    /// Of a bill with its patterns.
    pub(crate) fn of(bill: &Bill, requests: u64) -> Option<Self> {
        let (unit, count) = match bill.header.operations {
            Some(operations) => (Unit::Operation, operations.max(1)),
            None if requests >= OFTEN => (Unit::Request, requests),
            None => (Unit::Transaction, transactions(bill)?),
        };
        let each = |low: u64, high: u64| low.midpoint(high) / count;
        let (busy, files) = (bill.busy_ns, bill.files.once_ns);
        let busy_ns = each(busy.low, busy.high);
        Some(Self { unit, count, busy_ns, files_ns: each(files.low, files.high).min(busy_ns) })
    }
}

/// Of the database that takes the most time.
fn transactions(bill: &Bill) -> Option<u64> {
    bill.patterns.iter().find_map(|pattern| match &pattern.what {
        PatternKind::Sqlite(database) => Some(database.transactions),
        _ => None,
    })
}
