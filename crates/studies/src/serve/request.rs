//! Requests to the built-in server, each of which names a secret that only its client has.
//!
//! A port of this host is open to all its users, and a page may be made of files that only
//! one of them may read. So the server answers a request only where its path begins with a
//! secret that was drawn for this server. Arguments and environments of processes can be read by
//! others: the server gets it on standard input.

use std::fmt;
use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::Duration;

use rand::TryRngCore as _;
use rand::rngs::OsRng;
use serde::{Deserialize, Serialize};

/// A longer head is no request of ours.
pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;
/// A connection that asks for nothing is given up after this.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// What a request's path begins with: `/` and 32 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Secret(String);

impl Secret {
    /// One that was never used, of 128 bits from the kernel.
    pub(super) fn draw() -> io::Result<Self> {
        let mut bits = [0; 16];
        OsRng.try_fill_bytes(&mut bits).map_err(io::Error::other)?;
        Ok(Self(format!("/{:032x}", u128::from_ne_bytes(bits))))
    }

    /// The path by which a server is asked for `path`.
    pub(super) fn before(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// What is asked for, where the request has the secret. How long that takes does not
    /// depend on how much of the secret is right.
    fn asked<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (given, asked) = path.split_at_checked(self.0.len())?;
        let differing = given.bytes().zip(self.0.bytes()).fold(0, |any, (a, b)| any | (a ^ b));
        (differing == 0).then_some(asked)
    }
}

/// It stays out of messages, also where its owner is printed for debugging.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Reads a request's head; its path with the query, or nothing where it lacks the secret.
pub(super) fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    secret: &Secret,
) -> io::Result<Option<String>> {
    let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
    // A connection that asks for nothing must not keep its worker.
    stream.set_read_timeout(Some(PATIENCE))?;
    buffer.clear();
    let mut part = [0; 4096];
    loop {
        let read = stream.read(&mut part)?;
        buffer.extend_from_slice(&part[..read]);
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(buffer).map_err(|_| bad("not HTTP"))? {
            httparse::Status::Complete(_) => {
                return Ok(secret.asked(request.path.unwrap_or("/")).map(str::to_owned));
            }
            httparse::Status::Partial if read > 0 && buffer.len() < HEAD_BYTES_MAX => {}
            httparse::Status::Partial => return Err(bad("incomplete head")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_a_path_that_begins_with_the_secret_asks_for_anything() {
        let (secret, other) = (Secret::draw().unwrap(), Secret::draw().unwrap());
        assert_ne!(secret, other);
        assert_eq!(secret.0.len(), 33);
        assert_eq!(secret.asked(&secret.before("/?log")), Some("/?log"));
        assert_eq!(secret.asked(&secret.0), Some(""));
        let last_wrong = format!("{}x/", &secret.0[..32]);
        let cut = secret.0[..32].to_owned();
        let inside = format!("/x{}", secret.0);
        let upper = secret.0.to_uppercase() + "/";
        let mut strangers = vec![other.before("/"), last_wrong, cut, inside];
        strangers.extend(["/", "", "/empty", "*", "/üüüüüüüüüüüüüüüüüüüüü"].map(str::to_owned));
        strangers.extend((upper != secret.before("/")).then_some(upper));
        for path in strangers {
            assert_eq!(secret.asked(&path), None, "{path}");
        }
    }

    #[test]
    fn the_secret_is_in_no_debug_output() {
        assert_eq!(format!("{:?}", Secret::draw().unwrap()), "Secret");
    }
}
