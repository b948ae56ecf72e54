//! Tests that need root, for they mount, or act as several users. Others skip them.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../suite/common/mod.rs"]
mod common;
mod foreign;
mod made;
mod made_faults;
mod place_faults;
mod served;
