//! The strategies, each with what it does, promises and needs, and how it is adopted.

use model::strategy::Recipe;
use process::worker::Program;

use super::interpreters::{NODE, PHP, PROGRAMS, PYTHON};
use super::promises::{
    SYNCED, WRITTEN, batches, file_per_writer, full_buffers, queue, record_by_record, ring,
};
use crate::choices::strategies;
use crate::rules::change;

strategies! {
    /// How records are appended.
    pub(crate) enum Strategy {
        Reopen = "reopen", by_default {
            label: "open the file for each record",
            about: "open, write and close the file for each record",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Appends], params: ["threads"],
            needs: None, recipe: change(
                "open(path, O_WRONLY|O_APPEND|O_CREAT), write(2) and close(2) for each record",
                "strace -f -e openat,write,close -p PID shows the three for each record",
                "open the file once at start and keep it open",
            ),
        }
        Held = "held", by_default {
            label: "keep the file open",
            about: "write to one handle kept open (O_APPEND)",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Appends], params: ["threads"],
            needs: None, recipe: change(
                "open(path, O_WRONLY|O_APPEND|O_CREAT) once at start, one write(2) for each \
                 record; open it again on SIGHUP for logrotate (Python: logging.FileHandler; \
                 Monolog: one StreamHandler, which lives for one request under php-fpm)",
                "ls -l /proc/PID/fd lists the log; strace -f -e openat,write -p PID shows one \
                 write a record",
                "open and close it for each record",
            ),
        }
        Flock = "flock", by_default {
            label: "keep it open, flock each record",
            about: "as held, with an exclusive flock(2) around each write",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Flock], params: ["threads"],
            needs: None, recipe: change(
                "open the log once with O_APPEND; flock(fd, LOCK_EX) before each write(2), \
                 flock(fd, LOCK_UN) after it (Monolog: new StreamHandler($path, useLocking: \
                 true))",
                "strace -f -e flock,write -p PID shows a lock and an unlock for each record",
                "leave both flock calls out (Monolog: useLocking: false); O_APPEND alone keeps \
                 records apart on a local file system",
            ),
        }
        FlockNonblocking = "flock-nonblocking", by_name {
            label: "flock with O_NONBLOCK",
            about: "as flock, on a descriptor with O_NONBLOCK",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Flock], params: ["threads"],
            needs: None, recipe: Recipe::Control,
        }
        OfdLock = "ofd-lock", by_name {
            label: "keep it open, fcntl lock",
            about: "as flock, with an open file description lock of fcntl(2)",
            promises: record_by_record(), syncs: AsAsked, relies_on: [FcntlLocks], params: ["threads"],
            needs: None, recipe: change(
                "open the log once; fcntl(fd, F_OFD_SETLKW, &lock) with F_WRLCK before each \
                 write(2) and with F_UNLCK after it",
                "strace -f -e fcntl,write -p PID shows F_OFD_SETLKW twice for each record",
                "leave both fcntl calls out; O_APPEND alone keeps records apart on a local file \
                 system",
            ),
        }
        SeekEnd = "seek-end", by_name {
            label: "seek to the end, no O_APPEND",
            about: "seek to the end, then write, without O_APPEND",
            promises: "none with several writers: they overwrite one another (a control, which \
                       must fail)",
            syncs: AsAsked, relies_on: [], params: ["threads"], needs: None, recipe: Recipe::Control,
        }
        Buffered = "buffered", by_name {
            label: "buffer records",
            about: "collect records in a buffer and write it when full, wherever that falls",
            promises: full_buffers(), syncs: AsAsked, relies_on: [Appends], params: ["buffer", "threads"],
            needs: None, recipe: change(
                "setvbuf(log, NULL, _IOFBF, 8192), for a log that has one writer",
                "strace -f -e write -p PID shows one write for many records",
                "setvbuf(log, NULL, _IOLBF, 0)",
            ),
        }
        Batched = "batched", by_name {
            label: "writev several records",
            about: "write several records at once with writev(2)",
            promises: batches(), syncs: AsAsked, relies_on: [Appends], params: ["batch", "threads"],
            needs: None, recipe: change(
                "collect up to 64 records and append them by one writev(fd, iov, n); acknowledge \
                 them only then",
                "strace -f -e writev -p PID shows one writev for many records",
                "write(2) each record",
            ),
        }
        Dsync = "dsync", by_name {
            label: "keep it open with O_DSYNC",
            about: "as held, on a descriptor with O_DSYNC",
            promises: SYNCED, syncs: Always, relies_on: [Appends], params: ["threads"],
            needs: None, recipe: change(
                "open(path, O_WRONLY|O_APPEND|O_CREAT|O_DSYNC) once at start",
                "grep flags /proc/PID/fdinfo/FD has 010000 (O_DSYNC)",
                "open it without O_DSYNC",
            ),
        }
        Queued = "queued", by_name {
            label: "queue to a writer thread",
            about: "hand each record to a writer thread through a bounded queue",
            promises: queue(), syncs: AsAsked, relies_on: [Appends], params: ["queue", "full"],
            needs: None, recipe: change(
                "log to a bounded queue that one thread empties into the file (Python: \
                 QueueHandler and QueueListener; Log4j 2: AsyncAppender; Rust: \
                 tracing_appender::non_blocking)",
                "strace -f -e write -p PID shows one thread alone writing to the log",
                "give the logger the file handler itself",
            ),
        }
        PerWriter = "per-writer", by_name {
            label: "a file for each writer",
            about: "write one file per writer, merged by time afterwards",
            promises: file_per_writer(), syncs: AsAsked, relies_on: [], params: ["threads"],
            needs: None, recipe: change(
                "open path.PID in each process, each line beginning with its time; merge by sort \
                 -m path.*",
                "ls path.* lists a file for each process",
                "open one path in all processes, with O_APPEND",
            ),
        }
        Uring = "uring", by_name {
            label: "io_uring, several records",
            about: "submit several records at once through io_uring",
            promises: ring(), syncs: AsAsked, relies_on: [Appends], params: ["batch", "ring"],
            needs: None, recipe: change(
                "io_uring_prep_write(sqe, fd, record, length, -1) for each record, IOSQE_IO_LINK \
                 on all but the last, then io_uring_submit_and_wait",
                "strace -f -e io_uring_enter,write -p PID shows one io_uring_enter for many \
                 records",
                "write(2) each record",
            ),
        }
        PhpHeld = "php-held", by_name {
            label: "PHP: keep the handle open",
            about: "PHP: fwrite to a handle kept open",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Appends], params: [],
            needs: Some(PHP.command), recipe: change(
                "$log = fopen($path, 'ab') once, fwrite($log, $line) for each record (Monolog: one \
                 StreamHandler); under php-fpm the handle lives for one request",
                "ls -l /proc/PID/fd lists the log while PHP runs",
                "fclose($log) after each record",
            ),
        }
        PhpReopen = "php-reopen", by_name {
            label: "PHP: fopen for each record",
            about: "PHP: fopen, fwrite and fclose for each record",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Appends], params: [],
            needs: Some(PHP.command), recipe: change(
                "$log = fopen($path, 'ab'); fwrite($log, $line); fclose($log); for each record",
                "strace -f -e openat,write,close -p PID shows the three for each record",
                "fopen once and keep the handle",
            ),
        }
        PhpFilePutContents = "php-file-put-contents", by_name {
            label: "PHP: file_put_contents",
            about: "PHP: file_put_contents with FILE_APPEND",
            promises: WRITTEN, syncs: Never, relies_on: [Appends], params: [],
            needs: Some(PHP.command), recipe: change(
                "file_put_contents($path, $line, FILE_APPEND) for each record",
                "strace -f -e openat,write,close -p PID shows the three for each record",
                "fopen once and fwrite",
            ),
        }
        PhpFlock = "php-flock", by_name {
            label: "PHP: flock each record",
            about: "PHP: flock, fwrite, unlock on a handle kept open",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Flock], params: [],
            needs: Some(PHP.command), recipe: change(
                "flock($log, LOCK_EX); fwrite($log, $line); flock($log, LOCK_UN); on a handle \
                 kept open (Monolog: new StreamHandler($path, useLocking: true))",
                "strace -f -e flock,write -p PID shows a lock and an unlock for each record",
                "leave both flock calls out (Monolog: useLocking: false)",
            ),
        }
        PhpFlockNonblocking = "php-flock-nonblocking", by_name {
            label: "PHP: flock, non-blocking",
            about: "PHP: flock, fwrite, unlock on a non-blocking stream kept open",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Flock], params: [],
            needs: Some(PHP.command), recipe: Recipe::Control,
        }
        PhpErrorLog = "php-error-log", by_name {
            label: "PHP: error_log",
            about: "PHP: error_log to a file",
            promises: WRITTEN, syncs: Never, relies_on: [Appends], params: [],
            needs: Some(PHP.command), recipe: change(
                "error_log($line, 3, $path) for each record",
                "strace -f -e openat,write,close -p PID shows the three for each record",
                "fopen once and fwrite",
            ),
        }
        PythonFileHandler = "python-file-handler", by_name {
            label: "Python: FileHandler",
            about: "Python: logging.FileHandler",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Appends], params: [],
            needs: Some(PYTHON.command), recipe: change(
                "logger.addHandler(logging.FileHandler(path)), or \
                 logging.basicConfig(filename=path)",
                "logging.getLogger().handlers lists a FileHandler",
                "logger.removeHandler(handler), and add the one that was there",
            ),
        }
        PythonWatchedFileHandler = "python-watched-file-handler", by_name {
            label: "Python: WatchedFileHandler",
            about: "Python: logging.handlers.WatchedFileHandler",
            promises: record_by_record(), syncs: AsAsked, relies_on: [Appends], params: [],
            needs: Some(PYTHON.command), recipe: change(
                "logger.addHandler(logging.handlers.WatchedFileHandler(path)), which opens the \
                 file again when logrotate has renamed it",
                "strace -f -e newfstatat,stat,write -p PID shows a stat before each write",
                "logging.FileHandler(path), and copytruncate in logrotate",
            ),
        }
        NodeAppendFileSync = "node-append-file-sync", by_name {
            label: "Node.js: appendFileSync",
            about: "Node.js: fs.appendFileSync",
            promises: WRITTEN, syncs: Never, relies_on: [Appends], params: [],
            needs: Some(NODE.command), recipe: change(
                "fs.appendFileSync(path, line) for each record",
                "strace -f -e openat,write,close -p PID shows the three for each record",
                "fs.createWriteStream(path, { flags: 'a' }) once, log.write(line) for each \
                 record",
            ),
        }
        NodeWriteStream = "node-write-stream", by_name {
            label: "Node.js: write stream",
            about: "Node.js: a write stream of fs",
            promises: "process crash: what the stream still buffers is lost although write() has \
                       returned; power failure: these and data not yet written back are lost",
            syncs: Never, relies_on: [Appends], params: [],
            needs: Some(NODE.command), recipe: change(
                "const log = fs.createWriteStream(path, { flags: 'a' }) once, log.write(line) \
                 for each record",
                "ls -l /proc/PID/fd lists the log while Node.js runs",
                "fs.appendFileSync(path, line) for each record",
            ),
        }
    }
}

impl Strategy {
    /// The interpreter that runs it; none for a native one.
    pub(super) fn interpreter(self) -> Option<Program> {
        let needs = self.facts().needs?;
        PROGRAMS.into_iter().find(|program| program.command == needs)
    }

    /// Whether its interpreter opens files by absolute paths alone, whatever it is given.
    pub(super) fn goes_by_path(self) -> bool {
        self.interpreter() == Some(PHP)
    }
}
