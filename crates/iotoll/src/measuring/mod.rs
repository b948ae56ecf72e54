//! Measuring: what must hold before a run, and what surrounds it while it goes on.

pub(crate) mod clients;
pub(crate) mod comparison;
pub(crate) mod consent;
mod dry_run;
pub(crate) mod environment;
pub(crate) mod launched;
pub(crate) mod named_places;
mod place_handle;
pub(crate) mod preflight;
mod prepared_places;
mod quiet;
pub(crate) mod session;
pub(crate) mod stop_reason;
