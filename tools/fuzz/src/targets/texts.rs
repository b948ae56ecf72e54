//! Short texts and logs: quantities, addresses of servers, and the logs and journals that studies
//! read back.

use std::io::Cursor;

use load::{Expect, Request, Target as Url};
use model::plan::parse_budget;
use model::printable::printable;
use model::study::{Sizes, parse_error_rate, parse_threshold};
use studies::records::{Expected, Format, Name, account};

use super::{checks, lines};
use crate::Target;
use crate::mutate::Form;

const UNITS: &[&str] = &["KiB", " MiB", "GB", "ms", "s", "min", "h", "%", ".", "inf", "nan", "e9"];
const URLS: &[&str] = &[
    "http://",
    "unix:",
    "https:",
    "[::1]",
    ":65536",
    "@",
    "%00",
    "text:",
    "sha256:",
    "first",
    ":/",
    "Name: ",
    "Connection: ",
    "\r\n",
];
const JOURNAL: &[&str] = &["iotx", "\0\0\0\0", "\u{1}\0\0\0", "\0\u{10}"];
const LOG: &[&str] = &["\n", " 00 ", " ffffffff ", "00000001 00 ", "AAAAAA"];

pub(super) fn all() -> Vec<Target> {
    let segment = journal::simulated::replays_segment;
    vec![
        Target::new("journal", 100, || Form::Text(JOURNAL), journal::simulated::segments, segment)
            .bytes_max(1 << 16),
        Target::new("log", 300, || Form::Text(LOG), logs, log),
        Target::new("quantity", 1200, || Form::Text(UNITS), quantities, quantity)
            .bytes_max(1 << 10),
        Target::new("url", 800, || Form::Text(URLS), urls, url).bytes_max(1 << 12),
    ]
}

fn quantities() -> Vec<Vec<u8>> {
    lines("70 B\n4KiB\n1.5 MiB\n2 GB\n60s\n1.5 min\n250ms\n1h\n5%\n0.5 %\n24h\n0.125 MiB\n1.5ms")
}

/// A quantity reads back as the same from what is written of it.
fn quantity(bytes: &[u8]) -> bool {
    if let Some(bits) = bytes.first_chunk() {
        let figure = f64::from_bits(u64::from_le_bytes(*bits));
        let written = [units::time, units::percent, units::three_digits].map(|to| to(figure));
        assert!(written.iter().all(|text| text.len() < 400), "{written:?}");
        units::rough_size(figure as u64);
    }
    let text = &*String::from_utf8_lossy(bytes);
    let size = units::parse_size(text);
    if let Ok(bytes) = size {
        assert_eq!(units::parse_size(&units::exact_size(bytes)), Ok(bytes));
    }
    let duration = units::parse_duration(text);
    // Beyond any that is accepted anywhere, several nanoseconds share a float.
    let day = std::time::Duration::from_secs(24 * 3600);
    if let Some(duration) = duration.clone().ok().filter(|duration| *duration <= day) {
        let again = units::parse_duration(&units::exact_duration(duration));
        assert_eq!(again, Ok(duration), "from {text:?}");
    }
    let share = units::parse_share(text);
    let shares = [parse_threshold(text), parse_error_rate(text)];
    let budget = parse_budget(text);
    size.is_ok()
        || duration.is_ok()
        || share.is_ok()
        || shares.iter().any(Result::is_ok)
        || budget.is_ok()
}

fn urls() -> Vec<Vec<u8>> {
    lines(
        "http://127.0.0.1:8080/a?b=c\nhttp://[::1]/\nhttp://host\nunix:/run/app.sock:/page\n\
         text:hello\nsha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n\
         first\nX-Name: value",
    )
}

/// The words that `load` takes on its command line.
fn url(bytes: &[u8]) -> bool {
    let text = &*String::from_utf8_lossy(bytes);
    let header = Request::default().add_header(text);
    let (url, expect) = (Url::parse(text), Expect::parse(text));
    if let Ok(url) = &url {
        let unseen = |text: &str| text.bytes().any(|byte| byte < b' ' || byte == 0x7f);
        assert!(!unseen(&url.host) && !unseen(&url.path), "{url:?}");
    }
    for error in [url.as_ref().err(), expect.as_ref().err(), header.as_ref().err()] {
        checks::message(&error.map_or_else(String::new, ToString::to_string));
    }
    url.is_ok() || expect.is_ok() || header.is_ok()
}

/// Formats with all checks, with some, and with none but the number of lines.
const SIZES: [(u64, u64); 4] = [(70, 70), (50, 90), (20, 20), (5, 5)];

/// The first byte says which format, the rest is the log of two writers.
fn logs() -> Vec<Vec<u8>> {
    let log = |(which, (min, max)): (usize, (u64, u64))| {
        let format = Format::new(7, Sizes { min, max });
        let mut log = vec![which as u8];
        for sequence in 0..20 {
            (0..2).for_each(|writer| format.write(Name { writer, sequence }, &mut log));
        }
        log
    };
    SIZES.into_iter().enumerate().map(log).collect()
}

fn log(bytes: &[u8]) -> bool {
    let Some((&which, log)) = bytes.split_first() else { return false };
    let (min, max) = SIZES[usize::from(which) % SIZES.len()];
    let writers = [Expected { acknowledged: 18, begun: 21 }, Expected::all(20)];
    let Ok(found) = account(Cursor::new(log), Format::new(7, Sizes { min, max }), &writers) else {
        return false;
    };
    let integrity = found.integrity;
    let missing = integrity.lost + integrity.torn + integrity.interleaved + integrity.overwritten;
    assert!(which as usize % SIZES.len() == 3 || missing <= integrity.records, "{integrity:?}");
    assert!(integrity.example.as_ref().is_none_or(|text| printable(text) == *text));
    integrity.lost < integrity.records
}
