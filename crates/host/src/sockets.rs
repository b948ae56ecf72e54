//! Where processes listen, so that nobody else is taken for a server and it can be told
//! where it listens when it is not where it should.
//!
//! `/proc/PID/fd` names the sockets that a process has open, by inode, and
//! `/proc/PID/net` those of its network namespace that listen (proc(5)). The tables are
//! parsed here: procfs-core reads that of TCP to its end, and ends a path of
//! `/proc/net/unix` at its first blank.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use crate::root::Root;

/// `TCP_ESTABLISHED`, as `/proc/net/tcp` writes it.
pub const ESTABLISHED: &str = "01";
/// `TCP_LISTEN`.
pub const LISTENS: &str = "0A";
/// `__SO_ACCEPTCON`, the flags of a `unix:` socket that listens.
const UNIX_LISTENS: &str = "00010000";

/// An address that is listened on, or that is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// An address and port.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Endpoint {
    /// Whether connecting completes within the call, as it does on this host.
    pub fn is_near(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    /// Whether connections may come from any of 127.0.0.0/8.
    pub fn is_loopback_v4(&self) -> bool {
        matches!(self, Self::Tcp(a) if matches!(a.ip(), IpAddr::V4(ip) if ip.is_loopback()))
    }

    /// Whether who connects to `address` may reach a process that listens here.
    pub fn is_reached_by(&self, address: &Self) -> bool {
        match (self, address) {
            (Self::Tcp(own), Self::Tcp(wanted)) => {
                let (own_ip, ip) = (own.ip().to_canonical(), wanted.ip().to_canonical());
                let any = own_ip.is_unspecified() && (own_ip.is_ipv6() || ip.is_ipv4());
                own.port() == wanted.port() && (any || ip.is_unspecified() || own_ip == ip)
            }
            // Bound from the server's own working directory.
            (Self::Unix(own), Self::Unix(wanted)) if own.is_relative() => {
                wanted.ends_with(own.strip_prefix(".").unwrap_or(own))
            }
            (Self::Unix(own), Self::Unix(wanted)) => {
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
pub struct Listeners {
    /// As far as it can be seen.
    pub known: Vec<Endpoint>,
    /// Whether there are no others: another user's processes do not let their
    /// sockets be seen.
    pub are_all: bool,
}

impl Listeners {
    /// Those of these processes.
    pub fn of(root: &Root, pids: &[i32]) -> Self {
        let sockets: Vec<io::Result<Vec<u64>>> =
            pids.iter().map(|pid| sockets(root, *pid)).collect();
        let hidden = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        let are_all = !sockets.iter().any(|found| found.as_ref().is_err_and(hidden));
        let inodes: HashSet<u64> = sockets.into_iter().flatten().flatten().collect();
        let mut known = Vec::new();
        for pid in pids {
            // The kernel lists those that listen first (`tcp_get_idx` in its `tcp_ipv4.c`). What follows
            // them is not read: after a load it is tens of thousands of connections that have ended,
            // and takes a tenth of a second.
            let tcp_listeners =
                |name| table(root, *pid, name).map_while(|line| tcp_listener(&line));
            let tcp = ["tcp", "tcp6"].into_iter().flat_map(tcp_listeners);
            let unix = table(root, *pid, "unix").filter_map(|line| unix_listener(&line));
            for (inode, endpoint) in tcp.chain(unix) {
                if inodes.contains(&inode) && !known.contains(&endpoint) {
                    known.push(endpoint);
                }
            }
        }
        Self { known, are_all }
    }
}

/// Inodes of the sockets that a process has open.
pub fn sockets(root: &Root, pid: i32) -> io::Result<Vec<u64>> {
    let entries = fs::read_dir(root.locate(format!("/proc/{pid}/fd")))?.flatten();
    Ok(entries.filter_map(|entry| inode(&fs::read_link(entry.path()).ok()?)).collect())
}

/// The inode of what a descriptor stands for, where that is a socket.
pub fn inode(target: &Path) -> Option<u64> {
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The lines of a table of sockets, without its heading.
pub fn table(root: &Root, pid: i32, name: &str) -> impl Iterator<Item = String> + use<> {
    let file = fs::File::open(root.locate(format!("/proc/{pid}/net/{name}")));
    file.into_iter().flat_map(|file| BufReader::new(file).lines().map_while(Result::ok).skip(1))
}

pub(crate) fn tcp_listener(line: &str) -> Option<(u64, Endpoint)> {
    let socket = TcpSocket::parse(line).filter(|socket| socket.state == LISTENS)?;
    Some((socket.inode, Endpoint::Tcp(socket.local)))
}

/// A TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSocket<'a> {
    /// Its own address.
    pub local: SocketAddr,
    /// [`ESTABLISHED`], [`LISTENS`] or another.
    pub state: &'a str,
    /// What descriptors of it lead to.
    pub inode: u64,
}

impl<'a> TcpSocket<'a> {
    /// From a line of `/proc/net/tcp` or `tcp6`: number, local and remote address, state, five
    /// fields, inode.
    pub fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split_whitespace().skip(1);
        let (ip, port) = fields.next()?.split_once(':')?;
        let local = SocketAddr::new(ip_from_hex(ip)?, u16::from_str_radix(port, 16).ok()?);
        Some(Self { local, state: fields.nth(1)?, inode: fields.nth(5)?.parse().ok()? })
    }
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

pub(crate) fn unix_listener(line: &str) -> Option<(u64, Endpoint)> {
    let (inode, flags, path) = unix_socket(line)?;
    (flags == UNIX_LISTENS).then_some((inode, Endpoint::Unix(path.into())))
}

/// The inode, flags and path of a socket that has one, from a line of `/proc/net/unix`: number,
/// references, protocol, flags, type, state, inode, path.
pub fn unix_socket(line: &str) -> Option<(u64, &str, String)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (flags, inode, path) = (*fields.get(3)?, fields.get(6)?, fields.get(7..)?);
    (!path.is_empty()).then_some((inode.parse().ok()?, flags, path.join(" ")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::thread::set_thread_res_uid;

    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn this_process_is_found_where_it_listens_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a socket");
        let four = TcpListener::bind("127.0.0.1:0").unwrap();
        let six = TcpListener::bind("[::1]:0");
        let _unix = UnixListener::bind(&path).unwrap();
        let connected = TcpStream::connect(four.local_addr().unwrap()).unwrap();
        let pid = std::process::id().cast_signed();
        let Listeners { known: found, are_all } = Listeners::of(&Root::real(), &[pid]);
        assert!(are_all);
        assert!(found.contains(&Endpoint::Tcp(four.local_addr().unwrap())), "{found:?}");
        assert!(found.contains(&Endpoint::Unix(path)), "{found:?}");
        if let Ok(six) = six {
            assert!(found.contains(&Endpoint::Tcp(six.local_addr().unwrap())), "{found:?}");
        }
        assert!(!found.contains(&Endpoint::Tcp(connected.local_addr().unwrap())), "{found:?}");
        let none = Listeners { known: Vec::new(), are_all: true };
        assert_eq!(Listeners::of(&Root::real(), &[i32::MAX]), none);
    }

    #[test]
    fn of_several_processes_only_their_own_sockets_are_found() {
        let fixture = Fixture::empty();
        let heading = "sl local remote st q tm rt uid timeout inode\n";
        let line = |at: u16, state, inode| {
            format!("0: 0100007F:{at:04X} 00000000:0000 {state} 0:0 0:0 0 0 0 {inode} 1\n")
        };
        let table = [
            line(80, "0A", 5),
            line(81, "0A", 6),
            line(82, "01", 7),
            // Behind the first that does not listen nothing is read.
            line(83, "0A", 8),
        ];
        fixture.write("/proc/42/net/tcp", &(heading.to_owned() + &table.concat()));
        fixture.write("/proc/42/fd/0", "");
        for (fd, inode) in [(3, 5), (4, 7), (5, 8)] {
            let open = fixture.root().locate(format!("/proc/42/fd/{fd}"));
            symlink(format!("socket:[{inode}]"), open).unwrap();
        }
        let known = vec![Endpoint::Tcp("127.0.0.1:80".parse().unwrap())];
        let found = Listeners::of(&fixture.root(), &[42]);
        assert_eq!(found, Listeners { known, are_all: true });
    }

    #[test]
    fn addresses_are_those_that_people_write() {
        let local = |address: &str| {
            let line = format!("0: {address} 00000000:0000 01 0:0 0:0 0 0 0 7 1");
            TcpSocket::parse(&line).map(|socket| socket.local.to_string())
        };
        assert_eq!(local("0100007F:1538").as_deref(), Some("127.0.0.1:5432"));
        assert_eq!(local("00000000000000000000000001000000:0050").as_deref(), Some("[::1]:80"));
        assert_eq!(["0100007F", "x:1", ":1"].map(local), [None, None, None]);
    }

    #[test]
    fn another_users_process_may_listen_anywhere() {
        const NOBODY: u32 = 65_534;
        // Root sees all sockets, so that as root a thread of its own becomes somebody
        // else: the system call, unlike the library's, changes the calling thread alone.
        let looking = std::thread::spawn(|| {
            if rustix::process::geteuid().is_root() {
                let nobody = rustix::process::Uid::from_raw(NOBODY);
                set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            Listeners::of(&Root::real(), &[1])
        });
        let found = looking.join().unwrap();
        assert_eq!(found, Listeners { known: Vec::new(), are_all: false });
    }

    #[test]
    fn an_address_reaches_who_listens_there_or_everywhere() {
        let reaches = |own: &str, wanted: &str| {
            let wanted = Endpoint::Tcp(wanted.parse().unwrap());
            Endpoint::Tcp(own.parse().unwrap()).is_reached_by(&wanted)
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
        symlink(&run, &link).unwrap();
        let _unix = UnixListener::bind(run.join("app")).unwrap();
        let _other = UnixListener::bind(run.join("other")).unwrap();
        let wanted = Endpoint::Unix(run.join("app"));
        let reached = |own: PathBuf| Endpoint::Unix(own).is_reached_by(&wanted);
        assert!(reached(run.join("app")) && reached(link.join("app")));
        assert!(reached("app".into()) && reached("./app".into()));
        assert!(!reached(run.join("other")) && !reached("other".into()));
        assert!(!Endpoint::Tcp("127.0.0.1:80".parse().unwrap()).is_reached_by(&wanted));
    }
}
