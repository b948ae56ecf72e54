//! The mount table, and which of its mounts a path is on.
//!
//! The format is that of `proc_pid_mountinfo(5)`. A path's mount is found by its mount
//! id where the kernel tells it; that alone is certain when several file systems are
//! mounted over one another. Without it the table's tree is walked as the kernel walks
//! it: from the root, always into the mount that hides what lies below.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::machine::{DeviceNumber, Identity};

/// One line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    pub(crate) parent: u64,
    /// The file system's own number, the same for all its mounts.
    pub(crate) device: DeviceNumber,
    /// The directory of the file system that is mounted: not `/` for a bind mount.
    pub(crate) root: PathBuf,
    pub(crate) point: PathBuf,
    pub(crate) filesystem: String,
    pub(crate) source: OsString,
    /// The mount's options.
    pub(crate) options: Vec<OsString>,
    /// The file system's options, which all its mounts share.
    pub(crate) super_options: Vec<OsString>,
}

impl Mount {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b' ');
        let mut number = || str::from_utf8(fields.next()?).ok()?.parse().ok();
        let (id, parent) = (number()?, number()?);
        let device = DeviceNumber::parse(str::from_utf8(fields.next()?).ok()?)?;
        let root = unescape(fields.next()?).into();
        let point = unescape(fields.next()?).into();
        let options = split_options(fields.next()?);
        // Any number of optional fields, ended by a dash: how mounts propagate.
        fields.find(|field| *field == b"-")?;
        let filesystem = unescape(fields.next()?).to_string_lossy().into_owned();
        let source = unescape(fields.next()?);
        let super_options = split_options(fields.next().unwrap_or_default());
        Some(Self { id, parent, device, root, point, filesystem, source, options, super_options })
    }

    /// The value of one of the file system's `key=value` options.
    pub(crate) fn super_option(&self, key: &str) -> Option<&OsStr> {
        self.super_options.iter().find_map(|option| {
            let rest = option.as_bytes().strip_prefix(key.as_bytes())?;
            rest.strip_prefix(b"=").map(OsStr::from_bytes)
        })
    }
}

/// The mounts that this process sees, in the table's order.
#[derive(Debug, Default)]
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    /// From the text of `mountinfo`. A line that is not one of its is passed over.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(text.split(|&byte| byte == b'\n').filter_map(Mount::parse).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// The mount that a path, absolute and without links, is on.
    pub(crate) fn of(&self, path: &Path, identity: &Identity) -> Option<&Mount> {
        if let Some(mount) = self.0.iter().find(|mount| Some(mount.id) == identity.mount_id) {
            return Some(mount);
        }
        let walked = self.walk(path);
        let Some(device) = identity.device else { return walked };
        // The table may have changed since the path was looked at: believe `st_dev`
        // over the walk, if any mount on the way agrees with it.
        walked.filter(|mount| mount.device == device).or_else(|| {
            let on_the_way = |mount: &&Mount| path.starts_with(&mount.point);
            let agreeing = self.0.iter().filter(on_the_way).filter(|m| m.device == device);
            agreeing.max_by_key(|mount| mount.point.as_os_str().len()).or(walked)
        })
    }

    fn walk(&self, path: &Path) -> Option<&Mount> {
        let is_listed = |id: u64| self.0.iter().any(|mount| mount.id == id);
        let top = |mount: &&Mount| mount.parent == mount.id || !is_listed(mount.parent);
        let mut current = first_on_the_way(path, self.0.iter().filter(top))?;
        // Each step goes one mount deeper, and there are only so many.
        for _ in 0..self.0.len() {
            let inside = |m: &&Mount| m.parent == current.id && m.id != current.id;
            match first_on_the_way(path, self.0.iter().filter(inside)) {
                Some(next) => current = next,
                None => break,
            }
        }
        Some(current)
    }
}

/// The mount that is met first when walking to the path: the one mounted highest, and of
/// several at that point the one mounted last.
fn first_on_the_way<'a>(
    path: &Path,
    mounts: impl DoubleEndedIterator<Item = &'a Mount>,
) -> Option<&'a Mount> {
    let on_the_way = mounts.rev().filter(|mount| path.starts_with(&mount.point));
    on_the_way.min_by_key(|mount| mount.point.as_os_str().len())
}

/// Options are split before they are unescaped: a comma within a value is escaped.
fn split_options(field: &[u8]) -> Vec<OsString> {
    field.split(|&byte| byte == b',').map(unescape).collect()
}

/// The table writes space, tab, newline, backslash and the like as three octal digits.
fn unescape(field: &[u8]) -> OsString {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = if first == b'\\' { tail.first_chunk().and_then(octal) } else { None };
        plain.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(plain)
}

fn octal(digits: &[u8; 3]) -> Option<u8> {
    digits.iter().try_fold(0_u8, |value, digit| {
        let digit = char::from(*digit).to_digit(8)?;
        value.checked_mul(8)?.checked_add(digit as u8)
    })
}
