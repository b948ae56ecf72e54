//! The machines of a run's clients, where there are several.

use serde::{Deserialize, Serialize};

use crate::bounded;

/// Where a client of a run works. The first is the process that reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Client {
    /// The machine's name.
    pub host: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub cpu: String,
    /// Processors that the client's process may use.
    pub cpus: usize,
    /// The machine's memory.
    pub memory_bytes: u64,
    /// What is mounted there at each of the run's places, and how: `nfs4, vers=4.2`.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub mounts: Vec<String>,
}
