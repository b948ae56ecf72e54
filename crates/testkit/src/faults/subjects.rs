//! What is run with faults: every study, and of its strategies all that make calls of
//! their own.

/// Something that `iotoll compare` is given.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Its study.
    pub study: &'static str,
    /// Its strategy, and what else tells it from others: the name of its list.
    pub name: &'static str,
    /// The flags. `{trace}` stands for a small recording.
    pub flags: &'static [&'static str],
    /// A program that must be installed.
    pub needs: Option<&'static str>,
}

macro_rules! subjects {
    ($($study:literal $name:literal [$($flag:literal)*] $($needs:literal)?;)+) => {
        /// All of them.
        pub const SUBJECTS: &[Subject] = &[$(Subject {
            study: $study,
            name: $name,
            flags: &[concat!("--study=", $study), $($flag),*],
            needs: subjects!(@needs $($needs)?),
        }),+];
    };
    (@needs) => { None };
    (@needs $needs:literal) => { Some($needs) };
}

subjects! {
    "log" "held" ["--strategy=held"];
    "log" "reopen" ["--strategy=reopen"];
    "log" "flock" ["--strategy=flock"];
    "log" "flock-nonblocking" ["--strategy=flock-nonblocking"];
    "log" "ofd-lock" ["--strategy=ofd-lock"];
    "log" "seek-end" ["--strategy=seek-end"];
    "log" "buffered" ["--strategy=buffered"];
    "log" "batched" ["--strategy=batched"];
    "log" "dsync" ["--strategy=dsync"];
    "log" "held-synced" ["--strategy=held" "--set=log.sync=every 10"];
    "log" "queued" ["--strategy=queued"];
    "log" "per-writer" ["--strategy=per-writer" "--set=log.writers=2"];
    "log" "held-threads" ["--strategy=held" "--set=log.writers=2" "--set=log.kind=threads"];
    "log" "held-processes" ["--strategy=held" "--set=log.writers=2"];
    "log" "held-killed" ["--strategy=held" "--set=log.kill=1"];
    "log" "uring" ["--strategy=uring"];
    "log" "php-held" ["--strategy=php-held"] "php";
    "log" "python-file-handler" ["--strategy=python-file-handler"] "python3";
    "log" "node-append-file-sync" ["--strategy=node-append-file-sync"] "node";
    "stream" "sequential" ["--set=stream.total=1 MiB" "--set=stream.block=64 KiB"];
    "blocks" "buffered" ["--strategy=buffered" "--set=blocks.file=256 KiB"];
    "blocks" "buffered-cold" [
        "--strategy=buffered" "--set=blocks.file=256 KiB" "--set=blocks.cache=cold"
        "--set=blocks.access=mixed" "--set=blocks.sync=each"
    ];
    "blocks" "direct" ["--strategy=direct" "--set=blocks.file=256 KiB"];
    "blocks" "uring" ["--strategy=uring" "--set=blocks.file=256 KiB" "--set=blocks.depth=4"];
    "blocks" "uring-direct" [
        "--strategy=uring-direct" "--set=blocks.file=256 KiB" "--set=blocks.access=mixed"
        "--set=blocks.sync=each"
    ];
    "page" "read" ["--strategy=read"];
    "page" "mmap" ["--strategy=mmap" "--set=page.cache=cold"];
    "page" "sendfile" ["--strategy=sendfile" "--set=page.cache=warm"];
    "page" "held" ["--strategy=held" "--set=page.cache=cold"];
    "page" "cached" ["--strategy=cached" "--set=page.cache=warm"];
    "cache" "direct" ["--strategy=direct"];
    "cache" "rename" ["--strategy=rename"];
    "cache" "rename-fsync" ["--strategy=rename-fsync" "--set=cache.operation=rebuild"];
    "files" "direct" ["--strategy=direct" "--set=files.operation=write,read,create,stat"];
    "files" "rename" ["--strategy=rename" "--set=files.operation=write,rename,unlink"];
    "files" "rename-fsync" ["--strategy=rename-fsync" "--set=files.operation=write"];
    "sqlite" "delete-full" ["--strategy=delete-full"];
    "sqlite" "wal-normal" ["--strategy=wal-normal"];
    "sqlite" "wal-full-tx" ["--strategy=wal-full-tx" "--set=sqlite.connect=request"];
    "sqlite" "truncate-full" ["--strategy=truncate-full" "--set=sqlite.connections=2"];
    "journal" "pages" ["--strategy=pages"];
    "journal" "differences-zstd" [
        "--strategy=differences-zstd" "--set=journal.writing=dsync" "--set=journal.space=growing"
    ];
    "journal" "pages-lz4" [
        "--strategy=pages-lz4" "--set=journal.start=empty" "--set=journal.items=3000"
        "--set=journal.space=recycled" "--set=journal.segment=1 MiB"
        "--set=journal.checkpoint=2 MiB"
    ];
    "serve" "page" ["--strategy=page" "--set=serve.connections=20" "--set=serve.log_lines=1"];
    "serve" "sqlite" ["--strategy=sqlite" "--set=serve.connections=10" "--set=serve.rate=100"];
    "serve" "command" [
        "--strategy=command" "--set=serve.connections=10"
        "--set=serve.command=exec python3 -m http.server --bind 127.0.0.1 --directory {place} {port}"
    ] "python3";
    "replay" "recorded" ["--set=replay.trace={trace}"];
    "exec" "command" ["--set=exec.command=sort {place}/lines" "--set=exec.prepare=echo > {place}/lines"];
}
