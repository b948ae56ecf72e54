//! The time stamps of logs: where a line has one, in the forms that most programs write.

/// A stamp begins within so many bytes of its line.
const WITHIN: usize = 128;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The time of a line in seconds from a moment that is the same for all lines of a log.
pub(super) fn of_line(line: &[u8]) -> Option<f64> {
    let line = &line[..line.len().min(WITHIN + 40)];
    let unix = unix_time(line);
    let starts = (0..line.len().min(WITHIN)).filter(|at| {
        // A number is not looked for in the middle of another, nor a name within a word.
        *at == 0 || !line[at - 1].is_ascii_alphanumeric()
    });
    let forms = [year_first, day_first, syslog];
    unix.or_else(|| {
        let mut starts = starts;
        starts.find_map(|at| forms.iter().find_map(|form| form(&mut Reader(&line[at..]))))
    })
}

/// `2026-11-24T15:47:47.123+01:00`, `2026/11/24 15:47:47`.
fn year_first(text: &mut Reader) -> Option<f64> {
    let year = text.number(4)?;
    let divider = text.one_of(b"-/.")?;
    let month = text.number(2)?;
    text.one_of(&[divider])?;
    let day = text.number(2)?;
    text.one_of(b"T _")?;
    let second = text.time_of_day()?;
    Some(seconds(year, month, day)? + second - text.offset())
}

/// `24/Nov/2026:15:47:47 +0100`, as web servers write.
fn day_first(text: &mut Reader) -> Option<f64> {
    let day = text.number(2)?;
    text.one_of(b"/- ")?;
    let month = text.month()?;
    text.one_of(b"/- ")?;
    let year = text.number(4)?;
    text.one_of(b": ")?;
    let second = text.time_of_day()?;
    Some(seconds(year, month, day)? + second - text.offset())
}

/// `Nov 24 15:47:47`, which has no year: any leap year serves, for what is within one.
fn syslog(text: &mut Reader) -> Option<f64> {
    let month = text.month()?;
    text.one_of(b" ")?;
    let day = if text.one_of(b" ").is_some() { text.number(1)? } else { text.number(2)? };
    text.one_of(b" ")?;
    let second = text.time_of_day()?;
    Some(seconds(2024.0, month, day)? + second)
}

/// `1764000000.123` where a line begins, or behind the name of a time in JSON and its like.
fn unix_time(line: &[u8]) -> Option<f64> {
    const NAMES: [&[u8]; 6] =
        [b"\"ts\":", b"\"time\":", b"\"timestamp\":", b"ts=", b"time=", b"timestamp="];
    let behind = |name: &&[u8]| {
        let at = memchr::memmem::find(line, name)?;
        Some(&line[at + name.len()..])
    };
    let rest = NAMES.iter().find_map(behind).unwrap_or(line);
    let rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // From 2001 to 2286, in seconds or milliseconds.
    let scale = match digits {
        10 => 1.0,
        13 => 1e-3,
        _ => return None,
    };
    let mut text = Reader(rest);
    let whole = (0..digits).try_fold(0.0, |sum: f64, _| Some(sum * 10.0 + text.number(1)?))?;
    Some((whole + text.fraction()) * scale)
}

