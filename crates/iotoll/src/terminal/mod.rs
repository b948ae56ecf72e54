//! What is printed, and what is drawn while something goes on.

mod busy;
mod live;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod usage;

pub(crate) use self::progress::{Progress, Shown};
