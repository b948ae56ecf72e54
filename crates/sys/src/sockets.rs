//! Options of sockets that rustix lacks.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Leaves the choice of the port to `connect`, which, unlike `bind`, knows the
/// other end and may give one port to several connections (ip(7)).
pub fn bind_address_no_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

/// Has a server be woken when a request has come, or this long after its connection has (tcp(7)).
pub fn defer_accept(socket: BorrowedFd<'_>, seconds: i32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, seconds)
}

fn set(socket: BorrowedFd<'_>, level: i32, option: i32, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open for the call, and the pointer and length are those of a
    // live integer.
    crate::done(unsafe {
        let (at, bytes) = (&raw const value, size_of_val(&value) as libc::socklen_t);
        libc::setsockopt(socket.as_raw_fd(), level, option, at.cast(), bytes)
    })
}
