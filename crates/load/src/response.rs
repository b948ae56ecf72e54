//! An HTTP/1 reply, taken in as its bytes come (RFC 9112, sections 4, 6 and 7).
//!
//! The body is passed on and forgotten. What is kept of a reply is a few
//! numbers, and a head that has not come whole, which may have at most
//! [`HEAD_BYTES_MAX`]: a server that never ends one costs no more than that.

use crate::{chunked::Chunked, malformed::Malformed};
use std::mem::MaybeUninit;

/// A longer head is taken for one that never ends.
pub(crate) const HEAD_BYTES_MAX: usize = 16 << 10;
/// More header fields than this are taken for nonsense.
const HEADERS_MAX: usize = 128;
/// Below this, a head that does not look like one is found out at once.
const STATUS_LINE_BYTES: usize = 256;

/// How far a reply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More must come.
    More,
    /// It is whole, after this many of the bytes given.
    Done(usize),
}

/// What the end of a connection means for the reply on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The end of the connection was the end of the body.
    Complete,
    /// Nothing or only a part of the head had come.
    NoReply,
    /// A part of the body had come.
    Short,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Head,
    Length { left: u64 },
    Chunked(Chunked),
    UntilClose,
    Done,
}

/// One reply on its way in.
#[derive(Debug)]
pub(crate) struct Reply {
    state: State,
    head: Vec<u8>,
    bodiless: bool,
    /// Whether the `Server` header is wanted.
    pub(crate) wants_server: bool,
    /// The `Server` header, where it was wanted.
    pub(crate) server: Option<String>,
    /// Status of the reply, 0 until its head has come.
    pub(crate) status: u16,
    /// Whether the connection may carry another request.
    pub(crate) keep_alive: bool,
    /// Bytes of heads, this reply's and those of interim (1xx) ones.
    pub(crate) head_bytes: u64,
    /// Bytes of the body, without the framing of chunks.
    pub(crate) body_bytes: u64,
}

impl Reply {
    /// `bodiless`: it answers HEAD, so that no body comes whatever it says.
    pub(crate) fn new(bodiless: bool) -> Self {
        Self {
            state: State::Head,
            head: Vec::new(),
            bodiless,
            wants_server: false,
            server: None,
            status: 0,
            keep_alive: false,
            head_bytes: 0,
            body_bytes: 0,
        }
    }

    /// Makes it ready for the next reply on the same connection.
    pub(crate) fn reset(&mut self) {
        let head = std::mem::take(&mut self.head);
        *self = Self { head, ..Self::new(self.bodiless) };
        self.head.clear();
    }

    /// Whether any byte of it has come.
    pub(crate) fn began(&self) -> bool {
        self.head_bytes > 0 || !self.head.is_empty()
    }

