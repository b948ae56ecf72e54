//! Results: where they come from, what follows from them, and where they go.

pub(crate) mod analysed;
pub(crate) mod baseline;
pub(crate) mod confined;
pub(crate) mod delivery;
pub(crate) mod destination;
pub(crate) mod identity;
pub(crate) mod saving;
pub(crate) mod source;
pub(crate) mod summaries;
