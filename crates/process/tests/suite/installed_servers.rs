//! Servers that people use, where they are installed.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use crate::common;

use common::{closed, open, plan, step};
use iotoll_process::{Port, Server};
use load::{Expect, Reuse};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
    time::Duration,
};

const PAGE: &str = "a page of some text\n";

/// Whether a program is there; says loudly when it is not.
fn installed(program: &str, arguments: &[&str]) -> bool {
    first_that(&[program], arguments).is_some()
}

/// The first of several programs that succeeds; nothing where none does, loudly.
fn first_that<'p>(programs: &[&'p str], arguments: &[&str]) -> Option<&'p str> {
    let succeeds = |program: &&&str| {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = programs.iter().find(succeeds).copied();
    if found.is_none() {
        let (programs, arguments) = (programs.join(" or "), arguments.join(" "));
        eprintln!("SKIPPED: `{programs} {arguments}` does not succeed here");
    }
    found
}

/// Serves a folder with one page by `command` and loads it in both loops.
fn load(folder: &Path, command: &str, port: Port, path: &str, expected: &str) {
    let number = port.number();
    let mut plan = plan(&format!("http://127.0.0.1:{number}{path}"), open(60));
    let mut server = Server::start(command, port).unwrap();
    let patience = Duration::from_secs(60);
    server.await_ready(&plan.target.address, patience, &AtomicBool::new(false)).unwrap();
    let folder = folder.display();
    plan.expect = Expect::parse(&format!("text:{expected}")).unwrap();
    let watch = server.watch();
    let before = watch.sample();
    let each = step(&plan);
    assert_eq!((each.completed, each.errors.total), (60, 0), "{folder}: {:?}", each.errors);
    let used = watch.used_since(&before, each.replies);
    assert!(used.processes >= 1 && used.memory_bytes > 0, "{used:?}");
    assert!(used.write_calls + used.read_calls > 0, "{used:?}");
    for reuse in [Reuse::Never, Reuse::Always] {
        plan.reuse = reuse;
        plan.steps = closed(4, 200);
        let closed = step(&plan);
        assert_eq!((closed.replies, closed.errors.total), (200, 0), "{:?}", closed.errors);
    }
    drop(server);
    assert!(std::net::TcpStream::connect(("127.0.0.1", number)).is_err(), "it still listens");
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("index.html"), PAGE).unwrap();
    folder
}

#[test]
fn nginx() {
    if !installed("nginx", &["-v"]) {
        return;
    }
    let (folder, port) = (folder(), Port::reserve().unwrap());
    let (root, number) = (folder.path().display(), port.number());
    let temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {root}/{kind};\n"))
        .concat();
    let config = format!(
        "worker_processes 2; daemon off; pid {root}/pid; error_log stderr;\n\
         events {{ worker_connections 512; }}\n\
         http {{ access_log off; {temps} server {{ listen 127.0.0.1:{number}; root {root}; }} }}\n"
    );
    fs::write(folder.path().join("nginx.conf"), config).unwrap();
    // Its workers run as another user where it is started by root.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).unwrap();
    let command = format!("exec nginx -p {root} -c {root}/nginx.conf");
    load(folder.path(), &command, port, "/", "page of some text");
}

#[test]
fn lighttpd() {
    if !installed("lighttpd", &["-v"]) {
        return;
    }
    let (folder, port) = (folder(), Port::reserve().unwrap());
    let (root, number) = (folder.path().display(), port.number());
    let config = format!(
        "server.document-root = \"{root}\"\nserver.port = {number}\n\
         server.bind = \"127.0.0.1\"\nindex-file.names = (\"index.html\")\n"
    );
    fs::write(folder.path().join("lighttpd.conf"), config).unwrap();
    let command = format!("exec lighttpd -D -f {root}/lighttpd.conf");
    load(folder.path(), &command, port, "/", "page of some text");
}

#[test]
fn pythons_http_server() {
    if !installed("python3", &["--version"]) {
        return;
    }
    let (folder, port) = (folder(), Port::reserve().unwrap());
    let command = format!(
        "exec python3 -m http.server --bind 127.0.0.1 --directory {} {{port}}",
        folder.path().display()
    );
    load(folder.path(), &command, port, "/", "page of some text");
}

#[test]
fn phps_built_in_server() {
    if !installed("php", &["--version"]) {
        return;
    }
    let (folder, port) = (folder(), Port::reserve().unwrap());
    fs::write(folder.path().join("a.php"), "<?php echo 'sum ', 20 + 22;").unwrap();
    let command = format!("exec php -S 127.0.0.1:{{port}} -t {}", folder.path().display());
    load(folder.path(), &command, port, "/a.php", "sum 42");
}

#[test]
fn djangos_own_server() {
    // That of the system has it where a python3 that comes before it may not.
    let python = first_that(&["python3", "/usr/bin/python3"], &["-c", "import django"]);
    let Some(python) = python else { return };
    let (folder, port) = (folder(), Port::reserve().unwrap());
    let app = "\
import django, sys
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path
settings.configure(DEBUG=False, ALLOWED_HOSTS=['*'], ROOT_URLCONF=__name__, SECRET_KEY='x')
urlpatterns = [path('', lambda request: HttpResponse('a page of some text'))]
execute_from_command_line(sys.argv)
";
    fs::write(folder.path().join("app.py"), app).unwrap();
    let command = format!(
        "exec {python} {}/app.py runserver --noreload 127.0.0.1:{{port}}",
        folder.path().display()
    );
    load(folder.path(), &command, port, "/", "page of some text");
}
