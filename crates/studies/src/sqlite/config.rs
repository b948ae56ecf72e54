//! What an arm of the study does, parsed once.

use engine::study::StudyError;
use model::study::Params;

use super::data::Data;
use super::spec::{Connect, Strategy};

/// What an arm does.
#[derive(Clone)]
pub(super) struct Config {
    pub(super) strategy: Strategy,
    pub(super) data: Data,
    pub(super) connections: u64,
    pub(super) connect: Connect,
}

impl Config {
    pub(super) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        Ok(Self {
            strategy: Strategy::of(strategy)?,
            data: Data::new(params)?,
            connections: params.count("connections"),
            connect: Connect::of(params.choice("connect"))?,
        })
    }
}
