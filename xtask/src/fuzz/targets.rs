//! The targets that read text and bytes; those that read records are in a file of their
//! own.

use std::io::Cursor;

use host::root::Root;
use load::{Expect, Request, Target as Url};
use model::made::MadePlace;
use model::place::{self, PlaceRequest};
use model::plan::{Draft, StudyPlan, parse_budget};
use model::plan_file;
use model::printable::{printable, printable_lines};
use model::study::{ParamValue, Sizes, StudySpec, parse_error_rate, parse_worth};
use model::units;
use studies::records::{Expected, Format, Name, account};

use super::records;
use super::target::Target;
use super::traces;

const UNITS: &[&str] = &["KiB", " MiB", "GB", "ms", "s", "min", "h", "%", ".", "inf", "nan", "e9"];
const PLAN: &[&str] = &[
    "[places]\n",
    "[[study]]\n",
    "name = ",
    "strategy = ",
    "\"log\"",
    "worth = ",
    "budget = ",
    "seed = ",
    "error_rate = ",
    "[",
    "]",
    "{",
    "}",
    "=",
    "'''",
    "\"\"\"",
    "\\u001b",
    "#",
    "{plan}",
    "1979-05-27",
    "0x",
    "inf",
];
const SETTINGS: &[&str] = &[
    "log.", "page.", "serve.", "sqlite.", "sync=", "every ", "uniform ", "..", "max", "never",
    "each", "ms", " KiB", ",", "=", "/s",
];
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
const REPLY: &[&str] = &[
    "HTTP/1.1 ",
    "HTTP/1.0 ",
    "\r\n",
    "\r\n\r\n",
    "\n\n",
    "Content-Length: ",
    "chunked",
    "Transfer-Encoding: ",
    "Connection: ",
    "close",
    "keep-alive",
    "Server: ",
    "100 Continue",
    "0\r\n\r\n",
    "ffffffffffffffff",
    ";",
    "204",
    "304",
    "101",
];
const MOUNTS: &[&str] = &[
    " - ",
    "\\040",
    "\\134",
    "\\777",
    "8:1",
    " / ",
    "/srv",
    "\n",
    "shared:1",
    "rw,",
    "size=4k",
    "upperdir=",
    "1 1 0:1 / / rw - a a rw\n",
];
const KERNEL: &[&str] = &[
    "cpu ",
    "(",
    ")",
    ") R ",
    "total=",
    "some ",
    "full ",
    "TCP:",
    " tw ",
    "syscr: ",
    "MemTotal:",
    "nr_dirty ",
    "pgscan_direct ",
    "model name\t: ",
    "throttled_usec ",
    "high ",
    "max ",
    ":",
    "\n",
    "0::/",
    "0A ",
    "00010000",
];
const WORKER: &[&str] = &[
    "\"ready\"\n",
    "{\"failed\":\"",
    "{\"done\":{",
    "latencies",
    "figures",
    "\n",
    "{\"start\":",
    "{\"work\":{",
];
const JOURNAL: &[&str] = &["iotx", "\0\0\0\0", "\u{1}\0\0\0", "\0\u{10}"];
const LOG: &[&str] = &["\n", " 00 ", " ffffffff ", "00000001 00 ", "AAAAAA"];

pub(super) fn all() -> Vec<Target> {
    let text =
        |name, share, seeds, words, run| Target { name, share, is_json: false, seeds, words, run };
    let mut all = vec![
        text("plan", 400, plans, PLAN, plan),
        text(
            "place",
            1500,
            || lines("disk=/var/log\na=tmpfs:1G:huge=always\nimage:xfs:1G:sync@/a\nzram:1G\nx="),
            &["=", ":", "@", "tmpfs:", "image:", "ext4", "overlay:"],
            place,
        ),
        text("quantity", 1500, quantities, UNITS, quantity),
        text("setting", 800, settings, SETTINGS, setting),
        text("url", 800, urls, URLS, url),
        text("reply", 1200, replies, REPLY, load::fuzz::reply),
        text("chunked", 1200, chunks, REPLY, load::fuzz::chunked),
        text("mountinfo", 600, mounts, MOUNTS, host::fuzz::mountinfo),
        text("diskstats", 600, diskstats, KERNEL, host::fuzz::diskstats),
        text("kernel-file", 800, kernel_files, KERNEL, host::fuzz::kernel_file),
        text("log", 300, logs, LOG, log),
        text("journal", 20, journal::simulated::segments, JOURNAL, |segment| {
            journal::simulated::replays_segment(segment)
        }),
    ];
    let messages = Target { is_json: true, ..text("worker", 700, messages, WORKER, worker) };
    all.push(messages);
    all.extend(records::all());
    all.extend(traces::all());
    all
}

