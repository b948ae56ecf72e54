//! Where the processes of a server listen, so that nobody else is taken for it
//! and it can be told where it listens when it is not where it should.
//!
//! `/proc/PID/fd` names the sockets that a process has open, by inode, and
//! `/proc/PID/net` those of its network namespace that listen (proc(5)).

use crate::target::Endpoint;
use std::{
    collections::HashSet,
    fmt, fs,
    io::{self, BufRead, BufReader},
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

impl Listening {
    /// Whether who connects to `address` may reach it.
    pub(crate) fn is_reached_by(&self, address: &Endpoint) -> bool {
        match (self, address) {
            (Self::Tcp(own), Endpoint::Tcp(wanted)) => {
                let (own_ip, ip) = (own.ip().to_canonical(), wanted.ip().to_canonical());
                let any = own_ip.is_unspecified() && (own_ip.is_ipv6() || ip.is_ipv4());
                own.port() == wanted.port() && (any || ip.is_unspecified() || own_ip == ip)
            }
            // Bound from the server's own working directory.
            (Self::Unix(own), Endpoint::Unix(wanted)) if own.is_relative() => {
                wanted.ends_with(own.strip_prefix(".").unwrap_or(own))
            }
            (Self::Unix(own), Endpoint::Unix(wanted)) => {
                own == wanted
                    || fs::canonicalize(own)
                        .is_ok_and(|own| fs::canonicalize(wanted).is_ok_and(|wanted| own == wanted))
            }
            _ => false,
        }
    }
}

/// Where some processes listen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) known: Vec<Listening>,
    /// Whether there are no others: another user's processes do not let their
    /// sockets be seen.
    pub(crate) are_all: bool,
}

/// Where these processes listen.
pub(crate) fn of(pids: &[i32]) -> Places {
    let sockets: Vec<io::Result<Vec<u64>>> = pids.iter().map(|pid| sockets(*pid)).collect();
    let hidden = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let are_all = !sockets.iter().any(|found| found.as_ref().is_err_and(hidden));
    let inodes: HashSet<u64> = sockets.into_iter().flatten().flatten().collect();
    let mut known = Vec::new();
    for pid in pids {
        let tcp = ["tcp", "tcp6"].into_iter().flat_map(|name| tcp_listeners(*pid, name));
        let unix = table(*pid, "unix").filter_map(|line| unix_listener(&line));
        for (inode, listening) in tcp.chain(unix) {
            if inodes.contains(&inode) && !known.contains(&listening) {
                known.push(listening);
            }
        }
    }
    Places { known, are_all }
}

/// Inodes of the sockets that a process has open.
fn sockets(pid: i32) -> io::Result<Vec<u64>> {
    let socket = |entry: io::Result<fs::DirEntry>| -> Option<u64> {
        let target = fs::read_link(entry.ok()?.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.filter_map(socket).collect())
}

/// The lines of a table of sockets, without its heading.
fn table(pid: i32, name: &str) -> impl Iterator<Item = String> {
    let file = fs::File::open(format!("/proc/{pid}/net/{name}"));
    file.into_iter().flat_map(|file| BufReader::new(file).lines().map_while(Result::ok).skip(1))
}

/// The kernel lists those that listen first (`tcp_get_idx` in its
/// `tcp_ipv4.c`). What follows them is not read: after a load it is tens of
/// thousands of connections that have ended, and takes a tenth of a second.
fn tcp_listeners(pid: i32, name: &str) -> impl Iterator<Item = (u64, Listening)> {
    table(pid, name).map_while(|line| tcp_listener(&line))
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
        let Places { known: found, are_all } = of(&[pid]);
        assert!(are_all);
        assert!(found.contains(&Listening::Tcp(four.local_addr().unwrap())), "{found:?}");
        assert!(found.contains(&Listening::Unix(path)), "{found:?}");
        if let Ok(six) = six {
            assert!(found.contains(&Listening::Tcp(six.local_addr().unwrap())), "{found:?}");
        }
        assert!(!found.contains(&Listening::Tcp(connected.local_addr().unwrap())), "{found:?}");
        assert_eq!(of(&[i32::MAX]), Places { known: Vec::new(), are_all: true });
    }

    #[test]
    fn another_users_process_may_listen_anywhere() {
        if !rustix::process::geteuid().is_root() {
            assert_eq!(of(&[1]), Places { known: Vec::new(), are_all: false });
        }
    }

    #[test]
    fn an_address_reaches_who_listens_there_or_everywhere() {
        let reaches = |own: &str, wanted: &str| {
            let wanted = Endpoint::Tcp(wanted.parse().unwrap());
            Listening::Tcp(own.parse().unwrap()).is_reached_by(&wanted)
        };
        for own in ["127.0.0.1:80", "0.0.0.0:80", "[::]:80", "[::ffff:127.0.0.1]:80"] {
            assert!(reaches(own, "127.0.0.1:80"), "{own}");
            assert!(reaches(own, "0.0.0.0:80"), "{own}");
            assert!(!reaches(own, "127.0.0.1:81"), "{own}");
        }
        assert!(reaches("[::]:80", "[::1]:80") && !reaches("0.0.0.0:80", "[::1]:80"));
        assert!(!reaches("127.0.0.2:80", "127.0.0.1:80"));
    }

    #[test]
    fn a_socket_is_the_same_by_another_path() {
        let folder = tempfile::tempdir().unwrap();
        let (run, link) = (folder.path().join("run"), folder.path().join("link"));
        fs::create_dir(&run).unwrap();
        std::os::unix::fs::symlink(&run, &link).unwrap();
        let _unix = UnixListener::bind(run.join("app")).unwrap();
        let _other = UnixListener::bind(run.join("other")).unwrap();
        let wanted = Endpoint::Unix(run.join("app"));
        let reached = |own: PathBuf| Listening::Unix(own).is_reached_by(&wanted);
        assert!(reached(run.join("app")) && reached(link.join("app")));
        assert!(reached("app".into()) && reached("./app".into()));
        assert!(!reached(run.join("other")) && !reached("other".into()));
        assert!(!Listening::Tcp("127.0.0.1:80".parse().unwrap()).is_reached_by(&wanted));
    }
}
