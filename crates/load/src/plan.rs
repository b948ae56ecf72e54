//! What is to be done: where to, what is asked, how often, and for how long
//! an answer is waited for.

use crate::{Error, Expect, Gap, Permission, Target};
use http::{HeaderName, HeaderValue, Method};
use std::time::Duration;

/// A load: everything but its steps.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where the load goes.
    pub target: Target,
    /// What is sent.
    pub request: Request,
    /// How many requests a connection carries.
    pub reuse: Reuse,
    /// How long a request may take, from the beginning of its connection (or
    /// of its sending, on one kept alive) to the last byte of its reply.
    pub timeout: Duration,
    /// What every body should be.
    pub expect: Expect,
    /// How the gaps between starts are spread.
    pub gap: Gap,
    /// What the random gaps are made from.
    pub seed: u64,
    /// Steps of the load, one after the other.
    pub steps: Steps,
    /// A step ends by itself once the intervals of its percentiles are this narrow: half the
    /// width as a share of the middle, 0.05 is 5%. A search does not.
    pub until: Option<f64>,
    /// What was agreed to beyond the defaults.
    pub permission: Permission,
}

impl Plan {
    /// A plan with the defaults of the command line: GET, a connection per
    /// request, five seconds, constant gaps.
    pub fn new(target: Target, steps: Steps) -> Self {
        Self {
            target,
            request: Request::default(),
            reuse: Reuse::Never,
            timeout: Duration::from_secs(5),
            expect: Expect::Anything,
            gap: Gap::Constant,
            seed: 1,
            steps,
            until: None,
            permission: Permission::default(),
        }
    }
}

/// What drives the load.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// Open loop: one step for each rate, in connections per second.
    Rates {
        /// The rates.
        rates: Vec<f64>,
        /// Connections in each step; ten seconds' worth when `None`.
        connections: Option<u64>,
    },
    /// Open loop: the highest rate that is held is looked for.
    MaxRate {
        /// Connections in the step that confirms it; ten seconds' worth when
        /// `None`.
        connections: Option<u64>,
    },
    /// Closed loop: so many clients, each waiting for its reply.
    Closed {
        /// Clients at a time.
        concurrency: u32,
        /// Requests of all of them together.
        requests: u64,
    },
}

/// How many requests a connection carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// One; the server is asked to close.
    Never,
    /// So many, one after the other, or fewer when the server closes.
    Requests(u64),
    /// As many as there are (closed loop only).
    Always,
}

/// Version of HTTP that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
}

impl Version {
    /// As it is written.
    pub(crate) fn number(self) -> &'static str {
        match self {
            Self::Http10 => "1.0",
            Self::Http11 => "1.1",
        }
    }
}

/// What is sent.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// GET by default.
    pub method: Method,
    /// Version of HTTP.
    pub version: Version,
    /// Headers beyond those that are always sent, or instead of them.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// Adds a header written as `Name: value`.
    pub fn add_header(&mut self, given: &str) -> Result<(), Error> {
        let bad = |why: &str| Error::input("header", given, why);
        let (name, value) =
            given.split_once(':').ok_or_else(|| bad("write it as 'Name: value'"))?;
        let name = name.trim().parse().map_err(|_| bad("the name contains invalid characters"))?;
        let value =
            value.trim().parse().map_err(|_| bad("the value contains invalid characters"))?;
        if name == http::header::CONNECTION || name == http::header::TRANSFER_ENCODING {
            return Err(bad("this header is set by --keep-alive or by the request body"));
        }
        self.headers.push((name, value));
        Ok(())
    }

    /// The bytes on the wire; `last` when the server is asked to close after.
    pub(crate) fn to_bytes(&self, target: &Target, last: bool) -> Vec<u8> {
        let has = |name: &str| self.headers.iter().any(|(n, _)| n.as_str() == name);
        let mut head =
            format!("{} {} HTTP/{}\r\n", self.method, target.path, self.version.number());
        if !has("host") {
            head.extend(["Host: ", &target.host, "\r\n"]);
        }
        if !has("user-agent") {
            head += concat!("User-Agent: iotoll/", env!("CARGO_PKG_VERSION"), "\r\n");
        }
        if !has("accept") {
            head += "Accept: */*\r\n";
        }
        let wants_length = !self.body.is_empty()
            || matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        if wants_length && !has("content-length") {
            head.extend(["Content-Length: ", &self.body.len().to_string(), "\r\n"]);
        }
        match (self.version, last) {
            (Version::Http11, true) => head += "Connection: close\r\n",
            (Version::Http10, false) => head += "Connection: keep-alive\r\n",
            _ => {}
        }
        let mut bytes = head.into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_request_says_what_it_must_and_headers_given_replace_ours() {
        let target = Target::parse("http://a:81/x?y").unwrap();
        let mut request = Request::default();
        let text = String::from_utf8(request.to_bytes(&target, true)).unwrap();
        assert!(text.starts_with("GET /x?y HTTP/1.1\r\nHost: a:81\r\n"), "{text}");
        assert!(text.ends_with("Connection: close\r\n\r\n"), "{text}");
        request.method = Method::POST;
        request.version = Version::Http10;
        request.body = b"abc".to_vec();
        request.add_header("Host: other").unwrap();
        let text = String::from_utf8(request.to_bytes(&target, false)).unwrap();
        assert!(text.starts_with("POST /x?y HTTP/1.0\r\n"), "{text}");
        assert!(text.contains("Content-Length: 3\r\nConnection: keep-alive\r\n"), "{text}");
        assert!(text.ends_with("host: other\r\n\r\nabc"), "{text}");
        assert_eq!(text.to_lowercase().matches("host:").count(), 1);
    }

    #[test]
    fn headers_that_would_break_the_request_are_refused() {
        let mut request = Request::default();
        for given in ["x", "a b: c", "a: b\nc", "Connection: close", ": x"] {
            assert!(request.add_header(given).is_err(), "{given:?} was taken");
        }
    }
}
