//! What `iotoll --version` prints: the version, and the commit and build of a released program.
//!
//! `cargo xtask dist` sets both when it compiles. Anything else is built from source, and says so.

/// The commit that a release was built from.
const COMMIT: Option<&str> = option_env!("IOTOLL_COMMIT");
/// How a release was built: its target, and whether it is static.
const BUILD: Option<&str> = option_env!("IOTOLL_BUILD");

/// After the program's name.
pub(crate) fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match (COMMIT, BUILD) {
        (Some(commit), Some(build)) => format!("{version} (commit {commit}, {build})"),
        _ => format!("{version} (built from source)"),
    }
}