    /// Takes in what came, handing the body's bytes on.
    #[inline]
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        body: &mut impl FnMut(&[u8]),
    ) -> Result<Progress, Malformed> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match &mut self.state {
                State::Done => return Ok(Progress::Done(used)),
                State::Head => match self.feed_head(rest)? {
                    Some(n) => used += n,
                    None => return Ok(Progress::More),
                },
                State::Length { left } => {
                    let n = (*left).min(rest.len() as u64);
                    body(&rest[..n as usize]);
                    self.body_bytes += n;
                    *left -= n;
                    used += n as usize;
                    if *left > 0 {
                        return Ok(Progress::More);
                    }
                    self.state = State::Done;
                }
                State::Chunked(chunked) => {
                    let count = &mut self.body_bytes;
                    used += chunked.feed(rest, &mut |part: &[u8]| {
                        *count += part.len() as u64;
                        body(part);
                    })?;
                    if !chunked.is_done() {
                        return Ok(Progress::More);
                    }
                    self.state = State::Done;
                }
                State::UntilClose => {
                    body(rest);
                    self.body_bytes += rest.len() as u64;
                    return Ok(Progress::More);
                }
            }
        }
    }

    /// Says what it means that the connection ended here.
    pub(crate) fn end(&self) -> Ending {
        match self.state {
            State::Done | State::UntilClose => Ending::Complete,
            State::Head => Ending::NoReply,
            State::Length { .. } | State::Chunked(_) => Ending::Short,
        }
    }

    /// Takes in bytes of the head; `Some(n)` when it ended after `n` of them.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        if self.head.is_empty() {
            // Nearly always a head comes whole and need not be copied.
            if let Some(n) = self.parse_head(bytes)? {
                return Ok(Some(n));
            }
            self.keep_head(bytes)?;
            return Ok(None);
        }
        let before = self.head.len();
        let room = HEAD_BYTES_MAX - before;
        self.keep_head(&bytes[..bytes.len().min(room)])?;
        // Parsing only when a line ends keeps a head that drips in, byte by
        // byte, from being parsed over and over.
        let tail = &self.head[before.saturating_sub(3)..];
        let maybe_whole =
            tail.windows(2).any(|w| w == b"\n\n") || tail.windows(3).any(|w| w == b"\n\r\n");
        if maybe_whole || self.head.len() <= STATUS_LINE_BYTES {
            let head = std::mem::take(&mut self.head);
            let parsed = self.parse_head(&head)?;
            self.head = head;
            if let Some(n) = parsed {
                self.head.clear();
                return Ok(Some(n - before));
            }
        }
        if bytes.len() >= room {
            return Err(Malformed("head is too long"));
        }
        Ok(None)
    }

    fn keep_head(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        if self.head.len() + bytes.len() > HEAD_BYTES_MAX {
            return Err(Malformed("head is too long"));
        }
        self.head.extend_from_slice(bytes);
        Ok(())
    }

    fn parse_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut response, bytes, &mut headers)
            .map_err(|_| Malformed("head is not HTTP/1"))?;
        let httparse::Status::Complete(length) = parsed else { return Ok(None) };
        // However it came: whole, it was not kept and not yet bounded.
        if length > HEAD_BYTES_MAX {
            return Err(Malformed("head is too long"));
        }
        self.head_bytes += length as u64;
        let status = response.code.unwrap_or(0);
        if (100..200).contains(&status) {
            // Interim replies precede the real one; 101 was never asked for.
            return if status == 101 {
                Err(Malformed("unexpected 101 Switching Protocols"))
            } else {
                Ok(Some(length))
            };
        }
        if !(200..600).contains(&status) {
            return Err(Malformed("status code is out of range"));
        }
        self.status = status;
        self.state = self.framing(&response)?;
        Ok(Some(length))
    }

    /// How the end of the body will be known (RFC 9112, section 6.3).
    fn framing(&mut self, response: &httparse::Response<'_, '_>) -> Result<State, Malformed> {
        let mut length = None;
        let mut chunked = false;
        self.keep_alive = response.version == Some(1);
        for header in response.headers.iter() {
            // The length of the name sorts out nearly all without comparing.
            match header.name.len() {
                6 if self.wants_server && header.name.eq_ignore_ascii_case("server") => {
                    self.server = Some(String::from_utf8_lossy(header.value).into_owned());
                }
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    if has_token(header.value, b"close") {
                        self.keep_alive = false;
                    } else if has_token(header.value, b"keep-alive") {
                        self.keep_alive = true;
                    }
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    let this = parse_length(header.value)?;
                    if length.is_some_and(|other| other != this) {
                        return Err(Malformed("conflicting Content-Length headers"));
                    }
                    length = Some(this);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    chunked = has_token(header.value, b"chunked");
                    if !chunked {
                        return Err(Malformed("unsupported Transfer-Encoding"));
                    }
                }
                _ => {}
            }
        }
        Ok(match length {
            _ if self.bodiless || self.status == 204 || self.status == 304 => State::Done,
            _ if chunked => State::Chunked(Chunked::new()),
            Some(left) => State::Length { left },
            None => {
                self.keep_alive = false;
                State::UntilClose
            }
        })
    }
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|b| *b == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

