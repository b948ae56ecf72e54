//! The mount table, and which of its mounts a path is on.
//!
//! The format is that of `proc_pid_mountinfo(5)`. A path's mount is found by its mount
//! id where the kernel tells it; that alone is certain when several file systems are
//! mounted over one another. Without it the table's tree is walked as the kernel walks
//! it: from the root, always into the mount that hides what lies below.
//!
//! Parsed here rather than by procfs-core, which leaves the kernel's escapes in, keeps
//! options without their order, and gives up the whole table for one line that is not
//! UTF-8.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::identity::{DeviceNumber, Identity};
use crate::root::Root;

/// One line of the mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its own number, by which a path's mount is known.
    pub id: u64,
    /// The mount that it is mounted on.
    pub parent: u64,
    /// The file system's own number, the same for all its mounts.
    pub device: DeviceNumber,
    /// The directory of the file system that is mounted: not `/` for a bind mount.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// The file system's type.
    pub filesystem: String,
    /// What is mounted.
    pub source: OsString,
    /// The mount's options.
    pub options: Vec<OsString>,
    /// The file system's options, which all its mounts share.
    pub super_options: Vec<OsString>,
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

    /// Whether nothing can be written: because it was mounted so, or because ext4 found an
    /// error, which newer kernels tell by an option of its own alone (`ext4_show_options`).
    pub fn is_read_only(&self) -> bool {
        let gave_up = |option: &OsString| option == "emergency_ro" || option == "shutdown";
        self.options.iter().any(|option| option == "ro") || self.super_options.iter().any(gave_up)
    }

    /// The value of one of the file system's `key=value` options.
    pub fn super_option(&self, key: &str) -> Option<&OsStr> {
        self.super_options.iter().find_map(|option| {
            let rest = option.as_bytes().strip_prefix(key.as_bytes())?;
            rest.strip_prefix(b"=").map(OsStr::from_bytes)
        })
    }
}

/// The mounts that this process sees, in the table's order.
#[derive(Debug, Default)]
pub struct Mounts(Vec<Mount>);

impl Mounts {
    /// Those of this process.
    pub fn read(root: &Root) -> std::io::Result<Self> {
        root.read("/proc/self/mountinfo").map(|text| Self::parse(&text))
    }