/// Seconds from 1970 to a day of the Gregorian calendar, by Howard Hinnant's `days_from_civil`:
/// <https://howardhinnant.github.io/date_algorithms.html>.
fn seconds(year: f64, month: f64, day: f64) -> Option<f64> {
    let (year, month, day) = (year as i64, month as i64, day as i64);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year < 1970 {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(((era * 146_097 + day_of_era - 719_468) * 86_400) as f64)
}

/// A text that is read from its beginning.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    /// A number of exactly so many digits.
    fn number(&mut self, digits: usize) -> Option<f64> {
        let (text, rest) = self.0.split_at_checked(digits)?;
        let number = text.iter().try_fold(0.0, |sum: f64, byte| {
            byte.is_ascii_digit().then(|| sum * 10.0 + f64::from(byte - b'0'))
        })?;
        self.0 = rest;
        Some(number)
    }

    fn month(&mut self) -> Option<f64> {
        let (text, rest) = self.0.split_at_checked(3)?;
        let at = MONTHS.iter().position(|month| month.as_bytes().eq_ignore_ascii_case(text))?;
        self.0 = rest;
        Some((at + 1) as f64)
    }

    /// `15:47:47.123`, in seconds.
    fn time_of_day(&mut self) -> Option<f64> {
        let hours = self.number(2)?;
        self.one_of(b":")?;
        let minutes = self.number(2)?;
        self.one_of(b":")?;
        let seconds = self.number(2)?;
        if hours > 24.0 || minutes > 59.0 || seconds > 60.0 {
            return None;
        }
        Some(hours * 3600.0 + minutes * 60.0 + seconds + self.fraction())
    }

    /// `.123` or `,123`; zero where there is none.
    fn fraction(&mut self) -> f64 {
        let mut ahead = Reader(self.0);
        if ahead.one_of(b".,").is_none() {
            return 0.0;
        }
        let (mut value, mut unit) = (0.0, 0.1);
        while let Some(digit) = ahead.number(1) {
            value += digit * unit;
            unit /= 10.0;
            self.0 = ahead.0;
        }
        value
    }

    /// `Z`, `+0100`, ` +01:00`, in seconds east; zero where there is none.
    fn offset(&mut self) -> f64 {
        let _ = self.one_of(b" ");
        let Some(sign) = self.one_of(b"+-") else { return 0.0 };
        let hours = self.number(2);
        let _ = self.one_of(b":");
        let minutes = self.number(2);
        let Some((hours, minutes)) = hours.zip(minutes) else { return 0.0 };
        let east = hours * 3600.0 + minutes * 60.0;
        if sign == b'-' { -east } else { east }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_forms_are_the_same_moment() {
        let moment = Some(1_795_535_267.0);
        for line in [
            "2026-11-24T15:47:47Z one",
            "2026-11-24 15:47:47 one",
            "2026/11/24 15:47:47 [error] 12#12: one",
            "[2026-11-24T16:47:47.000+01:00] app.INFO: one",
            "2026-11-24 10:47:47,000 -0500 INFO one",
            "10.0.0.1 - - [24/Nov/2026:15:47:47 +0000] \"GET / HTTP/1.1\" 200 5",
            "1795535267 one",
            "{\"level\":\"info\",\"ts\":1795535267.0,\"msg\":\"one\"}",
            "{\"time\":\"2026-11-24T15:47:47Z\",\"msg\":\"one\"}",
            "level=info ts=1795535267000 msg=one",
        ] {
            assert_eq!(of_line(line.as_bytes()), moment, "{line}");
        }
        let syslog = |text: &str| of_line(text.as_bytes()).unwrap_or_default();
        let apart = syslog("Dec  1 00:00:01 host x") - syslog("<13>Nov 30 23:59:59 host x");
        assert_eq!(apart.to_string(), "2");
        let apart = syslog("2026-11-24 15:47:47.750 x") - syslog("2026-11-24 15:47:47,5 x");
        assert_eq!(apart.to_string(), "0.25");
    }

    #[test]
    fn what_is_no_time_is_none() {
        for line in [
            "",
            "one",
            "version 2026-11-24",
            "2026-13-24 15:47:47",
            "2026-11-24 25:47:47",
            "id12026-11-24 15:47:47",
            "12345678901 one",
            "Novel 24 15:47:47",
            "10:47:47 one",
        ] {
            assert_eq!(of_line(line.as_bytes()), None, "{line}");
        }
        let late = [b" ".repeat(200).as_slice(), b"2026-11-24 15:47:47"].concat();
        assert_eq!(of_line(&late), None);
    }
}
