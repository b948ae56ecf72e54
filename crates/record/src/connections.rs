//! Which sockets that a process has already are connections that it accepted: TCP connections to a
//! port that is listened on (`/proc/PID/net/tcp`).

use std::collections::HashSet;
use std::fs;

/// As proc(5) has them.
const ESTABLISHED: &str = "01";
const LISTENS: &str = "0A";

/// The inodes of the connections that were accepted, in the network namespace of a process.
pub(crate) fn accepted(process: u32) -> HashSet<u64> {
    let read = |table| fs::read_to_string(format!("/proc/{process}/net/{table}"));
    let tables: String = ["tcp", "tcp6"].map(|table| read(table).unwrap_or_default()).concat();
    accepted_in(&tables)
}

fn accepted_in(tables: &str) -> HashSet<u64> {
    let sockets: Vec<_> = tables.lines().filter_map(socket).collect();
    let is = |wanted| move |socket: &&(&str, &str, u64)| socket.1 == wanted;
    let ports: HashSet<&str> = sockets.iter().filter(is(LISTENS)).map(|socket| socket.0).collect();
    let connections = sockets.iter().filter(is(ESTABLISHED));
    connections.filter(|socket| ports.contains(socket.0)).map(|socket| socket.2).collect()
}

/// The port here, the state and the inode of a line.
fn socket(line: &str) -> Option<(&str, &str, u64)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let port = fields.get(1)?.rsplit_once(':')?.1;
    Some((port, fields.get(3)?, fields.get(9)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd as _;

    use super::*;

    /// Fails where a connection that the process made itself is taken for one that it accepted.
    #[test]
    fn what_was_accepted_is_told_from_what_was_made() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let made = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (came, _) = listener.accept().unwrap();
        let inode = |fd: i32| {
            let link = fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
            let text = link.to_str().unwrap().trim_matches(|one: char| !one.is_ascii_digit());
            text.parse::<u64>().unwrap()
        };
        let accepted = accepted(std::process::id());
        assert!(accepted.contains(&inode(came.as_raw_fd())));
        assert!(!accepted.contains(&inode(made.as_raw_fd())));
        assert!(!accepted.contains(&inode(listener.as_raw_fd())));
    }
}
