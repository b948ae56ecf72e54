//! A request outside the clock, for what a server has to say.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// More than this is not read.
const REPLY_BYTES_MAX: usize = 4 << 20;
/// Between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Headers that are looked at.
const HEADERS_MAX: usize = 100;

/// What came back.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Asks a server on this host for a path, and lets go when told to stop. HTTP/1.0,
/// for which a reply ends with its connection.
pub(super) fn fetch(
    port: u16,
    path: &str,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<Reply> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_read_timeout(Some(LOOK))?;
    stream.set_write_timeout(Some(patience))?;
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let give_up = Instant::now() + patience;
    let (mut reply, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    while reply.len() < REPLY_BYTES_MAX {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => reply.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Err(_) if stop.load(Ordering::Relaxed) => return Err(io::ErrorKind::Interrupted.into()),
            Err(_) if Instant::now() >= give_up => {
                let text = format!("no complete reply within {} s", patience.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(_) => {}
        }
    }
    parse(&reply)
}

fn parse(reply: &[u8]) -> io::Result<Reply> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Response::new(&mut headers);
    match head.parse(reply) {
        Ok(httparse::Status::Complete(length)) => Ok(Reply {
            status: head.code.unwrap_or_default(),
            body: String::from_utf8_lossy(&reply[length..]).into_owned(),
        }),
        Ok(httparse::Status::Partial) => Err(io::Error::other("the reply ended within its head")),
        Err(error) => Err(io::Error::other(format!("the reply is not HTTP: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn status_and_body_are_told_apart_and_nonsense_is_an_error() {
        let reply = parse(b"HTTP/1.0 503 No\r\nA: b\r\n\r\nbusy").unwrap();
        assert_eq!((reply.status, reply.body.as_str()), (503, "busy"));
        for nonsense in [&b""[..], b"HTTP/1.1 200 OK\r\nA: b", b"SSH-2.0-x\r\n\r\n"] {
            assert!(parse(nonsense).is_err(), "{nonsense:?}");
        }
    }
}