    /// From the text of `mountinfo`. A line that is not one of its is passed over.
    pub fn parse(text: &[u8]) -> Self {
        Self(text.split(|&byte| byte == b'\n').filter_map(Mount::parse).collect())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// The mount that a path, absolute and without links, is on.
    pub fn of(&self, path: &Path, identity: &Identity) -> Option<&Mount> {
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
        let listed: HashSet<u64> = self.0.iter().map(|mount| mount.id).collect();
        let top = |mount: &&Mount| mount.parent == mount.id || !listed.contains(&mount.parent);
        let mut current = first_on_the_way(path, self.0.iter().filter(top))?;
        // There may be a hundred thousand of them, each on the one before.
        let mut inside: HashMap<u64, Vec<&Mount>> = HashMap::new();
        for mount in self.0.iter().filter(|mount| mount.parent != mount.id) {
            inside.entry(mount.parent).or_default().push(mount);
        }
        // Taken out, for in a table that goes round none is met twice.
        while let Some(mounts) = inside.remove(&current.id) {
            match first_on_the_way(path, mounts.into_iter()) {
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
        let escaped =
            if first == b'\\' { tail.first_chunk().copied().and_then(octal) } else { None };
        plain.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(plain)
}

fn octal(digits: [u8; 3]) -> Option<u8> {
    digits.iter().try_fold(0_u8, |value, digit| {
        let digit = char::from(*digit).to_digit(8)?;
        value.checked_mul(8)?.checked_add(digit as u8)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
24 27 0:6 / /dev rw shared:2 master:1 - devtmpfs devtmpfs rw\n\
25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n\
30 25 0:27 / /dev/shm rw - tmpfs tmpfs rw,size=4k\n\
40 27 8:1 / /srv/a rw - xfs /dev/sda1 rw\n\
41 27 8:2 / /srv rw - xfs /dev/sda2 rw\n\
42 27 8:3 / /media/my\\040disk\\134\\012\\011 rw - vfat /dev/sdb1 rw\n";

    fn table() -> Mounts {
        Mounts::parse(TABLE.as_bytes())
    }

    fn found(path: &str, identity: &Identity) -> u64 {
        table().of(Path::new(path), identity).unwrap().id
    }

    fn by_path(path: &str) -> u64 {
        found(path, &Identity::default())
    }

    fn on(major: u32, minor: u32) -> Identity {
        Identity { device: Some(DeviceNumber { major, minor }), ..Identity::default() }
    }

    #[test]
    fn every_field_is_read_with_any_number_of_optional_ones() {
        let line =
            b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/a\\040b rw,x=1";
        let mount = Mount::parse(line).unwrap();
        let expected = Mount {
            id: 36,
            parent: 35,
            device: DeviceNumber { major: 98, minor: 0 },
            root: "/mnt1".into(),
            point: "/mnt2".into(),
            filesystem: "ext3".into(),
            source: "/dev/a b".into(),
            options: vec!["rw".into(), "noatime".into()],
            super_options: vec!["rw".into(), "x=1".into()],
        };
        assert_eq!(mount, expected);
    }

    #[test]
    fn lines_that_are_none_are_passed_over() {
        let text =
            "\nrubbish\n1 2 3:4 / /\n1 2 x:4 / / rw - a b c\n5 1 0:1 / / rw - tmpfs none rw\n";
        let ids: Vec<u64> = Mounts::parse(text.as_bytes()).iter().map(|mount| mount.id).collect();
        assert_eq!(ids, [5]);
    }

    #[test]
    fn escapes_are_undone_and_what_is_none_is_kept() {
        assert_eq!(by_path("/media/my disk\\\n\t/x"), 42);
        assert_eq!(unescape(b"a\\04"), "a\\04");
        assert_eq!(unescape(b"\\999\\777"), "\\999\\777");
        assert_eq!(unescape(b"\\134040"), "\\040");
    }

    #[test]
    fn an_option_is_split_before_its_escapes_are_undone() {
        let line = b"1 0 0:9 / / rw - overlay overlay rw,upperdir=/a\\054b,upper=/c";
        let mount = Mount::parse(line).unwrap();
        assert_eq!(mount.super_option("upperdir"), Some(OsStr::new("/a,b")));
        assert_eq!(mount.super_option("upper"), Some(OsStr::new("/c")));
        assert_eq!(mount.super_option("workdir"), None);
    }

    #[test]
    fn a_mount_is_read_only_by_its_options_or_since_ext4_gave_up() {
        for (options, of_file_system, expected) in [
            ("rw,relatime", "rw,discard", false),
            ("ro,relatime", "rw", true),
            ("rw", "rw,emergency_ro,discard", true),
            ("rw", "rw,shutdown", true),
        ] {
            let line = format!("1 0 8:1 / / {options} - ext4 /dev/sda1 {of_file_system}");
            assert_eq!(Mount::parse(line.as_bytes()).unwrap().is_read_only(), expected, "{line}");
        }
    }

    #[test]
    fn a_path_is_on_the_deepest_mount_by_whole_components() {
        assert_eq!(by_path("/dev/null"), 24);
        assert_eq!(by_path("/dev/shmooze"), 24);
        assert_eq!(by_path("/development"), 27);
    }

    #[test]
    fn of_mounts_on_one_point_the_last_is_seen() {
        assert_eq!(by_path("/dev/shm/x"), 30);
    }

    #[test]
    fn of_mounts_on_one_point_whose_parents_are_out_of_sight_the_last_is_seen() {
        let mounts = Mounts::parse(b"7 3 0:1 / / rw - a a rw\n8 4 0:2 / / rw - a a rw\n");
        assert_eq!(mounts.of(Path::new("/x"), &Identity::default()).unwrap().id, 8);
    }

    #[test]
    fn a_mount_that_a_later_one_above_it_hides_is_not_seen() {
        assert_eq!(by_path("/srv/a/x"), 41);
    }

    #[test]
    fn the_mount_id_is_believed_over_all_else() {
        let identity = Identity { mount_id: Some(25), ..on(254, 0) };
        assert_eq!(found("/dev/shm/x", &identity), 25);
    }

    #[test]
    fn the_device_is_believed_over_the_walk_where_a_mount_agrees_with_it() {
        assert_eq!(found("/srv/a/x", &on(8, 1)), 40);
        assert_eq!(found("/dev/shm/x", &on(0, 23)), 25);
        // A btrfs subvolume's number is that of no mount.
        assert_eq!(found("/srv/a/x", &on(0, 99)), 41);
    }

    #[test]
    fn in_a_changed_root_without_a_mount_of_its_own_there_may_be_none() {
        let mounts = Mounts::parse(b"40 27 8:1 / /srv rw - xfs /dev/sda1 rw\n");
        assert!(mounts.of(Path::new("/home"), &Identity::default()).is_none());
        assert!(mounts.of(Path::new("/srv/x"), &Identity::default()).is_some());
    }

    #[test]
    fn a_hundred_thousand_mounts_each_on_the_one_before_are_walked_through() {
        let line = |id: u64| format!("{id} {} 0:{id} / / rw - a a rw\n", id - 1);
        let table: String = (1..=100_000).map(line).collect();
        let began = std::time::Instant::now();
        let mounts = Mounts::parse(table.as_bytes());
        assert_eq!(mounts.of(Path::new("/x"), &Identity::default()).unwrap().id, 100_000);
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    }

    #[test]
    fn mounts_that_name_each_other_as_parents_do_not_hang() {
        let mounts = Mounts::parse(
            b"1 1 0:1 / / rw - a a rw\n2 3 0:2 / / rw - a a rw\n\
                                     3 2 0:3 / / rw - a a rw\n",
        );
        assert_eq!(mounts.of(Path::new("/x"), &Identity::default()).unwrap().id, 1);
    }
}
