//! Ports for servers to listen on.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

use crate::Error;

/// A port of this host for a server to listen on.
///
/// A port that was reserved is held by a socket that is bound and does not listen:
/// nobody is given it meanwhile, and connections to it are refused. It is let go
/// when the server is started, or when the value is dropped.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _reservation: Option<OwnedFd>,
}

impl Port {
    /// Reserves a port that nothing uses.
    pub fn reserve() -> Result<Self, Error> {
        let reserve = || -> io::Result<Self> {
            let flags = SocketFlags::CLOEXEC;
            let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
            bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
            let address = SocketAddr::try_from(getsockname(&socket)?)?;
            Ok(Self { number: address.port(), _reservation: Some(socket) })
        };
        reserve().map_err(|error| Error::Failed(format!("cannot reserve a port: {error}")))
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }
}

/// A port that is not reserved: whoever names it knows that it is free.
impl From<u16> for Port {
    fn from(number: u16) -> Self {
        Self { number, _reservation: None }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_reserved_port_is_nobody_elses_until_it_is_dropped() {
        let port = Port::reserve().unwrap();
        let address = (Ipv4Addr::LOCALHOST, port.number());
        let taken = TcpListener::bind(address).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        drop(port);
        TcpListener::bind(address).unwrap();
    }

    #[test]
    fn ports_reserved_at_the_same_time_differ() {
        let ports: Vec<Port> = (0..200).map(|_| Port::reserve().unwrap()).collect();
        let mut numbers: Vec<u16> = ports.iter().map(Port::number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 200);
    }
}
