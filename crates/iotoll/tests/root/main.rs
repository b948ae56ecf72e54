//! Tests that need root, for they mount, or act as several users. Others skip them.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../suite/common/mod.rs"]
mod common;
mod created;
mod created_faults;
mod created_for_users;
mod foreign;
mod place_faults;
mod served;
