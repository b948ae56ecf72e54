//! The programs, and how each is started and asked for commits.

use std::process::Command;

use anyhow::{Context as _, Result};

/// How a program is recorded.
pub(super) struct Recipe {
    pub(super) name: &'static str,
    /// What one commit is.
    commit: &'static str,
    pub(super) needs: &'static [&'static str],
    /// A command that prints the program's version.
    version: &'static str,
    /// What was done, behind the version.
    did: &'static str,
    /// Run by sh in a folder of its own. It makes the files `commits-begin` and `commits-end`.
    pub(super) script: &'static str,
    /// Parts of the paths of its files, the first of which fits.
    files: &'static [&'static str],
    /// The end of the path of a folder whose syncs count.
    pub(super) folder: Option<&'static str>,
    /// What its files are before the first commit, as the file that is kept has it.
    at_start: &'static str,
    pub(super) offsets: Offsets,
    pub(super) ends: Ends,
    /// The fewest commits to be recorded.
    pub(super) least: usize,
    /// What its documentation asks of storage, as the file that is kept has it.
    asks: &'static str,
}

/// How offsets of writes are kept.
pub(super) enum Offsets {
    /// By where the write before ended: of logs.
    Behind,
    /// As they are: of files that are written in place.
    Absolute,
}

/// What ends a commit.
pub(super) enum Ends {
    Sync,
    Remove,
}