/// Each line of a text as an input.
fn lines(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

fn plans() -> Vec<Vec<u8>> {
    let examples: [&[u8]; 6] = [
        include_bytes!("../../../examples/log.toml"),
        include_bytes!("../../../examples/log-locking.toml"),
        include_bytes!("../../../examples/page.toml"),
        include_bytes!("../../../examples/serve.toml"),
        include_bytes!("../../../examples/php-sqlite.toml"),
        b"worth = \"5%\"\nseed = 7\n[places]\na = \"/x\"\nb = '/y'\n[[study]]\nname = \"log\"\n\
          strategy = [\"held\", \"reopen\"]\nrecord = [70, \"8 KiB\"]\nsync = \"every 10ms\"\n",
    ];
    examples.map(<[u8]>::to_vec).to_vec()
}

fn plan(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else { return false };
    match plan_file::parse(text, "plan.toml", &studies::specs()) {
        Ok(mut draft) => {
            draft.fill_in("plan", "/a folder's");
            finished(draft);
            true
        }
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1, "{error}");
            check_message(&error.to_string());
            false
        }
    }
}

/// From a draft to the arms and their pairs, with defaults where nothing was said.
fn finished(mut draft: Draft) {
    if draft.places.is_empty() {
        draft.places = ["a=/a", "b=/b"].iter().filter_map(|place| place.parse().ok()).collect();
    }
    if let Ok(plan) = draft.finish(7) {
        let arms = plan.arms();
        model::arm::pairs(&arms);
    }
}

fn check_message(text: &str) {
    let printed = printable_lines(text);
    assert!(!printed.chars().any(|c| c.is_control() && c != '\n'), "{printed:?}");
}

fn place(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<PlaceRequest>() {
        Ok(place) => {
            assert_eq!(printable(&place.label), place.label);
            // What is to be made reads back as the same from what a run's record has of it.
            if let place::Target::Made(made) = &place.target {
                assert_eq!(made.to_string().parse::<MadePlace>().as_ref(), Ok(made));
            }
            true
        }
        Err(error) => {
            check_message(&error.to_string());
            false
        }
    }
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
    // Beyond any that is accepted anywhere, not every nanosecond has a float of its own.
    let day = std::time::Duration::from_secs(24 * 3600);
    if let Some(duration) = duration.clone().ok().filter(|duration| *duration <= day) {
        let again = units::parse_duration(&units::exact_duration(duration));
        assert_eq!(again, Ok(duration), "from {text:?}");
    }
    let share = units::parse_share(text);
    let shares = [parse_worth(text), parse_error_rate(text)];
    let budget = parse_budget(text);
    size.is_ok()
        || duration.is_ok()
        || share.is_ok()
        || shares.iter().any(Result::is_ok)
        || budget.is_ok()
}

