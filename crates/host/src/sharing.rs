//! What a file system that several machines share keeps of what programs on one machine rely
//! on: appends that do not overwrite each other, locks, seeing what others wrote, fsync.
//!
//! It is told from the file system's type and its mount options alone. What the server does
//! behind them no client can see.

use model::place::{APPENDS, Detail, LOCKS};

const CACHING: &str = "caching";
const FSYNC: &str = "fsync";

const OWN_END: &str = "not kept between machines: each finds the end of the file by itself, so \
                       that they may overwrite each other's records";
const BY_SERVER: &str = "kept between machines, by the server";
const THIS_MACHINE: &str = "not kept between machines: they hold on this one alone";

/// What is known of a shared file system of this type, mounted with these options; nothing of
/// one that is not shared or not known.
pub fn sharing(filesystem: &str, options: &[String]) -> Vec<Detail> {
    let has = |option: &str| options.iter().any(|known| known == option);
    let [appends, locks, caching, fsync] = match filesystem {
        "nfs" | "nfs4" => nfs(options),
        "cifs" | "smb3" => cifs(options),
        "ceph" => [
            ("kept between machines: the metadata server says who may append", "ceph"),
            ("kept between machines, by the metadata server", "ceph"),
            ("others see a write when it is done: the right to cache is given and taken", "ceph"),
            ("waits until all replicas have it", "ceph"),
        ],
        "fuse.glusterfs" => [
            ("kept between machines: the bricks append", "storage/posix translator"),
            ("kept between machines, by the bricks", "features/locks translator"),
            (
                "writes may wait here until fsync or close, and what is read may be a second old",
                "write-behind, io-cache and quick-read translators",
            ),
            ("waits for the bricks", "write-behind translator"),
        ],
        "lustre" => [
            ("kept between machines, by the lock manager", "lustre"),
            match () {
                () if has("localflock") => (THIS_MACHINE, "mount option localflock"),
                () if has("flock") => (BY_SERVER, "mount option flock"),
                () => ("not kept: they are refused; mount it with -o flock", "no option flock"),
            },
            ("others see a write when it is done", "lustre"),
            ("waits for the object servers", "lustre"),
        ],
        "9p" => [
            (OWN_END, "9p"),
            ("not kept between machines by QEMU's server, which grants every lock", "9p"),
            if has("cache=loose") || has("cache=fscache") {
                ("what is read may be out of date where others write", "mount option cache")
            } else {
                ("each read asks the server", "9p, without a cache")
            },
            ("waits for the host", "9p"),
        ],
        "virtiofs" => [
            ("kept between machines of one host: the host appends", "virtiofs"),
            (THIS_MACHINE, "virtiofsd"),
            (
                "as virtiofsd was told: with its cache=auto what is read may be a second old",
                "virtiofsd",
            ),
            ("waits for the host's fsync", "virtiofs"),
        ],
        "fuse.sshfs" => [
            (OWN_END, "sshfs"),
            (THIS_MACHINE, "sshfs"),
            ("names and sizes may be 20 seconds old", "sshfs"),
            ("waits for the server where it has OpenSSH's extension for it", "sshfs"),
        ],
        _ => return Vec::new(),
    };
    let detail = |name: &str, (value, source): (&str, &str)| Detail::new(name, value, source);
    vec![
        detail(APPENDS, appends),
        detail(LOCKS, locks),
        detail(CACHING, caching),
        detail(FSYNC, fsync),
    ]
}

type Told = (&'static str, &'static str);

/// By nfs(5).
fn nfs(options: &[String]) -> [Told; 4] {
    let has = |option: &str| options.iter().any(|known| known == option);
    let locks = match () {
        () if has("nolock") => (THIS_MACHINE, "mount option nolock"),
        () if has("local_lock=all") => (THIS_MACHINE, "mount option local_lock"),
        () if has("local_lock=flock") => (
            "flock is not kept between machines, fcntl locks are kept by the server",
            "mount option local_lock",
        ),
        () if has("local_lock=posix") => (
            "fcntl locks are not kept between machines, flock is kept by the server",
            "mount option local_lock",
        ),
        () => (BY_SERVER, "nfs(5)"),
    };
    let caching = if has("noac") {
        ("others see a write when it is done", "mount option noac")
    } else {
        ("others see a write once the file was closed here and opened there", "nfs(5)")
    };
    let fsync = (
        "waits for the server, which may answer before its disk where it exports async",
        "nfs(5), exports(5)",
    );
    [(OWN_END, "open(2), O_APPEND"), locks, caching, fsync]
}

/// By mount.cifs(8).
fn cifs(options: &[String]) -> [Told; 4] {
    let has = |option: &str| options.iter().any(|known| known == option);
    let locks = if has("nobrl") {
        (THIS_MACHINE, "mount option nobrl")
    } else {
        (BY_SERVER, "mount.cifs(8)")
    };
    let caching = match () {
        () if has("cache=none") => ("each read asks the server", "mount option cache"),
        () if has("cache=loose") => {
            ("what is read may be out of date where others write", "mount option cache")
        }
        () => (
            "others see a write when it is done: the server grants and takes the right to cache",
            "mount.cifs(8), cache=strict",
        ),
    };
    [(OWN_END, "mount.cifs(8)"), locks, caching, ("waits for the server", "mount.cifs(8)")]
}

#[cfg(test)]
mod tests {
    use model::place::NOT_KEPT;

    use super::*;

    fn told(filesystem: &str, options: &[&str], name: &str) -> String {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let facts = sharing(filesystem, &options);
        facts.into_iter().find(|fact| fact.name == name).map(|fact| fact.value).unwrap_or_default()
    }

    #[test]
    fn what_is_kept_follows_from_the_type_and_its_options() {
        for (filesystem, options, is_kept) in [
            ("nfs4", vec![], true),
            ("nfs", vec!["nolock"], false),
            ("nfs4", vec!["local_lock=all"], false),
            ("cifs", vec![], true),
            ("cifs", vec!["nobrl"], false),
            ("fuse.glusterfs", vec![], true),
            ("lustre", vec!["flock"], true),
            ("lustre", vec![], false),
            ("9p", vec![], false),
        ] {
            let locks = told(filesystem, &options, LOCKS);
            assert_eq!(!locks.starts_with(NOT_KEPT), is_kept, "{filesystem} {options:?}: {locks}");
        }
        assert!(told("nfs4", &[], APPENDS).starts_with(NOT_KEPT));
        assert!(told("fuse.glusterfs", &[], APPENDS).starts_with("kept"));
        assert!(sharing("ext4", &[]).is_empty() && sharing("fuse.ntfs", &[]).is_empty());
    }
}
