//! Where the load goes: a URL taken apart, and the addresses behind it.

use crate::Error;
use host::sockets::Endpoint;
use model::address::Address;
use std::{
    net::{TcpStream, ToSocketAddrs},
    path::PathBuf,
    time::Duration,
};

/// How long each of several addresses of a host may take to answer when the
/// one to use is being chosen.
const PROBE: Duration = Duration::from_secs(2);

/// A URL as errors show it: without the password that it may have.
///
/// Leaves out what stands between a user's name and the last `@`. A password may have
/// any character in it, so that only a number where a port stands is none.
pub(crate) fn shown(url: &str) -> String {
    let user_at = url.find("://").map_or(0, |at| at + "://".len());
    let (scheme, rest) = url.split_at(user_at);
    let secret = rest.split_once(':').and_then(|(user, after)| {
        let (password, host) = after.rsplit_once('@')?;
        let port = password.split(['/', '?', '#']).next().unwrap_or_default();
        let is_port = port.len() < password.len() && port.bytes().all(|b| b.is_ascii_digit());
        (!is_port).then_some((user, host))
    });
    match secret {
        Some((user, host)) => format!("{scheme}{user}:…@{host}"),
        None => url.to_owned(),
    }
}

/// Why a URL cannot be used.
fn unusable(url: &str, why: &str) -> Error {
    Error::Usage(format!(
        "{}: {why}; write it as http://HOST[:PORT]/PATH or unix:/SOCKET[:/PATH]",
        shown(url)
    ))
}

/// A server and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The URL as it was given.
    pub url: String,
    /// Where to connect.
    pub address: Address,
    /// What the `Host` header says.
    pub host: String,
    /// Path and query of the request.
    pub path: String,
}

