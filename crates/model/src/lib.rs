//! The nouns of iotoll: places, studies, plans and results, with their units
//! and their schema. No I/O happens here.

pub mod place;