pub(super) const ALL: &[Recipe] = &[
    Recipe {
        name: "etcd",
        commit: "put",
        needs: &["etcd", "curl"],
        version: "etcd --version | head -1",
        did: "200 puts of 256 bytes by one client, as its log (member/wal) has them",
        script: r#"
etcd --data-dir data --logger zap --log-level error \
    --listen-client-urls http://127.0.0.1:23790 --advertise-client-urls http://127.0.0.1:23790 \
    --listen-peer-urls http://127.0.0.1:23800 \
    --initial-advertise-peer-urls http://127.0.0.1:23800 \
    --initial-cluster default=http://127.0.0.1:23800 &
for i in $(seq 100); do
    curl -s http://127.0.0.1:23790/health | grep -q true && break
    sleep 0.1
done
value=$(head -c 256 /dev/urandom | base64 -w0)
: > commits-begin
for i in $(seq 200); do
    key=$(printf 'key-%06d' $i | base64)
    curl -s -o /dev/null -d "{\"key\": \"$key\", \"value\": \"$value\"}" \
        http://127.0.0.1:23790/v3/kv/put
done
: > commits-end
kill $!
wait
"#,
        files: &["/member/wal"],
        folder: None,
        // 64 MB, which it never fills between two checks.
        at_start: "[{ bytes = 8388608 }]",
        offsets: Offsets::Behind,
        ends: Ends::Sync,
        least: 190,
        asks: r#"
[[needs]]
figure = "sync-p99"
limit = 10_000_000
says = "wal_fsync_duration_seconds (p99 duration should be less than 10ms)"
source = "https://etcd.io/docs/v3.5/faq/"

[[needs]]
figure = "commits-per-second"
limit = 50
says = "Typically 50 sequential IOPS (e.g., a 7200 RPM disk) is required"
source = "https://etcd.io/docs/v3.5/op-guide/hardware/"
"#,
    },
    Recipe {
        name: "postgresql",
        commit: "transaction",
        needs: &["runuser", "pg_lsclusters"],
        version: "/usr/lib/postgresql/*/bin/postgres --version",
        did: "400 transactions of pgbench --builtin=simple-update by one client, as its log \
              (pg_wal) has them",
        script: r#"
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
mkdir data socket && chown postgres . data socket
as="runuser -u postgres --"
$as $bin/initdb -D data -A trust > /dev/null
$as $bin/pg_ctl -D data -w -l data/log \
    -o "-c listen_addresses='' -c unix_socket_directories=$PWD/socket" start > /dev/null
$as $bin/pgbench -h $PWD/socket -i -s 1 postgres > /dev/null 2>&1
$as $bin/psql -h $PWD/socket -c CHECKPOINT postgres > /dev/null
$as $bin/pgbench -h $PWD/socket -b simple-update -c 1 -t 100 -n postgres > /dev/null 2>&1
: > commits-begin
$as $bin/pgbench -h $PWD/socket -b simple-update -c 1 -t 400 -n postgres > /dev/null 2>&1
: > commits-end
$as $bin/pg_ctl -D data -w stop > /dev/null
"#,
        files: &["/pg_wal/0"],
        folder: None,
        // A segment that was written before: 16 MB, of which as much as is quickly written.
        at_start: "[{ bytes = 2097152, written = true }]",
        offsets: Offsets::Behind,
        ends: Ends::Sync,
        least: 350,
        asks: "",
    },
    Recipe {
        name: "sqlite",
        commit: "transaction",
        needs: &["sqlite3"],
        version: "echo sqlite3 $(sqlite3 --version | cut -d' ' -f1)",
        did: "200 inserts of 100 bytes, each a transaction, with journal_mode=DELETE and \
              synchronous=FULL",
        script: r#"
mkdir shop
sqlite3 shop/shop.db 'CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)'
for i in $(seq 200); do
    echo "INSERT INTO item (name) VALUES ('$(head -c 50 /dev/urandom | od -An -tx1 | tr -d ' \n')');"
done > inserts.sql
: > commits-begin
sqlite3 shop/shop.db < inserts.sql
: > commits-end
"#,
        files: &["/shop.db-journal", "/shop.db"],
        folder: Some("/shop"),
        at_start: "[{ bytes = 0 }, { bytes = 0 }]",
        offsets: Offsets::Absolute,
        ends: Ends::Remove,
        least: 190,
        asks: "",
    },
    Recipe {
        name: "redis-aof",
        commit: "write",
        needs: &["redis-server", "redis-cli"],
        version: "redis-server --version | cut -d' ' -f1-3",
        did: "300 sets of 100 bytes by one client, with appendonly yes and appendfsync always",
        script: r#"
redis-server --port 0 --unixsocket $PWD/socket --dir $PWD --appendonly yes \
    --appendfsync always --save '' > /dev/null &
for i in $(seq 100); do redis-cli -s socket ping 2> /dev/null | grep -q PONG && break; sleep 0.1; done
value=$(head -c 50 /dev/urandom | od -An -tx1 | tr -d ' \n')
for i in $(seq 300); do echo "SET key:$(printf %06d $i) $value"; done > sets
: > commits-begin
redis-cli -s socket < sets > /dev/null
: > commits-end
redis-cli -s socket shutdown nosave
wait
"#,
        files: &[".incr.aof"],
        folder: None,
        at_start: "[{ bytes = 0 }]",
        offsets: Offsets::Behind,
        ends: Ends::Sync,
        least: 290,
        asks: "",
    },
];

impl Recipe {
    /// Which of its files a path is.
    pub(super) fn file_of(&self, path: &str) -> Option<usize> {
        let at = self.files.iter().position(|part| path.contains(part))?;
        // The first that fits has the longest part, and the last number.
        Some(self.files.len() - 1 - at)
    }

    /// The file that is kept.
    pub(super) fn file(&self, commits: &[Vec<String>]) -> Result<String> {
        let Self { name, commit, did, at_start, asks, .. } = self;
        let version = Command::new("sh").args(["-c", self.version]).output();
        let version = version.context("asking for a version")?.stdout;
        let version = String::from_utf8_lossy(&version).trim().replace('"', "'");
        let commits: String =
            commits.iter().map(|words| format!("    \"{}\",\n", words.join(" "))).collect();
        Ok(format!(
            "# Made by `cargo xtask bench profiles {name} --write`.\n\
             name = \"{name}\"\ncommit = \"{commit}\"\n\
             recorded = \"{version}: {did}\"\n\
             files = {at_start}\ncommits = [\n{commits}]\n{asks}"
        ))
    }
}
