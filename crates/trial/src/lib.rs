//! A command that runs again and again from the same state, and touches nothing of the user's.
//!
//! Each run is in a [`View`]: mount namespaces in which the usual paths lead to private copies of what
//! the command may change, on the same storage or in memory, and in which nothing else can be
//! written. [`Survey`] finds what the command changes, by a first run over an overlay. [`Copies`] are
//! the folders that it changes, reset after each run. [`Recorded`] has what its recording says about
//! what could matter, [`syncs_free`] is the filter under which forcing data to the device does
//! nothing, and [`Trial`] is all of this as workloads of the engine.

mod any_path;
mod aside;
mod chosen;
mod cold;
mod copies;
mod copy;
mod error;
mod facts;
mod filter;
mod ground;
mod inhabitants;
mod left;
mod needs;
mod overlays;
mod recorded;
mod serving;
mod survey;
mod trial;
mod variant;
mod view;
mod workload;

pub use copies::Copies;
pub use error::{Error, Limit};
pub use filter::syncs_free;
pub use inhabitants::Inhabitants;
pub use left::Ignored;
pub use needs::{Missing, missing};
pub use recorded::{FolderShare, Recorded, Scratch, Syncs};
pub use serving::Serving;
pub use survey::{Change, ChangeKind, Survey};
pub use trial::Trial;
pub use variant::Variant;
pub use view::{NotStartedByATrial, View, serve};