fn parse_length(value: &[u8]) -> Result<u64, Malformed> {
    let digits = value.trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed("Content-Length is not a number"));
    }
    std::str::from_utf8(digits)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or(Malformed("Content-Length is out of range"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    /// Feeds parts and returns how it ended, what was left over, and the body.
    fn take(parts: &[&[u8]]) -> (Result<Progress, Malformed>, Ending, Vec<u8>) {
        let (mut reply, mut body) = (Reply::new(false), Vec::new());
        let mut last = Ok(Progress::More);
        for part in parts {
            last = reply.feed(part, &mut |bytes| body.extend_from_slice(bytes));
            assert!(reply.head.len() <= HEAD_BYTES_MAX);
            if last != Ok(Progress::More) {
                break;
            }
        }
        (last, reply.end(), body)
    }

    fn whole(text: &str) -> (Result<Progress, Malformed>, Ending, Vec<u8>) {
        take(&[text.as_bytes()])
    }

    #[test]
    fn the_body_ends_where_its_length_says() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloEXTRA";
        let (progress, _, body) = whole(text);
        assert_eq!(progress, Ok(Progress::Done(text.len() - 5)));
        assert_eq!(body, b"hello");
        let (progress, ending, _) = whole("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello");
        assert_eq!((progress, ending), (Ok(Progress::More), Ending::Short));
        let (progress, ..) = whole("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        assert!(matches!(progress, Ok(Progress::Done(_))));
    }

    #[test]
    fn a_body_without_a_length_ends_with_the_connection() {
        let (progress, ending, body) = whole("HTTP/1.0 200 OK\r\n\r\nhello");
        assert_eq!((progress, ending), (Ok(Progress::More), Ending::Complete));
        assert_eq!(body, b"hello");
    }

    #[test]
    fn chunks_are_put_together_and_trailers_skipped() {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                    3;x=y\r\nabc\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
        let (progress, _, body) = whole(text);
        assert_eq!(progress, Ok(Progress::Done(text.len())));
        assert_eq!(body, b"abc0123456789");
    }

    #[test]
    fn what_is_not_a_reply_is_malformed() {
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(HEAD_BYTES_MAX));
        for text in [
            "hello",
            "\u{0}\u{1}",
            "HTTP/2 200 OK\r\n\r\n",
            "HTTP/1.1 999 OK\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
            long.as_str(),
        ] {
            assert!(whole(text).0.is_err(), "{text:.60} was taken");
        }
    }

    #[test]
    fn a_head_that_never_ends_is_given_up_within_bounds() {
        let (mut reply, mut taken) = (Reply::new(false), 0);
        let mut feed = |bytes: &[u8]| {
            taken += bytes.len();
            let r = reply.feed(bytes, &mut |_| ());
            assert!(reply.head.len() <= HEAD_BYTES_MAX);
            r
        };
        feed(b"HTTP/1.1 200 OK\r\n").unwrap();
        while feed(b"A: b\r\n").is_ok() {}
        assert!(taken <= HEAD_BYTES_MAX + 8, "{taken} bytes were taken");
    }

    #[test]
    fn a_head_is_as_long_as_it_may_be_however_it_comes() {
        let head = |bytes: usize| {
            let (start, end) = ("HTTP/1.1 204 No\r\nA: ", "\r\n\r\n");
            format!("{start}{}{end}", "x".repeat(bytes - start.len() - end.len()))
        };
        for (bytes, is_taken) in [(HEAD_BYTES_MAX, true), (HEAD_BYTES_MAX + 1, false)] {
            let text = head(bytes);
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(1000).collect();
            assert_eq!((whole(&text).0.is_ok(), take(&pieces).0.is_ok()), (is_taken, is_taken));
        }
    }

    #[test]
    fn interim_replies_are_passed_over() {
        let (progress, _, body) = whole(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        );
        assert!(matches!(progress, Ok(Progress::Done(_))));
        assert_eq!(body, b"hi");
    }

    #[test]
    fn whether_the_connection_lives_on_follows_version_and_header() {
        for (head, lives) in [
            ("HTTP/1.1 204 No\r\n", true),
            ("HTTP/1.1 204 No\r\nConnection: foo, Close\r\n", false),
            ("HTTP/1.0 204 No\r\n", false),
            ("HTTP/1.0 204 No\r\nConnection: Keep-Alive\r\n", true),
            ("HTTP/1.1 200 OK\r\n", false),
        ] {
            let mut reply = Reply::new(false);
            reply.feed(format!("{head}\r\n").as_bytes(), &mut |_| ()).unwrap();
            assert_eq!(reply.keep_alive, lives, "{head}");
        }
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let mut reply = Reply::new(true);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(reply.feed(head, &mut |_| ()), Ok(Progress::Done(head.len())));
    }

    fn some_reply() -> impl Strategy<Value = Vec<u8>> {
        let fragments = proptest::sample::select(vec![
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404 Not Found\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "Content-Length: 7\r\n",
            "Transfer-Encoding: chunked\r\n",
            "\r\n",
            "5\r\nhello\r\n",
            "0\r\n\r\n",
            "ffffffffffffffff\r\n",
            "\n\n\0é",
            "payload",
        ]);
        proptest::collection::vec(fragments, 0..12).prop_map(|parts| parts.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_without_panic_and_alike_however_they_are_cut(
            bytes in prop_oneof![some_reply(), proptest::collection::vec(any::<u8>(), 0..400)],
            cuts in proptest::collection::vec(1_usize..40, 1..8),
        ) {
            let at_once = take(&[&bytes]);
            let mut parts = Vec::new();
            let (mut rest, mut cut) = (&bytes[..], cuts.iter().cycle());
            while !rest.is_empty() {
                let (part, after) = rest.split_at((*cut.next().unwrap()).min(rest.len()));
                parts.push(part);
                rest = after;
            }
            let in_parts = take(&parts);
            prop_assert!(at_once.2.len() <= bytes.len());
            prop_assert_eq!(at_once.0.is_err(), in_parts.0.is_err());
            if at_once.0.is_ok() {
                prop_assert_eq!(at_once.1, in_parts.1);
                prop_assert_eq!(at_once.2, in_parts.2);
            }
        }
    }
}
