//! Sockets, in as few system calls as a connection can do with.

use crate::ports::Source;
use host::sockets::Endpoint;
use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind,
        connect, recv, send, socket_with, sockopt,
    },
};
use std::{
    net::{SocketAddr, SocketAddrV4},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};
use sys::sockets::bind_address_no_port;

/// Opens a socket of the endpoint's kind that never blocks.
pub(crate) fn open(endpoint: &Endpoint, source: Source, no_delay: bool) -> Result<OwnedFd, Errno> {
    let family = match endpoint {
        Endpoint::Unix(_) => AddressFamily::UNIX,
        Endpoint::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
        Endpoint::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    if let Source::Loopback(ip) = source {
        let unnamed = bind_address_no_port(socket.as_fd());
        unnamed.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL))?;
        bind(&socket, &SocketAddrV4::new(ip, 0))?;
    }
    if no_delay && family != AddressFamily::UNIX {
        sockopt::set_tcp_nodelay(&socket, true)?;
    }
    Ok(socket)
}

/// Begins to connect; `Ok` also when it is under way.
pub(crate) fn begin_connect(socket: BorrowedFd<'_>, endpoint: &Endpoint) -> Result<(), Errno> {
    let result = match endpoint {
        Endpoint::Tcp(address) => connect(socket, address),
        Endpoint::Unix(path) => connect(socket, &SocketAddrUnix::new(path)?),
    };
    match result {
        Err(Errno::INPROGRESS | Errno::INTR) => Ok(()),
        other => other,
    }
}

/// The error that connecting ended with, if any.
pub(crate) fn take_error(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    sockopt::socket_error(socket)?
}

/// Sends what goes without waiting.
#[inline]
pub(crate) fn send_some(socket: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    send(socket, bytes, SendFlags::NOSIGNAL)
}

/// Receives what has come, 0 at the end.
#[inline]
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    recv(socket, buffer, RecvFlags::empty()).map(|(n, _)| n)
}
