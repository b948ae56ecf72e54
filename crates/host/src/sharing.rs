//! What a file system that several machines share keeps of what programs on one machine rely
//! on: appends that do not overwrite each other, locks, seeing what others wrote, fsync.
//!
//! It is told from the file system's type and its mount options alone. What the server does
//! behind them no client can see.

use model::guarantee::Guarantee::{self, Appends, FcntlLocks, Flock};
use model::place::Detail;

/// What a fact is about, in this order.
const ABOUT: [&str; 4] = ["appends", "locks", "caching", "fsync"];

/// What is known of a shared file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// In words.
    pub details: Vec<Detail>,
    /// What machines that share it do not have between them.
    pub not_kept: Vec<Guarantee>,
}

/// One fact: what is so, how it is known, and what is lacking by it.
struct Told {
    value: &'static str,
    source: &'static str,
    lacking: &'static [Guarantee],
}

const fn told(value: &'static str, source: &'static str) -> Told {
    Told { value, source, lacking: &[] }
}

/// Each machine finds the end of a file by itself.
const fn own_end(source: &'static str) -> Told {
    let value = "not atomic between machines: each determines the end of the file itself, so they \
                 may overwrite each other's records";
    Told { value, source, lacking: &[Appends] }
}

const fn locked_by_server(source: &'static str) -> Told {
    told("shared between machines, by the server", source)
}

const fn locked_here(source: &'static str) -> Told {
    let value = "not shared between machines: they are local to this one";
    Told { value, source, lacking: &[Flock, FcntlLocks] }
}

/// What is known of a shared file system of this type, mounted with these options; nothing of
/// one that is not shared or not known.
pub fn sharing(filesystem: &str, options: &[String]) -> Option<Sharing> {
    let facts = match filesystem {
        "nfs" | "nfs4" => nfs(options),
        "cifs" | "smb3" => cifs(options),
        "ceph" => [
            told("atomic between machines: the metadata server decides who may append", "ceph"),
            told("shared between machines, by the metadata server", "ceph"),
            told(
                "others see a write as soon as it returns: clients cache only with a capability, \
                 which the server revokes",
                "ceph",
            ),
            told("waits until all replicas have it", "ceph"),
        ],
        "fuse.glusterfs" => [
            told("atomic between machines: the bricks append", "storage/posix translator"),
            told("shared between machines, by the bricks", "features/locks translator"),
            told(
                "writes may stay on this machine until fsync or close, and reads may be up to a \
                 second stale",
                "write-behind, io-cache and quick-read translators",
            ),
            told("waits for the bricks", "write-behind translator"),
        ],
        "lustre" => lustre(options),
        "9p" => nine_p(options),
        "virtiofs" => [
            told("atomic between virtual machines of one host: the host appends", "virtiofs"),
            locked_here("virtiofsd"),
            told(
                "depends on virtiofsd's --cache option: with auto, reads may be up to a second \
                 stale",
                "virtiofsd",
            ),
            told("waits for the host's fsync", "virtiofs"),
        ],
        "fuse.sshfs" => [
            own_end("sshfs"),
            locked_here("sshfs"),
            told("names and sizes may be up to 20 seconds stale", "sshfs"),
            told("waits for the server if that supports OpenSSH's fsync extension", "sshfs"),
        ],
        _ => return None,
    };
    let not_kept = facts.iter().flat_map(|fact| fact.lacking).copied().collect();
    let facts = ABOUT.iter().zip(&facts);
    let details = facts.map(|(about, fact)| Detail::new(about, fact.value, fact.source)).collect();
    Some(Sharing { details, not_kept })
}

fn has(options: &[String], option: &str) -> bool {
    options.iter().any(|known| known == option)
}

/// By nfs(5).
fn nfs(options: &[String]) -> [Told; 4] {
    let locks = match () {
        () if has(options, "nolock") => locked_here("mount option nolock"),
        () if has(options, "local_lock=all") => locked_here("mount option local_lock"),
        () if has(options, "local_lock=flock") => Told {
            value: "flock locks are local to this machine; fcntl locks are held on the server",
            source: "mount option local_lock",
            lacking: &[Flock],
        },
        () if has(options, "local_lock=posix") => Told {
            value: "fcntl locks are local to this machine; flock locks are held on the server",
            source: "mount option local_lock",
            lacking: &[FcntlLocks],
        },
        () => locked_by_server("nfs(5)"),
    };
    let caching = if has(options, "noac") {
        told("others see a write when it is done", "mount option noac")
    } else {
        told(
            "close-to-open: others see a write once the file is closed here and opened there",
            "nfs(5)",
        )
    };
    let fsync = told(
        "waits for the server, which may answer before the data is on its disk if it exports with \
         async",
        "nfs(5), exports(5)",
    );
    [own_end("open(2), O_APPEND"), locks, caching, fsync]
}

