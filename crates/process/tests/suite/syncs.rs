//! The syncs of a server are counted in all its processes, exactly.
//!
//! Where this user may not count them, the reason must say what to do.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use crate::common;

use common::{open, plan, step};
use iotoll_process::{Port, Server, ServerWatch};
use model::load::ServerUse;
use std::{fs, process::Command, sync::atomic::AtomicBool, time::Duration};

/// Serves each request in a child of a child, which makes so many calls, some
/// of them in a thread, and ends.
const SERVER: &str = "
import mmap, os, socket, sys, threading
file = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 4096)
page = mmap.mmap(file, 4096)
calls = [lambda: os.fsync(file), lambda: os.fdatasync(file), page.flush]
def work(count):
    for i in range(count):
        calls[i % 3]()
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])), backlog=100)
while True:
    stream, _ = listener.accept()
    if not stream.recv(4096):
        continue
    if os.fork() == 0:
        count = int(sys.argv[3])
        work(count // 2)
        thread = threading.Thread(target=work, args=[count - count // 2])
        thread.start()
        thread.join()
        stream.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n')
        os._exit(0)
    stream.close()
    os.wait()
";

/// What a server with so many syncs for each request used in 20 of them.
fn used(syncs: u32) -> ServerUse {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("server.py"), SERVER).unwrap();
    let root = folder.path().display();
    let command = format!("python3 {root}/server.py {{port}} {root}/file {syncs}");
    let port = Port::reserve().unwrap();
    let plan = plan(&format!("http://127.0.0.1:{}/", port.number()), open(20));
    let mut server = Server::start(&command, port).unwrap();
    let stop = AtomicBool::new(false);
    server.await_ready(&plan.target.address, Duration::from_secs(60), &stop).unwrap();
    let watch = server.watch();
    let before = watch.sample();
    // Ours, and those of what we start meanwhile, are not the server's.
    let other = Command::new("sync").arg("-d").arg(folder.path()).status();
    assert!(other.unwrap().success());
    fs::File::open(folder.path()).unwrap().sync_all().unwrap();
    let loaded = step(&plan);
    assert_eq!((loaded.completed, loaded.errors.total), (20, 0), "{:?}", loaded.errors);
    watch.used_since(&before, loaded.replies)
}

#[test]
fn every_sync_of_every_process_is_counted_and_nobody_elses() {
    for each in [10, 0] {
        let used = used(each);
        if let Some(why) = used.sync_note {
            assert_eq!(used.sync_calls, None);
            assert!(why.contains("run as root"), "{why}");
            eprintln!("SKIPPED: {why}");
            return;
        }
        assert_eq!(used.sync_calls, Some(u64::from(each) * 20), "{each} syncs for each request");
    }
}

#[test]
fn a_server_that_ran_already_says_why_its_syncs_are_not_counted() {
    let watch = ServerWatch::of(std::process::id().cast_signed()).unwrap();
    assert!(watch.sync_note().unwrap().contains("already running"));
    let used = watch.used_since(&watch.sample(), 0);
    assert_eq!((used.sync_calls, used.sync_note), (None, watch.sync_note()));
}
