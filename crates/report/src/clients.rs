//! Where the clients of a run worked, and what sets some of their machines apart.

use model::client::Client;
use model::place::PlaceFacts;
use model::printable::printable;
use units::{counted, rough_size};

/// What is known of a place in which each client has a directory of its own.
const OWN: &str = "clients";

/// `8 clients on 4 machines`; nothing of a single process.
pub(crate) fn count(clients: &[Client]) -> Option<String> {
    let mut hosts: Vec<&str> = clients.iter().map(|client| client.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let machines = match hosts.as_slice() {
        [] => return None,
        [one] => printable(one).into_owned(),
        _ => counted(hosts.len() as u64, "machine"),
    };
    Some(format!("{} on {machines}", counted(clients.len() as u64, "client")))
}

/// The same, with what differs from the first; nothing of a single process.
pub(crate) fn sentence(clients: &[Client], places: &[PlaceFacts]) -> Option<String> {
    let (count, first) = (count(clients)?, clients.first()?);
    let mut apart: Vec<String> =
        clients.iter().filter_map(|other| difference(other, first, places)).collect();
    apart.sort_unstable();
    apart.dedup();
    let apart = match apart.as_slice() {
        [] => String::new(),
        apart => format!("; other than {}: {}", first.host, apart.join("; ")),
    };
    let own = places.iter().filter(|place| place.details.iter().any(|of| of.name == OWN));
    let own: Vec<&str> = own.map(|place| place.label.as_str()).collect();
    let own = match own.as_slice() {
        [] => String::new(),
        own => format!("; each has a directory of its own on {}", own.join(", ")),
    };
    Some(format!("{count}{own}{apart}"))
}

/// What a machine has that the first does not.
fn difference(other: &Client, first: &Client, places: &[PlaceFacts]) -> Option<String> {
    let Client { host, kernel, cpu, cpus, memory_bytes, mounts } = other;
    let told = [
        (*kernel != first.kernel).then(|| format!("Linux {kernel}")),
        (*cpus != first.cpus).then(|| counted(*cpus as u64, "processor")),
        (*cpu != first.cpu).then(|| cpu.clone()),
        (rough_size(*memory_bytes) != rough_size(first.memory_bytes))
            .then(|| format!("{} of RAM", rough_size(*memory_bytes))),
    ];
    let both = mounts.iter().zip(&first.mounts).zip(places);
    let mounts = both.filter(|((theirs, ours), _)| theirs != ours);
    let mounts = mounts.map(|((theirs, _), place)| format!("{theirs} at {}", place.label));
    let told: Vec<String> = told.into_iter().flatten().chain(mounts).collect();
    (!told.is_empty()).then(|| format!("{host} has {}", told.join(", ")))
}

#[cfg(test)]
mod tests {
    use model::place::Detail;

    use super::*;

    fn client(host: &str, kernel: &str, cpus: usize) -> Client {
        Client {
            host: host.to_owned(),
            kernel: kernel.to_owned(),
            cpu: "EPYC".to_owned(),
            cpus,
            memory_bytes: 8_000_000_000,
            mounts: vec!["nfs4, hard".to_owned(), "tmpfs".to_owned()],
        }
    }

    #[test]
    fn what_differs_is_told_once_for_each_machine() {
        let places = ["shared", "ram"].map(PlaceFacts::unknown);
        assert_eq!(sentence(&[], &places), None);
        let told = |clients: &[Client]| sentence(clients, &places).unwrap_or_default();
        let (a, b) = (client("a", "6.1", 2), client("b", "6.1", 2));
        assert_eq!(told(&[a.clone(), a.clone()]), "2 clients on a");
        assert_eq!(told(&[client("\u{1b}[2J\n", "6.1", 2)]), r"1 client on \u{1b}[2J\n");
        assert_eq!(told(&[a.clone(), b]), "2 clients on 2 machines");
        let c = client("c", "5.10", 4);
        assert_eq!(
            told(&[a.clone(), c.clone(), c]),
            "3 clients on 2 machines; other than a: c has Linux 5.10, 4 processors"
        );
        let mut own = places.clone();
        own[1].details.push(Detail::new(OWN, "each has its own", "--local"));
        assert_eq!(
            sentence(&[a.clone(), a.clone()], &own).unwrap_or_default(),
            "2 clients on a; each has a directory of its own on ram"
        );
        let mounts = vec!["nfs4, soft".to_owned(), "tmpfs".to_owned()];
        assert_eq!(
            told(&[a, Client { mounts, ..client("d", "6.1", 2) }]),
            "2 clients on 2 machines; other than a: d has nfs4, soft at shared"
        );
    }
}