fn settings() -> Vec<Vec<u8>> {
    let setting = |spec: &StudySpec| {
        let of = |param: &model::study::ParamSpec| {
            format!("{}.{}={}", spec.name, param.name, param.default)
        };
        spec.params.iter().map(of).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = studies::specs().into_iter().flat_map(setting).collect();
    all.extend(
        ["log.record=uniform 50 B..500 B", "log.sync=every 10ms", "log.rate=1000/s"]
            .map(String::from),
    );
    all.into_iter().map(String::into_bytes).collect()
}

/// A setting's values read back as the same from what the record of a run has of them.
fn setting(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let registry = studies::specs();
    let studies = registry.iter().map(|spec| StudyPlan::new(spec)).collect();
    let mut draft = Draft { studies, ..Draft::default() };
    if let Err(error) = draft.set_all(&[text.to_string()], &registry) {
        check_message(&error.to_string());
        return false;
    }
    draft.studies.retain(|study| !study.factors.is_empty());
    for study in &draft.studies {
        for (name, values) in &study.factors {
            let Some(param) = study.spec.param(name) else { continue };
            for value in values.iter().filter(|value| !matches!(value, ParamValue::Text(_))) {
                assert_eq!(param.parse(&value.to_string()).as_ref(), Ok(value), "{text}");
            }
        }
    }
    finished(draft);
    true
}

fn urls() -> Vec<Vec<u8>> {
    lines(
        "http://127.0.0.1:8080/a?b=c\nhttp://[::1]/\nhttp://host\nunix:/run/app.sock:/page\n\
         text:hello\nsha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n\
         first\nX-Name: value",
    )
}

/// What `load` is given in words.
fn url(bytes: &[u8]) -> bool {
    let text = &*String::from_utf8_lossy(bytes);
    let header = Request::default().add_header(text);
    let (url, expect) = (Url::parse(text), Expect::parse(text));
    if let Ok(url) = &url {
        let unseen = |text: &str| text.bytes().any(|byte| byte < b' ' || byte == 0x7f);
        assert!(!unseen(&url.host) && !unseen(&url.path), "{url:?}");
    }
    for error in [url.as_ref().err(), expect.as_ref().err(), header.as_ref().err()] {
        check_message(&error.map_or_else(String::new, ToString::to_string));
    }
    url.is_ok() || expect.is_ok() || header.is_ok()
}

/// The first byte says how it is cut.
fn replies() -> Vec<Vec<u8>> {
    [
        "\0HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\nhello",
        "\u{2}HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n00A\r\n0123456789\r\n0\r\nT: x\r\n\r\n",
        "\u{8}HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "\u{6}HTTP/1.0 200 OK\n\nhello",
        "\u{4}HTTP/1.1 204 No\r\nConnection: close\r\n\r\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn chunks() -> Vec<Vec<u8>> {
    [
        "5\r\nhello\r\n0\r\n\r\n",
        "3;x=y\r\nabc\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
        "1\na\n0\n\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn mounts() -> Vec<Vec<u8>> {
    let own = std::fs::read(Root::real().locate("/proc/self/mountinfo")).unwrap_or_default();
    let made = b"27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n\
        24 27 0:6 / /dev rw shared:2 master:1 - devtmpfs devtmpfs rw\n\
        25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=4k\n\
        42 27 8:3 / /srv/my\\040disk\\134\\012 rw - overlay overlay rw,upperdir=/a\\054b\n";
    vec![made.to_vec(), own]
}

fn diskstats() -> Vec<Vec<u8>> {
    let own = std::fs::read("/proc/diskstats").unwrap_or_default();
    let made = b" 254       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n\
        253 0 dm-0 1 0 8 1 10 0 7 1 0 1 1\n   8      16 sdb 1 0 8 1 10 0 5 1 0 1 1 9 8 7 6\n";
    vec![made.to_vec(), own]
}

fn kernel_files() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        "42 (a (b) c) S 1 42 42 0 -1 4194560 12 0 3 0 5 6 7 8 20 0 1 0 9 1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
        "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2\n",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
        "MemTotal:       8388608 kB\nMemAvailable:   4194304 kB\n",
        "nr_dirty 1\nnr_writeback 2\npgscan_direct 3\npgscan_kswapd 4\nallocstall_dma 5\nallocstall_normal 6\n",
        "processor\t: 0\nmodel name\t: X\nflags\t: fpu hypervisor\n\nprocessor\t: 1\n",
        "sockets: used 9\nTCP: inuse 1 orphan 0 tw 5 alloc 2 mem 1\n",
        "32768\t60999\n",
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1\n",
        "0000: 00000002 00000000 00010000 0001 01 12345 /run/a socket\n",
        "nr_periods 1\nthrottled_usec 5\nlow 0\nhigh 1\nmax 2\n",
        "12:memory:/a\n1:name=systemd:/b\n0::/c\n",
        "8:1\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    let own = ["stat", "self/stat", "vmstat", "cpuinfo", "self/cgroup", "diskstats"];
    all.extend(own.iter().filter_map(|name| std::fs::read(format!("/proc/{name}")).ok()));
    all
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
    integrity.is_intact()
}

fn messages() -> Vec<Vec<u8>> {
    let done = r#"{"done":{"acknowledged":2,"started_after_ns":5,"ended_after_ns":9,"unit_ns":1.0,"latencies":[[2,2],[9,1]],"latency_max":3,"spent":{"elapsed_ns":4,"sync_calls":1,"calls":{"writes":7},"run_queue_ns":3},"figures":{"lock_ns":0}}}"#;
    let mut all = lines("\"ready\"\n{\"failed\":\"no such folder\"}\n{\"start\":12345}");
    all.push(format!("{done}\n").into_bytes());
    all.push(
        br#"{"work":{"clock":{"cycles":true,"tick_ns":0.4},"assignment":{"study":"log","work":{"a":[1]}}}}"#
            .to_vec(),
    );
    all
}

fn worker(bytes: &[u8]) -> bool {
    let to = process::worker::fuzz::to_worker(bytes);
    // Changed JSON has no newline at its end.
    let line = [bytes, b"\n"].concat();
    process::worker::fuzz::from_worker(&line) || to
}
