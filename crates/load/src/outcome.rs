//! What went wrong, by kind.
//!
//! The first eight kinds are httperf's, with its names; the others are what
//! it cannot tell apart or does not look at.

use model::load::Errors;
use rustix::io::Errno;

/// One way in which a connection or its reply can fail. Each connection that
/// fails counts once, under the first thing that went wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The reply was not whole within the timeout.
    ClientTimo,
    /// The system gave up connecting or sending.
    SocketTimo,
    /// Nobody listens.
    ConnRefused,
    /// The connection was reset by the server.
    ConnReset,
    /// This process has no descriptor left.
    FdUnavail,
    /// No local port is left.
    AddrUnavail,
    /// The whole system has no descriptor left.
    FtabFull,
    /// Any other error of the system.
    Other,
    /// The server closed the connection without a whole head.
    Closed,
    /// What came is not an HTTP reply, or goes on behind its end.
    Malformed,
    /// The body ended before its length.
    ShortBody,
    /// The body is not what was expected.
    UnexpectedBody,
    /// The status is 400 to 499.
    Http4xx,
    /// The status is 500 to 599.
    Http5xx,
}

impl ErrorKind {
    /// The kind of an error that a system call on a socket returned.
    pub(crate) fn of(errno: Errno) -> Self {
        match errno {
            Errno::TIMEDOUT => Self::SocketTimo,
            Errno::CONNREFUSED | Errno::NOENT => Self::ConnRefused,
            Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Self::ConnReset,
            Errno::MFILE => Self::FdUnavail,
            Errno::NFILE => Self::FtabFull,
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Self::AddrUnavail,
            _ => Self::Other,
        }
    }

    fn count_in(self, errors: &mut Errors) -> &mut u64 {
        match self {
            Self::ClientTimo => &mut errors.client_timo,
            Self::SocketTimo => &mut errors.socket_timo,
            Self::ConnRefused => &mut errors.connrefused,
            Self::ConnReset => &mut errors.connreset,
            Self::FdUnavail => &mut errors.fd_unavail,
            Self::AddrUnavail => &mut errors.addrunavail,
            Self::FtabFull => &mut errors.ftab_full,
            Self::Other => &mut errors.other,
            Self::Closed => &mut errors.closed,
            Self::Malformed => &mut errors.malformed,
            Self::ShortBody => &mut errors.short_body,
            Self::UnexpectedBody => &mut errors.unexpected_body,
            Self::Http4xx => &mut errors.http_4xx,
            Self::Http5xx => &mut errors.http_5xx,
        }
    }
}

/// What went wrong in a step.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    pub(crate) counts: Errors,
    /// What was said about the first of them.
    pub(crate) first: Option<String>,
}

impl Failures {
    /// Counts one; `what` is asked for words only the first time.
    pub(crate) fn add(&mut self, kind: ErrorKind, what: impl FnOnce() -> String) {
        self.counts.total += 1;
        *kind.count_in(&mut self.counts) += 1;
        self.first.get_or_insert_with(what);
    }
}
