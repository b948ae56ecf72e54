//! Sizes of places, as `mount` and `truncate` read them.

use super::Why;
use units::{exact_size, parse_size, rough_size};

pub(super) const MIB: u64 = 1 << 20;
/// No device is larger than what an offset can name.
const BYTES_MAX: u64 = i64::MAX as u64;

/// A size, and what is behind the colon after it.
pub(super) fn split_option(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((size, "")) => (size, None),
        Some((size, option)) => (size, Some(option)),
        None => (text, None),
    }
}

pub(super) fn parse(text: &str, bytes_min: u64, of: &str) -> Result<u64, Why> {
    let is_short = text.ends_with(['K', 'M', 'G', 'T']);
    let bytes = parse_size(&if is_short { format!("{text}iB") } else { text.to_owned() });
    let bytes =
        bytes.map_err(|_| format!("`{text}` is not a size: write it as in 512M or 1GiB"))?;
    if (bytes_min..=BYTES_MAX).contains(&bytes) {
        Ok(bytes)
    } else if bytes < bytes_min {
        let least = written(bytes_min);
        Err(format!("{} is too small: {of} needs at least {least}", rough_size(bytes)))
    } else {
        Err(format!("{} is larger than any device", rough_size(bytes)))
    }
}

/// In the largest binary unit that divides it, without a space: `512MiB`.
pub(super) fn written(bytes: u64) -> String {
    exact_size(bytes).replace(' ', "")
}
