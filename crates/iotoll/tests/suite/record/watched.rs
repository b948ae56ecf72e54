//! A server under load, watched and replayed.

use std::fs::File;
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use trace::{PatternKind, TraceReader, bill_of};

use super::recorded::mechanisms;
use crate::common::{Places, iotoll, skip, stderr};

const APPLICATION: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/django-visits/visits.py");
/// A server that is slower to start is not there.
const PATIENCE: Duration = Duration::from_secs(60);

/// The example's server, which ends with the test.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    /// One whose files are in a folder.
    fn new(python: &str, folder: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let process = Command::new(python)
            .args(["-B", APPLICATION, "runserver", "--noreload", &address])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { process, address };
        let began = Instant::now();
        while TcpStream::connect(&server.address).is_err() {
            assert!(began.elapsed() < PATIENCE, "the server does not listen");
            sleep(Duration::from_millis(50));
        }
        server
    }

    /// Does something while two visitors ask for a page again and again.
    fn visited_while(&self, deed: impl FnOnce()) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        self.visit().unwrap();
                        sleep(Duration::from_millis(50));
                    }
                });
            }
            let done = catch_unwind(AssertUnwindSafe(deed));
            over.store(true, Ordering::Relaxed);
            done.unwrap_or_else(|panic| resume_unwind(panic));
        });
    }

    fn visit(&self) -> io::Result<()> {
        let mut connection = TcpStream::connect(&self.address)?;
        connection.write_all(b"GET /3 HTTP/1.0\r\n\r\n")?;
        io::copy(&mut connection, &mut io::sink()).map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A Python that has Django: one of a venv, or Debian's.
fn python() -> Option<&'static str> {
    ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        let found = Command::new(python).args(["-c", "import django"]).output();
        found.is_ok_and(|output| output.status.success())
    })
}

/// Fails where a server that runs already is not seen as one, where threads that come with each
/// request and end with it are not followed, or where a replay of them is another program.
#[test]
fn a_view_under_load_is_watched_and_replayed() {
    let Some(python) = python() else {
        skip("a_view_under_load_is_watched_and_replayed", "there is no Django");
        return;
    };
    let (places, kept) = (Places::new(), tempfile::tempdir().unwrap());
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let server = Server::new(python, folder.path());
    let trace = kept.path().join("visits.trace");
    let process = server.process.id().to_string();
    let mechanisms = mechanisms("a_view_under_load_is_watched_and_replayed");
    let watched = |time: &str| {
        let watch = ["watch", &process, "--for", time, "--mechanism", mechanisms[0], "-o"];
        let output = iotoll().args(watch).arg(&trace).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let mut trace = TraceReader::new(File::open(&trace).unwrap()).unwrap();
        let bill = bill_of(&mut trace, report::command_of).unwrap();
        assert!(bill.header.attached && bill.lost == 0);
        let is_it = |what: &PatternKind| {
            matches!(what, PatternKind::Sqlite(database)
                if database.path.ends_with("/visits.db") && database.transactions >= 20)
        };
        bill.patterns.iter().any(|pattern| is_it(&pattern.what))
    };
    // On a busy machine, few are served in seconds.
    server.visited_while(|| assert!(["3s", "12s", "48s"].into_iter().any(watched)));
    drop(server);

    let replayed = format!("replay.trace={}", trace.display());
    let output = iotoll()
        .args(["compare", "--study", "replay", "--set", &replayed, "--set", "replay.until=2s"])
        .args(["--set", "replay.think=10", "--rounds", "1", "--budget", "2min"])
        .args(["--no-save", "--json", "-"])
        .args(places.args())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for arm in result["arms"].as_array().unwrap() {
        let metric = |name: &str| arm["metrics"][name].as_f64().unwrap();
        assert!(metric("calls") > 500.0, "{arm:#}");
        assert!(metric("deviations") <= metric("calls") / 100.0, "{arm:#}");
    }
    places.assert_empty();
}
