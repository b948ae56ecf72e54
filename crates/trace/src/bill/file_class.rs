//! What a call acts on, as far as a bill cares.

use super::folders::is_in;
use crate::call::Call;
use crate::flags::EBADF;
use crate::follow::{Followed, OpenKind};
use crate::op::Op;

/// Where the kernel answers from itself. Nothing there can be moved.
const OF_THE_KERNEL: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];
/// What is below one of these and yet files in memory.
const IN_MEMORY: &[u8] = b"/dev/shm";

/// What a call acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileClass {
    /// Files that are stored somewhere.
    Stored,
    /// Files of the kernel, such as those of `/proc`, and devices.
    Kernel,
    /// A pipe, a socket, or anything else that is no file.
    NoFile,
    /// What a descriptor stands for is not known, and need not be a file.
    Unknown,
    /// No call: no thread was on a processor.
    Idle,
}

impl FileClass {
    pub(crate) fn of(call: &Call, followed: &Followed) -> Self {
        let file = followed.file.as_ref();
        if followed.path.is_none() && file.is_some_and(|file| file.kind != OpenKind::Named) {
            return Self::NoFile;
        }
        match &followed.about {
            Some(path) if is_of_the_kernel(path) => Self::Kernel,
            Some(_) => Self::Stored,
            // As of a program that closes all that it may have open.
            None if call.result == EBADF => Self::NoFile,
            None if acts_on_files_alone(call.op) => Self::Stored,
            None => Self::Unknown,
        }
    }
}

pub(super) fn is_of_the_kernel(path: &[u8]) -> bool {
    OF_THE_KERNEL.iter().any(|folder| is_in(path, folder)) && !is_in(path, IN_MEMORY)
}

/// Whether it says of itself that it acts on a file.
fn acts_on_files_alone(op: Op) -> bool {
    !matches!(
        op,
        Op::Read
            | Op::Write
            | Op::Close
            | Op::Stat
            | Op::Ioctl
            | Op::Fcntl
            | Op::Duplicate
            | Op::Seek
            | Op::Splice
            | Op::Sendfile
            | Op::Map
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_known_by_their_folders() {
        for of_the_kernel in ["/proc", "/proc/1/stat", "/sys/x", "/dev/null", "/dev"] {
            assert!(is_of_the_kernel(of_the_kernel.as_bytes()), "{of_the_kernel}");
        }
        for stored in ["/dev/shm/x", "/dev/shm", "/process", "/srv/proc", "dev", "/"] {
            assert!(!is_of_the_kernel(stored.as_bytes()), "{stored}");
        }
    }
}