/// By mount.cifs(8).
fn cifs(options: &[String]) -> [Told; 4] {
    let locks = if has(options, "nobrl") {
        locked_here("mount option nobrl")
    } else {
        locked_by_server("mount.cifs(8)")
    };
    let caching = match () {
        () if has(options, "cache=none") => told("each read asks the server", "mount option cache"),
        () if has(options, "cache=loose") => {
            told("reads may be stale if other machines write", "mount option cache")
        }
        () => told(
            "others see a write as soon as it returns: clients cache only with an oplock or lease, \
             which the server breaks",
            "mount.cifs(8), cache=strict",
        ),
    };
    [own_end("mount.cifs(8)"), locks, caching, told("waits for the server", "mount.cifs(8)")]
}

fn lustre(options: &[String]) -> [Told; 4] {
    let locks = match () {
        () if has(options, "localflock") => locked_here("mount option localflock"),
        () if has(options, "flock") => locked_by_server("mount option flock"),
        () => Told {
            value: "not supported: locking fails; mount it with -o flock",
            source: "no option flock",
            lacking: &[Flock, FcntlLocks],
        },
    };
    [
        told("atomic between machines, by the lock manager", "lustre"),
        locks,
        told("others see a write when it is done", "lustre"),
        told("waits for the object servers", "lustre"),
    ]
}

fn nine_p(options: &[String]) -> [Told; 4] {
    let caching = if has(options, "cache=loose") || has(options, "cache=fscache") {
        told("what is read may be out of date where others write", "mount option cache")
    } else {
        told("each read asks the server", "9p, without cache=loose or cache=fscache")
    };
    let locks = Told {
        value: "not shared between machines: QEMU's server grants every lock",
        source: "9p",
        lacking: &[Flock, FcntlLocks],
    };
    [own_end("9p"), locks, caching, told("waits for the host", "9p")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacking(filesystem: &str, options: &[&str]) -> Option<Vec<Guarantee>> {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        Some(sharing(filesystem, &options)?.not_kept)
    }

    #[test]
    fn what_is_kept_follows_from_the_type_and_its_options() {
        let all: &[Guarantee] = &[Appends, Flock, FcntlLocks];
        let cases: [(&str, &[&str], &[Guarantee]); 14] = [
            ("nfs4", &[], &[Appends]),
            ("nfs", &["nolock"], all),
            ("nfs4", &["local_lock=all"], all),
            ("nfs4", &["local_lock=flock"], &[Appends, Flock]),
            ("nfs4", &["local_lock=posix"], &[Appends, FcntlLocks]),
            ("cifs", &[], &[Appends]),
            ("cifs", &["nobrl"], all),
            ("ceph", &[], &[]),
            ("fuse.glusterfs", &[], &[]),
            ("lustre", &["flock"], &[]),
            ("lustre", &[], &[Flock, FcntlLocks]),
            ("9p", &[], all),
            ("virtiofs", &[], &[Flock, FcntlLocks]),
            ("fuse.sshfs", &[], all),
        ];
        for (filesystem, options, expected) in cases {
            let found = lacking(filesystem, options);
            assert_eq!(found.as_deref(), Some(expected), "{filesystem} {options:?}");
        }
        assert_eq!((lacking("ext4", &[]), lacking("fuse.ntfs", &[])), (None, None));
    }

    #[test]
    fn what_is_lacking_is_said_in_words_too() {
        let nfs = sharing("nfs4", &[]).unwrap_or_default();
        let names: Vec<&str> = nfs.details.iter().map(|detail| detail.name.as_str()).collect();
        assert_eq!(names, ABOUT);
        assert!(nfs.details[0].value.starts_with("not atomic between machines: each determines"));
        assert_eq!(nfs.details[1].value, "shared between machines, by the server");
    }

    #[test]
    fn who_sees_what_is_written_follows_from_how_it_is_cached() {
        for (filesystem, option, says) in [
            ("cifs", "cache=none", "each read asks the server"),
            ("cifs", "cache=loose", "reads may be stale"),
            ("cifs", "cache=strict", "as soon as it returns"),
            ("nfs4", "noac", "when it is done"),
            ("nfs4", "ac", "once the file is closed here and opened there"),
            ("9p", "cache=loose", "may be out of date"),
            ("9p", "cache=none", "each read asks the server"),
        ] {
            let details = sharing(filesystem, &[option.to_owned()]).unwrap_or_default().details;
            let caching = &details[2].value;
            assert!(caching.contains(says), "{filesystem} {option}: {caching}");
        }
    }
}
