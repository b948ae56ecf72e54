//! What went wrong, by kind.
//!
//! The first eight kinds are httperf's, with its names; the others are what
//! it cannot tell apart or does not look at.

use rustix::io::Errno;
use serde::Serialize;

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
}

/// How many connections (or, on kept connections, replies) failed, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "each is described at the ErrorKind of its name")]
pub struct Errors {
    /// All of the kinds below together.
    pub total: u64,
    pub client_timo: u64,
    pub socket_timo: u64,
    pub connrefused: u64,
    pub connreset: u64,
    pub fd_unavail: u64,
    pub addrunavail: u64,
    pub ftab_full: u64,
    pub other: u64,
    pub closed: u64,
    pub malformed: u64,
    pub short_body: u64,
    pub unexpected_body: u64,
    pub http_4xx: u64,
    pub http_5xx: u64,
    /// What was said about the first of them; in JSON beside the counts, as
    /// `first_error`.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub first: Option<String>,
}

impl Errors {
    /// Counts one; `what` is asked for words only the first time.
    pub(crate) fn add(&mut self, kind: ErrorKind, what: impl FnOnce() -> String) {
        self.total += 1;
        *self.slot(kind) += 1;
        self.first.get_or_insert_with(what);
    }

    fn slot(&mut self, kind: ErrorKind) -> &mut u64 {
        match kind {
            ErrorKind::ClientTimo => &mut self.client_timo,
            ErrorKind::SocketTimo => &mut self.socket_timo,
            ErrorKind::ConnRefused => &mut self.connrefused,
            ErrorKind::ConnReset => &mut self.connreset,
            ErrorKind::FdUnavail => &mut self.fd_unavail,
            ErrorKind::AddrUnavail => &mut self.addrunavail,
            ErrorKind::FtabFull => &mut self.ftab_full,
            ErrorKind::Other => &mut self.other,
            ErrorKind::Closed => &mut self.closed,
            ErrorKind::Malformed => &mut self.malformed,
            ErrorKind::ShortBody => &mut self.short_body,
            ErrorKind::UnexpectedBody => &mut self.unexpected_body,
            ErrorKind::Http4xx => &mut self.http_4xx,
            ErrorKind::Http5xx => &mut self.http_5xx,
        }
    }

    /// The kinds that happened, with the names that httperf gave them.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("client-timo", self.client_timo),
            ("socket-timo", self.socket_timo),
            ("connrefused", self.connrefused),
            ("connreset", self.connreset),
            ("fd-unavail", self.fd_unavail),
            ("addrunavail", self.addrunavail),
            ("ftab-full", self.ftab_full),
            ("other", self.other),
            ("closed", self.closed),
            ("malformed", self.malformed),
            ("short-body", self.short_body),
            ("unexpected-body", self.unexpected_body),
            ("http-4xx", self.http_4xx),
            ("http-5xx", self.http_5xx),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
