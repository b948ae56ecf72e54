//! A file of lines that grew by appending, by the times in them or by its name; and how often it
//! was written, where the times say so.

use std::path::Path;

use memchr::memchr_iter;
use units::{count, counted, three_digits};

use super::{Ends, Recognised, times};

/// Text has at most this share of other control characters than white space and colours.
const CONTROL_SHARE: f64 = 0.01;
/// A log's stamps ascend but for this share, as several writers may overtake one another.
const DESCENDS_SHARE: f64 = 0.05;
/// So large a share of the lines has stamps; the rest is of messages of several lines.
const STAMPED_SHARE: f64 = 0.1;
/// Times within fewer seconds than this say nothing of a rate, as most are of whole seconds.
const SPAN_MIN_S: f64 = 10.0;

/// Whether bytes are text: without a zero, and hardly any control characters.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r\x0c\x1b".contains(byte);
    let controls = bytes.iter().filter(|byte| is_control(byte)).count();
    !bytes.contains(&0) && controls as f64 <= bytes.len() as f64 * CONTROL_SHARE
}

/// A log; else what to do, in words behind the file's name.
pub(super) fn recognise(path: &str, ends: &Ends) -> Result<Recognised, String> {
    let seen = Seen::of(ends);
    if seen.lines == 0 {
        return Err("is text without the end of a line; name a log, which has lines".to_owned());
    }
    let why = if seen.ascends() {
        "its lines have times that ascend"
    } else if has_name_of_log(path) {
        "its name says so"
    } else if seen.json == seen.lines {
        "each line is a JSON object"
    } else {
        return Err(format!(
            "is text, and neither its name nor times in its lines say that it grew by appending; \
             if it did: --set log.sample={}",
            units::quoted(path)
        ));
    };
    let (rate, per_second) = seen.rate();
    let what = format!("a log: {why}, {:.0} B a line; {rate}", seen.mean_bytes());
    Ok(Recognised { study: "log", param: "sample", strategies: &[], per_second, what })
}

/// `app.log`, `app.log.1`, `events.jsonl`.
pub(super) fn has_name_of_log(path: &str) -> bool {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let parts: Vec<&str> = name.split('.').skip(1).collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let ending = parts.iter().rev().find(|part| !is_number(part));
    // As in `app.log-20261124`.
    let ending = ending.and_then(|ending| ending.split('-').next());
    ending.is_some_and(|ending| ["log", "jsonl", "ndjson"].contains(&ending))
        || ["syslog", "messages"].contains(&name.as_str())
}

/// What the last lines of a file look like.
#[derive(Debug, Default)]
struct Seen {
    lines: u64,
    bytes: u64,
    json: u64,
    stamped: u64,
    descends: u64,
    first: Option<f64>,
    last: Option<f64>,
}

impl Seen {
    fn of(ends: &Ends) -> Self {
        let text = &ends.tail;
        let mut seen = Self::default();
        let mut line_ends = memchr_iter(b'\n', text).map(|at| at + 1);
        // Where the first line begins is not seen.
        let mut start = if ends.is_whole() { 0 } else { line_ends.next().unwrap_or(text.len()) };
        for end in line_ends {
            seen.take(&text[start..end]);
            start = end;
        }
        seen
    }

    fn take(&mut self, line: &[u8]) {
        self.lines += 1;
        self.bytes += line.len() as u64;
        let trimmed = line.trim_ascii();
        self.json += u64::from(trimmed.starts_with(b"{") && trimmed.ends_with(b"}"));
        let Some(time) = times::of_line(line) else { return };
        self.stamped += 1;
        self.descends += u64::from(self.last.is_some_and(|last| time < last));
        self.first.get_or_insert(time);
        self.last = Some(time);
    }

    fn ascends(&self) -> bool {
        self.stamped >= 2
            && self.stamped as f64 >= self.lines as f64 * STAMPED_SHARE
            && self.descends as f64 <= self.stamped as f64 * DESCENDS_SHARE
    }

    fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.lines.max(1) as f64
    }

    /// How often it was written, in words and as a number; in words why that cannot be told.
    fn rate(&self) -> (String, Option<f64>) {
        let cannot = |why: &str| (format!("how often it is written cannot be told: {why}"), None);
        let Some((first, last)) = self.first.zip(self.last).filter(|_| self.ascends()) else {
            return cannot("its lines have no times that ascend");
        };
        let span_s = last - first;
        if span_s < 0.0 {
            return cannot("its last line has an earlier time than its first");
        }
        if span_s < SPAN_MIN_S {
            return cannot(&format!(
                "the times of its last {} are within {}",
                counted(self.lines, "line"),
                span(span_s)
            ));
        }
        // The first line was there before its time began to count.
        let rate = (self.lines - 1) as f64 / span_s;
        let told = format!(
            "its last {} were written in {}, {} a second on average",
            counted(self.lines, "line"),
            span(span_s),
            if rate >= 1000.0 { count(rate.round() as u64) } else { three_digits(rate) }
        );
        (told, Some(rate))
    }
}

/// A length of time in a unit that suits.
fn span(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    let (value, unit) = match seconds {
        s if s < 2.0 * MINUTE => (s, "s"),
        s if s < 120.0 * MINUTE => (s / MINUTE, "min"),
        s if s < 48.0 * 60.0 * MINUTE => (s / (60.0 * MINUTE), "h"),
        s => (s / (24.0 * 60.0 * MINUTE), "days"),
    };
    format!("{value:.0} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Seen {
        let (head, tail) = (Vec::new(), text.as_bytes().to_vec());
        Seen::of(&Ends { size: tail.len() as u64, head, tail })
    }

    #[test]
    fn a_rate_is_of_the_lines_between_the_first_time_and_the_last() {
        let lines = |seconds: &[u32]| {
            let line = |s: &u32| format!("2026-11-24 15:{:02}:{:02} x\n  at y\n", s / 60, s % 60);
            seconds.iter().map(line).collect::<String>()
        };
        let found = seen(&lines(&[0, 10, 20, 30]));
        assert!(found.ascends());
        let (told, rate) = found.rate();
        assert_eq!(rate, Some(7.0 / 30.0));
        assert_eq!(told, "its last 8 lines were written in 30 s, 0.23 a second on average");
        let (told, rate) = seen(&lines(&[0, 1, 3])).rate();
        assert_eq!(rate, None);
        assert_eq!(
            told,
            "how often it is written cannot be told: the times of its last 6 lines are within 3 s"
        );
        assert!(!seen(&lines(&[30, 20, 10, 0])).ascends());
        assert_eq!(seen("a\nb\n").rate().1, None);
    }

    #[test]
    fn logs_are_known_by_their_names() {
        for name in ["a/x.log", "x.LOG.1", "error.log-20261124", "e.jsonl", "/var/log/syslog"] {
            assert!(has_name_of_log(name), "{name}");
        }
        for name in ["log", "catalog", "x.log.txt", "notes.md", "1.2", ""] {
            assert!(!has_name_of_log(name), "{name}");
        }
    }

    #[test]
    fn text_has_no_zeros_and_may_have_colours_and_any_language() {
        assert!(is_text("\u{1b}[1mgrün\u{1b}[0m\tдa\r\n".as_bytes()));
        assert!(!is_text(b"a\0b") && !is_text(&[1; 50]));
    }
}
