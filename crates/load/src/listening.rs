//! Where the processes of a server listen, for when it is not where it should.
//!
//! `/proc/PID/fd` names the sockets that a process has open, by inode, and
//! `/proc/PID/net` those of its network namespace that listen (proc(5)).

use std::{
    collections::HashSet,
    fmt, fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

/// `TCP_LISTEN`, as `/proc/net/tcp` writes it.
const TCP_LISTEN: &str = "0A";
/// `__SO_ACCEPTCON`, the flags of a `unix:` socket that listens.
const UNIX_LISTENS: &str = "00010000";

/// A place that is listened on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listening {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Where these processes listen.
pub(crate) fn of(pids: &[i32]) -> Vec<Listening> {
    let inodes: HashSet<u64> = pids.iter().flat_map(|pid| sockets(*pid)).collect();
    let mut all = Vec::new();
    for pid in pids {
        let table =
            |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}")).unwrap_or_default();
        let (tcp, tcp6, unix) = (table("tcp"), table("tcp6"), table("unix"));
        let found = tcp
            .lines()
            .chain(tcp6.lines())
            .filter_map(tcp_listener)
            .chain(unix.lines().filter_map(unix_listener));
        for (inode, listening) in found {
            if inodes.contains(&inode) && !all.contains(&listening) {
                all.push(listening);
            }
        }
    }
    all
}

/// Inodes of the sockets that a process has open.
fn sockets(pid: i32) -> Vec<u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// A line of `/proc/net/tcp` or `tcp6`: number, local and remote address,
/// state, five fields, inode.
fn tcp_listener(line: &str) -> Option<(u64, Listening)> {
    let mut fields = line.split_whitespace().skip(1);
    let (ip, port) = fields.next()?.split_once(':')?;
    let state = fields.nth(1)?;
    let inode = fields.nth(5)?.parse().ok()?;
    let address = SocketAddr::new(ip_from_hex(ip)?, u16::from_str_radix(port, 16).ok()?);
    (state == TCP_LISTEN).then_some((inode, Listening::Tcp(address)))
}

/// Words of 32 bits in the byte order of this machine.
fn ip_from_hex(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = hex.get(at..at + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    if hex.len() == 8 {
        return Some(Ipv4Addr::from(word(0)?).into());
    }
    let mut bytes = [0; 16];
    for (i, four) in bytes.chunks_mut(4).enumerate() {
        four.copy_from_slice(&word(8 * i)?);
    }
    Some(Ipv6Addr::from(bytes).into())
}

/// A line of `/proc/net/unix`: number, references, protocol, flags, type,
/// state, inode, path.
fn unix_listener(line: &str) -> Option<(u64, Listening)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (flags, inode, path) = (*fields.get(3)?, fields.get(6)?, fields.get(7..)?);
    if flags != UNIX_LISTENS || path.is_empty() {
        return None;
    }
    Some((inode.parse().ok()?, Listening::Unix(path.join(" ").into())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::{
        net::{TcpListener, TcpStream},
        os::unix::net::UnixListener,
    };

    #[test]
    fn this_process_is_found_where_it_listens_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a socket");
        let four = TcpListener::bind("127.0.0.1:0").unwrap();
        let six = TcpListener::bind("[::1]:0");
        let _unix = UnixListener::bind(&path).unwrap();
        let connected = TcpStream::connect(four.local_addr().unwrap()).unwrap();
        let pid = std::process::id().cast_signed();
        let found = of(&[pid]);
        assert!(found.contains(&Listening::Tcp(four.local_addr().unwrap())), "{found:?}");
        assert!(found.contains(&Listening::Unix(path)), "{found:?}");
        if let Ok(six) = six {
            assert!(found.contains(&Listening::Tcp(six.local_addr().unwrap())), "{found:?}");
        }
        assert!(!found.contains(&Listening::Tcp(connected.local_addr().unwrap())), "{found:?}");
        assert_eq!(of(&[i32::MAX]), []);
    }
}
