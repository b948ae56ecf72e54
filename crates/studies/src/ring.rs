//! What the strategies with `io_uring` share.

use engine::study::StudyError;
use rustix::io::Errno;

/// Why there is no ring.
pub(crate) fn refused(error: std::io::Error) -> StudyError {
    match Errno::from_io_error(&error) {
        Some(Errno::NOSYS) => StudyError::Unsuited("this kernel has no io_uring".to_owned()),
        Some(Errno::PERM | Errno::ACCESS) => StudyError::Unsuited(
            "the kernel refuses io_uring here: a container's seccomp filter or the sysctl \
             kernel.io_uring_disabled forbids it"
                .to_owned(),
        ),
        _ => StudyError::Io { doing: "setting up io_uring", source: error },
    }
}
