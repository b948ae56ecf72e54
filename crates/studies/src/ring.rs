//! What the strategies with `io_uring` share.

use engine::study::StudyError;
use rustix::io::Errno;

/// Why there is no ring.
pub(crate) fn refused(error: std::io::Error) -> StudyError {
    let why = match Errno::from_io_error(&error) {
        Some(Errno::NOSYS) => "this kernel has no io_uring; time the other strategies",
        Some(Errno::PERM | Errno::ACCESS) => {
            "the kernel refuses io_uring here: a container's seccomp filter or the sysctl \
             kernel.io_uring_disabled forbids it; allow it, or time the other strategies"
        }
        Some(Errno::NOMEM) => {
            "the kernel has no memory for a ring of this size, which `ulimit -l` limits before \
             Linux 5.12; raise that, or make the ring smaller"
        }
        _ => return StudyError::Io { doing: "setting up io_uring", source: error },
    };
    StudyError::Unsuited(why.to_owned())
}
