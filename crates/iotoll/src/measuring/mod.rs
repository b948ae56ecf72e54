//! Measuring: what must hold before a run, and what surrounds it while it goes on.

mod check;
pub(crate) mod clients;
mod comparison;
mod consent;
mod dry_run;
mod environment;
pub(crate) mod launched;
pub(crate) mod mine;
mod named_places;
mod place_handle;
pub(crate) mod preflight;
mod prepared_places;
mod quiet;
mod replayed;
pub(crate) mod session;
mod stop_reason;

pub(crate) use self::check::{CheckPlan, usual_programs};
pub(crate) use self::comparison::Comparison;
pub(crate) use self::consent::{Consent, Request};
pub(crate) use self::environment::LocalEnvironment;
pub(crate) use self::named_places::{default_places, named_places, places_or_default};
pub(crate) use self::session::Session;
pub(crate) use self::stop_reason::StopReason;