impl Target {
    /// Takes a URL apart: `http://HOST[:PORT][/PATH]` or
    /// `unix:/SOCKET[:/PATH]`, the latter as nginx writes it.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let plain = url.strip_prefix("http://").unwrap_or(url);
        if let Some(rest) = plain.strip_prefix("unix:") {
            return Self::parse_unix(url, rest);
        }
        let bad = |why: &str| unusable(url, why);
        if url.starts_with("https:") {
            return Err(Error::Usage(format!(
                "{}: https is not supported yet; use the server's plain HTTP port, or a proxy in \
                 front of it that terminates TLS",
                shown(url)
            )));
        }
        if !url.starts_with("http://") {
            return Err(bad("it does not begin with http://"));
        }
        let uri: http::Uri = url.parse().map_err(|e| bad(&format!("invalid URL ({e})")))?;
        let authority = uri.authority().ok_or_else(|| bad("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("user names in URLs are not supported; set a header instead"));
        }
        let has_port = authority.as_str().len() != authority.host().len();
        let port = authority.port_u16().unwrap_or(if has_port { 0 } else { 80 });
        if port == 0 {
            return Err(bad("the port is not a number from 1 to 65535"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        Ok(Self {
            url: url.to_owned(),
            address: Address::Tcp(host.to_owned(), port),
            host: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or("/", |p| p.as_str()).to_owned(),
        })
    }

    fn parse_unix(url: &str, rest: &str) -> Result<Self, Error> {
        let (socket, path) = match rest.split_once(":/") {
            Some((socket, path)) => (socket, format!("/{path}")),
            None => (rest, String::from("/")),
        };
        let bad = |why: &str| unusable(url, why);
        if !socket.starts_with('/') {
            return Err(bad("the socket path must be absolute"));
        }
        // What follows a `#` is not sent, and was not looked at.
        let path: http::uri::PathAndQuery =
            path.parse().map_err(|_| bad("the request path contains invalid characters"))?;
        Ok(Self {
            url: url.to_owned(),
            address: Address::Unix(PathBuf::from(socket)),
            host: String::from("localhost"),
            path: path.as_str().to_owned(),
        })
    }

    /// All addresses behind it.
    pub(crate) fn endpoints(&self) -> Result<Vec<Endpoint>, Error> {
        let (host, port) = match &self.address {
            Address::Unix(path) => return Ok(vec![Endpoint::Unix(path.clone())]),
            Address::Tcp(host, port) => (host, *port),
        };
        let failed =
            |source| Error::System { what: format!("cannot resolve {host}:{port}"), source };
        let all: Vec<Endpoint> =
            (host.as_str(), port).to_socket_addrs().map_err(failed)?.map(Endpoint::Tcp).collect();
        if all.is_empty() {
            return Err(failed(std::io::Error::other("the host has no address")));
        }
        Ok(all)
    }
}

/// The address to connect to.
///
/// A name with several addresses (`localhost` is often both `::1` and
/// `127.0.0.1`) is probed, and the first one that accepts is taken.
pub(crate) fn reachable(all: &[Endpoint]) -> &Endpoint {
    let accepts = |endpoint: &&Endpoint| match endpoint {
        Endpoint::Tcp(address) => TcpStream::connect_timeout(address, PROBE).is_ok(),
        Endpoint::Unix(_) => true,
    };
    match all {
        [only] => only,
        all => all.iter().find(accepts).unwrap_or(&all[0]),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let t = Target::parse("http://127.0.0.1:8080/a?b=c").unwrap();
        assert_eq!(t.address, Address::Tcp("127.0.0.1".into(), 8080));
        assert_eq!((t.host.as_str(), t.path.as_str()), ("127.0.0.1:8080", "/a?b=c"));
        let t = Target::parse("http://[::1]").unwrap();
        assert_eq!(t.address, Address::Tcp("::1".into(), 80));
        assert_eq!((t.host.as_str(), t.path.as_str()), ("[::1]", "/"));
        let t = Target::parse("http://[::1]:81/x").unwrap();
        assert_eq!(t.address, Address::Tcp("::1".into(), 81));
        for url in ["unix:/run/a.sock:/x?y", "http://unix:/run/a.sock:/x?y"] {
            let t = Target::parse(url).unwrap();
            assert_eq!(t.address, Address::Unix("/run/a.sock".into()));
            assert_eq!((t.host.as_str(), t.path.as_str()), ("localhost", "/x?y"));
        }
        assert_eq!(Target::parse("unix:/run/a.sock").unwrap().path, "/");
        // Sent as it is, it would be a header.
        assert_eq!(Target::parse("unix:/a:/x#y HTTP/1.1\r\nA: b").unwrap().path, "/x");
    }

    #[test]
    fn no_error_shows_a_password() {
        for (given, expected) in [
            ("http://me:secret@a/x", "http://me:…@a/x"),
            ("https://me:sec/r@et@a/", "https://me:…@a/"),
            ("me:1234@a", "me:…@a"),
            ("ftp://me:12/34@[::1]:80/", "ftp://me:12/34@[::1]:80/"),
            ("http://a:99999/b@c", "http://a:99999/b@c"),
            ("http://a/b@c", "http://a/b@c"),
            ("http://me@a/", "http://me@a/"),
        ] {
            assert_eq!(shown(given), expected);
            if expected.contains('…') {
                let error = Target::parse(given).unwrap_err().to_string();
                assert!(error.starts_with(expected), "{error}");
            }
        }
    }

    #[test]
    fn what_cannot_be_loaded_is_refused_with_the_reason() {
        let why = |url: &str| Target::parse(url).unwrap_err().to_string();
        assert!(why("https://a/").starts_with("https://a/: https is not supported yet"));
        for url in [
            "",
            "a",
            "/a",
            "ftp://a/",
            "http://",
            "http:///a",
            "http://a:0/",
            "http://a:99999/",
            "http://a:x/",
            "http://u:p@a/",
            "unix:a.sock",
            "unix:/a:/ b",
            "http://a/ b",
        ] {
            assert!(why(url).ends_with("or unix:/SOCKET[:/PATH]"), "{url}: {}", why(url));
        }
    }
}
