//! What went wrong, by kind.
//!
//! The first eight kinds are httperf's, with its names; the others are what
//! it cannot tell apart or does not look at.

use model::load::Errors;
use rustix::io::Errno;

/// Where one way is counted in which a connection or its reply can fail. Each connection that
/// fails counts once, under the first thing that went wrong with it.
pub(crate) type Counter = fn(&mut Errors) -> &mut u64;

/// That of an error that a system call on a socket returned.
pub(crate) fn counter_of(errno: Errno) -> Counter {
    match errno {
        Errno::TIMEDOUT => |errors| &mut errors.socket_timo,
        Errno::CONNREFUSED | Errno::NOENT => |errors| &mut errors.connrefused,
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => |errors| &mut errors.connreset,
        Errno::MFILE => |errors| &mut errors.fd_unavail,
        Errno::NFILE => |errors| &mut errors.ftab_full,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => |errors| &mut errors.addrunavail,
        _ => |errors| &mut errors.other,
    }
}
