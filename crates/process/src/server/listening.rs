//! Where a server listens, if not where it should.

use host::sockets::Endpoint;
use model::address::Address;

/// Where a server listens instead of where it should, and what to do; empty where
/// it listens nowhere.
pub(super) fn elsewhere(known: &[Endpoint], wanted: &Address) -> String {
    let Some(first) = known.first() else { return String::new() };
    let all: Vec<String> = known.iter().map(ToString::to_string).collect();
    let remedy = match (first, wanted) {
        (Endpoint::Tcp(address), Address::Tcp(_, port)) if address.port() != *port => {
            String::from("put {port} into its command")
        }
        _ => format!("make it listen on {wanted}, or load it at that address"),
    };
    format!("; it is listening on {} instead: {remedy}", all.join(" and "))
}
