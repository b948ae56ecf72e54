//! Which sockets that a process has already are connections that it accepted: TCP connections to a
//! port that is listened on (`/proc/PID/net/tcp`).

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};

/// As proc(5) has them.
const ESTABLISHED: &str = "01";
const LISTENS: &str = "0A";

/// The inodes of the connections that were accepted, in the network namespace of a process.
pub(crate) fn accepted(process: u32) -> HashSet<u64> {
    let read = |table| fs::read_to_string(format!("/proc/{process}/net/{table}"));
    let tables: String = ["tcp", "tcp6"].map(|table| read(table).unwrap_or_default()).concat();
    accepted_in(&tables)
}

/// Where a process with these sockets answers: the first of its connections that it accepted, or of its local sockets that
/// has a name.
pub(crate) fn address(process: u32, sockets: &HashSet<u64>) -> Option<String> {
    if sockets.is_empty() {
        return None;
    }
    let read =
        |table| fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
    let tables = ["tcp", "tcp6"].map(read).concat();
    let accepted = accepted_in(&tables);
    let is_own = |inode: &u64| sockets.contains(inode);
    let line = tables.lines().find(|line| {
        let inode = socket(line).map(|socket| socket.2);
        inode.is_some_and(|inode| is_own(&inode) && accepted.contains(&inode))
    });
    let tcp = line.and_then(|line| in_words(line.split_whitespace().nth(1)?));
    tcp.or_else(|| {
        let unix = read("unix");
        let mut named = unix.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let inode = fields.get(6)?.parse().ok()?;
            fields.get(7).filter(|_| is_own(&inode)).map(|path| (*path).to_owned())
        });
        named.next()
    })
}

/// `0100007F:1538` as `127.0.0.1:5432`: numbers of 32 bits in the machine's order.
fn in_words(address: &str) -> Option<String> {
    let (host, port) = address.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words = (0..host.len() / 8)
        .map(|at| Some(u32::from_str_radix(host.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes()));
    let bytes = words.collect::<Option<Vec<_>>>()?.concat();
    let host: IpAddr = match <[u8; 4]>::try_from(&*bytes) {
        Ok(four) => four.into(),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(&*bytes).ok()?).to_canonical(),
    };
    Some(SocketAddr::new(host, port).to_string())
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

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let four = in_words("0100007F:1538");
        assert_eq!(four.as_deref(), Some("127.0.0.1:5432"));
        let mapped = in_words("0000000000000000FFFF00000100007F:0050");
        assert_eq!(mapped.as_deref(), Some("127.0.0.1:80"));
        assert_eq!(in_words("00000000000000000000000001000000:0050").as_deref(), Some("[::1]:80"));
        assert_eq!([in_words("0100007F"), in_words("x:1"), in_words(":1")], [None, None, None]);
    }

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
