//! Which sockets that a process has already are connections that it accepted: TCP connections to a
//! port that is listened on (`/proc/PID/net/tcp`).

use std::collections::HashSet;
use std::net::SocketAddr;

use host::root::Root;
use host::sockets::{ESTABLISHED, LISTENS, TcpSocket, table, unix_socket};

/// The inodes of the connections that were accepted, in the network namespace of a process.
pub(crate) fn accepted(process: u32) -> HashSet<u64> {
    accepted_in(&lines(process)).map(|socket| socket.inode).collect()
}

/// Where a process with these sockets answers: the first of its connections that it accepted, or of its local sockets that
/// has a name.
pub(crate) fn address(process: u32, sockets: &HashSet<u64>) -> Option<String> {
    if sockets.is_empty() {
        return None;
    }
    let lines = lines(process);
    let tcp = accepted_in(&lines).find(|socket| sockets.contains(&socket.inode)).map(|socket| {
        SocketAddr::new(socket.local.ip().to_canonical(), socket.local.port()).to_string()
    });
    tcp.or_else(|| {
        table(&Root::real(), process.cast_signed(), "unix").find_map(|line| {
            let (inode, _, path) = unix_socket(&line)?;
            sockets.contains(&inode).then_some(path)
        })
    })
}

/// Of both tables of TCP sockets.
fn lines(process: u32) -> Vec<String> {
    let table = |name| table(&Root::real(), process.cast_signed(), name);
    ["tcp", "tcp6"].into_iter().flat_map(table).collect()
}

fn accepted_in(lines: &[String]) -> impl Iterator<Item = TcpSocket<'_>> {
    let sockets: Vec<_> = lines.iter().filter_map(|line| TcpSocket::parse(line)).collect();
    let listened_on = sockets.iter().filter(|socket| socket.state == LISTENS);
    let ports: HashSet<u16> = listened_on.map(|socket| socket.local.port()).collect();
    let is_accepted = move |socket: &TcpSocket<'_>| {
        socket.state == ESTABLISHED && ports.contains(&socket.local.port())
    };
    sockets.into_iter().filter(is_accepted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
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
