//! What requests are made to: the database that is generated, or a copy of the user's.

use std::sync::Arc;

use engine::study::{Footprint, StudyError};
use model::material::Material;
use model::study::Params;
use units::counted;

use super::database::Template;
use super::user_data::{OwnDatabase, Statement};

/// What a row takes, in the table, the journal and the write-ahead log together.
const ROW_BYTES: u64 = 1024;
/// What a request writes, into the journal or the log and from there into the table: some
/// ten statements with some pages each.
const REQUEST_BYTES: u64 = 1 << 20;
/// SQLite merges its write-ahead log beyond 1,000 pages of 4 KiB; readers delay that.
const LOG_BYTES: u64 = 16 << 20;
/// What a changed row may write at the most: some pages of the table and of its indexes, each
/// into the journal or log and into the table.
const CHANGED_ROW_BYTES: u64 = 64 << 10;
/// By how much requests make a database of the user's grow in a slice.
const GROWN_BYTES_MAX: u64 = 64 << 20;

/// What requests are made to.
#[derive(Clone)]
pub(super) enum Data {
    Generated { rows: u64 },
    Own(Arc<OwnDatabase>),
}

impl Data {
    pub(super) fn new(params: &Params) -> Result<Self, StudyError> {
        let own = OwnDatabase::of(params)?;
        Ok(own.map_or(Self::Generated { rows: params.count("rows") }, Self::Own))
    }

    /// What each slice's database is made from.
    pub(super) fn template(&self) -> Template {
        match self {
            Self::Generated { rows } => Template::new(*rows),
            Self::Own(own) => Template::of(Arc::clone(own)),
        }
    }

    /// Rows of the generated table.
    pub(super) fn rows(&self) -> u64 {
        match self {
            Self::Generated { rows } => *rows,
            Self::Own(_) => 0,
        }
    }

    /// Whether it is the user's.
    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    /// A request's statements, where they are the user's.
    pub(super) fn statements(&self) -> Vec<Statement> {
        match self {
            Self::Generated { .. } => Vec::new(),
            Self::Own(own) => own.statements.clone(),
        }
    }

    /// Whether a request writes.
    pub(super) fn is_written_to(&self) -> bool {
        match self {
            Self::Generated { .. } => true,
            Self::Own(own) => own.is_written_to(),
        }
    }

    /// How many requests a slice may have, for all that the database grows by.
    pub(super) fn requests_max(&self) -> u64 {
        match self {
            Self::Generated { .. } => u64::MAX,
            Self::Own(own) => (GROWN_BYTES_MAX / own.seen.grown_bytes.max(1)).max(1),
        }
    }

    /// What the database comes to at the most, its journal or log included, and what so many
    /// requests write to it.
    pub(super) fn footprint(&self, requests: u64) -> Footprint {
        match self {
            Self::Generated { rows } => footprint(*rows, requests),
            Self::Own(own) => {
                let grown = own.bytes() + own.seen.grown_bytes.saturating_mul(requests);
                // A journal or log may hold every page once.
                let space_bytes = 2 * grown + LOG_BYTES;
                let by_request = REQUEST_BYTES.max(own.seen.changed_rows * CHANGED_ROW_BYTES);
                let by_requests = if own.is_written_to() { by_request } else { 0 };
                let written_bytes = space_bytes + requests.saturating_mul(by_requests);
                Footprint { space_bytes, files: 4, written_bytes }
            }
        }
    }

    /// What reports say of it.
    pub(super) fn material(&self) -> Material {
        match self {
            Self::Generated { rows } => {
                let about = format!("a table of {} and statements to it", counted(*rows, "row"));
                Material::generated(about, "database")
            }
            Self::Own(own) => own.material(),
        }
    }
}

/// What a generated database of so many rows comes to.
pub(crate) fn footprint(rows: u64, requests: u64) -> Footprint {
    let space_bytes = rows * ROW_BYTES + LOG_BYTES;
    let written_bytes = space_bytes + requests.saturating_mul(REQUEST_BYTES);
    Footprint { space_bytes, files: 4, written_bytes }
}
