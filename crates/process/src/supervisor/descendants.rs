//! Who descends from the keeper, and what becomes of a process that stays.

use std::fmt::Write as _;
use std::mem::MaybeUninit;

use rustix::fs::{CWD, Mode, OFlags, RawDir, open, readlinkat_raw};
use rustix::io::Errno;
use rustix::process::{Pid, getuid};

use super::text::{Text, number, read};

/// So many are signalled at a time; others get their turn when those have gone.
const MEMBERS_MAX: usize = 1024;
/// A chain of descendants that `/proc` lists in the wrong order is followed so far in
/// one look.
const PASSES_MAX: usize = 8;
/// As much of `/proc/PID/status` as has what is looked for.
const STATUS_BYTES: usize = 1024;
/// So much of a command is told.
const COMMAND_BYTES_MAX: usize = 60;

/// All that descend from the keeper and are not dead, as far as `/proc` tells, by their
/// numbers there.
pub(super) struct Descendants {
    listed: [i32; MEMBERS_MAX],
    count: usize,
    level: usize,
}

/// A process. In a PID namespace with the `/proc` of the one around it, it has another
/// number there.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) pid: Pid,
    listed: i32,
}

impl Descendants {
    /// That of this process; nobody where `/proc` is missing or does not know it.
    pub(super) fn of_this() -> Self {
        let mut descendants = Self { listed: [0; MEMBERS_MAX], count: 0, level: 0 };
        let Some((supervisor, level)) = own_number_and_level() else { return descendants };
        descendants.level = level;
        descendants.add_children_of_this();
        for _ in 0..PASSES_MAX {
            let before = descendants.count;
            descendants.add_descendants(supervisor);
            if descendants.count == before {
                break;
            }
        }
        descendants
    }

    pub(super) fn members(&self) -> impl Iterator<Item = Member> {
        self.listed.iter().take(self.count).filter_map(|listed| {
            let pid = number_at_level(*listed, self.level)?;
            Some(Member { pid: Pid::from_raw(pid)?, listed: *listed })
        })
    }

    /// The kernel lists a thread's children even where `/proc` hides what belongs to
    /// other users.
    fn add_children_of_this(&mut self) {
        let mut buffer = [0; 4096];
        let list = read(c"/proc/thread-self/children", &mut buffer).unwrap_or_default();
        let pids = list.split(u8::is_ascii_whitespace).filter_map(number);
        pids.for_each(|pid| self.add(pid));
    }

    fn add_descendants(&mut self, supervisor: i32) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(proc) = open(c"/proc", flags, Mode::empty()) else { return };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut entries = RawDir::new(&proc, &mut buffer);
        while let Some(Ok(entry)) = entries.next() {
            let Some(pid) = number(entry.file_name().to_bytes()) else { continue };
            let Some((state, parent)) = state_and_parent(pid) else { continue };
            if state != b'Z' && (parent == supervisor || self.has(parent)) {
                self.add(pid);
            }
        }
    }

    fn has(&self, pid: i32) -> bool {
        self.listed.iter().take(self.count).any(|member| *member == pid)
    }

    fn add(&mut self, pid: i32) {
        if !self.has(pid)
            && let Some(free) = self.listed.get_mut(self.count)
        {
            *free = pid;
            self.count += 1;
        }
    }
}

/// This process's number in `/proc`, and how many PID namespaces below that one this
/// process is.
fn own_number_and_level() -> Option<(i32, usize)> {
    let mut buffer = [MaybeUninit::uninit(); 16];
    let (link, _) = readlinkat_raw(CWD, c"/proc/self", &mut buffer[..]).ok()?;
    let listed = number(link)?;
    let mut buffer = [0; STATUS_BYTES];
    // Kernels before 4.1 do not tell.
    let numbers =
        status_line(listed, b"NSpid:", &mut buffer).map_or(1, |line| fields(line).count());
    Some((listed, numbers.checked_sub(1)?))
}

/// The number that a process has so many PID namespaces below that of `/proc`. One that
/// `/proc` hides has the same there, as far as can be known.
fn number_at_level(listed: i32, level: usize) -> Option<i32> {
    if level == 0 {
        return Some(listed);
    }
    let mut buffer = [0; STATUS_BYTES];
    number(fields(status_line(listed, b"NSpid:", &mut buffer)?).nth(level)?)
}

/// What stands after a name in `/proc/PID/status`.
fn status_line<'a>(listed: i32, name: &[u8], buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut path = Text::new();
    let _ = write!(path, "/proc/{listed}/status\0");
    let status = read(path.as_path()?, buffer)?;
    status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name))
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

/// From `/proc/PID/stat`, whose second field, in brackets, may have any bytes.
fn state_and_parent(pid: i32) -> Option<(u8, i32)> {
    let mut path = Text::new();
    let _ = write!(path, "/proc/{pid}/stat\0");
    let mut buffer = [0; 256];
    let stat = read(path.as_path()?, &mut buffer)?;
    let after_name = stat.get(stat.iter().rposition(|byte| *byte == b')')? + 1..)?;
    let mut fields = fields(after_name);
    Some((*fields.next()?.first()?, number(fields.next()?)?))
}

/// What to tell of a process that is still there, with the outcome of killing it.
pub(super) fn described(member: Member, killed: Result<(), Errno>) -> Text {
    let pid = member.pid.as_raw_nonzero();
    let mut line = Text::new();
    let _ = write!(line, "process {pid} (");
    add_command(&mut line, member.listed);
    let _ = write!(line, ")");
    if let Some(user) = user_of(member.listed) {
        let _ = write!(line, " of UID {user}");
    }
    let _ = match killed {
        Err(Errno::PERM) => write!(
            line,
            " is still running: UID {} may not kill it; try `sudo kill -9 {pid}`",
            getuid().as_raw()
        ),
        Err(errno) => write!(
            line,
            " is still running: the attempt to kill it failed (error {}); try `sudo kill -9 {pid}`",
            errno.raw_os_error()
        ),
        Ok(()) => write!(
            line,
            " was killed but has not exited: it is blocked in the kernel, perhaps on storage that \
             does not respond, and will exit once that does"
        ),
    };
    line
}

/// Its command, or else its name. What a terminal might take for an order is left out.
fn add_command(line: &mut Text, listed: i32) {
    for file in ["cmdline", "comm"] {
        let mut path = Text::new();
        let _ = write!(path, "/proc/{listed}/{file}\0");
        let mut buffer = [0; COMMAND_BYTES_MAX];
        let command = path.as_path().and_then(|path| read(path, &mut buffer)).unwrap_or_default();
        let command = command.trim_ascii_end();
        let end = command.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        for byte in command.iter().take(end) {
            let shown = if byte.is_ascii_graphic() { char::from(*byte) } else { ' ' };
            let _ = line.write_char(shown);
        }
        if end > 0 {
            return;
        }
    }
    let _ = line.write_str("its command is hidden");
}

/// The number of the user whose it is.
fn user_of(listed: i32) -> Option<i32> {
    let mut buffer = [0; STATUS_BYTES];
    number(fields(status_line(listed, b"Uid:", &mut buffer)?).next()?)
}
