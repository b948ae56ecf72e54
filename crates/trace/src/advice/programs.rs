//! What is known of programs: how each is recognised, which of its calls can be had for less, by
//! which change, what that promises and loses, and how it is undone.

use crate::advised::Change;
use crate::bill::Kind;

/// Calls of a program that one or several changes are about.
pub(super) struct Topic {
    /// As people call it.
    pub(super) program: &'static str,
    /// Its names as a command, without versions, and paths of files that nothing else uses, for a
    /// program that is run by another, as pip by Python; any program where there are none.
    pub(super) programs: &'static [&'static str],
    /// Which of its calls, in words.
    pub(super) subject: &'static str,
    /// On which files.
    pub(super) files: &'static [&'static str],
    /// Which calls.
    pub(super) calls: Calls,
    /// The one that loses least first.
    pub(super) changes: &'static [Change],
}

/// Which calls on a file.
#[derive(Clone, Copy)]
pub(super) enum Calls {
    /// Those of these kinds.
    Of(&'static [Kind]),
    /// The same, if at least so many processes make them. Fewer gain nothing.
    OfMany(&'static [Kind], u64),
    /// Those that found nothing.
    Missing,
    /// access(2) of what is there.
    Asked,
    /// lstat(2) of what is there, beyond one by each process.
    ResolvedAgain,
    /// All.
    All,
}

const PHP_SCRIPTS: &[&str] = &["*.php", "*.inc", "*.phtml"];

/// Everything that is known.
pub(super) const TOPICS: &[Topic] = &[
    Topic {
        program: "PostgreSQL",
        programs: &["postgres", "postmaster"],
        subject: "fsync of its write-ahead log, by many sessions",
        files: &["*/pg_wal/*"],
        // Six of its own, and six that commit.
        calls: Calls::OfMany(&[Kind::Sync], 12),
        changes: &[Change {
            set: "commit_delay = 1000 with commit_siblings = 5",
            promises: "sessions that commit at the same time share one sync; no commit is lost",
            loses: "a commit may take 1 ms longer, and nothing is gained with few sessions",
            undo: "ALTER SYSTEM RESET commit_delay; SELECT pg_reload_conf()",
        }],
    },
    Topic {
        program: "PostgreSQL",
        programs: &["postgres", "postmaster"],
        subject: "fsync of its write-ahead log",
        files: &["*/pg_wal/*"],
        calls: Calls::Of(&[Kind::Sync]),
        changes: &[Change {
            set: "synchronous_commit = off, for all or by SET LOCAL for one transaction",
            promises: "a commit does not wait for the device; the database stays consistent",
            loses: "a crash loses the commits of the last 0.6 s (three times wal_writer_delay)",
            undo: "ALTER SYSTEM RESET synchronous_commit; SELECT pg_reload_conf()",
        }],
    },
    Topic {
        program: "PostgreSQL",
        programs: &["postgres", "postmaster"],
        subject: "writing its write-ahead log",
        files: &["*/pg_wal/*"],
        calls: Calls::Of(&[Kind::Write]),
        changes: &[Change {
            set: "wal_compression = on",
            promises: "whole pages in the log are compressed; nothing is lost",
            loses: "processor time, and nothing is gained where checkpoints are rare",
            undo: "ALTER SYSTEM RESET wal_compression; SELECT pg_reload_conf()",
        }],
    },
    Topic {
        program: "Redis",
        programs: &["redis-server", "valkey-server"],
        subject: "fsync of its append-only file",
        files: &["*.aof"],
        calls: Calls::Of(&[Kind::Sync]),
        changes: &[Change {
            set: "CONFIG SET appendfsync everysec",
            promises: "a thread syncs once a second, and requests do not wait for it",
            loses: "a power failure loses the writes of the last one or two seconds",
            undo: "CONFIG SET appendfsync always",
        }],
    },
    Topic {
        program: "dpkg",
        programs: &["dpkg"],
        subject: "fsync of the files that it unpacks",
        files: &["*.dpkg-new"],
        calls: Calls::Of(&[Kind::Sync]),
        changes: &[Change {
            set: "dpkg --force-unsafe-io, in images and containers that can be built again",
            promises: "files are unpacked without a sync; dpkg's database keeps its syncs",
            loses: "a power failure meanwhile may leave installed files empty",
            undo: "leave the flag out, or remove force-unsafe-io from /etc/dpkg/dpkg.cfg.d",
        }],
    },
    Topic {
        program: "The C and C++ compilers",
        programs: &["cc1", "cc1plus", "cpp", "gcc", "g++", "clang", "clang++"],
        subject: "looking for headers in folders that do not have them",
        files: &["*.h", "*.hh", "*.hpp", "*.gch", "*/include/*"],
        calls: Calls::Missing,
        changes: &[
            Change {
                set: "ccache in front of the compiler",
                promises: "a file whose input did not change is not compiled again",
                loses: "disk space for its cache, and the first build takes longer",
                undo: "call the compiler itself",
            },
            Change {
                set: "fewer -I, those with the most headers first",
                promises: "most headers are found in the first folder",
                loses: "the order decides which of two headers of one name is used",
                undo: "put the flags back in their order",
            },
        ],
    },
    Topic {
        program: "make",
        programs: &["make", "gmake"],
        subject: "looking for files of its built-in rules",
        files: &["*,v", "*/SCCS/*", "*/s.*", "*/RCS/*"],
        calls: Calls::Missing,
        changes: &[Change {
            set: "MAKEFLAGS += --no-builtin-rules",
            promises: "make looks only for what the rules of the makefile name",
            loses: "targets without a rule in the makefile are not made",
            undo: "remove the flag",
        }],
    },
    Topic {
        program: "SQLite",
        programs: &[],
        subject: "its rollback journal",
        files: &["*-journal"],
        calls: Calls::All,
        changes: &[
            Change {
                set: "PRAGMA journal_mode = WAL",
                promises: "a commit appends to one log; with synchronous = FULL none is lost",
                loses: "no use over a network file system, and two more files while it is open",
                undo: "PRAGMA journal_mode = DELETE",
            },
            Change {
                set: "PRAGMA journal_mode = TRUNCATE",
                promises: "the journal is kept between transactions; no commit is lost",
                loses: "the space of a file that stays, empty",
                undo: "PRAGMA journal_mode = DELETE",
            },
        ],
    },
    Topic {
        program: "SQLite",
        programs: &[],
        subject: "fsync of its write-ahead log",
        files: &["*-wal"],
        calls: Calls::Of(&[Kind::Sync]),
        changes: &[Change {
            set: "PRAGMA synchronous = NORMAL",
            promises: "the log is synced at checkpoints alone; the database stays consistent",
            loses: "a power failure loses the last commits",
            undo: "PRAGMA synchronous = FULL",
        }],
    },
    Topic {
        program: "PHP",
        programs: &["php", "php-fpm", "php-cgi"],
        subject: "opening and reading its scripts",
        files: PHP_SCRIPTS,
        calls: Calls::Of(&[Kind::Open, Kind::Read, Kind::Map]),
        changes: &[Change {
            set: "opcache.enable = 1 with opcache.validate_timestamps = 0",
            promises: "scripts are compiled once and kept in memory, for all requests of a server",
            loses: "a changed script is seen after a reload alone; php as a command gains nothing",
            undo: "opcache.validate_timestamps = 1, then reload",
        }],
    },
    Topic {
        program: "PHP",
        programs: &["php", "php-fpm", "php-cgi"],
        subject: "asking whether its scripts are there",
        files: PHP_SCRIPTS,
        calls: Calls::Asked,
        changes: &[Change {
            set: "opcache.enable_file_override = 1",
            promises: "a server asks the disk no more for a script that opcache has",
            loses: "a script that is removed seems to be there for opcache.revalidate_freq (2 s)",
            undo: "opcache.enable_file_override = 0, then reload",
        }],
    },
    Topic {
        program: "PHP",
        programs: &["php", "php-fpm", "php-cgi"],
        subject: "resolving the paths of its scripts again",
        files: PHP_SCRIPTS,
        calls: Calls::ResolvedAgain,
        changes: &[Change {
            set: "realpath_cache_size = 16M with realpath_cache_ttl = 600",
            promises: "a path that a process resolved is not resolved again for ten minutes",
            loses: "a symbolic link that changes is followed to its old target for that long",
            undo: "remove both lines from php.ini, then reload",
        }],
    },
    Topic {
        program: "npm",
        programs: &["npm", "npx", "*/npm/bin/npm-cli.js", "*/npm/lib/cli.js"],
        subject: "its cache of packages",
        files: &["*/_cacache/*"],
        calls: Calls::All,
        changes: &[Change {
            set: "npm ci --cache /dev/shm/npm, in images and continuous integration",
            promises: "packages that are used once do not pass through the disk",
            loses: "RAM, and packages are downloaded again after a restart",
            undo: "leave the flag out",
        }],
    },
    Topic {
        program: "pip",
        programs: &["pip", "*/pip/_internal/*"],
        subject: "the compiled modules that it writes and looks for",
        files: &["*/__pycache__/*"],
        calls: Calls::All,
        changes: &[Change {
            set: "pip install --no-compile",
            promises: "modules are compiled when they are first imported",
            loses: "the first start takes longer, each start where the folder is read-only",
            undo: "python -m compileall FOLDER",
        }],
    },
    Topic {
        program: "git",
        programs: &["git"],
        subject: "fsync of its objects and references",
        files: &["*/.git/*", "*.git/*", "*/objects/*"],
        calls: Calls::Of(&[Kind::Sync]),
        changes: &[
            Change {
                set: "git config core.fsyncMethod batch",
                promises: "many new objects share one sync, on file systems with a journal",
                loses: "git does not promise it for other file systems",
                undo: "git config --unset core.fsyncMethod",
            },
            Change {
                set: "git config core.fsync none, in clones that can be made again",
                promises: "no object or reference waits for the device",
                loses: "a power failure may damage what was written shortly before",
                undo: "git config --unset core.fsync",
            },
        ],
    },
    Topic {
        program: "git",
        programs: &["git"],
        subject: "looking up names in the working tree",
        files: &["*"],
        calls: Calls::Of(&[Kind::Look]),
        changes: &[Change {
            set: "git config feature.manyFiles true",
            promises: "git keeps which folders have no new files, and a smaller index",
            loses: "old versions of git cannot read the index",
            undo: "git config --unset feature.manyFiles",
        }],
    },
    Topic {
        program: "rsync",
        programs: &["rsync"],
        subject: "fsync of each file",
        files: &["*"],
        calls: Calls::Of(&[Kind::Sync]),
        changes: &[Change {
            set: "rsync without --fsync, then sync -f TARGET once",
            promises: "all files are on the device when the one sync has ended",
            loses: "files that were done before an interruption may not be on the device",
            undo: "rsync --fsync",
        }],
    },
    Topic {
        program: "rsync",
        programs: &["rsync"],
        subject: "making and renaming files",
        files: &["*"],
        calls: Calls::Of(&[Kind::Change]),
        changes: &[Change {
            set: "rsync --inplace",
            promises: "files are written where they stand, without a temporary one",
            loses: "readers see files half written, and an interruption leaves them so",
            undo: "leave the flag out",
        }],
    },
];
