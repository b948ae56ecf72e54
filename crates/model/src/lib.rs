//! The nouns of iotoll: places, studies, plans and results, with their units
//! and their schema. No I/O happens here.

pub mod address;
pub mod analysis;
pub mod anonymous;
pub mod arm;
pub mod cause;
pub mod condition;
pub mod counters;
pub mod description;
pub mod diff;
pub mod document;
pub mod figure;
pub mod guarantee;
pub mod integrity;
pub mod load;
pub mod made;
pub mod noise;
pub mod ownership;
pub mod param;
pub mod place;
pub mod place_argument;
pub mod plan;
pub mod plan_again;
pub mod plan_file;
pub mod printable;
pub mod probes;
pub mod run;
pub mod selftest;
pub mod shell;
pub mod slice;
pub mod spent;
pub mod study;
pub mod sums;
pub mod time_part;
pub mod units;
pub mod watch;
