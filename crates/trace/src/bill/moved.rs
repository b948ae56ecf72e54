//! Which bytes a call moves from where to where.

use std::sync::Arc;

use super::file_class::is_of_the_kernel;
use super::kind::Kind;
use crate::call::Call;
use crate::follow::{Followed, OpenFile, OpenKind, Place};
use crate::op::Op;

fn moves(call: &Call) -> bool {
    matches!(call.op, Op::Splice | Op::Sendfile | Op::CopyRange)
}

/// The file that a call moves bytes into.
pub(super) fn copied_to<'a>(call: &Call, followed: &'a Followed) -> Option<&'a Arc<[u8]>> {
    let to = followed.other.as_ref().filter(|to| moves(call) && to.kind == OpenKind::Named);
    to.and_then(|to| to.path.as_ref()).filter(|path| !is_of_the_kernel(path))
}

/// A call that moves bytes from what is no file into a file writes to that.
pub(super) fn written_to(call: &Call, followed: &mut Followed) -> Option<Kind> {
    let is_named = |file: &Option<Arc<OpenFile>>| {
        file.as_ref().is_some_and(|file| file.kind == OpenKind::Named)
    };
    if !moves(call) || is_named(&followed.file) || !is_named(&followed.other) {
        return None;
    }
    followed.file = followed.other.take();
    followed.about = followed.file.as_ref().and_then(|file| file.path.clone());
    followed.place = Place::Unknown;
    Some(Kind::Write)
}

/// What a call read and wrote.
pub(super) fn bytes(call: &Call, followed: &Followed, kind: Kind) -> [u64; 2] {
    let bytes = u64::try_from(call.result).unwrap_or(0);
    match kind {
        Kind::Read if copied_to(call, followed).is_some() => [bytes, bytes],
        Kind::Read => [bytes, 0],
        Kind::Write => [0, bytes],
        _ => [0, 0],
    }
}
