//! The devices that every program may expect.

/// Makes them below `$1/dev`.
pub(super) const MAKE: &str = "\
for device in null zero full random urandom tty; do
    touch \"$1/dev/$device\"
    mount --bind /dev/$device \"$1/dev/$device\"
done
ln -s /proc/self/fd \"$1/dev/fd\"
";
