//! Results: where they come from, what follows from them, and where they go.

mod analysed;
pub(crate) mod baseline;
pub(crate) mod confined;
mod delivery;
mod destination;
mod gate;
mod identity;
pub(crate) mod saving;
mod source;
pub(crate) mod summaries;
pub(crate) mod trend;

pub(crate) use self::analysed::{Analysed, usual_file};
pub(crate) use self::delivery::{Asked, Rendered, Targets, deliver, deliver_list, render};
pub(crate) use self::destination::Destination;
pub(crate) use self::gate::Gate;
pub(crate) use self::identity::this_program;
pub(crate) use self::saving::RunSaver;
pub(crate) use self::source::{Saved, Source, cannot, entry, is_file, loaded, open};
